/** Whole models in files: network, weights and, if wanted, the optimizer's state. The formats are those of Keras, ONNX,
 *  and folders of Hugging Face.
 *
 *      MST_TRY(mst_model_load("flowers.keras", &model, NULL));
 *      ...
 *      MST_TRY(mst_model_save(model, "flowers.keras", .optimizer = &optimizer));
 *
 *  `.keras`, `.h5` and `.weights.h5` files need the module `hdf5` (libhdf5); `.onnx` files and folders of Hugging Face
 *  need none. Nothing of a file is ever executed: layers that are code, such as Keras' Lambda, are an error that names
 *  them.
 */
#ifndef MUSTER_MODEL_FILE_H
#define MUSTER_MODEL_FILE_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/loss.h"
#include "muster/model.h"
#include "muster/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The loss of one output of a model with several. */
typedef struct mst_output_loss {
    bool has_loss; /**< false: the loss is not known, or Muster does not have it */
    mst_loss loss;
    bool from_probabilities; /**< as in mst_target */
    double weight;           /**< as in mst_target; 0: not given */
} mst_output_loss;

enum { MST_OTHER_NAME = 48, MST_OPTIMIZER_NOTE = 128, MST_METRIC_NAMES = 256 };
/** What a file contains beside the model. */
typedef struct mst_model_compiled {
    bool has_loss, has_optimizer; /**< the file has a loss, or an optimizer, that Muster also has */
    mst_loss loss;
    bool from_probabilities;  /**< for mst_compile: true for Keras' losses without from_logits */
    mst_optimizer optimizer;  /**< for mst_compile; the model's store has its state, if the file does */
    bool has_optimizer_state; /**< the file has the optimizer's state: training can go on from it */
    /** For a model with several outputs: what the file says of the loss of each, in the order of the outputs. has_loss
     *  is then false. */
    mst_output_loss output[MST_MAX_OUTPUTS];
    /** Names of the file's optimizer and losses that Muster does not have, or not with these options. A long name is
     *  cut; "": none. */
    char other_optimizer[MST_OTHER_NAME], other_loss[MST_MAX_OUTPUTS][MST_OTHER_NAME];
    /** If has_optimizer is false: why OTHER_OPTIMIZER is not used, such as "a decay beside a schedule". If it is true:
     *  what is computed differently from what the file says, or "". */
    char optimizer_note[MST_OPTIMIZER_NOTE];
    /** Names of the file's metrics, which Muster does not keep: "'accuracy', 'auc'". A long list is cut; "": none. */
    char metrics[MST_METRIC_NAMES];
    /** Description, for a message, of other parts of the file that the model does not have, such as an output of labels
     *  beside an output of the scores of all classes. "": none. */
    char left_out[MST_METRIC_NAMES];
    bool lacks_state; /**< the file has state of the optimizer that cannot be read: the optimizer starts without it */
} mst_model_compiled;

/** Reads a new model from PATH; *OUT belongs to the caller. Its first bytes decide the kind of file, not its name:
 *
 *  - Keras 2 or 3, Sequential or functional: a `.keras` file, an `.h5` file with a whole model, or the JSON of
 *    `to_json`, which has no weights.
 *  - ONNX with at most MST_MAX_OUTPUTS inputs and outputs. The model has inputs with the names of the file, one layer
 *    `onnx` that reads them, and a layer for each output, with its name. A classifier's output of labels is left out if
 *    the file also has an output of the scores of its classes. Characters that names of layers cannot have become '_'.
 *    Pictures have their channels last, as everywhere in Muster.
 *  - A folder of Hugging Face's GPT-2 or Llama: config.json, and model.safetensors or the files that
 *    model.safetensors.index.json names, all in the folder; F32, F16 and BF16 become f32. The model is the network that
 *    mst_gpt makes, for at most 2,048 positions. docs/huggingface.md lists what is supported.
 *
 *  COMPILED may be NULL. MST_NOT_FOUND if there is no file; MST_CORRUPT if it is damaged or lacks weights;
 *  MST_UNIMPLEMENTED, naming the layer or operator, if Muster does not have it; MST_UNAVAILABLE if the module `hdf5` is
 *  needed and missing. */
MST_API MST_CHECKED mst_status mst_model_load(const char *path, mst_model **out, mst_model_compiled *compiled);

