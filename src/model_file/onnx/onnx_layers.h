/** Models of ONNX as layers. The operators of a file that are layers of Keras, or parts of one, become layers here, so
 *  that the model can be trained and saved as a file of Keras. Everything else is refused. (onnx_read.h reads more, as
 *  one layer of ops.)
 *
 *  As in onnx_read.h, a value with three or more dimensions has its channels second in ONNX and last in a layer. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_LAYERS_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_LAYERS_H

#include "model_file/onnx/onnx_read.h"
#include "muster/model.h"

enum { MST_ONNX_LAYER_NAME = 256, MST_ONNX_MOST_SIZES = 8 };
/** Items of a list of sizes that are known only in a run: the number of examples, and any other size, which is
 *  MST_ONNX_UNKNOWN or less: there is a number for each axis of each layer's output (onnx_layer_shape.c). */
enum { MST_ONNX_EXAMPLES = -2, MST_ONNX_UNKNOWN = -3 };

/** A value that is computed from x, an input with the indices of rows of an embedding. In files of TensorFlow negative
 *  indices count from the end, so several nodes compute x < 0 ? x + rows : x. These nodes become no layers; each value
 *  only notes which part of the formula it is. */
typedef enum mst_onnx_row {
    MST_ONNX_NO_ROW,
    MST_ONNX_ROW,          /**< x */
    MST_ONNX_ROW_END,      /**< x + rows */
    MST_ONNX_ROW_BELOW,    /**< whether x < 0 */
    MST_ONNX_ROW_ABOVE,    /**< whether x >= 0 */
    MST_ONNX_ROW_IF_ABOVE, /**< x, or 0 where x < 0 */
    MST_ONNX_ROW_IF_BELOW  /**< x + rows where x < 0, else 0 */
} mst_onnx_row;

/** An axis of a sequence. */
typedef enum mst_onnx_sequence_axis {
    MST_ONNX_AXIS_STEPS,
    MST_ONNX_AXIS_DIRECTIONS,
    MST_ONNX_AXIS_EXAMPLES,
    MST_ONNX_AXIS_UNITS
} mst_onnx_sequence_axis;

typedef enum mst_onnx_steps {
    MST_ONNX_ALL_STEPS,
    MST_ONNX_FIRST_STEP,
    MST_ONNX_LAST_STEP,
    MST_ONNX_END /**< the step that each direction computes last */
} mst_onnx_steps;

/** The axes of a source or output of a recurrent operator of ONNX. Their order is not the [n, steps, features] of
 *  layers. Nodes that move, remove or join these axes only change this description. The layer is made when another node
 *  needs the value as the output of a layer (mst_onnx_sequence_settle). */
typedef struct mst_onnx_sequence {
    int ndim; /**< 0: the value is no sequence */
    mst_onnx_sequence_axis axis[4];
    int64_t cell; /**< index of its operator in the list of cells; -1: it is the output of a layer in another order */
    mst_onnx_steps steps;
    int direction; /**< 0 or 1: one of two directions is left; -1: all directions of the operator */
    bool joined;   /**< the units of two directions are concatenated in the axis of units */
} mst_onnx_sequence;

/** A value of the file: the output of a layer, a constant, or a list of sizes. */
typedef struct mst_onnx_layer_value {
    mst_output out;
    int ndim;          /**< dimensions of a layer's output or a sequence, with that of the examples; 0: other values */
    bool last;         /**< `out` has the channels last, and ONNX has them second */
    int64_t channels;  /**< elements of the last axis of `out`; 0: not known */
    mst_output pixels; /**< if `flat`: the value before it was flattened, with channels last */
    /** If a value with its channels last was flattened, its number of dimensions; else 0. If not 0, `out` has the
     *  elements in the order of channels last, and ONNX has them in the order of channels second. */
    int flat;
    int64_t flat_channels; /**< number of channels of `pixels` */
    /** If a Reshape made one axis of all axes except the last, 1 + the number of its source (onnx_layer_shape.c); else
     *  0. `out` still has all axes, in ONNX's order, and `ndim` is their number. */
    int64_t merged;
    bool is_pooled;    /**< all dimensions but the examples and the channels are 1 */
    bool not_negative; /**< no element is below 0 */
    mst_onnx_row row;
    bool zeros; /**< zeros of any shape: the first state of a recurrent operator */
    mst_onnx_sequence sequence;
    /** The value joins the last steps of this many recurrent operators along axis 0; 0: it does not. */
    int num_stacked;
    int64_t stacked[MST_ONNX_MOST_SIZES]; /**< indices of the values that it joins */
    mst_tensor *tensor;                   /**< a constant, in ONNX's order; else NULL */
    const char *weight;                   /**< its name in the file */
    int num_sizes;                        /**< a list of sizes; 0: none */
    int64_t size[MST_ONNX_MOST_SIZES];
} mst_onnx_layer_value;

