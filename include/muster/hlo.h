/** Ops as StableHLO, the language in which compilers of accelerators take programs.
 *
 *  An op says how to write itself by its slot `hlo` or `lower` (muster/op.h). `hlo` names the op of StableHLO that does
 *  the same: its sources are broadcast to the shape of output 0. `lower` is a function that writes several, by the
 *  functions below:
 *
 *      static void leaky_relu_lower(mst_lower *l) {
 *          const mst_leaky_relu_options *o = l->options;
 *          mst_hlo x = l->src[0], zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
 *          mst_hlo slope = mst_hlo_number(l, l->src_spec[0].dtype, o->slope);
 *          mst_hlo below = mst_hlo_binary(l, "multiply", x, slope);
 *          l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "GT", x, zero), x, below);
 *      }
 *
 *  A program writes to none of its sources. Of an op that writes a variable, output 0, which is the variable's memory
 *  elsewhere (MST_OP_VIEW), is its new value; who runs the program keeps it when the step has succeeded.
 *
 *  All dimensions are known then. Errors are kept in the program, as a graph keeps those of its nodes: a function whose
 *  sources are wrong writes nothing and returns MST_NO_HLO, and a function that gets MST_NO_HLO does the same. Axes may
 *  count from the end: -1 is the last.
 *
 *  What is written is StableHLO 1.0 in the generic form of MLIR. Products of f32 ask for the precision HIGHEST, because
 *  the default is less than f32 on accelerators: under MST_TENSORFLOAT32 they ask for that. Operations and their names:
 *  https://github.com/openxla/stablehlo/blob/main/docs/spec.md.
 */
#ifndef MUSTER_HLO_H
#define MUSTER_HLO_H

#include "muster/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A value of a program that is being written. */
typedef struct mst_hlo {
    int id; /**< 0: none */
} mst_hlo;
#ifdef __cplusplus
#define MST_NO_HLO (mst_hlo{0})
#else
#define MST_NO_HLO ((mst_hlo){0})
#endif

/** Types of elements that programs have besides those of tensors: unsigned integers, for random bits and hashes. */
#define MST_HLO_U32 ((mst_dtype)(MST_NUM_DTYPES + 1))
#define MST_HLO_U64 ((mst_dtype)(MST_NUM_DTYPES + 2))

/** Given to `lower`, which fills dst[] from src[] and the options. */
struct mst_lower {
    struct mst_hlo_program *program;
    const mst_op *op;
    const void *options;
    const char *name; /**< name of the node */
    int num_src;
    const mst_hlo *src;
    const mst_spec *src_spec;
    int num_dst;
    mst_hlo *dst; /**< to be filled; each must have the dtype and shape of its dst_spec */
    const mst_spec *dst_spec;
    /** Of the products of f32 that mst_hlo_dot and mst_hlo_convolve write: MST_TENSORFLOAT32 asks for the precision
     *  DEFAULT, all others for HIGHEST. It is that of the session; an op with a precision of its own sets it. */
    mst_precision precision;
};

