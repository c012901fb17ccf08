/** Writing of datasets: one file of this folder for each kind of data spec that can be written, write_NAME.c, with its
 *  mst_data_writer; the build makes the table of them. */
#ifndef MUSTER_DATA_WRITERS_WRITE_H
#define MUSTER_DATA_WRITERS_WRITE_H

#include "data/dataset.h"

typedef struct mst_data_writer {
    const char *name; /**< with the colon */
    const char *form; /**< "npz:FILE" */
    bool has_shards;
    /** Writes both parts; TEST may be NULL. ARGUMENT is what follows the colon. */
    mst_status (*write)(const char *argument, mst_dataset *train, mst_dataset *test, const mst_write_options *options);
} mst_data_writer;

/** All of them, ended by NULL. */
extern const mst_data_writer *const mst_data_writer_table[];

/** All rows of component I of DATASET, as one tensor. */
MST_CHECKED mst_status mst_write_gather(mst_dataset *dataset, int i, mst_tensor **out);

#endif
