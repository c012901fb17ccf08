/** Nodes of ONNX as nodes of a graph.
 *
 *  A value of ONNX with at least three dimensions has its channels second: [n, channels, height, width]. Convolutions,
 *  pooling and normalizations here have them last. So each value is kept in the order in which it was made, and is
 *  turned round only if a node needs the other: between a convolution and the next, nothing is. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_READ_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_READ_H

#include "model_file/onnx/onnx_file.h"
#include "muster/layer.h"
#include "muster/op.h"
#include "muster/store.h"

enum { MST_ONNX_MOST_LIST = 64 };
/** In a constant list of sizes: open size I, one that is known when the graph runs, is MST_ONNX_OPEN + I. */
#define MST_ONNX_OPEN (INT64_MIN / 2)
static inline bool mst_onnx_is_open(int64_t item) {
    return item >= MST_ONNX_OPEN && item < MST_ONNX_OPEN + INT32_MAX;
}

/** Of a value with one open size: this is TIMES / PARTS, a reduced fraction, of the open size with the number ORIGIN:
 *  one of an input of the model, or one that a node made (onnx_rate.c). TIMES 0: not known. */
typedef struct mst_onnx_rate {
    int64_t times, parts, origin;
} mst_onnx_rate;

typedef struct mst_onnx_open {
    mst_value of;       /**< it is TIMES its dimension AXIS; */
    int axis;           /**< -1: it is its one number, an i64 */
    int64_t times;      /**< at least 1 */
    mst_onnx_rate rate; /**< of OF */
} mst_onnx_open;

/** A value of the file. */
typedef struct mst_onnx_value {
    mst_value plain;    /**< in ONNX's order; MST_NONE: not made yet */
    mst_value last;     /**< with channels last; MST_NONE: not made yet */
    mst_value channels; /**< of a constant with one number for each channel: these alone; MST_NONE: not made yet */
    mst_tensor *tensor; /**< of a constant, in ONNX's order; else NULL */
    mst_dtype open;     /**< of sizes that TENSOR, of i64, stands for and of which some are open; else none */
    bool is_zero;       /**< all its elements are 0, as many as there may be */
    mst_onnx_rate rate;
    const char *weight; /**< name of the variable that keeps it; NULL: a constant is one */
    mst_value variable; /**< made of TENSOR, seen as SHAPE, with the axes PERM; MST_NONE: not made yet */
    mst_shape shape;
    mst_axes perm;
} mst_onnx_value;

typedef struct mst_onnx_reader {
    const mst_onnx_file *file;
    mst_graph *graph;
    bool has_variables;     /**< initializers that are floats become variables; else constants */
    bool not_trainable;     /**< variables made next are not trained */
    mst_snapshot *snapshot; /**< takes the values of variables; NULL: they are not wanted */
    mst_arena arena;
    mst_names names, variables;
    mst_onnx_value *value;
    int64_t num_values, capacity;
    mst_tensor **made; /**< tensors of constants that are not from the file */
    int64_t num_made, made_capacity;
    mst_onnx_open *open;
    int64_t num_open, open_capacity;
    int64_t num_origins;             /**< of open sizes; number 0 is that of the examples */
    mst_names dims;                  /**< origins of the inputs' sizes that have names */
    int64_t num_before, num_checked; /**< nodes of the graph: older than the file's; checked (onnx_limit.h) */
    bool *depends;                   /**< of each node from NUM_BEFORE on: whether an input decides about it */
    int64_t depends_capacity;
    int64_t most_value, most_constants; /**< bytes: of one value, of all constants that nodes compute */
    int64_t constant_bytes;             /**< of those so far */
} mst_onnx_reader;

/** Makes the nodes of FILE in GRAPH. INPUT has a value for each input of the graph that is no initializer, in their
 *  order, with channels last if INPUT_LAST says so; OUTPUT takes those of its outputs, likewise. Errors name
 *  operator, node and opset. */
MST_CHECKED mst_status mst_onnx_build(mst_onnx_reader *reader, const mst_value *input, const bool *input_last,
                                      mst_value *output, const bool *output_last);
void mst_onnx_reader_free(mst_onnx_reader *reader);

