/** Ops as StableHLO, the language in which compilers of accelerators take programs.
 *
 *  The slot `hlo` or `lower` of an op (muster/op.h) says how to write it. `hlo` names the one operation of StableHLO
 *  that does the same; the sources are broadcast to the shape of output 0. `lower` is a function that writes several
 *  operations, with the functions below:
 *
 *      static void leaky_relu_lower(mst_lower *l) {
 *          const mst_leaky_relu_options *o = l->options;
 *          mst_hlo x = l->src[0], zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
 *          mst_hlo slope = mst_hlo_number(l, l->src_spec[0].dtype, o->slope);
 *          mst_hlo below = mst_hlo_binary(l, "multiply", x, slope);
 *          l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "GT", x, zero), x, below);
 *      }
 *
 *  A program never writes to its sources. On other devices, output 0 of an op that writes a variable is the variable's
 *  memory (MST_OP_VIEW). In a program it is the new value, which Muster stores in the variable if the step succeeds.
 *
 *  All dimensions are known when `lower` is called. The program keeps the first error. A function whose sources are
 *  wrong writes nothing and returns MST_NO_HLO, and so does a function that gets MST_NO_HLO. Axes may count from the
 *  end: -1 is the last.
 *
 *  The text is StableHLO 1.0 in the generic form of MLIR. Products of f32 have the precision HIGHEST, because DEFAULT
 *  is less precise than f32 on accelerators; under MST_TENSORFLOAT32 they have DEFAULT. Operations and their names:
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

/** Dtypes that only programs have, not tensors: unsigned integers, for random bits and hashes. */
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
    /** Precision of the products of f32 that mst_hlo_dot and mst_hlo_convolve write: MST_TENSORFLOAT32 gives DEFAULT,
     *  all others HIGHEST. It begins as the session's precision; an op with an option for it sets it anew. */
    mst_precision precision;
};

