/** Converts nodes of ONNX to nodes of a graph.
 *
 *  A value of ONNX with at least three dimensions has its channels second: [n, channels, height, width]. Muster's
 *  convolutions, pooling and normalizations have them last. So each value is kept in the order in which it was made. It
 *  is transposed only if a node needs the other order, which is not so between two convolutions. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_READ_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_READ_H

#include "model_file/onnx/onnx_file.h"
#include "muster/layer.h"
#include "muster/op.h"
#include "muster/store.h"

enum { MST_ONNX_MOST_LIST = 64 };
/** In a constant list of sizes, MST_ONNX_OPEN + I stands for open size I, which is known only when the graph runs. */
#define MST_ONNX_OPEN (INT64_MIN / 2)
static inline bool mst_onnx_is_open(int64_t item) {
    return item >= MST_ONNX_OPEN && item < MST_ONNX_OPEN + INT32_MAX;
}

/** The rate of a value with one open size (onnx_rate.c): this size is times / parts * the open size number `origin`.
 *  The fraction is reduced. The origin is an open size of an input of the model, or was made by a node. If `times` is
 *  0, the rate is not known. */
typedef struct mst_onnx_rate {
    int64_t times, parts, origin;
} mst_onnx_rate;

typedef struct mst_onnx_open {
    mst_value of;       /**< the size is `times` * dimension `axis` of this value, */
    int axis;           /**< or if `axis` is -1, the single i64 number in the value */
    int64_t times;      /**< at least 1 */
    mst_onnx_rate rate; /**< of the value `of` */
} mst_onnx_open;

/** A value of the file. */
typedef struct mst_onnx_value {
    mst_value plain;    /**< in ONNX's order; MST_NONE: not made yet */
    mst_value last;     /**< with channels last; MST_NONE: not made yet */
    mst_value channels; /**< for a constant with one number per channel: [channels]; MST_NONE: not made yet */
    mst_value turned;   /**< of a constant, in a loop: transposed by `turned_perm`; MST_NONE: not made yet */
    mst_value parts;    /**< taken apart along `parts_axis`, for the steps of a loop; MST_NONE: not made yet */
    mst_tensor *tensor; /**< of a constant, in ONNX's order; else NULL */
    mst_dtype open;     /**< if `tensor`, of i64, has open sizes: the dtype of the value in the file; else none */
    bool is_zero;       /**< all its elements are 0, even if their number is not known */
    mst_onnx_rate rate;
    const char *weight; /**< name of the variable that keeps the constant; NULL: it is a constant in the graph */
    mst_value variable; /**< `tensor` reshaped to `shape` and transposed by `perm`; MST_NONE: not made yet */
    mst_shape shape;
    mst_axes perm, turned_perm;
    int parts_axis;
} mst_onnx_value;

typedef struct mst_onnx_reader {
    const mst_onnx_file *file;
    mst_graph *graph;
    bool has_variables;     /**< initializers that are floats become variables; else constants */
    bool not_trainable;     /**< variables made next are not trained */
    mst_snapshot *snapshot; /**< gets the values of variables; NULL: not needed */
    mst_arena arena;
    mst_names names;     /**< of values, with their indices in VALUE */
    mst_names variables; /**< the names that variables have */
    mst_onnx_value *value;
    int64_t num_values, capacity;
    mst_tensor **made; /**< tensors of constants that are not from the file */
    int64_t num_made, made_capacity;
    mst_onnx_open *open;
    int64_t num_open, open_capacity;
    int64_t num_origins;             /**< number of origins of open sizes; origin 0 is the number of examples */
    mst_names dims;                  /**< named sizes of the inputs, with their origins */
    int64_t num_before, num_checked; /**< num_before: nodes that the graph had before those of the file; num_checked:
                                      *   nodes at its beginning that need no more checks (onnx_limit.h) */
    bool *depends;                   /**< for each node from number num_before on: whether it depends on an input */
    int64_t depends_capacity;
    int64_t most_value, most_constants; /**< limits in bytes: of one value, of all constants that nodes compute */
    int64_t constant_bytes;             /**< bytes of these constants so far */
    int64_t weight_bytes;               /**< bytes of constants that were computed while the file was read */
    struct mst_onnx_unrolled *inner;    /**< [file->num_inner] state of the graphs inside nodes (onnx_inner.c) */
    int depth;                          /**< of the graph whose nodes are read: 0 is that of the file */
    int64_t num_unrolled;               /**< nodes and values of unrolled loops so far (mst_onnx_count_unrolled) */
} mst_onnx_reader;

