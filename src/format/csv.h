/** CSV, mostly with a header: the cells of a file, as text.
 *
 *      x,name,class          RFC 4180: a cell in double quotes may contain the delimiter, line ends and double quotes,
 *      1.5,"Smith, J.",a     which are written twice; lines end with LF, CRLF or CR. Blank lines and a byte order mark
 *      2,"said ""no""",b     are skipped; spaces belong to the cell.
 *
 *  Every row has as many cells as the header. Without a header, every row has as many cells as the first row, and the
 *  columns have the names 1, 2, 3 and so on. Columns at the end without a name and without text are hollow, and are
 *  left out; they result from a delimiter at the end of each row. Memory: the file, and at most 24 bytes for each of
 *  its bytes.
 */
#ifndef MUSTER_FORMAT_CSV_H
#define MUSTER_FORMAT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Sizes of texts: MST_CSV_PLACE for the place of a cell, MST_CSV_SHOWN for the beginning of a cell. */
enum { MST_CSV_PLACE = 640, MST_CSV_SHOWN = 64 };

/** The delimiter if the user gives none, and `muster inspect` finds none. */
#define MST_CSV_DELIMITER ','

typedef struct mst_csv_format {
    char delimiter;       /**< between cells; 0: MST_CSV_DELIMITER */
    char comment;         /**< lines that begin with it are skipped, except within a cell in quotes; 0: none are */
    bool no_header;       /**< the first line is a row, too */
    const char *encoding; /**< a name that iconv knows; NULL: UTF-8. A byte order mark overrules it */
} mst_csv_format;

typedef struct mst_csv mst_csv;

/** Reads the file at PATH, which may be gzip; "-" is standard input. PATH may be several of these, with a line end
 *  between them (base/path_list.h): the rows of the others follow, with the same names of columns in any order. *OUT is
 *  NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if PATH is not a file that can be read, or FORMAT has a
 *  character that cannot be there; MST_CORRUPT, naming the line, if it is no such table, or is damaged or incomplete
 *  gzip. */
MST_CHECKED mst_status mst_csv_read(const char *path, const mst_csv_format *format, mst_csv **out);
/** The same from SIZE bytes at DATA; NAME stands for the path in messages. */
MST_CHECKED mst_status mst_csv_parse(const char *name, const void *data, size_t size, const mst_csv_format *format,
                                     mst_csv **out);
/** NULL is allowed. */
void mst_csv_close(mst_csv *csv);

const char *mst_csv_name(const mst_csv *csv); /**< the path */
int64_t mst_csv_num_rows(const mst_csv *csv); /**< without the header; at least 1 */
int mst_csv_num_columns(const mst_csv *csv);
/** Whether hollow columns were left out. */
bool mst_csv_has_hollow(const mst_csv *csv);
/** The name of a column, from the header, or its number from 1 as text. */
const char *mst_csv_header(const mst_csv *csv, int column);
/** Sets *COLUMN to the index of the column NAME. MST_NOT_FOUND, naming the columns that there are. */
MST_CHECKED mst_status mst_csv_find(const mst_csv *csv, const char *name, int *column);
/** A cell without its quotes. */
const char *mst_csv_cell(const mst_csv *csv, int64_t row, int column);
/** Writes where a cell begins, "'iris.csv', line 7, column 'width'", to TEXT of MST_CSV_PLACE bytes. Returns TEXT. */
const char *mst_csv_place(const mst_csv *csv, int64_t row, int column, char *text);
/** A hint for users if a table has only one column, named HEADER: which delimiter it seems to have. */
const char *mst_csv_delimiter_hint(const char *header);
/** Writes the beginning of CELL to TEXT of MST_CSV_SHOWN bytes, on one line and in quotes: "'a b'". Returns TEXT. */
const char *mst_csv_show(const char *cell, char *text);

#endif
