/** Files of whole models in the commands: FILE.keras, FILE.h5, FILE.onnx and FILE.json give the network itself, in
 *  place of one that the command makes. */
#ifndef MUSTER_CLI_MODEL_NETWORK_FILE_H
#define MUSTER_CLI_MODEL_NETWORK_FILE_H

#include "muster/checkpoint.h"
#include "muster/model_file.h"

/** What the endings of their names are, for help and errors. */
#define NETWORK_FILES "FILE.keras, FILE.h5, FILE.onnx or FILE.json"

/** Whether PATH, which may be NULL, ends as such a file: what a new file becomes. */
bool network_file_is_named(const char *path);
/** The same, or there is a file of another name that begins as one of Keras or ONNX does. */
bool network_file_is(const char *path);

/** Whether there is a file of ONNX at PATH, by its first bytes. */
bool network_file_is_onnx(const char *path);

/** Whether the weights of MODEL have values. */
MST_CHECKED mst_status network_has_weights(mst_model *model, bool *out);

/** The rows of the embedding whose weights come first in MODEL; 0 where others do. */
MST_CHECKED mst_status network_tokens(mst_model *model, int64_t *out);

/** What was restored where MODEL came whole from PATH: all of it, at the step that its store has. */
MST_CHECKED mst_status network_restored(const char *path, mst_model *model, mst_restored *out);

#endif
