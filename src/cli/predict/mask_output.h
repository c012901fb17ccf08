/** muster predict --out DIR/: a mask for each picture. */
#ifndef MUSTER_CLI_PREDICT_MASK_OUTPUT_H
#define MUSTER_CLI_PREDICT_MASK_OUTPUT_H

#include "cli/model/saved_model.h"
#include "data/pictures/mask_files.h"

/** Whether PATH, the value of --out, names a folder: it ends in a slash, or is a folder. */
bool mask_output_is(const char *path);
/** Names the masks of the pictures of SAVED in FOLDER. ROOTS are the num_roots folders and files that the user named;
 *  none: those of a data spec. MST_INVALID if the model has more than one output or none that is a class for each
 *  pixel, if the data is not of picture files, or if the names of masks do not fit (mst_mask_names_make). Free OUT with
 *  mst_mask_names_free also after a failure. */
MST_CHECKED mst_status mask_output_names(const saved_model *saved, const char *const *roots, int num_roots,
                                         const char *folder, mst_mask_names *out);
/** Predicts the pictures, BATCH_SIZE at a time, and writes the class of each pixel to a PNG in FOLDER, under the name
 *  of the picture and in its size. */
MST_CHECKED mst_status mask_output_write(const saved_model *saved, const mst_mask_names *names, const char *folder,
                                         int64_t batch_size);

#endif