/** Makes the nodes of the reader's file in its graph. INPUT has a value for each input of the file that is not an
 *  initializer, in their order; INPUT_LAST tells whether its channels are last. OUTPUT gets the values of the outputs,
 *  with channels last if OUTPUT_LAST says so. Error messages tell the operator, node and opset. */
MST_CHECKED mst_status mst_onnx_build(mst_onnx_reader *reader, const mst_value *input, const bool *input_last,
                                      mst_value *output, const bool *output_last);
void mst_onnx_reader_free(mst_onnx_reader *reader);

/* ---- for operators -------------------------------------------------------------------------------- */

typedef struct mst_onnx_call {
    mst_onnx_reader *reader;
    const Muster__OnnxNode *node;
    const struct mst_onnx_op *op;
    uint64_t looked;                       /**< bit I: attribute I has been read */
    const Muster__OnnxAttribute *mistyped; /**< an attribute that was read but has another type; NULL: none */
} mst_onnx_call;

typedef mst_status (*mst_onnx_function)(mst_onnx_call *c);
typedef struct mst_onnx_op {
    const char *name;
    mst_onnx_function read;
    mst_value (*unary)(mst_value);             /**< for operators that are one op of one value */
    mst_value (*binary)(mst_value, mst_value); /**< for operators that are one op of two values */
    mst_activation activation;                 /**< for operators that are an activation of layers */
    bool has_graphs;                           /**< it has graphs as attributes; its outputs are values of them */
} mst_onnx_op;
/** The tables of operators, each ended by a NULL name. */
extern const mst_onnx_op mst_onnx_elementwise_ops[], mst_onnx_window_ops[], mst_onnx_shape_ops[], mst_onnx_matrix_ops[],
    mst_onnx_index_ops[], mst_onnx_cell_ops[], mst_onnx_norm_ops[], mst_onnx_scatter_ops[], mst_onnx_loss_ops[],
    mst_onnx_resize_ops[], mst_onnx_attention_ops[], mst_onnx_loop_ops[];
/** The same of the domain ai.onnx.ml. */
extern const mst_onnx_op mst_onnx_ml_ops[];
/** The operator with this name in this domain; NULL if it is not known. */
const mst_onnx_op *mst_onnx_find(const char *domain, const char *name);
/** Why an operator of the domain ai.onnx.ml is refused; NULL: there is no reason to tell. */
const char *mst_onnx_ml_reason(const char *name);

/** Whether there is an input I. */
bool mst_onnx_has(const mst_onnx_call *c, size_t i);
/** Input I, which must exist. */
mst_onnx_value *mst_onnx_value_of(const mst_onnx_call *c, size_t i);
/** Input I in ONNX's order. */
MST_CHECKED mst_status mst_onnx_plain(const mst_onnx_call *c, size_t i, mst_value *out);
/** Input I, with channels last if it has three or more dimensions. */
MST_CHECKED mst_status mst_onnx_last(const mst_onnx_call *c, size_t i, mst_value *out);
/** Input I transposed by PERM. A constant is transposed before it becomes a variable. */
MST_CHECKED mst_status mst_onnx_turned(const mst_onnx_call *c, size_t i, mst_axes perm, mst_value *out);
/** The first COUNT inputs, for an operator of elements. *LAST becomes whether all have channels last; if not, all have
 *  ONNX's order. */
MST_CHECKED mst_status mst_onnx_operands(const mst_onnx_call *c, size_t count, mst_value *out, bool *last);
/** Sets output 0 to VALUE. LAST tells whether its channels are last. */
MST_CHECKED mst_status mst_onnx_put_as(mst_onnx_call *c, mst_value value, bool last);
/** Whether input I has been made with channels last, and not in ONNX's order. */
bool mst_onnx_is_last(const mst_onnx_call *c, size_t i);
int mst_onnx_ndim(const mst_onnx_call *c, size_t i);
/** The shape of input I in ONNX's order; -1 is a dimension that is not known. */
mst_shape mst_onnx_shape(const mst_onnx_call *c, size_t i);
mst_dtype mst_onnx_dtype_of(const mst_onnx_call *c, size_t i);
/** The numbers of input I, which must be constant. OPEN: some of them may be open sizes. */
MST_CHECKED mst_status mst_onnx_sizes(const mst_onnx_call *c, size_t i, bool open, int64_t *list, int *count);
/** The same, but all numbers must be known. */
MST_CHECKED mst_status mst_onnx_numbers(const mst_onnx_call *c, size_t i, int64_t *list, int *count);
/** The number that input I, a constant of one element, has. */
MST_CHECKED mst_status mst_onnx_number(const mst_onnx_call *c, size_t i, double *out);

