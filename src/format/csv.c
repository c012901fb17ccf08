/* Parses the text in one pass; the whole text is in memory. Cells are unquoted in place and end with a NUL. Their
 * addresses are appended to one array, row after row. So a cell costs one pointer, and nothing is copied. For messages,
 * the line on which each row begins is kept. */
#include "format/csv.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "base/path_list.h"
#include "base/standard_input.h"
#include "base/utf8.h"
#include "format/encoding.h"
#include "format/stream.h"

enum { MOST_COLUMNS = 100000, LIST_TEXT = 512, READ_AHEAD = 1 << 20 };

/* Unquoting a cell in place only makes it shorter. Its NUL is at the place of its delimiter, or before. */
struct mst_csv {
    mst_csv *next;  /* in a list of files: the next file, which owns the text of its cells. The first file has the
                       addresses of the cells of all files */
    size_t num_own; /* rows of this file if a file follows, else 0. For the first file the header counts, too */
    char *name, *text;
    size_t size;
    char **cell; /* row after row, the header first if there is one */
    size_t num_cells, cell_capacity;
    int64_t *line;                   /* the line on which each row begins, from 1; the header first if there is one */
    size_t num_lines, line_capacity; /* num_lines: rows, with the header */
    char **header;          /* [num_columns] names of the columns: the first cells, or without a header allocated */
    size_t header_rows;     /* 1; without a header 0 */
    int width, num_columns; /* width: cells in a row; num_columns: without the hollow columns (csv.h) */
};

/* The position in the text. */
typedef struct scan {
    mst_csv *csv;
    char *at, *end;
    char delimiter, comment;
    int64_t line;
} scan;

/* Makes room in *ARRAY for one more element of SIZE bytes. */
static mst_status csv_grow(void *array, size_t count, size_t *capacity, size_t size) {
    void **memory = array;
    if (count < *capacity) return MST_OK;
    const size_t more = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(*memory, more * size);
    if (!grown) return MST_NO_MEMORY("for %zu cells of a CSV file", more);
    *memory = grown;
    *capacity = more;
    return MST_OK;
}

static mst_status add_cell(mst_csv *csv, char *cell) {
    MST_TRY(csv_grow(&csv->cell, csv->num_cells, &csv->cell_capacity, sizeof *csv->cell));
    csv->cell[csv->num_cells++] = cell;
    return MST_OK;
}

/* The size of a line end at TEXT: 2 bytes for CRLF, 1 for LF or a CR alone; 0: there is none. */
static size_t line_end(const char *text, const char *end) {
    if (text >= end || (*text != '\n' && *text != '\r')) return 0;
    return end - text >= 2 && text[0] == '\r' && text[1] == '\n' ? 2 : 1;
}

/* The number, from 1, of the column that is being read. FIRST is the index of the first cell of its row. */
static size_t column_number(const scan *s, size_t first) {
    return s->csv->num_cells - first + 1;
}

/* Moves S past the quoted cell that begins at s->at, and unquotes the cell; *LAST is the end of its text. FIRST is the
 * index of the first cell of the row. */
static mst_status scan_quoted(scan *s, size_t first, char **last) {
    const int64_t begun = s->line;
    bool closed = false;
    char *to = s->at++;
    while (s->at < s->end && !closed) {
        const bool quote = *s->at == '"', doubled = quote && s->end - s->at >= 2 && s->at[1] == '"';
        s->line += *s->at == '\n' || (*s->at == '\r' && line_end(s->at, s->end) == 1);
        closed = quote && !doubled;
        if (!closed) *to++ = *s->at;
        s->at += doubled ? 2 : 1;
    }
    *last = to;
    if (!closed)
        return MST_FAIL(MST_CORRUPT,
                        "'%s', line %lld, column %zu: the quote that begins here is never closed: close it",
                        s->csv->name, (long long)begun, column_number(s, first));
    if (s->at < s->end && *s->at != s->delimiter && !line_end(s->at, s->end))
        return MST_FAIL(
            MST_CORRUPT,
            "'%s', line %lld, column %zu: text follows the closing quote: write a quote inside a cell twice",
            s->csv->name, (long long)s->line, column_number(s, first));
    return MST_OK;
}

/* Adds the cell at s->at, and moves S past the cell and its delimiter or line end. *MORE says whether another cell
 * follows in the row. FIRST is the index of the first cell of the row. */
