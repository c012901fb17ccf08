/** Files of whole models: FILE.keras, FILE.h5, FILE.onnx, FILE.json and folders of Hugging Face contain the network
 *  itself, so the command does not make one. */
#ifndef MUSTER_CLI_MODEL_NETWORK_FILE_H
#define MUSTER_CLI_MODEL_NETWORK_FILE_H

#include "cli/model/model_note.h"
#include "muster/checkpoint.h"
#include "muster/model_file.h"

/** Their names, for help and errors. */
#define NETWORK_FILES "FILE.keras, FILE.h5, FILE.onnx, FILE.json or a folder of Hugging Face"

/** Whether the name PATH, which may be NULL, ends like such a file, or in '/', or is a folder of Hugging Face. This
 *  decides the format of a new file. */
bool network_file_is_named(const char *path);
/** The same for a file or folder that is read; or there is a file at PATH whose first bytes are those of a Keras or
 *  ONNX file. */
bool network_file_is(const char *path);

/** Whether there is an ONNX file at PATH, judged by its first bytes. */
bool network_file_is_onnx(const char *path);

/** Whether the weights of MODEL have values, judged by the first of them; true if it has no weights. */
MST_CHECKED mst_status network_has_weights(mst_model *model, bool *out);

/** Reads the model at PATH and its note. COMPILED may be NULL. MST_INVALID if it has no weights. Destroy *OUT and free
 *  NOTE also after a failure. */
MST_CHECKED mst_status network_load(const char *path, mst_model **out, mst_model_compiled *compiled, model_note *note);

/** The number of rows of the embedding whose weights come first in MODEL; 0 if another layer's weights come first. */
MST_CHECKED mst_status network_tokens(mst_model *model, int64_t *out);

/** Describes the restoring of MODEL if all of it was read from PATH: nothing is missing, and the step is that of its
 *  store. */
MST_CHECKED mst_status network_restored(const char *path, mst_model *model, mst_restored *out);

#endif