/** The value of the attribute NAME; OTHERWISE if it is missing. A node with an attribute that was not read in this way
 *  is refused. So operators also read attributes that change nothing. */
int64_t mst_onnx_int(mst_onnx_call *c, const char *name, int64_t otherwise);
float mst_onnx_float(mst_onnx_call *c, const char *name, float otherwise);
/** Whether the attribute NAME is TEXT. If it is missing, its value is OTHERWISE. */
bool mst_onnx_is(mst_onnx_call *c, const char *name, const char *text, const char *otherwise);
/** The numbers of the attribute NAME; *COUNT is 0 if it is missing. */
MST_CHECKED mst_status mst_onnx_ints(mst_onnx_call *c, const char *name, int64_t *list, int *count);
/** The attribute NAME; NULL if it is missing or not of TYPE. A wrong type is an error when the node has been read. */
const Muster__OnnxAttribute *mst_onnx_attribute(mst_onnx_call *c, const char *name, int type);
/** The index of AXIS, which counts from the end if it is negative. An error if it is not one of NDIM axes. */
MST_CHECKED mst_status mst_onnx_axis(int64_t axis, int ndim, int *out);

/** A weight that is an attribute of the node, with the numbers LIST: a variable, as initializers are. Its name ends in
 *  NAME. */
MST_CHECKED mst_status mst_onnx_weight(const mst_onnx_call *c, const char *name, mst_shape shape, const float *list,
                                       mst_value *out);

/** Sets output I to VALUE, in ONNX's order. The second function: with channels last. */
MST_CHECKED mst_status mst_onnx_put(mst_onnx_call *c, size_t i, mst_value value);
MST_CHECKED mst_status mst_onnx_put_last(mst_onnx_call *c, size_t i, mst_value value);
/** Sets output 0 to the constant list LIST. COUNT -1: it is a scalar. */
MST_CHECKED mst_status mst_onnx_put_list(mst_onnx_call *c, const int64_t *list, int count);
/** Sets output 0 to a constant of DTYPE and SHAPE with the items LIST, some of which are open sizes. */
MST_CHECKED mst_status mst_onnx_put_open(mst_onnx_call *c, mst_dtype dtype, mst_shape shape, const int64_t *list);
/** Sets output 0 to the constant TENSOR, and takes ownership of it, also after a failure. */
MST_CHECKED mst_status mst_onnx_put_tensor(mst_onnx_call *c, mst_tensor *tensor);
/** Whether all elements of input I are known to be 0. */
bool mst_onnx_is_zero(const mst_onnx_call *c, size_t i);
/** Sets output 0 to the constant V, unchanged. */
MST_CHECKED mst_status mst_onnx_put_constant(mst_onnx_call *c, const mst_onnx_value *v);
/** The value that was set as output I, with its dtype and shape in ONNX's order. MST_NONE: it is not a value of the
 *  graph. */
mst_value mst_onnx_result(const mst_onnx_call *c, size_t i, mst_spec *spec);
/** Whether output I is used. */
bool mst_onnx_wants(const mst_onnx_call *c, size_t i);
/** Transposes [n, c, ...] to channels last, and the reverse. */
mst_value mst_onnx_to_last(mst_value plain);
mst_value mst_onnx_to_plain(mst_value last);

/* ---- sizes (onnx_fold.c) ---- */

/** The number of open sizes in SHAPE, and the product of the other sizes; -1 if the product is too large. */
int mst_onnx_num_open(const mst_shape *shape);
int64_t mst_onnx_known(const mst_shape *shape);
/** The open size that ITEM stands for; NULL if ITEM is a number. */
const mst_onnx_open *mst_onnx_open_of(const mst_onnx_reader *r, int64_t item);
/** Adds the open size OPEN; *ITEM will stand for it. */
MST_CHECKED mst_status mst_onnx_add_open(mst_onnx_reader *r, mst_onnx_open open, int64_t *item);
/** Sets *OUT to the product of the sizes A and B. Both may be open. */
MST_CHECKED mst_status mst_onnx_multiply(mst_onnx_reader *r, int64_t a, int64_t b, int64_t *out);
/** The size ITEM as a scalar value of the graph. */
mst_value mst_onnx_size_value(const mst_onnx_reader *r, int64_t item, mst_dtype dtype);
/** A value with the sizes SIZES, for ops that use only its shape. At least one size is open. */
MST_CHECKED mst_status mst_onnx_like(mst_onnx_reader *r, const int64_t *sizes, int count, mst_value *out);