/** Dtype and shape of X. */
MST_API mst_spec mst_hlo_spec(const mst_lower *l, mst_hlo x);
/** Keeps an error in the program, with the name of the node, and returns MST_NO_HLO. */
MST_API mst_hlo mst_hlo_fail(mst_lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- constants -------------------------------------------------------------------------------------- */

/** VALUE, rounded to DTYPE, as a scalar. An integer saturates: INFINITY is the largest that DTYPE has. */
MST_API mst_hlo mst_hlo_number(mst_lower *l, mst_dtype dtype, double value);
/** The same, of the dtype of X. */
MST_API mst_hlo mst_hlo_number_like(mst_lower *l, mst_hlo x, double value);
/** A number as mst_hlo_number makes it, for integers that a double cannot hold; MST_HLO_U64 takes VALUE as unsigned. */
MST_API mst_hlo mst_hlo_integer(mst_lower *l, mst_dtype dtype, int64_t value);
/** VALUE in all elements. */
MST_API mst_hlo mst_hlo_fill(mst_lower *l, mst_dtype dtype, mst_shape shape, double value);
/** One dimension of COUNT elements, rounded to DTYPE. More than 16 are a source of the program. */
MST_API mst_hlo mst_hlo_list(mst_lower *l, mst_dtype dtype, int count, const double *value);
/** TENSOR, which the graph keeps: a constant in the text if it has up to 16 elements, else a source of the program. */
MST_API mst_hlo mst_hlo_tensor(mst_lower *l, mst_tensor *tensor);
/** Each element is its place along AXIS. */
MST_API mst_hlo mst_hlo_iota(mst_lower *l, mst_dtype dtype, mst_shape shape, int axis);

/* ---- element by element ----------------------------------------------------------------------------- */

/** An operation of one operand whose result is like it: "negate", "exponential", ... */
MST_API mst_hlo mst_hlo_unary(mst_lower *l, const char *operation, mst_hlo x);
/** An operation of two operands of one dtype, which broadcast as in NumPy: "add", "power", "shift_left", ... */
MST_API mst_hlo mst_hlo_binary(mst_lower *l, const char *operation, mst_hlo a, mst_hlo b);
/** The bools A DIRECTION B: "EQ", "NE", "LT", "LE", "GT" or "GE". A and B broadcast. */
MST_API mst_hlo mst_hlo_compare(mst_lower *l, const char *direction, mst_hlo a, mst_hlo b);
/** MASK ? A : B. The three broadcast to one shape; MASK is bool. */
MST_API mst_hlo mst_hlo_select(mst_lower *l, mst_hlo mask, mst_hlo a, mst_hlo b);
/** X as DTYPE, as stablehlo.convert: bools are 0 and 1; a number is true if it is not 0; floats that an integer cannot
 *  hold are undefined (mst_hlo_clamp limits them first). X itself if it has this dtype. */
MST_API mst_hlo mst_hlo_convert(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** The bits of X as DTYPE, whose elements must have the size of those of X. */
MST_API mst_hlo mst_hlo_bits(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** The minimum of HIGH and the maximum of LOW and X, which broadcast. */
MST_API mst_hlo mst_hlo_clamp(mst_lower *l, mst_hlo low, mst_hlo x, mst_hlo high);
/** X. The compiler does not merge what is computed from the result with what is computed from X. */
MST_API mst_hlo mst_hlo_barrier(mst_lower *l, mst_hlo x);

/* ---- moving elements -------------------------------------------------------------------------------- */

/** X broadcast to SHAPE as in NumPy. X itself if it has this shape. */
MST_API mst_hlo mst_hlo_broadcast(mst_lower *l, mst_hlo x, mst_shape shape);
/** X broadcast to SHAPE: dimension i of X, which is 1 or as long, becomes dimension axes.axis[i]. */
MST_API mst_hlo mst_hlo_broadcast_axes(mst_lower *l, mst_hlo x, mst_shape shape, mst_axes axes);
/** The elements of X in their order, with another shape. X itself if it has this shape. */
MST_API mst_hlo mst_hlo_reshape(mst_lower *l, mst_hlo x, mst_shape shape);
/** Dimension i of the result is dimension axes.axis[i] of X. */
MST_API mst_hlo mst_hlo_transpose(mst_lower *l, mst_hlo x, mst_axes axes);
/** Elements BEGIN to END - 1 along each dimension; STRIDE, at least 1, may be NULL: 1. */
MST_API mst_hlo mst_hlo_slice(mst_lower *l, mst_hlo x, const int64_t *begin, const int64_t *end, const int64_t *stride);
/** Elements BEGIN to END - 1 along AXIS, all along the others. */
MST_API mst_hlo mst_hlo_slice_axis(mst_lower *l, mst_hlo x, int axis, int64_t begin, int64_t end);
/** Adds the scalar VALUE: LOW elements before, HIGH after, INTERIOR between each two. LOW and HIGH may be negative:
 *  then elements of X are removed. NULL: none. */
MST_API mst_hlo mst_hlo_pad(mst_lower *l, mst_hlo x, mst_hlo value, const int64_t *low, const int64_t *high,
                            const int64_t *interior);
MST_API mst_hlo mst_hlo_concat(mst_lower *l, int count, const mst_hlo *x, int axis);
/** The other way round along each of AXES. */
MST_API mst_hlo mst_hlo_reverse(mst_lower *l, mst_hlo x, mst_axes axes);
/** SIZE elements of each dimension from START on: a scalar of one integer dtype for each dimension. A slice that would
 *  reach over the end begins earlier. */
MST_API mst_hlo mst_hlo_dynamic_slice(mst_lower *l, mst_hlo x, const mst_hlo *start, mst_shape size);
/** X with UPDATE in the place of the elements from START on. */
MST_API mst_hlo mst_hlo_dynamic_update(mst_lower *l, mst_hlo x, mst_hlo update, const mst_hlo *start);
/** The elements of X at INDEX, a scalar, along AXIS, a dimension that the result does not have. An index that is out of
 *  range is moved into it. */
MST_API mst_hlo mst_hlo_slice_at(mst_lower *l, mst_hlo x, int axis, mst_hlo index);
/** X with PART, which has no dimension AXIS, in the place of these elements. */
MST_API mst_hlo mst_hlo_update_at(mst_lower *l, mst_hlo x, mst_hlo part, int axis, mst_hlo index);

/* ---- functions of elements -------------------------------------------------------------------------- */

/** Writes a function: RESULT from ARGUMENT. CONTEXT is what was given with it. It may use values from outside of it. */
typedef void (*mst_hlo_function)(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result);

/** Combines the elements along AXES (none: X itself), which are removed, by an operation of two operands that is
 *  associative: "add", "multiply", "maximum", "minimum", "and", "or". INITIAL is what it leaves as it is: 0, 1,
 *  -INFINITY, INFINITY, 1 or 0. */
MST_API mst_hlo mst_hlo_reduce(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes);
/** The same, and the axes stay, with one element. */
MST_API mst_hlo mst_hlo_reduce_keep(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes);
/** The same along all axes: a scalar. */
MST_API mst_hlo mst_hlo_reduce_whole(mst_lower *l, const char *operation, mst_hlo x, double initial);
/** Combines COUNT values of one shape together along AXES: FUNCTION gets COUNT scalars of what there is, and COUNT of
 *  the next elements, and gives COUNT. INITIAL: scalars. */
MST_API void mst_hlo_reduce_all(mst_lower *l, int count, const mst_hlo *x, const mst_hlo *initial, mst_axes axes,
                                mst_hlo_function function, void *context, mst_hlo *result);

/** A window that goes over all dimensions of a value. Numbers are by dimension; A stride or dilation
 *  of 0 stands for 1. */
typedef struct mst_hlo_window {
    int64_t size[MST_MAX_NDIM], stride[MST_MAX_NDIM], low[MST_MAX_NDIM], high[MST_MAX_NDIM], dilation[MST_MAX_NDIM],
        base_dilation[MST_MAX_NDIM];
} mst_hlo_window;
/** Combines the elements of each window, as mst_hlo_reduce does; padding has the value INITIAL. */
MST_API mst_hlo mst_hlo_reduce_window(mst_lower *l, const char *operation, mst_hlo x, double initial,
                                      const mst_hlo_window *window);
/** Sorts COUNT values of one shape together along AXIS, stably. FUNCTION gets pairs of scalars, (a0, b0, a1, b1,
 *  ...), and gives a bool: whether a comes before b. */
MST_API void mst_hlo_sort(mst_lower *l, int count, const mst_hlo *x, int axis, mst_hlo_function function, void *context,
                          mst_hlo *result);
/** While CONDITION, a bool of the COUNT values, holds: the values become what BODY makes of them, with the same
 *  dtypes and shapes. */
MST_API void mst_hlo_while(mst_lower *l, int count, const mst_hlo *initial, mst_hlo_function condition,
                           mst_hlo_function body, void *context, mst_hlo *result);
/** The same STEPS times. BODY gets the number of the step, from 0, before the values: i32, or i64 if there are more
 *  steps than i32 counts. Compilers see how often it is. */
MST_API void mst_hlo_repeat(mst_lower *l, int64_t steps, int count, const mst_hlo *initial, mst_hlo_function body,
                            void *context, mst_hlo *result);

/* ---- products --------------------------------------------------------------------------------------- */

/** Sums of products of A and B over A_SUMMED and B_SUMMED, by batches: first the dimensions A_BATCH, which are as long
 *  as B_BATCH, then the other ones of A, then those of B. DTYPE: of the result, at least as wide as the factors. */
MST_API mst_hlo mst_hlo_dot(mst_lower *l, mst_hlo a, mst_hlo b, mst_axes a_batch, mst_axes b_batch, mst_axes a_summed,
                            mst_axes b_summed, mst_dtype dtype);

/** A convolution. Numbers are by dimension of the window. A stride or dilation of 0 stands for 1. */
typedef struct mst_hlo_convolution {
    /** Which dimension is which: "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", with b a batch, f features, i and o
     *  features of source and result in the weights, and numbers of dimensions of the window. */
    const char *dimensions;
    int num_spatial;
    int64_t stride[MST_MAX_NDIM], low[MST_MAX_NDIM], high[MST_MAX_NDIM];
    int64_t src_dilation[MST_MAX_NDIM], weights_dilation[MST_MAX_NDIM];
    bool reversed;        /**< the window is the other way round along all its dimensions */
    int64_t groups;       /**< of features; 0: 1 */
    int64_t batch_groups; /**< 0: 1 */
    mst_spec dst;         /**< dtype and shape of the result */
} mst_hlo_convolution;
MST_API mst_hlo mst_hlo_convolve(mst_lower *l, mst_hlo src, mst_hlo weights, const mst_hlo_convolution *convolution);

/* ---- by indices ------------------------------------------------------------------------------------- */

/** How indices name parts of a value. Lists are of dimensions, as in the specification of gather and scatter. */
typedef struct mst_hlo_indexing {
    mst_axes offset;    /**< dimensions of the result of gather (of the updates of scatter) that are within a part */
    mst_axes collapsed; /**< dimensions of the value, of size 1 in a part, that the result does not have */
    mst_axes map;       /**< dimension of the value to which element i of an index belongs */
    /** Dimension of the indices along which the elements of one index are. If it is the number of their dimensions, an
     *  index is one element. */
    int vector_axis;
    bool sorted, unique; /**< promises about the indices, for scatter */
} mst_hlo_indexing;
/** The parts of size SIZE of X that INDICES name, as DST, dtype and shape of the result. An index that is out of
 *  range is moved into it. */
MST_API mst_hlo mst_hlo_gather(mst_lower *l, mst_hlo x, mst_hlo indices, const mst_hlo_indexing *indexing,
                               mst_shape size, mst_shape dst);
/** X, in which the parts that INDICES name are combined with those of UPDATES by OPERATION; NULL: are replaced by them.
 *  Parts out of range are left out. */
MST_API mst_hlo mst_hlo_scatter(mst_lower *l, const char *operation, mst_hlo x, mst_hlo indices, mst_hlo updates,
                                const mst_hlo_indexing *indexing);

/* ---- what a step brings, and what fails -------------------------------------------------------------- */

/** The key of the sequence of random numbers STREAM under the seed of the graph: MST_HLO_U32[2], given to the program
 *  for each run. */
MST_API mst_hlo mst_hlo_key(mst_lower *l, uint64_t stream);
/** The number of the step: MST_HLO_U32[2], the lower word first. */
MST_API mst_hlo mst_hlo_step(mst_lower *l);
/** The run fails with CODE if an element of the bools MASK is true. The message names the node and says what FORMAT
 *  says. Programs cannot stop: what they compute then is not used. Only the first of a program that fails is
 *  reported. Not within a function of elements, except the bodies of mst_hlo_while and mst_hlo_repeat. */
MST_API void mst_hlo_fault(mst_lower *l, mst_hlo mask, mst_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Whether the run has failed so far: a bool scalar. Loops end by it that could otherwise go on with wrong values. */
MST_API mst_hlo mst_hlo_has_failed(mst_lower *l);

/** Any other operation, "stablehlo." and OPERATION, of COUNT operands. ATTRIBUTES is text in braces, or "". DST:
 *  dtypes and shapes of the NUM_DST results. */
MST_API void mst_hlo_call(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                          int num_dst, const mst_spec *dst, mst_hlo *result);

#ifdef __cplusplus
}
#endif
#endif