typedef struct mst_onnx_layer_weight {
    char *name; /**< in the store */
    mst_tensor *tensor;
} mst_onnx_layer_weight;

typedef struct mst_onnx_layer_use {
    const Muster__OnnxNode *user; /**< the last node that uses the value; NULL: it is an output of the file */
    int64_t count;
} mst_onnx_layer_use;

typedef struct mst_onnx_layers {
    const mst_onnx_file *file;
    mst_model *model;
    bool network_only; /**< weights keep the initial values of layers */
    mst_names names;   /**< of values, with their indices in VALUE */
    mst_onnx_layer_value *value;
    int64_t num_values, capacity;
    mst_tensor **made; /**< constants that are not from the file */
    int64_t num_made, made_capacity;
    mst_onnx_layer_weight *weight;
    int64_t num_weights, weight_capacity;
    mst_names uses;          /**< of values that are used, with their indices in USE */
    mst_onnx_layer_use *use; /**< by nodes and as outputs of the file */
    int64_t num_uses, use_capacity;
    struct mst_onnx_layer_cell *cell; /**< recurrent operators (onnx_layer_cells.c) */
    int64_t num_cells, cell_capacity;
    mst_names used; /**< tensors that have become weights, and outputs of nodes that are part of an earlier layer */
    mst_names
        passed; /**< outputs of nodes Add whose constant became the bias of an earlier layer: they change nothing */
} mst_onnx_layers;

/** A node while it is read. The member `onnx` is for reading its attributes; onnx.reader is NULL. */
typedef struct mst_onnx_layer_call {
    mst_onnx_layers *layers;
    mst_onnx_call onnx;
    const Muster__OnnxNode *add; /**< the node whose sum this node has taken as its bias; NULL: none */
} mst_onnx_layer_call;

typedef struct mst_onnx_layer_op {
    const char *name;
    mst_status (*make)(mst_onnx_layer_call *c);
    mst_activation activation;
    mst_merge_kind merge;
} mst_onnx_layer_op;
/** The tables of operators, each ended by a NULL name. */
extern const mst_onnx_layer_op mst_onnx_layer_ops[], mst_onnx_layer_window_ops[], mst_onnx_layer_shape_ops[],
    mst_onnx_layer_cell_ops[];

/** Whether there is an input I. */
bool mst_onnx_layer_has(const mst_onnx_layer_call *c, size_t i);
/** Input I, which may be a sequence; an error if there is none. */
MST_CHECKED mst_status mst_onnx_layer_raw(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out);
/** The same, but a sequence is turned into the output of its layer (mst_onnx_sequence_settle). */
MST_CHECKED mst_status mst_onnx_layer_any(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out);
/** Input I, which must be the output of a layer. */
MST_CHECKED mst_status mst_onnx_layer_input(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out);
/** The same, where axes may be merged: for nodes that compute with each number, or each row along the last axis. */
MST_CHECKED mst_status mst_onnx_layer_rows(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out);
/** As mst_onnx_layer_input, in ONNX's order. */
MST_CHECKED mst_status mst_onnx_layer_plain(const mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value *out);
/** Input 0, which has three or more dimensions, with its channels last. */
MST_CHECKED mst_status mst_onnx_layer_pixels(mst_onnx_layer_call *c, mst_onnx_layer_value *out);
/** Changes V to ONNX's order of axes. */
MST_CHECKED mst_status mst_onnx_layer_turn(mst_onnx_layer_value *v);
/** Input I, which must be a constant. */
MST_CHECKED mst_status mst_onnx_layer_constant(const mst_onnx_layer_call *c, size_t i, mst_tensor **out);
/** The whole numbers of input I, which must be a constant, at most MST_ONNX_MOST_SIZES. */
MST_CHECKED mst_status mst_onnx_layer_list(const mst_onnx_layer_call *c, size_t i, int64_t *list, int *count);
/** The constant NAME of one number; NaN: it is none. */
double mst_onnx_layer_number(const mst_onnx_layer_call *c, const char *name);
/** TENSOR, UNITS numbers in any shape, as a new vector times FACTOR. A single number is repeated. */
MST_CHECKED mst_status mst_onnx_layer_vector(mst_tensor *tensor, int64_t units, float factor, mst_tensor **out);
/** If the only node that uses output 0 adds a constant, UNITS numbers along AXIS of NDIM dimensions, takes the constant
 *  as the bias of this node's layer. Otherwise *OUT becomes NULL. */
MST_CHECKED mst_status mst_onnx_layer_take_bias(mst_onnx_layer_call *c, int ndim, int axis, int64_t units,
                                                mst_tensor **out);
/** Reads a sum or product of A and B, one of which has a `row`, that is indices of rows or a part of their formula. */
MST_CHECKED mst_status mst_onnx_layer_merge_rows(mst_onnx_layer_call *c, mst_onnx_layer_value a, mst_onnx_layer_value b,
                                                 mst_merge_kind kind);
