/** Whole models in files: network, weights and, if asked, the optimizer's state, as Keras keeps them.
 *
 *      MST_TRY(mst_model_load("flowers.keras", &model, NULL));
 *      ...
 *      MST_TRY(mst_model_save(model, "flowers.keras", .optimizer = &optimizer));
 *
 *  `.keras`, `.h5` and `.weights.h5` files need the module `hdf5` (libhdf5); `.onnx` files need none. Nothing of a file
 *  is ever executed: layers that are code, such as Keras' Lambda, are an error that names them.
 */
#ifndef MUSTER_MODEL_FILE_H
#define MUSTER_MODEL_FILE_H

#include "muster/loss.h"
#include "muster/model.h"
#include "muster/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The loss of one output of a model with several. */
typedef struct mst_output_loss {
    bool has_loss; /**< false: it is not known, or none that Muster has */
    mst_loss loss;
    bool from_probabilities; /**< as of mst_target */
    double weight;           /**< likewise; 0: not given */
} mst_output_loss;

enum { MST_OTHER_NAME = 48, MST_OPTIMIZER_NOTE = 128, MST_METRIC_NAMES = 256 };
/** What a file has beside the model. */
typedef struct mst_model_compiled {
    bool has_loss, has_optimizer; /**< that Muster has too */
    mst_loss loss;
    bool from_probabilities;  /**< likewise for mst_compile: Keras' loss without from_logits */
    mst_optimizer optimizer;  /**< for mst_compile; its state is in the model's store, where the file has it */
    bool has_optimizer_state; /**< training goes on from where it stood */
    /** What the file says of the loss of each output, by its place, where the model has several; then has_loss is
     *  false. */
    mst_output_loss output[MST_MAX_OUTPUTS];
    /** The optimizer, and the loss of each output, of the file where Muster has none such, or not with its options: its
     *  name, cut where it is long; "": none. */
    char other_optimizer[MST_OTHER_NAME], other_loss[MST_MAX_OUTPUTS][MST_OTHER_NAME];
    /** Without has_optimizer: why OTHER_OPTIMIZER is not used, "a decay beside a schedule". With it: what is computed
     *  in another way than the file says, or "". */
    char optimizer_note[MST_OPTIMIZER_NOTE];
    /** The metrics of the file, which Muster does not keep: their names, "'accuracy', 'auc'", cut where they are long;
     *  "": none. */
    char metrics[MST_METRIC_NAMES];
    bool lacks_state; /**< the file has state of the optimizer that cannot be read: the optimizer starts without it */
} mst_model_compiled;

/** A new model from PATH, which is the caller's: a `.keras` file, an `.h5` file with a whole model, or, without
 *  weights, the JSON of `to_json`; of Keras 2 or 3, Sequential or functional; or a file of ONNX with at most
 *  MST_MAX_OUTPUTS inputs and outputs. That becomes inputs with the names of the file, one layer `onnx` that reads
 *  them, and a layer for each output, with its name. '_' replaces what names of layers cannot have, and pictures have
 *  their channels last as everywhere here. The first bytes of the file say what it is, not its name. COMPILED may be
 *  NULL.
 *  MST_NOT_FOUND where there is no file, MST_CORRUPT where it is damaged or has not all weights, MST_UNIMPLEMENTED,
 *  naming it, where a layer or an operator is not known here, MST_UNAVAILABLE where the module `hdf5` is not there. */
MST_API MST_CHECKED mst_status mst_model_load(const char *path, mst_model **out, mst_model_compiled *compiled);

/** Sets MODEL's weights from PATH: a `.keras` or `.weights.h5` file of Keras 3, whose layers are of the same classes
 *  in the same order, or an `.h5` file, whose layers with weights are in the same order. All or none. The shapes of
 *  MODEL's inputs must be known, as for mst_model_weights. */
MST_API MST_CHECKED mst_status mst_model_load_weights(mst_model *model, const char *path);

/** What mst_model_load_layers has found. Texts are lists of names of layers, with ", " between them, or "". */
typedef struct mst_loaded_layers {
    int64_t count;   /**< weights that were set */
    char *missing;   /**< layers of the model that kept their values */
    char *left_over; /**< layers with weights of the file that the model does not have */
} mst_loaded_layers;
/** Frees the texts. */
MST_API void mst_loaded_layers_free(mst_loaded_layers *loaded);

/** Sets the weights of those layers of MODEL that a layer with weights of PATH has the name of, as Keras' load_weights
 *  with by_name: what transfer learning takes over, such as all of MobileNetV2 but its last layer. PATH is any of these
 *  files, those of keras.applications among them; layers of models inside of its model count too. MST_INVALID where
 *  such a layer has other shapes, but for the last layer of MODEL, which keeps its values then; MST_NOT_FOUND where no
 *  layer has such a name. LOADED may be NULL; else it is the caller's to free. The shapes of MODEL's inputs must be
 *  known, as for mst_model_weights. */
MST_API MST_CHECKED mst_status mst_model_load_layers(mst_model *model, const char *path, mst_loaded_layers *loaded);

typedef struct mst_model_save_options {
    int zero_;
    const mst_optimizer *optimizer; /**< that of the training: it and its state are saved too; default: they are not */
    const mst_loss *loss;           /**< noted beside it, for Keras' fit and evaluate; default: none */
    bool from_probabilities;        /**< as of mst_compile */
    /** In place of both, of a model with several outputs: [mst_model_num_outputs], of each by its place. */
    const mst_output_loss *output_losses;
    bool without_state; /**< only the settings of the optimizer are written, not its state */
    int end_;
} mst_model_save_options;
/** Writes MODEL, and the weights in its store, to PATH, whole or not at all: by the ending a `.keras` or `.h5` file, a
 *  `.weights.h5` file, or `.json`, the network alone, which Keras 3 loads; or `.onnx`, opset 17, which is for inference
 *  and has none of the options. The shapes of MODEL's inputs must be known,
 *  and weights that have no value yet are an error. A `.keras` and an `.h5` file have the notes of the model's store
 *  too, which mst_model_load reads and Keras leaves alone; an `.h5` file has a loss beside an optimizer only. */
MST_API MST_CHECKED mst_status mst_model_save_with(mst_model *model, const char *path, mst_model_save_options options);
#define mst_model_save(model, ...) MST_MODEL_SAVE_(model, __VA_ARGS__, .end_ = 0)
#define MST_MODEL_SAVE_(model, path, ...) \
    mst_model_save_with(model, path, MST_NAMED(mst_model_save_options, __VA_ARGS__))

/* ---- ONNX ------------------------------------------------------------------------------------------ */

/** A new graph from PATH, a file of ONNX of opset 13 to 21 with any number of inputs and outputs: placeholders with the
 *  names of its inputs, and identities with the names of its outputs, in ONNX's order of dimensions; its weights are
 *  constants. Where a node cannot have such a name, it is "input" or "output". MST_UNIMPLEMENTED, naming operator, node
 *  and opset, where one is not known here (docs/onnx.md lists them); MST_CORRUPT where the file is damaged. Tensors may
 *  be in files beside PATH (external data): MST_INVALID where their names lead out of its folder or through a symbolic
 *  link.
 *  *OUT is the caller's, NULL after a failure. */
MST_API MST_CHECKED mst_status mst_onnx_read(const char *path, mst_graph **out);
/** The same from SIZE bytes at DATA; tensors in other files are MST_UNIMPLEMENTED. */
MST_API MST_CHECKED mst_status mst_onnx_decode(const void *data, size_t size, mst_graph **out);

#ifdef __cplusplus
}
#endif
#endif
