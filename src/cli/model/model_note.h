/** The note about a model that `muster train` writes into checkpoints and files, so that `muster evaluate` and
 *  `muster predict` need not be given the same options again. It is JSON, under the key "muster/train" of the notes.
 *
 *      {"loss": "sparse_categorical_crossentropy", "classes": ["setosa", "virginica"], "data": "csv:iris",
 *       "schema": "...", "options": {"batch-size": "50"}}
 *
 *  Instead of "loss", a model with several outputs has
 *
 *      "outputs": [{"output": "price", "loss": "mean_squared_error", "weight": 0.5}, ...]
 *
 *  where each output may have "classes" too.
 */
#ifndef MUSTER_CLI_MODEL_MODEL_NOTE_H
#define MUSTER_CLI_MODEL_MODEL_NOTE_H

#include <jansson.h>

#include "cli/model/class_names.h"
#include "muster/model_file.h"
#include "muster/store.h"
#include "muster/train.h"

/** The members of a note. NULL, 0 or false: not known. */
typedef struct model_note {
    const char *loss;
    json_t *outputs;         /**< filled by model_note_add_output; in a note that was read, part of `json` */
    const char *data;        /**< data spec */
    const char *network;     /**< Keras' JSON; NULL: an mlp, whose layers follow from the shapes of its weights */
    bool from_probabilities; /**< the loss takes probabilities, though no softmax makes them */
    const char *schema;      /**< mst_dataset_schema of the train part */
    const char *const *classes;
    int64_t image_size;
    bool raw_pixels;                      /**< u8 inputs stay 0 to 255 */
    const char *pixels;                   /**< the value of --pixels: "-1..1", "torch" or "caffe"; NULL: another one */
    bool divides_pixels[MST_MAX_TARGETS]; /**< of each input: it was u8, and was divided by 255 */
    bool encodes_columns;                 /**< the model begins with the layers of a table's columns */
    json_t *options;                      /**< the result of noted_options (cli/train/noted_options.h) */
    json_t *json;                         /**< in a note that was read: the whole note, into which members point */
    class_names names;                    /**< in a note that was read: owns the names of `classes` */
} model_note;

/** Adds the loss of one of several outputs to the array OUTPUTS, and its names of classes unless CLASSES is NULL. */
void model_note_add_output(json_t *outputs, const char *output, const mst_output_loss *loss,
                           const char *const *classes);
/** The loss that NOTE has for the output of this name; has_loss is false if it has none. */
mst_output_loss model_note_output(const model_note *note, const char *output);
/** The names of classes that NOTE has for the output of this name; NULL: none. */
MST_CHECKED mst_status model_note_output_names(const model_note *note, const char *output, class_names *out);
/** The value of the option NAME in the training of NOTE; NULL: it was not given there. */
const char *model_note_option(const model_note *note, const char *name);
MST_CHECKED mst_status model_note_write(const model_note *note, mst_store *store);
/** Reads the note of STORE; OUT is empty if it has none. MST_CORRUPT: it is damaged. Free OUT after a failure too. */
MST_CHECKED mst_status model_note_read(mst_store *store, model_note *out);
void model_note_free(model_note *note);

#endif