/** These set output I, and output 0. */
MST_CHECKED mst_status mst_onnx_layer_put_at(mst_onnx_layer_call *c, size_t i, mst_onnx_layer_value value);
MST_CHECKED mst_status mst_onnx_layer_put(mst_onnx_layer_call *c, mst_onnx_layer_value value);
/** Sets output 0 to TENSOR, and takes ownership of it, also after a failure. */
MST_CHECKED mst_status mst_onnx_layer_put_tensor(mst_onnx_layer_call *c, mst_tensor *tensor, const char *weight);
/** A name for the layer that gets input I as a weight, made from the name of that tensor. NULL: no name can be made,
 *  and the layer gets the default name of its type. */
const char *mst_onnx_layer_name(const mst_onnx_layer_call *c, size_t i, char out[MST_ONNX_LAYER_NAME]);
/** Notes that the weight NAME of the layer of OUT has the value TENSOR. Takes ownership of it, also after a failure. */
MST_CHECKED mst_status mst_onnx_layer_weigh(mst_onnx_layer_call *c, mst_output out, const char *name,
                                            mst_tensor *tensor);
/** Notes that input I is a weight of this node's layer. An error if another layer has the weight already: layers cannot
 *  share weights here. */
MST_CHECKED mst_status mst_onnx_layer_take(mst_onnx_layer_call *c, size_t i);
/** The only node that uses output 0; NULL if it is an output of the file, or used several times or not at all. */
const Muster__OnnxNode *mst_onnx_layer_only_user(const mst_onnx_layer_call *c);

/** Whether V is a sequence with an axis of directions. */
bool mst_onnx_sequence_has_directions(const mst_onnx_layer_value *v);
/** Makes V, if it is a sequence, the output of a layer. Its axes must be [n, steps, features] or [n, features]. An
 *  error if axes of V are merged. */
MST_CHECKED mst_status mst_onnx_sequence_settle(mst_onnx_layers *l, mst_onnx_layer_value *v);
/** The next functions read nodes whose input 0 is the sequence X, and set output 0 to the sequence that results. The
 *  nodes are: a Transpose by PERM, also of a value of three dimensions that is not yet a sequence; a Squeeze of AXES,
 *  bit I for axis I; a Slice; a Gather along AXIS; a Reshape to the COUNT sizes LIST. MST_UNIMPLEMENTED if no layer
 *  could give the result. */
MST_CHECKED mst_status mst_onnx_sequence_transpose(mst_onnx_layer_call *c, mst_onnx_layer_value x, mst_axes perm);
MST_CHECKED mst_status mst_onnx_sequence_squeeze(mst_onnx_layer_call *c, mst_onnx_layer_value x, unsigned axes);
MST_CHECKED mst_status mst_onnx_sequence_slice(mst_onnx_layer_call *c, mst_onnx_layer_value x);
MST_CHECKED mst_status mst_onnx_sequence_gather(mst_onnx_layer_call *c, mst_onnx_layer_value x, int64_t axis);
MST_CHECKED mst_status mst_onnx_sequence_reshape(mst_onnx_layer_call *c, mst_onnx_layer_value x, const int64_t *list,
                                                 int count);
/** A Gather of one element along AXIS of the output of a layer. */
MST_CHECKED mst_status mst_onnx_sequence_take(mst_onnx_layer_call *c, int64_t axis);
/** Reads a Concat of the last steps of recurrent operators, [directions, n, units] each, along axis 0. */
MST_CHECKED mst_status mst_onnx_sequence_stack(mst_onnx_layer_call *c);
/** Reads a Concat of the two directions of one operator, inputs 0 and 1, along AXIS. */
MST_CHECKED mst_status mst_onnx_sequence_concat(mst_onnx_layer_call *c, int64_t axis);
/** The output of the layer of cell INDEX: all steps, [n, steps, features], or only the last step of each direction,
 *  [n, features]. The layer is made at the first call. */
MST_CHECKED mst_status mst_onnx_cell_output(mst_onnx_layers *l, int64_t index, bool all_steps, mst_output *out);
/** The number of features of that output: the units of all directions of cell INDEX. */
int64_t mst_onnx_cell_features(const mst_onnx_layers *l, int64_t index);
/** Whether cell INDEX has two directions, and whether its only one is backwards. */
bool mst_onnx_cell_is_double(const mst_onnx_layers *l, int64_t index);
bool mst_onnx_cell_is_backwards(const mst_onnx_layers *l, int64_t index);

/** As mst_onnx_load_layers, with the contents of FILE. */
MST_CHECKED mst_status mst_onnx_add_layers(const mst_onnx_file *file, bool network_only, mst_model *model);
/** Adds the contents of the file at PATH to MODEL, which is empty, as layers. With NETWORK_ONLY they have their initial
 *  weights, else those of the file. MST_UNIMPLEMENTED, naming the node, if an operator is no layer. */
MST_CHECKED mst_status mst_onnx_load_layers(const char *path, bool network_only, mst_model *model);

#endif
