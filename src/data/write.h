/** Writing of datasets: one file of this folder for each kind of data spec that can be written, write_NAME.c, with its
 *  mst_data_writer, which is declared below and listed in write.c. */
#ifndef MUSTER_DATA_WRITE_H
#define MUSTER_DATA_WRITE_H

#include "data/dataset.h"

typedef struct mst_data_writer {
    const char *name; /**< with the colon */
    const char *form; /**< "npz:FILE" */
    bool has_shards;
    /** Writes both parts; TEST may be NULL. ARGUMENT is what follows the colon. */
    mst_status (*write)(const char *argument, mst_dataset *train, mst_dataset *test, const mst_write_options *options);
} mst_data_writer;

extern const mst_data_writer mst_data_writer_tfrecord, mst_data_writer_npz, mst_data_writer_idx;

/** All rows of component I of DATASET, as one tensor. */
MST_CHECKED mst_status mst_write_gather(mst_dataset *dataset, int i, mst_tensor **out);

#endif
