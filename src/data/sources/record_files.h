/** Sources of files of records, of any format: files and patterns, the order of records over several files, records by
 *  their number where files are plain, records that are held where they can only be read forward.
 *
 *  A format is one file with its mst_record_format (tfrecord_source.c, lines_source.c).
 */
#ifndef MUSTER_DATA_SOURCES_RECORD_FILES_H
#define MUSTER_DATA_SOURCES_RECORD_FILES_H

#include "data/cursors/turns.h"
#include "data/dataset.h"
#include "data/sources/record_pool.h"
#include "format/record_index.h"

typedef struct mst_record_format {
    mst_dataset_type source; /**< made by MST_RECORD_FILES */
    const char *record;      /**< what messages call a record */
    bool counts;             /**< messages name a record by its number in the file, from 1, where that is known */
    mst_spec row;            /**< of a record */

    /** A reader from front to back. *READER is NULL on failure. */
    mst_status (*open)(const char *path, void **reader);
    void (*close)(void *reader);
    bool (*is_compressed)(const void *reader);
    /** The next record, valid until the next call; its data is NULL at the end. */
    mst_status (*next)(void *reader, mst_record *record);
    /** Passes over one record; *SKIPPED is 0 at the end. */
    mst_status (*skip)(void *reader, int64_t *skipped);
    /** After MST_CORRUPT, goes on behind the damage. NULL where records cannot be left out. */
    mst_status (*recover)(void *reader);

    /** Where the records of a plain file are; CHECK and MOST_CORRUPT as mst_tfrecord_index_open has them. */
    mst_status (*index)(const char *path, bool check, int64_t most_corrupt, mst_record_index *out);
    size_t frame; /**< bytes that a record has in the file beside its data */
    /** The record at PLACE of the file NAME, whose bytes with the frame are at FRAME. */
    mst_status (*unframe)(const char *name, const mst_record_place *place, const uint8_t *frame, mst_record *record);
} mst_record_format;

typedef struct mst_record_files {
    mst_dataset base;
    const mst_record_format *format;
    mst_tfrecord_options options; /**< with cycle and block at least 1 */
    int num_files;
    char **path;
    bool forward;            /**< rows are numbered in the order in which they come; else file by file */
    mst_record_index *index; /**< of each file; NULL: forward */
    int64_t *first;          /**< row of each file, and the number of rows at the end */
} mst_record_files;

/** A file whose turn comes again. */
typedef struct mst_record_files_slot {
    int64_t position; /**< records that it has given */
    void *reader;     /**< forward, once it is read */
} mst_record_files_slot;

typedef struct mst_record_files_cursor {
    mst_cursor base;
    mst_turns turns; /**< of files */
    mst_record_files_slot *slot;
    int64_t number; /**< forward: of the next row */
    mst_record_pool pool;
} mst_record_files_cursor;

/** The dataset of N paths or patterns. Messages name it by the name of FORMAT's source. */
MST_CHECKED mst_status mst_record_files_create(const mst_record_format *format, const char *const *paths, int n,
                                               const mst_tfrecord_options *options, mst_dataset **out);

/** The slots of mst_dataset_type. */
#define MST_RECORD_FILES(NAME)                                                                     \
    {                                                                                              \
        .name = (NAME), .destroy = mst_record_files_destroy, .open = mst_record_files_open_cursor, \
        .read = mst_record_files_read, .explain = mst_record_files_explain                         \
    }
void mst_record_files_destroy(mst_dataset *dataset);
MST_CHECKED mst_status mst_record_files_open_cursor(const mst_dataset *dataset, mst_cursor **out);
MST_CHECKED mst_status mst_record_files_read(const mst_dataset *source, mst_cursor *base, const int64_t *rows,
                                             int64_t count, mst_record_buffer *buffer, mst_record *record);
MST_CHECKED mst_status mst_record_files_explain(const mst_dataset *source, mst_cursor *base, int64_t row);

#endif
