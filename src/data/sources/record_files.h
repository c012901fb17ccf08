/** Sources that read records from one or more files, named by paths or patterns. Two ways of reading:
 *
 *      plain files        indexed when the dataset is made: rows are numbered file by file and read by their number,
 *                         records that follow each other together
 *      compressed files   can only be read forward: the cursor reads them, numbers rows as they come, and holds each
 *                         record in a pool until it is forgotten
 *
 *  One compressed file makes all of them be read forward; so does the option `forward`.
 *
 *  A format is one file with its mst_record_format (tfrecord_source.c, lines_source.c).
 */
#ifndef MUSTER_DATA_SOURCES_RECORD_FILES_H
#define MUSTER_DATA_SOURCES_RECORD_FILES_H

#include "data/cursors/cursor.h"
#include "data/cursors/turns.h"
#include "data/sources/record_pool.h"
#include "format/record_index.h"

typedef struct mst_record_format {
    mst_dataset_type source; /**< made by MST_RECORD_FILES */
    const char *record;      /**< what messages call a record */
    bool numbers_records;    /**< messages name a record by its number in the file, from 1, if that is known */
    mst_spec row;            /**< of a record */

    /** A reader from front to back. *READER is NULL on failure. */
    mst_status (*open)(const char *path, void **reader);
    void (*close)(void *reader);
    bool (*is_compressed)(const void *reader);
    /** The next record, valid until the next call; its data is NULL at the end. */
    mst_status (*next)(void *reader, mst_record *record);
    /** Passes over one record. *SKIPPED: 1, or 0 at the end. */
    mst_status (*skip)(void *reader, int64_t *skipped);
    /** After MST_CORRUPT, goes on after the damage. NULL if records cannot be left out. */
    mst_status (*recover)(void *reader);

    /** Reads where the records of the plain file at PATH are. With CHECK all data is read and checked too, and up to
     *  MOST_CORRUPT damaged places are left out; a format without check sums ignores both. */
    mst_status (*index)(const char *path, bool check, int64_t most_corrupt, mst_record_index *out);
    size_t frame_size; /**< bytes that a record has in the file beside its data */
    /** The record at PLACE of the file NAME, from its BYTES in the file, frame included. */
    mst_status (*unframe)(const char *name, const mst_record_place *place, const uint8_t *bytes, mst_record *record);
} mst_record_format;

typedef struct mst_record_files {
    mst_dataset base;
    const mst_record_format *format;
    mst_tfrecord_options options; /**< also used for other record formats; cycle and block at least 1 */
    int num_files;
    char **path;
    bool forward;            /**< all files are read forward only: rows are numbered as they come; else file by file */
    mst_record_index *index; /**< [num_files]; NULL when forward */
    int64_t *first;          /**< first row of each file; first[num_files] is the number of rows; NULL when forward */
} mst_record_files;

/** One of the files that are open at a time (mst_turns). */
typedef struct mst_record_files_slot {
    int64_t position; /**< records already read from it */
    void *reader;     /**< forward only: NULL until the file is first read */
} mst_record_files_slot;

typedef struct mst_record_files_cursor {
    mst_cursor base;
    mst_turns turns;             /**< which file is read next */
    mst_record_files_slot *slot; /**< [turns.num_slots] */
    int64_t number;              /**< forward only: number that the next row gets */
    mst_record_pool pool;        /**< forward only: records that are held */
} mst_record_files_cursor;

/** The dataset of N paths or patterns. Error messages use format->source.name. */
MST_CHECKED mst_status mst_record_files_create(const mst_record_format *format, const char *const *paths, int n,
                                               const mst_tfrecord_options *options, mst_dataset **out);

/** The slots of mst_dataset_type. */
#define MST_RECORD_FILES(NAME)                                                                                    \
    {                                                                                                             \
        .name = (NAME), .destroy = mst_record_files_destroy, .open = mst_record_files_open_cursor,                \
        .read = mst_record_files_read, .explain = mst_record_files_explain, .contents = mst_record_files_contents \
    }
void mst_record_files_destroy(mst_dataset *dataset);
MST_CHECKED mst_status mst_record_files_open_cursor(const mst_dataset *dataset, mst_cursor **out);
MST_CHECKED mst_status mst_record_files_read(const mst_dataset *source, mst_cursor *base, const int64_t *rows,
                                             int64_t count, mst_record_buffer *buffer, mst_record *record);
MST_CHECKED mst_status mst_record_files_explain(const mst_dataset *source, mst_cursor *base, int64_t row);
uint64_t mst_record_files_contents(const mst_dataset *source);

#endif
