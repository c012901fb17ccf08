/** Files of whole models: FILE.keras, FILE.h5, FILE.onnx, FILE.json and folders of Hugging Face. They contain the
 *  network itself, so the command does not make one. */
#ifndef MUSTER_CLI_MODEL_NETWORK_FILE_H
#define MUSTER_CLI_MODEL_NETWORK_FILE_H

#include "cli/model/model_note.h"
#include "muster/checkpoint.h"
#include "muster/model_file.h"

/** Their names, for help and errors. */
#define NETWORK_FILES "FILE.keras, FILE.h5, FILE.onnx, FILE.json or a folder of Hugging Face"

/** Whether PATH names such a file: it ends in one of these suffixes or in '/', or is a folder of Hugging Face. For a
 *  file to be written, this decides its format. PATH may be NULL. */
bool network_file_is_named(const char *path);
/** The same for a file or folder that is read. Also true if there is a file at PATH that begins as a Keras or ONNX file
 *  does. */
bool network_file_is(const char *path);

/** Whether there is an ONNX file at PATH, judged by its first bytes. */
bool network_file_is_onnx(const char *path);

/** Sets OUT to whether the first weight of MODEL has a value; true if MODEL has no weights. */
MST_CHECKED mst_status network_has_weights(mst_model *model, bool *out);

/** Reads the model at PATH, its losses and optimizer (COMPILED, which may be NULL) and the note of `muster train`.
 *  MST_INVALID if it has no weights. Destroy *OUT and free NOTE also after a failure. */
MST_CHECKED mst_status network_load(const char *path, mst_model **out, mst_model_compiled *compiled, model_note *note);

/** Sets OUT to the number of rows of the embedding with which MODEL begins; 0 if the first layer with weights is
 *  another one. */
MST_CHECKED mst_status network_tokens(mst_model *model, int64_t *out);

/** Fills OUT, which reports what was restored, for a MODEL that was read from PATH as a whole: nothing is missing, and
 *  the step is the step in its store. */
MST_CHECKED mst_status network_restored(const char *path, mst_model *model, mst_restored *out);

#endif
