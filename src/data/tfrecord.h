/** The source of TFRecord files: what its dataset and its cursor share. */
#ifndef MUSTER_DATA_TFRECORD_H
#define MUSTER_DATA_TFRECORD_H

#include "data/dataset.h"
#include "data/record_pool.h"
#include "data/turns.h"
#include "format/tfrecord.h"

typedef struct mst_tfrecord_source {
    mst_dataset base;
    mst_tfrecord_options options; /**< with cycle and block at least 1 */
    int num_files;
    char **path;
    bool forward;              /**< rows are numbered in the order in which they come; else file by file */
    mst_tfrecord_index *index; /**< of each file; NULL: forward */
    int64_t *first;            /**< row of each file, and the number of rows at the end */
} mst_tfrecord_source;

/** A file whose turn comes again. */
typedef struct mst_tfrecord_slot {
    int64_t position;            /**< records that it has given */
    mst_tfrecord_reader *reader; /**< forward, once it is read */
} mst_tfrecord_slot;

typedef struct mst_tfrecord_cursor {
    mst_cursor base;
    mst_turns turns; /**< of files */
    mst_tfrecord_slot *slot;
    int64_t number; /**< forward: of the next row */
    mst_record_pool pool;
} mst_tfrecord_cursor;

MST_CHECKED mst_status mst_tfrecord_cursor_open(const mst_dataset *dataset, mst_cursor **out);
/** The file of row ROW, which must be one of an indexed source. */
int mst_tfrecord_file_of(const mst_tfrecord_source *source, int64_t row);

#endif
