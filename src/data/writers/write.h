/** Writes datasets. Each kind of data spec that can be written has one file in this folder, write_NAME.c. The file
 *  defines its mst_data_writer. The build makes a table of all writers. */
#ifndef MUSTER_DATA_WRITERS_WRITE_H
#define MUSTER_DATA_WRITERS_WRITE_H

#include "data/dataset.h"

typedef struct mst_data_writer {
    const char *name; /**< the beginning of its specs, with the colon: "npz:" */
    const char *form; /**< the whole spec, for messages: "npz:FILE" */
    /** What follows ARGUMENT in the names of the files, ended by NULL. "*" stands for anything. "" is ARGUMENT itself,
     *  if that is a file and not a folder. NULL: ARGUMENT is a folder, which `write` itself refuses to replace. */
    const char *const *files;
    bool has_shards; /**< whether num_shards and compression of the options may be set */
    /** Writes both parts; TEST may be NULL. ARGUMENT is the text after the colon of the spec. */
    mst_status (*write)(const char *argument, mst_dataset *train, mst_dataset *test, const mst_write_options *options);
} mst_data_writer;

/** All writers, ended by NULL. */
extern const mst_data_writer *const mst_data_writer_table[];

/** Collects all rows of component I of DATASET in one tensor, which the caller releases; NULL after a failure.
 *  MST_INVALID if there are no rows. */
MST_CHECKED mst_status mst_write_gather(mst_dataset *dataset, int i, mst_tensor **out);

#endif