/** Sets MODEL's weights from PATH, all or none. In a `.keras` or `.weights.h5` file of Keras 3, layers must have the
 *  classes of MODEL's, in the same order. In an `.h5` file, only layers with weights must be in the same order. The
 *  shapes of MODEL's inputs must be known, as for mst_model_weights. A folder of Hugging Face is for a network that was
 *  read from one, or made by mst_gpt. */
MST_API MST_CHECKED mst_status mst_model_load_weights(mst_model *model, const char *path);

/** Results of mst_model_load_layers. Texts are lists of names of layers, separated by ", ", or "". */
typedef struct mst_loaded_layers {
    int64_t count;   /**< weights that were set */
    char *missing;   /**< layers of the model that kept their values */
    char *left_over; /**< layers with weights of the file that the model does not have */
} mst_loaded_layers;
/** Frees the texts. */
MST_API void mst_loaded_layers_free(mst_loaded_layers *loaded);

/** Sets the weights of each layer of MODEL for which PATH has a layer with weights and the same name, as Keras'
 *  load_weights with by_name. Transfer learning needs this: it may take all of MobileNetV2 except its last layer. PATH
 *  is any of the files above, or one of keras.applications. If the model in the file contains other models, their
 *  layers are used too. MST_INVALID if the shapes of two layers with the same name differ, unless it is the last layer
 *  of MODEL, which then keeps its values. MST_NOT_FOUND if no names are the same. LOADED may be NULL; otherwise the
 *  caller must free it. The shapes of MODEL's inputs must be known, as for mst_model_weights. */
MST_API MST_CHECKED mst_status mst_model_load_layers(mst_model *model, const char *path, mst_loaded_layers *loaded);

typedef struct mst_model_save_options {
    int zero_;
    const mst_optimizer *optimizer; /**< of the training: saved with its state; default: not saved */
    const mst_loss *loss;           /**< saved for Keras' fit and evaluate; default: none */
    bool from_probabilities;        /**< as in mst_compile */
    /** For a model with several outputs, instead of the two above: [mst_model_num_outputs], one for each output. */
    const mst_output_loss *output_losses;
    bool without_state; /**< only the settings of the optimizer are written, not its state */
    int end_;
} mst_model_save_options;
/** Writes MODEL, and the weights in its store, to PATH, whole or not at all. The ending of PATH decides the kind:
 *
 *  - `.keras` or `.h5`, the whole model, which Keras 3 loads. The file has the notes of the model's store too:
 *    mst_model_load reads them, and Keras ignores them. An `.h5` file has a loss only if it has an optimizer.
 *  - `.weights.h5`, the weights alone, and `.json`, the network alone, which Keras 3 loads too.
 *  - `.onnx`, opset 17, for inference. No options may be set.
 *  - A name that ends in '/', or an existing folder of Hugging Face: a folder of Hugging Face. MODEL must have been
 *    read from such a folder or made by mst_gpt; otherwise MST_UNIMPLEMENTED. No options may be set.
 *
 *  The shapes of MODEL's inputs must be known, and weights that have no value yet are an error. */
MST_API MST_CHECKED mst_status mst_model_save_with(mst_model *model, const char *path, mst_model_save_options options);
#define mst_model_save(model, ...) MST_MODEL_SAVE_(model, __VA_ARGS__, .end_ = 0)
#define MST_MODEL_SAVE_(model, path, ...) \
    mst_model_save_with(model, path, MST_NAMED(mst_model_save_options, __VA_ARGS__))

/* ---- ONNX ------------------------------------------------------------------------------------------ */

/** Reads a new graph from PATH, an ONNX file of opset 13 to 21 with any number of inputs and outputs. *OUT belongs to
 *  the caller; NULL after a failure. The graph has placeholders with the names of the file's inputs, and identities
 *  with the names of its outputs. Its weights are constants. Dimensions are in ONNX's order. If a name is not valid for
 *  a node, the node is called "input" or "output".
 *
 *  MST_UNIMPLEMENTED, naming operator, node and opset, if an operator is not supported (docs/onnx.md lists those that
 *  are). MST_CORRUPT if the file is damaged. Tensors may be in files beside PATH (external data). MST_INVALID if the
 *  names of these files lead out of its folder or through a symbolic link. */
MST_API MST_CHECKED mst_status mst_onnx_read(const char *path, mst_graph **out);
/** As mst_onnx_read, from SIZE bytes at DATA; tensors in other files are MST_UNIMPLEMENTED. */
MST_API MST_CHECKED mst_status mst_onnx_decode(const void *data, size_t size, mst_graph **out);

#ifdef __cplusplus
}
#endif
#endif