static mst_status scan_cell(scan *s, size_t first, bool *more) {
    char *cell = s->at, *last;
    if (s->at < s->end && *s->at == '"') {
        MST_TRY(scan_quoted(s, first, &last));
    } else {
        const char delimiter = s->delimiter;
        for (last = cell; last < s->end && *last != delimiter && *last != '\n' && *last != '\r';) last++;
        s->at = last;
    }
    if (memchr(cell, '\0', (size_t)(last - cell)))
        return MST_FAIL(
            MST_CORRUPT,
            "'%s', line %lld, column %zu: has a NUL byte: save the table as CSV in UTF-8, or say its --encoding",
            s->csv->name, (long long)s->line, column_number(s, first));
    *more = s->at < s->end && *s->at == s->delimiter;
    s->at += *more;
    if (!*more) {
        s->line += s->at < s->end;
        s->at += line_end(s->at, s->end);
    }
    *last = '\0';
    return add_cell(s->csv, cell);
}

const char *mst_csv_delimiter_hint(const char *header) {
    if (strchr(header, ';')) return "for cells between semicolons say --delimiter ';' (in C: .delimiter)";
    if (strchr(header, '\t')) return "for cells between tabs say --delimiter tab (in C: .delimiter)";
    if (strchr(header, '|')) return "for cells between bars say --delimiter '|' (in C: .delimiter)";
    return "check the delimiter";
}