/* ---- rates (onnx_rate.c) ---- */

/** The rate of input I of the model, whose sizes are SHAPE. */
MST_CHECKED mst_status mst_onnx_input_rate(mst_onnx_reader *r, size_t i, const mst_shape *shape, mst_onnx_rate *out);
/** The rate of an output, with the sizes SHAPE, of the node that was read. */
MST_CHECKED mst_status mst_onnx_output_rate(mst_onnx_call *c, const mst_shape *shape, mst_onnx_rate *out);

/* ---- graphs inside nodes (onnx_inner.c) ---- */

/** Adds VALUE, which has no name yet. *AT becomes its number: its index in r->value. */
MST_CHECKED mst_status mst_onnx_add(mst_onnx_reader *r, mst_onnx_value value, int64_t *at);
/** Adds the constant TENSOR in the same way, and takes ownership of it, also after a failure. */
MST_CHECKED mst_status mst_onnx_add_tensor(mst_onnx_reader *r, mst_tensor *tensor, int64_t *at);
/** Gives the name NAME to value number AT. A value can have several. */
MST_CHECKED mst_status mst_onnx_name_value(mst_onnx_reader *r, const char *name, int64_t at);
/** The number of input I; -1: it is left out. */
int64_t mst_onnx_number_of(const mst_onnx_call *c, size_t i);
/** Value number AT in ONNX's order, and its shape. */
MST_CHECKED mst_status mst_onnx_plain_at(mst_onnx_reader *r, int64_t at, mst_value *out);
mst_shape mst_onnx_shape_at(const mst_onnx_reader *r, int64_t at);
/** Adds the nodes of NODE to the graph. */
MST_CHECKED mst_status mst_onnx_build_node(mst_onnx_reader *r, const Muster__OnnxNode *node);

/** The number of the graph in the attribute NAME. */
MST_CHECKED mst_status mst_onnx_inner_of(mst_onnx_call *c, const char *name, int64_t *out);
/** Adds the nodes of the file's graph number INNER for the COUNT values INPUT. OUTPUT gets its outputs' values. */
MST_CHECKED mst_status mst_onnx_build_inner(mst_onnx_reader *r, int64_t inner, const int64_t *input, size_t count,
                                            int64_t *output);
/** Loops are unrolled: each step adds its nodes to the graph. This counts COUNT more nodes and values, and fails if
 *  there are more than MST_ONNX_MOST_UNROLLED. */
enum { MST_ONNX_MOST_UNROLLED = 1 << 16 };
MST_CHECKED mst_status mst_onnx_count_unrolled(mst_onnx_reader *r, int64_t count);
/** Element INDEX along AXIS of value number AT. The size of this axis must be known. The value is unstacked once for
 *  all of its elements, so that their gradients are stacked only once. */
MST_CHECKED mst_status mst_onnx_part(mst_onnx_reader *r, int64_t at, int axis, int64_t index, mst_value *out);

/** 0, 1, 2, ... of i64, as many as X has elements along AXIS, one of its last two: [rows, 1] or [1, columns]. */
mst_value mst_onnx_numbers_along(mst_value x, int axis);
/** The axes in input I, or in the attribute "axes" of older opsets; *COUNT is 0 if there are none. */
MST_CHECKED mst_status mst_onnx_read_axes(mst_onnx_call *c, size_t i, int ndim, int64_t *list, int *count);
/** The cuts of a Slice, one for each sliced axis. */
typedef struct mst_onnx_cuts {
    int count;
    int64_t start[MST_ONNX_MOST_LIST], end[MST_ONNX_MOST_LIST], axis[MST_ONNX_MOST_LIST], step[MST_ONNX_MOST_LIST];
} mst_onnx_cuts;
MST_CHECKED mst_status mst_onnx_read_cuts(mst_onnx_call *c, int ndim, mst_onnx_cuts *out);
/** The start and end of cut I on an axis of SIZE elements; SIZE is at least 1. */
void mst_onnx_settle_cut(const mst_onnx_cuts *k, int i, int64_t size, int64_t *start, int64_t *end);

#endif
