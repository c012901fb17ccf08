/** Sources that read records from one or more files, named by paths or patterns. There are two ways of reading:
 *
 *      plain files        indexed when the dataset is made: rows are numbered file by file and read by their number,
 *                         consecutive records together
 *      compressed files   can only be read forward: the cursor reads them, numbers rows as they come, and holds each
 *                         record in a pool until it is forgotten
 *
 *  If one file is compressed, all of them are read forward; the option `forward` has the same effect.
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
    bool numbers_records;    /**< messages name a record by its number in the file, from 1, where that is known */
    mst_spec row;            /**< dtype and shape of a record */

    /** Opens a reader that reads from front to back. *READER is NULL on failure. */
    mst_status (*open)(const char *path, void **reader);
    void (*close)(void *reader);
    bool (*is_compressed)(const void *reader);
    /** Reads the next record, valid until the next call. Its data is NULL at the end. */
    mst_status (*next)(void *reader, mst_record *record);
    /** Skips one record. *SKIPPED: 1, or 0 at the end. */
    mst_status (*skip)(void *reader, int64_t *skipped);
    /** After MST_CORRUPT, continues after the damage. NULL if damaged records cannot be skipped. */
    mst_status (*recover)(void *reader);

    /** Finds the places of the records in the plain file at PATH. With CHECK, all data is read and checked too, and up
     *  to MOST_CORRUPT damaged places are skipped. A format without checksums ignores both. */
    mst_status (*index)(const char *path, bool check, int64_t most_corrupt, mst_record_index *out);
    size_t frame_size; /**< bytes of a record in the file in addition to its data */
    /** Takes the record at PLACE of file NAME out of BYTES, its bytes in the file including the frame. */
    mst_status (*unframe)(const char *name, const mst_record_place *place, const uint8_t *bytes, mst_record *record);
} mst_record_format;

typedef struct mst_record_files {
    mst_dataset base;
    const mst_record_format *format;
    mst_tfrecord_options options; /**< for all record formats; cycle and block are at least 1 */
    int num_files;
    char **path;
    bool forward;            /**< files are only read forward, and rows are numbered as they are read; false: rows are
                              *   numbered file by file */
    mst_record_index *index; /**< [num_files]; NULL when forward */
    int64_t *first;          /**< first row of each file; first[num_files] is the number of rows; NULL when forward */
} mst_record_files;

/** One of the files that are read in turn (mst_turns). */
typedef struct mst_record_files_slot {
    int64_t position; /**< number of records already read from it */
    void *reader;     /**< when forward; NULL until the file is first read */
} mst_record_files_slot;

typedef struct mst_record_files_cursor {
    mst_cursor base;
    mst_turns turns;             /**< which file is read next */
    mst_record_files_slot *slot; /**< [turns.num_slots] */
    int64_t number;              /**< when forward: number of the next row */
    mst_record_pool pool;        /**< when forward: the records that are held */
} mst_record_files_cursor;

/** Makes the dataset of N paths or patterns. Error messages begin with format->source.name. */
MST_CHECKED mst_status mst_record_files_create(const mst_record_format *format, const char *const *paths, int n,
                                               const mst_tfrecord_options *options, mst_dataset **out);

/** The mst_dataset_type of a source of record files, named NAME. */
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