/** Dtype and shape of X. */
MST_API mst_spec mst_hlo_spec(const mst_lower *l, mst_hlo x);
/** Keeps an error in the program, with the name of the node, and returns MST_NO_HLO. */
MST_API mst_hlo mst_hlo_fail(mst_lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- constants -------------------------------------------------------------------------------------- */

/** VALUE, rounded to DTYPE, as a scalar. For an integer DTYPE, VALUE is limited to its range: INFINITY gives the
 *  largest integer. */
MST_API mst_hlo mst_hlo_number(mst_lower *l, mst_dtype dtype, double value);
/** As mst_hlo_number, with the dtype of X. */
MST_API mst_hlo mst_hlo_number_like(mst_lower *l, mst_hlo x, double value);
/** As mst_hlo_number, for integers that a double cannot hold. With MST_HLO_U64 the bits of VALUE are unsigned. */
MST_API mst_hlo mst_hlo_integer(mst_lower *l, mst_dtype dtype, int64_t value);
/** VALUE in all elements. */
MST_API mst_hlo mst_hlo_fill(mst_lower *l, mst_dtype dtype, mst_shape shape, double value);
/** A vector of COUNT elements, rounded to DTYPE. If there are more than 16, it is a source of the program, not a
 *  constant in its text. */
MST_API mst_hlo mst_hlo_list(mst_lower *l, mst_dtype dtype, int count, const double *value);
/** TENSOR, which must live as long as the graph: a constant in the text if it has at most 16 elements, else a source of
 *  the program. */
MST_API mst_hlo mst_hlo_tensor(mst_lower *l, mst_tensor *tensor);
/** Each element is its index along AXIS. */
MST_API mst_hlo mst_hlo_iota(mst_lower *l, mst_dtype dtype, mst_shape shape, int axis);

/* ---- element by element ----------------------------------------------------------------------------- */

/** An operation of one operand; the result has its dtype and shape: "negate", "exponential", ... */
MST_API mst_hlo mst_hlo_unary(mst_lower *l, const char *operation, mst_hlo x);
/** An operation of two operands of one dtype, which broadcast as in NumPy: "add", "power", "shift_left", ... */
MST_API mst_hlo mst_hlo_binary(mst_lower *l, const char *operation, mst_hlo a, mst_hlo b);
/** The bools A DIRECTION B: "EQ", "NE", "LT", "LE", "GT" or "GE". A and B broadcast. */
MST_API mst_hlo mst_hlo_compare(mst_lower *l, const char *direction, mst_hlo a, mst_hlo b);
/** MASK ? A : B. The three broadcast to one shape; MASK is bool. */
MST_API mst_hlo mst_hlo_select(mst_lower *l, mst_hlo mask, mst_hlo a, mst_hlo b);
/** X converted to DTYPE, by stablehlo.convert. Bools become 0 and 1; a number becomes true if it is not 0. A float
 *  outside the range of an integer DTYPE gives an undefined result: limit it with mst_hlo_clamp first. X itself if it
 *  has this dtype. */
MST_API mst_hlo mst_hlo_convert(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** The bits of X as elements of DTYPE, which must have the same size. */
MST_API mst_hlo mst_hlo_bits(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** min(max(X, LOW), HIGH). The three broadcast. */
MST_API mst_hlo mst_hlo_clamp(mst_lower *l, mst_hlo low, mst_hlo x, mst_hlo high);
/** X, behind an optimization barrier: the compiler does not merge computations on the result with computations on X. */
MST_API mst_hlo mst_hlo_barrier(mst_lower *l, mst_hlo x);

/* ---- moving elements -------------------------------------------------------------------------------- */

/** X broadcast to SHAPE as in NumPy. X itself if it has this shape. */
MST_API mst_hlo mst_hlo_broadcast(mst_lower *l, mst_hlo x, mst_shape shape);
/** X broadcast to SHAPE: dimension i of X, which is 1 or SHAPE's size, becomes dimension axes.axis[i]. */
MST_API mst_hlo mst_hlo_broadcast_axes(mst_lower *l, mst_hlo x, mst_shape shape, mst_axes axes);
/** The elements of X in their order, with another shape. X itself if it has this shape. */
MST_API mst_hlo mst_hlo_reshape(mst_lower *l, mst_hlo x, mst_shape shape);
/** Dimension i of the result is dimension axes.axis[i] of X. */
MST_API mst_hlo mst_hlo_transpose(mst_lower *l, mst_hlo x, mst_axes axes);
/** Every STRIDE-th element from BEGIN to END - 1, one number of each for each dimension. STRIDE NULL: 1. */
MST_API mst_hlo mst_hlo_slice(mst_lower *l, mst_hlo x, const int64_t *begin, const int64_t *end, const int64_t *stride);
/** Elements BEGIN to END - 1 along AXIS, and all elements along the other axes. */
MST_API mst_hlo mst_hlo_slice_axis(mst_lower *l, mst_hlo x, int axis, int64_t begin, int64_t end);
/** Pads X with the scalar VALUE. Along each dimension there are LOW elements before it, HIGH after it, and INTERIOR
 *  between two neighbours. Negative LOW and HIGH remove elements of X. NULL: all 0. */
MST_API mst_hlo mst_hlo_pad(mst_lower *l, mst_hlo x, mst_hlo value, const int64_t *low, const int64_t *high,
                            const int64_t *interior);
MST_API mst_hlo mst_hlo_concat(mst_lower *l, int count, const mst_hlo *x, int axis);
/** X with the order of its elements reversed along each of AXES. */
MST_API mst_hlo mst_hlo_reverse(mst_lower *l, mst_hlo x, mst_axes axes);
/** The slice of X of shape SIZE that begins at START: one scalar for each dimension, all of one integer dtype. A slice
 *  that would reach over the end begins earlier. */
MST_API mst_hlo mst_hlo_dynamic_slice(mst_lower *l, mst_hlo x, const mst_hlo *start, mst_shape size);
/** X, in which UPDATE replaces the slice of its shape that begins at START (as in mst_hlo_dynamic_slice). */
MST_API mst_hlo mst_hlo_dynamic_update(mst_lower *l, mst_hlo x, mst_hlo update, const mst_hlo *start);
/** The elements of X at the scalar INDEX along AXIS; the result lacks this dimension. An index out of range is
 *  clamped. */
MST_API mst_hlo mst_hlo_slice_at(mst_lower *l, mst_hlo x, int axis, mst_hlo index);
/** X, in which PART replaces the elements at INDEX along AXIS. PART lacks the dimension AXIS. */
MST_API mst_hlo mst_hlo_update_at(mst_lower *l, mst_hlo x, mst_hlo part, int axis, mst_hlo index);

/* ---- functions of elements -------------------------------------------------------------------------- */

/** Writes the inside of a function that computes RESULT from ARGUMENT. CONTEXT is the pointer that was passed beside
 *  the function. The inside may use values of the program around it. */
typedef void (*mst_hlo_function)(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result);

/** Combines the elements of X along AXES, and removes these dimensions; without AXES the result is X. OPERATION is
 *  associative and has two operands. INITIAL must be its neutral element: 0 for "add", 1 for "multiply", -INFINITY for
 *  "maximum", INFINITY for "minimum", 1 for "and", 0 for "or". */
MST_API mst_hlo mst_hlo_reduce(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes);
/** As mst_hlo_reduce, but each of AXES stays, as a dimension of size 1. */
MST_API mst_hlo mst_hlo_reduce_keep(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes);
/** As mst_hlo_reduce, along all axes: a scalar. */
MST_API mst_hlo mst_hlo_reduce_whole(mst_lower *l, const char *operation, mst_hlo x, double initial);
/** Reduces COUNT values of one shape together along AXES, for example maxima and their indices. FUNCTION gets COUNT
 *  scalars, the results so far, and then COUNT scalars, the next elements. It gives the COUNT new results. INITIAL:
 *  COUNT scalars. */
MST_API void mst_hlo_reduce_all(mst_lower *l, int count, const mst_hlo *x, const mst_hlo *initial, mst_axes axes,
                                mst_hlo_function function, void *context, mst_hlo *result);

/** A window that moves over all dimensions of a value. Each array has one number for each dimension. `low` and `high`
 *  are the padding before and after the value; `base_dilation` is that of the value, `dilation` that of the window. A
 *  stride or dilation of 0 stands for 1. */
typedef struct mst_hlo_window {
    int64_t size[MST_MAX_NDIM], stride[MST_MAX_NDIM], low[MST_MAX_NDIM], high[MST_MAX_NDIM], dilation[MST_MAX_NDIM],
        base_dilation[MST_MAX_NDIM];
} mst_hlo_window;
/** Combines the elements of each window, as mst_hlo_reduce does; padding has the value INITIAL. */
MST_API mst_hlo mst_hlo_reduce_window(mst_lower *l, const char *operation, mst_hlo x, double initial,
                                      const mst_hlo_window *window);
/** Sorts COUNT values of one shape together along AXIS, stably. FUNCTION compares place a with place b. It gets two
 *  scalars of each value, (a0, b0, a1, b1, ...), and gives a bool: whether a is sorted before b. */
MST_API void mst_hlo_sort(mst_lower *l, int count, const mst_hlo *x, int axis, mst_hlo_function function, void *context,
                          mst_hlo *result);
/** A loop over COUNT values, which begin as INITIAL. CONDITION gets the values and gives a bool. As long as it is true,
 *  BODY replaces the values by new ones of the same dtypes and shapes. RESULT: the last values. */
MST_API void mst_hlo_while(mst_lower *l, int count, const mst_hlo *initial, mst_hlo_function condition,
                           mst_hlo_function body, void *context, mst_hlo *result);
/** A loop of STEPS steps. BODY gets the number of the step, from 0, and then the values. The number is i32, or i64 if
 *  STEPS is above INT32_MAX. STEPS is a constant, so compilers see how often the loop runs. */
MST_API void mst_hlo_repeat(mst_lower *l, int64_t steps, int count, const mst_hlo *initial, mst_hlo_function body,
                            void *context, mst_hlo *result);

/* ---- products --------------------------------------------------------------------------------------- */

/** The sums of products of A and B (stablehlo.dot_general): dimensions A_SUMMED of A are contracted with B_SUMMED of B,
 *  and A_BATCH and B_BATCH are batch dimensions. The result has the batch dimensions, then the other dimensions of A,
 *  then those of B. A and B have one dtype. DTYPE is the result's, at least as wide. */
MST_API mst_hlo mst_hlo_dot(mst_lower *l, mst_hlo a, mst_hlo b, mst_axes a_batch, mst_axes b_batch, mst_axes a_summed,
                            mst_axes b_summed, mst_dtype dtype);

/** A convolution. Each array has one number for each spatial dimension. `low` and `high` are the padding before and
 *  after the source. A stride or dilation of 0 stands for 1. */
typedef struct mst_hlo_convolution {
    /** The meaning of each dimension of the source, the weights and the result, such as
     *  "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]". b: batch; f: features; i and o: features of the source and of the
     *  result; a number: spatial dimension. */
    const char *dimensions;
    int num_spatial;
    int64_t stride[MST_MAX_NDIM], low[MST_MAX_NDIM], high[MST_MAX_NDIM];
    int64_t src_dilation[MST_MAX_NDIM], weights_dilation[MST_MAX_NDIM];
    bool reversed;        /**< the window is reversed along all spatial dimensions */
    int64_t groups;       /**< feature_group_count; 0: 1 */
    int64_t batch_groups; /**< batch_group_count; 0: 1 */
    mst_spec dst;         /**< dtype and shape of the result */
} mst_hlo_convolution;
MST_API mst_hlo mst_hlo_convolve(mst_lower *l, mst_hlo src, mst_hlo weights, const mst_hlo_convolution *convolution);

/* ---- by indices ------------------------------------------------------------------------------------- */

/** How indices select parts (slices) of a value: the dimension numbers of stablehlo.gather and stablehlo.scatter. */
typedef struct mst_hlo_indexing {
    mst_axes offset;    /**< dimensions of the result of gather (of the updates of scatter) that are within a part */
    mst_axes collapsed; /**< dimensions of the value, of size 1 in a part, that the result does not have */
    mst_axes map;       /**< map.axis[i]: the dimension of the value to which element i of an index belongs */
    /** index_vector_dim: the dimension of the indices along which the elements of one index lie. If it equals the
     *  number of their dimensions, an index is a single element. */
    int vector_axis;
    bool sorted, unique; /**< promises about the indices, for scatter */
} mst_hlo_indexing;
/** The parts of X, of shape SIZE, that INDICES select. DST is the shape of the result. An index out of range is
 *  clamped. */
MST_API mst_hlo mst_hlo_gather(mst_lower *l, mst_hlo x, mst_hlo indices, const mst_hlo_indexing *indexing,
                               mst_shape size, mst_shape dst);
/** X, in which OPERATION combines the parts that INDICES select with the parts of UPDATES. OPERATION NULL: UPDATES
 *  replace them. Parts out of range are skipped. */
MST_API mst_hlo mst_hlo_scatter(mst_lower *l, const char *operation, mst_hlo x, mst_hlo indices, mst_hlo updates,
                                const mst_hlo_indexing *indexing);

/* ---- what a step brings, and what fails -------------------------------------------------------------- */

/** The key for the random numbers of sequence STREAM: MST_HLO_U32[2], made from the graph's seed and passed to the
 *  program in each run. */
MST_API mst_hlo mst_hlo_key(mst_lower *l, uint64_t stream);
/** The number of the step: MST_HLO_U32[2], the lower word first. */
MST_API mst_hlo mst_hlo_step(mst_lower *l);
/** Makes the run fail with CODE if an element of the bools MASK is true. The message is the name of the node and the
 *  text of FORMAT. A program cannot stop early: it computes on, and its results are not used. If several faults of a
 *  program occur, the first is reported. Must not be called inside an mst_hlo_function, except the body of
 *  mst_hlo_while or mst_hlo_repeat. */
MST_API void mst_hlo_fault(mst_lower *l, mst_hlo mask, mst_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Whether a fault has occurred so far in this run: a bool scalar. A loop that could run forever on wrong values ends
 *  by it. */
MST_API mst_hlo mst_hlo_has_failed(mst_lower *l);

/** Writes any other operation, named "stablehlo." and OPERATION, with COUNT operands SRC. ATTRIBUTES is text in braces,
 *  or "". DST: dtypes and shapes of the NUM_DST results. */
MST_API void mst_hlo_call(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                          int num_dst, const mst_spec *dst, mst_hlo *result);

#ifdef __cplusplus
}
#endif
#endif