/* ---- for operators -------------------------------------------------------------------------------- */

typedef struct mst_onnx_call {
    mst_onnx_reader *reader;
    const Muster__OnnxNode *node;
    const struct mst_onnx_op *op;
    uint64_t looked;                       /**< bit I: attribute I was asked for */
    const Muster__OnnxAttribute *mistyped; /**< an attribute that was asked for with a wrong type; NULL: none */
} mst_onnx_call;

typedef mst_status (*mst_onnx_function)(mst_onnx_call *c);
typedef struct mst_onnx_op {
    const char *name;
    mst_onnx_function read;
    mst_value (*unary)(mst_value);             /**< of operators that are one function */
    mst_value (*binary)(mst_value, mst_value); /**< likewise */
    mst_activation activation;                 /**< of those that are an activation of layers */
} mst_onnx_op;
/** Tables, each ended by a name that is NULL. */
extern const mst_onnx_op mst_onnx_elementwise_ops[], mst_onnx_window_ops[], mst_onnx_shape_ops[], mst_onnx_matrix_ops[],
    mst_onnx_index_ops[], mst_onnx_cell_ops[];
/** NULL if it is not known. */
const mst_onnx_op *mst_onnx_find(const char *name);

/** Whether there is an input I. */
bool mst_onnx_has(const mst_onnx_call *c, size_t i);
/** Input I, which is there. */
mst_onnx_value *mst_onnx_value_of(const mst_onnx_call *c, size_t i);
MST_CHECKED mst_status mst_onnx_plain(const mst_onnx_call *c, size_t i, mst_value *out);
/** With channels last, if it has three or more dimensions. */
MST_CHECKED mst_status mst_onnx_last(const mst_onnx_call *c, size_t i, mst_value *out);
/** The input with the axes PERM; a constant is turned round before it becomes a variable. */
MST_CHECKED mst_status mst_onnx_turned(const mst_onnx_call *c, size_t i, mst_axes perm, mst_value *out);
/** The first COUNT inputs, at most four, for an operator of elements: all with channels last (*LAST), or none. */
MST_CHECKED mst_status mst_onnx_operands(const mst_onnx_call *c, size_t count, mst_value *out, bool *last);
/** Output 0 becomes VALUE, with channels last if LAST says so. */
MST_CHECKED mst_status mst_onnx_put_as(mst_onnx_call *c, mst_value value, bool last);
/** Whether input I has been made with channels last, and not in ONNX's order. */
bool mst_onnx_is_last(const mst_onnx_call *c, size_t i);
int mst_onnx_ndim(const mst_onnx_call *c, size_t i);
/** The shape in ONNX's order, -1 for what is not known. */
mst_shape mst_onnx_shape(const mst_onnx_call *c, size_t i);
mst_dtype mst_onnx_dtype_of(const mst_onnx_call *c, size_t i);
/** The numbers of input I, which must be constant; OPEN: some may be open. */
MST_CHECKED mst_status mst_onnx_sizes(const mst_onnx_call *c, size_t i, bool open, int64_t *list, int *count);
/** The same, all known. */
MST_CHECKED mst_status mst_onnx_numbers(const mst_onnx_call *c, size_t i, int64_t *list, int *count);
MST_CHECKED mst_status mst_onnx_number(const mst_onnx_call *c, size_t i, double *out);

/** Attributes; the second if it is not there. */
int64_t mst_onnx_int(mst_onnx_call *c, const char *name, int64_t otherwise);
float mst_onnx_float(mst_onnx_call *c, const char *name, float otherwise);
/** Whether the attribute is TEXT; if it is not there, OTHERWISE is. */
bool mst_onnx_is(mst_onnx_call *c, const char *name, const char *text, const char *otherwise);
/** *COUNT is 0 if it is not there. */
MST_CHECKED mst_status mst_onnx_ints(mst_onnx_call *c, const char *name, int64_t *list, int *count);
/** NULL also if it is not of TYPE. That becomes an error when the node has been read. */
const Muster__OnnxAttribute *mst_onnx_attribute(mst_onnx_call *c, const char *name, int type);
/** AXIS counted from the end if it is negative; an error if it is none of NDIM. */
MST_CHECKED mst_status mst_onnx_axis(int64_t axis, int ndim, int *out);

