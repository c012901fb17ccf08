/** What tokens:FILE and lines:FILE share. */
#ifndef MUSTER_DATA_SPEC_TOKENS_PART_H
#define MUSTER_DATA_SPEC_TOKENS_PART_H

#include "muster/dataset.h"

/** Opens the train or the test part of ARGUMENT: a file, or a folder with files train.EXT and test.EXT or val.EXT.
 *  IS_TEXT: the files are text, whatever their names are. OPTIONS may be NULL. */
MST_CHECKED mst_status mst_tokens_part_open(const char *argument, bool is_text, bool test,
                                            const mst_data_options *options, mst_dataset **out);

/** Writes the path of the validation part beside the train part of the folder ARGUMENT to PATH, of SIZE bytes: val.EXT,
 *  validation.EXT or valid.EXT. Returns whether there is one. */
bool mst_tokens_part_validation(const char *argument, bool is_text, char *path, size_t size);

#endif