static mst_status scan_row(scan *s) {
    mst_csv *csv = s->csv;
    const size_t first = csv->num_cells;
    const int64_t line = s->line;
    bool more = true;
    MST_TRY(csv_grow(&csv->line, csv->num_lines, &csv->line_capacity, sizeof *csv->line));
    csv->line[csv->num_lines++] = line;
    while (more) MST_TRY(scan_cell(s, first, &more));
    const size_t count = csv->num_cells - first;
    if (first == 0 && count > MOST_COLUMNS)
        return MST_FAIL(MST_CORRUPT, "'%s', line %lld: %zu columns, at most %d are possible", csv->name,
                        (long long)line, count, MOST_COLUMNS);
    if (first == 0) csv->num_columns = (int)count;
    if (count != (size_t)csv->num_columns)
        return MST_FAIL(MST_CORRUPT, "'%s', line %lld: has %zu column%s, the %s has %d: %s", csv->name, (long long)line,
                        count, count == 1 ? "" : "s", csv->header_rows ? "header" : "first row", csv->num_columns,
                        *csv->cell[0] == '#'
                            ? "if lines that begin with # are comments, say --comment '#' (in C: .comment)"
                        : csv->num_columns == 1 ? mst_csv_delimiter_hint(csv->cell[0])
                                                : "check quotes and delimiters");
    return MST_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_like_number(const char *text) {
    return strspn(text, "0123456789.,+-eE ") == strlen(text);
}

/* Checks that no two columns have the same name. Columns may have no name: pandas writes its index in such a column. */
static mst_status check_header(const mst_csv *csv) {
    const size_t n = (size_t)csv->num_columns;
    char **name = malloc(n * sizeof *name);
    if (!name) return MST_NO_MEMORY("to read '%s'", csv->name);
    memcpy(name, csv->header, n * sizeof *name);
    qsort(name, n, sizeof *name, compare_names);
    mst_status status = MST_OK;
    char shown[MST_CSV_SHOWN];
    for (size_t i = 1; i < n && !status; i++)
        if (*name[i] && strcmp(name[i - 1], name[i]) == 0)
            status = MST_FAIL(
                MST_CORRUPT, "'%s', line %lld: two columns have the name %s: rename one%s", csv->name,
                (long long)csv->line[0], mst_csv_show(name[i], shown),
                is_like_number(name[i]) ? ", or if the table has no header, say --no-header (in C: .no_header)" : "");
    free(name);
    return status;
}

/* Whether column I has neither a name nor a cell with text, for example because each row ends with a delimiter. */
static bool is_hollow(const mst_csv *csv, int i) {
    for (size_t row = 0; row < csv->num_lines; row++)
        if (*csv->cell[row * (size_t)csv->width + (size_t)i]) return false;
    return true;
}

/* Sets the names of the columns: those of the header, or without a header the numbers from 1. */
static mst_status name_columns(mst_csv *csv) {
    enum { NUMBER_SIZE = 8 };
    _Static_assert(MOST_COLUMNS < 10000000, "a number fits");
    const size_t n = (size_t)csv->num_columns;
    if (csv->header_rows) {
        csv->header = csv->cell;
        return check_header(csv);
    }
    char **names = csv->header = malloc(n * (sizeof *names + NUMBER_SIZE)); /* n pointers, then n texts */
    if (!names) return MST_NO_MEMORY("for the names of %zu columns", n);
    for (size_t i = 0; i < n; i++) {
        names[i] = (char *)(names + n) + i * NUMBER_SIZE;
        snprintf(names[i], NUMBER_SIZE, "%zu", i + 1);
    }
    return MST_OK;
}

/* If the line at s->at is blank or a comment, moves S past it and returns true; else returns false. */
static bool skip_line(scan *s) {
    if (s->comment && *s->at == s->comment)
        while (s->at < s->end && !line_end(s->at, s->end)) s->at++;
    else if (!line_end(s->at, s->end))
        return false;
    s->at += line_end(s->at, s->end);
    s->line++;
    return true;
}

static mst_status scan_rows(scan *s) {
    enum { LINES = 4096 }; /* progress is reported after so many lines */
    mst_status status = MST_OK;
    mst_long_work_begin(MST_LONG_WORK_READING, s->csv->name, NULL, s->csv->size);
    while (s->at < s->end && !status) {
        if (!skip_line(s)) status = scan_row(s);
        if (s->line % LINES == 0) mst_long_work_step((uint64_t)(s->at - s->csv->text));
    }
    mst_long_work_end();
    return status;
}

static mst_status scan_all(mst_csv *csv, const mst_csv_format *format) {
    scan s = {.csv = csv,
              .at = csv->text + mst_utf8_mark_size(csv->text, csv->size),
              .end = csv->text + csv->size,
              .delimiter = format->delimiter ? format->delimiter : MST_CSV_DELIMITER,
              .comment = format->comment,
              .line = 1};
    MST_TRY(scan_rows(&s));
    if (!csv->num_columns)
        return MST_FAIL(MST_CORRUPT, "'%s': is empty: %s", csv->name,
                        csv->header_rows ? "a header with names of columns is due" : "rows are due");
    if (csv->num_lines <= csv->header_rows) return MST_FAIL(MST_CORRUPT, "'%s': has a header and no rows", csv->name);
    csv->width = csv->num_columns;
    while (csv->num_columns > 1 && is_hollow(csv, csv->num_columns - 1)) csv->num_columns--;
    return name_columns(csv);
}

static mst_status check_format(const char *name, const mst_csv_format *format) {
    const char delimiter = format->delimiter ? format->delimiter : MST_CSV_DELIMITER, comment = format->comment;
    if (strchr("\"\n\r", delimiter))
        return MST_FAIL(MST_INVALID, "'%s': the delimiter of a CSV file can be no quote and no line end", name);
    if (comment && (strchr("\"\n\r", comment) || comment == delimiter))
        return MST_FAIL(MST_INVALID,
                        "'%s': the character of comments can be no quote, no line end and not the delimiter", name);
    return MST_OK;
}

/* Parses TEXT of SIZE bytes, which has room for one more. The result owns TEXT. */
static mst_status csv_parse(const char *name, char *text, size_t size, const mst_csv_format *format, mst_csv **out) {
    mst_csv *csv = calloc(1, sizeof *csv);
    *out = NULL;
    if (!csv || !(csv->name = strdup(name))) {
        free(csv);
        free(text);
        return MST_NO_MEMORY("to read '%s'", name);
    }
    csv->text = text;
    csv->size = size;
    csv->header_rows = format->no_header ? 0 : 1;
    mst_status status = check_format(name, format);
    if (!status) status = mst_encoding_decode(name, format->encoding, &csv->text, &csv->size);
    if (!status) status = scan_all(csv, format);
    if (status)
        mst_csv_close(csv);
    else
        *out = csv;
    return status;
}

mst_status mst_csv_parse(const char *name, const void *data, size_t size, const mst_csv_format *format, mst_csv **out) {
    char *text = malloc(size + 1);
    *out = NULL;
    if (!text) return MST_NO_MEMORY("to read '%s'", name);
    if (size) memcpy(text, data, size);
    return csv_parse(name, text, size, format, out);
}

/* Text that grows while it is read, with room for at least one more byte. */
typedef struct growing_text {
    char *data;
    size_t size, capacity;
} growing_text;

static mst_status growing_text_extend(growing_text *t, const char *name) {
    if (t->capacity - t->size > READ_AHEAD) return MST_OK;
    const size_t more = 2 * t->capacity + 2 * READ_AHEAD;
    char *grown = realloc(t->data, more);
    if (!grown) return MST_NO_MEMORY("to read '%s'", name);
    t->data = grown;
    t->capacity = more;
    return MST_OK;
}

static mst_status inflate_all(const char *name, const growing_text *from, growing_text *to) {
    mst_bytes bytes;
    mst_stream *stream = NULL;
    size_t got = READ_AHEAD;
    MST_TRY(mst_bytes_of_memory(name, from->data, from->size, &bytes));
    mst_status status = mst_stream_create(&bytes, 0, from->size, MST_STREAM_GZIP, &stream);
    while (!status && got == READ_AHEAD) {
        status = growing_text_extend(to, name);
        if (!status) status = mst_stream_read(stream, to->data + to->size, READ_AHEAD, &got);
        if (!status) to->size += got;
    }
    mst_stream_destroy(stream);
    mst_bytes_close(&bytes);
    return status;
}

/* Reads the file at PATH, or standard input. A file that begins like gzip is decompressed. */
static mst_status csv_read_bytes(const char *path, const char *name, growing_text *t) {
    void *data;
    /* both functions allocate one more byte than they read */
    MST_TRY(mst_standard_input_is(path) ? mst_standard_input_read(&data, &t->size)
                                        : mst_file_read(path, PTRDIFF_MAX, &data, &t->size));
    t->data = data;
    if (t->size < 2 || memcmp(t->data, "\x1f\x8b", 2) != 0) return MST_OK;
    growing_text plain = {0};
    const mst_status status = inflate_all(name, t, &plain);
    free(t->data);
    *t = plain;
    return status;
}

static mst_status read_one(const char *path, const mst_csv_format *format, mst_csv **out) {
    const char *name = mst_standard_input_name(path);
    growing_text text = {0};
    *out = NULL;
    const mst_status status = csv_read_bytes(path, name, &text);
    if (!status) return csv_parse(name, text.data, text.size, format, out);
    free(text.data);
    return status;
}

/* ---- several files ---- */

static mst_status fail_columns(const mst_csv *csv, int column, const mst_csv *other) {
    char shown[MST_CSV_SHOWN];
    return MST_FAIL(MST_INVALID, "'%s': has no column %s, which '%s' has: the tables of a list need the same columns",
                    other->name, mst_csv_show(csv->header[column], shown), csv->name);
}

/* Finds the columns of CSV in NEXT, where their order may differ: column i of CSV is column place[i] of NEXT. */
static mst_status match_columns(const mst_csv *csv, const mst_csv *next, int *place) {
    int ignored;
    for (int i = 0; i < csv->num_columns; i++)
        if (mst_csv_find(next, csv->header[i], &place[i])) return fail_columns(csv, i, next);
    for (int i = 0; i < next->num_columns && next->num_columns > csv->num_columns; i++)
        if (mst_csv_find(csv, next->header[i], &ignored)) return fail_columns(next, i, csv);
    return MST_OK;
}

static mst_status append_rows(mst_csv *csv, const mst_csv *next, const int *place) {
    static char nothing[1];
    for (size_t row = next->header_rows; row < next->num_lines; row++) {
        MST_TRY(csv_grow(&csv->line, csv->num_lines, &csv->line_capacity, sizeof *csv->line));
        csv->line[csv->num_lines++] = next->line[row];
        for (int i = 0; i < csv->width; i++) {
            char *cell = i < csv->num_columns ? next->cell[row * (size_t)next->width + (size_t)place[i]] : nothing;
            MST_TRY(add_cell(csv, cell));
        }
    }
    return MST_OK;
}

/* Adds the rows of NEXT to CSV, which then owns NEXT. LAST is the file that was added before NEXT; at first CSV. */
static mst_status append_file(mst_csv *csv, mst_csv *last, mst_csv *next) {
    last->next = next;
    last->num_own = last == csv ? csv->num_lines : last->num_lines - last->header_rows;
    int *place = malloc((size_t)csv->num_columns * sizeof *place);
    if (!place) return MST_NO_MEMORY("for %d columns", csv->num_columns);
    mst_status status = match_columns(csv, next, place);
    if (!status) status = append_rows(csv, next, place);
    if (!status && csv->header_rows) csv->header = csv->cell; /* it may have been moved */
    free(place);
    return status;
}

mst_status mst_csv_read(const char *path, const mst_csv_format *format, mst_csv **out) {
    mst_csv *csv = NULL, *last = NULL, *next = NULL;
    char *one = NULL;
    *out = NULL;
    if (!mst_path_list_is(path)) return read_one(path, format, out);
    mst_status status = MST_OK;
    for (const char *rest = path; rest && !status; last = status ? last : next) {
        status = mst_path_list_next(&rest, &one);
        if (!status) status = read_one(one, format, &next);
        if (!status && csv) status = append_file(csv, last, next);
        if (!status && !csv) csv = next;
    }
    free(one);
    if (status)
        mst_csv_close(csv);
    else
        *out = csv;
    return status;
}

void mst_csv_close(mst_csv *csv) {
    if (!csv) return;
    free(csv->name);
    free(csv->text);
    free(csv->cell);
    free(csv->line);
    if (!csv->header_rows) free(csv->header);
    mst_csv_close(csv->next);
    free(csv);
}

const char *mst_csv_name(const mst_csv *csv) {
    return csv->name;
}

int64_t mst_csv_num_rows(const mst_csv *csv) {
    return (int64_t)(csv->num_lines - csv->header_rows);
}

int mst_csv_num_columns(const mst_csv *csv) {
    return csv->num_columns;
}

bool mst_csv_has_hollow(const mst_csv *csv) {
    return csv->num_columns < csv->width;
}

const char *mst_csv_header(const mst_csv *csv, int column) {
    return csv->header[column];
}

const char *mst_csv_show(const char *cell, char *text) {
    const size_t size = strlen(cell);
    size_t used = 0, done = 0;
    text[used++] = '\'';
    while (done < size && used + sizeof "...'" + MST_ESCAPE_TEXT < MST_CSV_SHOWN) {
        char one[MST_ESCAPE_TEXT];
        const size_t bytes = mst_escape(cell + done, size - done, one), length = strnlen(one, sizeof one);
        memcpy(text + used, one, length);
        used += length;
        done += bytes;
    }
    snprintf(text + used, MST_CSV_SHOWN - used, "%s'", done < size ? "..." : "");
    return text;
}

/* Writes "'a', 'b', ..." to TEXT. */
static const char *list_columns(const mst_csv *csv, char *text, size_t size) {
    char shown[MST_CSV_SHOWN];
    size_t used = 0;
    int i = 0;
    *text = '\0';
    for (; i < csv->num_columns && used + MST_CSV_SHOWN + sizeof ", , ..." < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", mst_csv_show(csv->header[i], shown));
    if (i < csv->num_columns) snprintf(text + used, size - used, ", ...");
    return text;
}

mst_status mst_csv_find(const mst_csv *csv, const char *name, int *column) {
    char text[LIST_TEXT], shown[MST_CSV_SHOWN];
    for (*column = 0; *column < csv->num_columns; ++*column)
        if (strcmp(csv->header[*column], name) == 0) return MST_OK;
    const bool is_one = csv->num_columns == 1 && strpbrk(csv->cell[0], ";\t|");
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no column %s: its columns are %s%s%s", csv->name,
                    mst_csv_show(name, shown), list_columns(csv, text, sizeof text), is_one ? ": " : "",
                    is_one ? mst_csv_delimiter_hint(csv->cell[0]) : "");
}

const char *mst_csv_cell(const mst_csv *csv, int64_t row, int column) {
    return csv->cell[((size_t)row + csv->header_rows) * (size_t)csv->width + (size_t)column];
}

const char *mst_csv_place(const mst_csv *csv, int64_t row, int column, char *text) {
    char shown[MST_CSV_SHOWN];
    const mst_csv *file = csv; /* becomes the file that has the row */
    size_t left = (size_t)row + csv->header_rows;
    for (; file->next && left >= file->num_own; file = file->next) left -= file->num_own;
    snprintf(text, MST_CSV_PLACE, "'%.500s', line %lld, column %s", file->name,
             (long long)csv->line[(size_t)row + csv->header_rows], mst_csv_show(csv->header[column], shown));
    return text;
}
