/** Writes a snapshot that was read from a file to a store, by the names of its entries. */
#ifndef MUSTER_TRAIN_RESTORE_H
#define MUSTER_TRAIN_RESTORE_H

#include "muster/checkpoint.h"

/** As mst_checkpoint_restore, with FILE, which was read from PATH. Sets all of *OUT except path and damaged. */
MST_CHECKED mst_status mst_restore_snapshot(const char *path, const mst_snapshot *file, mst_store *store,
                                            const mst_restore_options *options, mst_restored *out);

#endif