/** Output I becomes VALUE. */
MST_CHECKED mst_status mst_onnx_put(mst_onnx_call *c, size_t i, mst_value value);
MST_CHECKED mst_status mst_onnx_put_last(mst_onnx_call *c, size_t i, mst_value value);
/** Output 0 is the constant list LIST; COUNT -1: a number alone. */
MST_CHECKED mst_status mst_onnx_put_list(mst_onnx_call *c, const int64_t *list, int count);
/** Output 0 is of DTYPE and SHAPE, with the items LIST; some are open. */
MST_CHECKED mst_status mst_onnx_put_open(mst_onnx_call *c, mst_dtype dtype, mst_shape shape, const int64_t *list);
/** Output 0 is the constant TENSOR, which is taken, also after a failure. */
MST_CHECKED mst_status mst_onnx_put_tensor(mst_onnx_call *c, mst_tensor *tensor);
/** Whether all elements of input I are known to be 0. */
bool mst_onnx_is_zero(const mst_onnx_call *c, size_t i);
/** Output 0 is the constant V, as it is. */
MST_CHECKED mst_status mst_onnx_put_constant(mst_onnx_call *c, const mst_onnx_value *v);
/** What was put as output I, and its dtype and shape in ONNX's order; MST_NONE if it was no value of the graph. */
mst_value mst_onnx_result(const mst_onnx_call *c, size_t i, mst_spec *spec);
/** Whether output I is used. */
bool mst_onnx_wants(const mst_onnx_call *c, size_t i);
/** [n, c, ...] with channels last, and back. */
mst_value mst_onnx_to_last(mst_value plain);
mst_value mst_onnx_to_plain(mst_value last);

/* ---- sizes (onnx_fold.c) ---- */

/** How many sizes are open, and the product of those that are not; -1 if it is too large. */
int mst_onnx_num_open(const mst_shape *shape);
int64_t mst_onnx_known(const mst_shape *shape);
/** NULL where ITEM is a number. */
const mst_onnx_open *mst_onnx_open_of(const mst_onnx_reader *r, int64_t item);
MST_CHECKED mst_status mst_onnx_add_open(mst_onnx_reader *r, mst_onnx_open open, int64_t *item);
MST_CHECKED mst_status mst_onnx_multiply(mst_onnx_reader *r, int64_t a, int64_t b, int64_t *out);
/** The size ITEM as a scalar of the graph. */
mst_value mst_onnx_size_value(const mst_onnx_reader *r, int64_t item, mst_dtype dtype);
/** A value with the sizes SIZES, for ops that use only its shape. At least one size is open. */
MST_CHECKED mst_status mst_onnx_like(mst_onnx_reader *r, const int64_t *sizes, int count, mst_value *out);

/* ---- rates (onnx_rate.c) ---- */

/** Of input I of the model, whose sizes are SHAPE. */
MST_CHECKED mst_status mst_onnx_input_rate(mst_onnx_reader *r, size_t i, const mst_shape *shape, mst_onnx_rate *out);
/** Of an output of the node that was read, whose sizes are SHAPE. */
MST_CHECKED mst_status mst_onnx_output_rate(mst_onnx_call *c, const mst_shape *shape, mst_onnx_rate *out);

/** Axes of input I, or of the attribute axes before it was an input; *COUNT is 0 where there are none. */
MST_CHECKED mst_status mst_onnx_read_axes(mst_onnx_call *c, size_t i, int ndim, int64_t *list, int *count);
/** Those of Slice. */
typedef struct mst_onnx_cuts {
    int count;
    int64_t start[MST_ONNX_MOST_LIST], end[MST_ONNX_MOST_LIST], axis[MST_ONNX_MOST_LIST], step[MST_ONNX_MOST_LIST];
} mst_onnx_cuts;
MST_CHECKED mst_status mst_onnx_read_cuts(mst_onnx_call *c, int ndim, mst_onnx_cuts *out);
/** Start and end of cut I on an axis of SIZE elements, at least one. */
void mst_onnx_settle_cut(const mst_onnx_cuts *k, int i, int64_t size, int64_t *start, int64_t *end);

#endif
