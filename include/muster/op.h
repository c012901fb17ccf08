/** Operations: what a node does. A program defines its own ops by the same interface as the library.
 *
 *  An op is one `const mst_op` in one file: options table, inference, gradient, reference CPU kernel, and examples,
 *  which drive its tests. An example, step by step: docs/adding-an-op.md.
 */
#ifndef MUSTER_OP_H
#define MUSTER_OP_H

#include "muster/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_op mst_op;
typedef struct mst_lower mst_lower; /* muster/hlo.h */

/* ---- options -------------------------------------------------------------------------------------- */

typedef enum mst_field_type {
    MST_FIELD_TYPE_END = 0,
    MST_FIELD_TYPE_BOOL,   /**< bool */
    MST_FIELD_TYPE_I32,    /**< int32_t or int */
    MST_FIELD_TYPE_I64,    /**< int64_t */
    MST_FIELD_TYPE_U64,    /**< uint64_t */
    MST_FIELD_TYPE_F32,    /**< float */
    MST_FIELD_TYPE_F64,    /**< double */
    MST_FIELD_TYPE_DTYPE,  /**< mst_dtype */
    MST_FIELD_TYPE_SHAPE,  /**< mst_shape */
    MST_FIELD_TYPE_AXES,   /**< mst_axes */
    MST_FIELD_TYPE_STRING, /**< const char *, copied into the graph */
    MST_FIELD_TYPE_TENSOR, /**< mst_tensor *, retained by the graph */
    MST_FIELD_TYPE_ENUM,   /**< int, named by `names` */
    MST_FIELD_TYPE_VALUE,  /**< mst_value of the graph, a reference only: unlike a source it is not computed */
    /** const void *, opaque, compared by address; must outlive the graph. Cannot be written to a file or given as
     *  text. */
    MST_FIELD_TYPE_POINTER,
    MST_FIELD_TYPE_GRAPH, /**< mst_graph *, a body; kept by the graph of the node, even if its maker destroys it */
    MST_FIELD_TYPE_NESTED /**< a struct with fields of its own, `nested`; not in the options of an op */
} mst_field_type;

/** One member of an options struct. An option that is 0 takes `initial`. This one table is used for range checks,
 *  printing, reading from text and graph files, comparison, command-line flags and documentation. */
typedef struct mst_field {
    const char *name;
    mst_field_type type;
    size_t offset;
    double initial;
    double low, high; /**< allowed range, both 0 for any */
    const char *help;
    const char *const *names;       /**< names of an enum's values, ended by NULL */
    const struct mst_field *nested; /**< fields of a nested struct, with offsets from its beginning */
} mst_field;

#define MST_FIELD_F32(T, m, initial, low, high, help) \
    { #m, MST_FIELD_TYPE_F32, offsetof(T, m), (initial), (low), (high), (help), NULL, NULL }
#define MST_FIELD_F64(T, m, initial, low, high, help) \
    { #m, MST_FIELD_TYPE_F64, offsetof(T, m), (initial), (low), (high), (help), NULL, NULL }
#define MST_FIELD_I32(T, m, initial, low, high, help) \
    { #m, MST_FIELD_TYPE_I32, offsetof(T, m), (initial), (low), (high), (help), NULL, NULL }
#define MST_FIELD_I64(T, m, initial, low, high, help) \
    { #m, MST_FIELD_TYPE_I64, offsetof(T, m), (initial), (low), (high), (help), NULL, NULL }
#define MST_FIELD_U64(T, m, help) \
    { #m, MST_FIELD_TYPE_U64, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_BOOL(T, m, help) \
    { #m, MST_FIELD_TYPE_BOOL, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_DTYPE(T, m, initial, help) \
    { #m, MST_FIELD_TYPE_DTYPE, offsetof(T, m), (initial), 0, 0, (help), NULL, NULL }
#define MST_FIELD_SHAPE(T, m, help) \
    { #m, MST_FIELD_TYPE_SHAPE, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_AXES(T, m, help) \
    { #m, MST_FIELD_TYPE_AXES, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_STRING(T, m, help) \
    { #m, MST_FIELD_TYPE_STRING, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_TENSOR(T, m, help) \
    { #m, MST_FIELD_TYPE_TENSOR, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_ENUM(T, m, initial, values, help) \
    { #m, MST_FIELD_TYPE_ENUM, offsetof(T, m), (initial), 0, 0, (help), (values), NULL }
#define MST_FIELD_VALUE(T, m, help) \
    { #m, MST_FIELD_TYPE_VALUE, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_POINTER(T, m, help) \
    { #m, MST_FIELD_TYPE_POINTER, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_GRAPH(T, m, help) \
    { #m, MST_FIELD_TYPE_GRAPH, offsetof(T, m), 0, 0, 0, (help), NULL, NULL }
#define MST_FIELD_NESTED(T, m, fields, help) \
    { #m, MST_FIELD_TYPE_NESTED, offsetof(T, m), 0, 0, 0, (help), NULL, (fields) }
#define MST_FIELD_END \
    { NULL, MST_FIELD_TYPE_END, 0, 0, 0, 0, NULL, NULL, NULL }

/** A list of axes or of small integers, such as MST_AXES(0, -1). count 0: the op's default, usually all axes. */
typedef struct mst_axes {
    /* Without this member `.axes = 1` would set `count`: a list of one axis, 0. With it compilers report a mistake. */
#ifdef __cplusplus
    mst_axes() = default;
    mst_axes(int use_MST_AXES) = delete;
#else
    __extension__ int use_MST_AXES[0]; /* takes no room and no value */
#endif
    int32_t count;
    int32_t axis[MST_MAX_NDIM];
} mst_axes;
MST_API mst_axes mst_axes_make(int count, const int *axis);
#ifdef __cplusplus
extern "C++" {
template <class... T>
inline mst_axes mst_axes_of_(T... axis) {
    const int list[] = {static_cast<int>(axis)...};
    return mst_axes_make(static_cast<int>(sizeof...(axis)), list);
}
}
#define MST_AXES(...) mst_axes_of_(__VA_ARGS__)
#else
#define MST_AXES(...) mst_axes_make((int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__})
#endif

/* ---- inference ------------------------------------------------------------------------------------ */

/** Given to `infer`, which fills dst[] from src[] and the options. `infer` runs while the graph is built, with -1 for
 *  unknown dimensions, and again for each plan, with all dimensions known. */
typedef struct mst_infer {
    const mst_op *op;
    const void *options;
    const char *name; /**< name of the node */
    int num_src;
    const mst_spec *src;
    const char *const *src_name; /**< node names of the sources, for messages */
    int num_dst;
    mst_spec *dst;
} mst_infer;

/** Error unless source I has this dtype. */
MST_API MST_CHECKED mst_status mst_infer_want_dtype(mst_infer *c, int i, mst_dtype dtype);
/** Error unless source I is f32 or f64. */
MST_API MST_CHECKED mst_status mst_infer_want_float(mst_infer *c, int i);
/** Error unless source I is i32 or i64. */
MST_API MST_CHECKED mst_status mst_infer_want_index(mst_infer *c, int i);
/** Error unless the dtype of source I is in the op's `dtypes`. */
MST_API MST_CHECKED mst_status mst_infer_want_listed(mst_infer *c, int i);
/** Error unless sources I and J have the same dtype; the message names both. */
MST_API MST_CHECKED mst_status mst_infer_same_dtype(mst_infer *c, int i, int j);
/** Error unless source I has NDIM dimensions. */
MST_API MST_CHECKED mst_status mst_infer_want_ndim(mst_infer *c, int i, int ndim);
/** Unifies dimensions A and B, of which either may be -1 (not known): *OUT is the known one. An error if both are known
 *  and differ; WHAT names the dimension in its message. */
MST_API MST_CHECKED mst_status mst_infer_same_dim(mst_infer *c, int64_t a, int64_t b, const char *what, int64_t *out);
/** Unifies the shapes of sources I and J. */
MST_API MST_CHECKED mst_status mst_infer_same_shape(mst_infer *c, int i, int j, mst_shape *out);
/** NumPy broadcasting of the shapes of sources I and J. */
MST_API MST_CHECKED mst_status mst_infer_broadcast(mst_infer *c, int i, int j, mst_shape *out);
/** Checks AXIS against NDIM; a negative axis counts from the end. *OUT is not negative. */
MST_API MST_CHECKED mst_status mst_infer_axis(mst_infer *c, int axis, int ndim, int *out);
/** An error that begins with the node's op and name, and ends with the shapes of all sources and their names. Example:
 *  `matmul 'h': inner dimensions 784 and 700 differ: x f32[100, 784], w f32[700, 500]`. */
MST_API mst_status mst_infer_fail(mst_infer *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- gradients ------------------------------------------------------------------------------------ */

/** Given to `grad`, which builds the gradient with respect to source I from ordinary ops. */
typedef struct mst_grad {
    mst_graph *graph;
    const mst_op *op;
    const void *options;
    int num_src;
    const mst_value *src;
    int num_dst;
    const mst_value *dst;
    const mst_value *ddst; /**< gradient of each output; MST_NONE if nothing depends on it */
    mst_value shared;      /**< MST_NONE at the first source; `grad` may keep a value here for the next sources */
    /** Sets OUT[i] to the gradient with respect to SRC[i], given the GRADIENTS of all TARGETS. MST_NONE if no target
     *  depends on SRC[i]. For ops with bodies, which are graphs of their own. */
    void (*gradients)(const mst_value *targets, const mst_value *gradients, int num_targets, const mst_value *src,
                      int num_src, mst_value *out);
} mst_grad;

/** Sums GRADIENT over the axes along which LIKE was broadcast, so that it has LIKE's shape. Some dimensions may be
 *  known only when planning. */
MST_API mst_value mst_unbroadcast(mst_value gradient, mst_value like);

/* ---- kernels -------------------------------------------------------------------------------------- */

/** A dense row-major array as a kernel sees it. Alias rules are the op's. */
typedef struct mst_array {
    void *data;
    int64_t count;
    mst_dtype dtype;
    mst_shape shape;
} mst_array;

/** The state of one step, the same for all nodes. */
typedef struct mst_step {
    uint64_t seed;  /**< seed of the graph */
    int64_t number; /**< number of the step, from 0 */
} mst_step;

/** Given to a kernel. Kernels never allocate; any further memory that they need is in `workspace`. */
typedef struct mst_kernel_args {
    const mst_op *op;
    const void *options;
    const char *name; /**< name of the node */
    int num_src;
    const mst_array *src;
    int num_dst;
    const mst_array *dst;
    void *workspace; /**< of the size that the op's `workspace` gave; 64-byte aligned, not kept between steps */
    void *state;     /**< data that a fast kernel has prepared; NULL in reference kernels */
    const mst_step *step;
    struct mst_team *team; /**< threads of the device, for mst_parallel; NULL: only the calling one */
    int num_threads;       /**< threads of the device */
    int part, num_parts;   /**< this device's part of a node that several devices run together; else 0 and 1 */
} mst_kernel_args;

typedef mst_status (*mst_kernel_function)(const mst_kernel_args *args);

/** Does items BEGIN to END - 1 of a kernel's work. THREAD, from 0 to num_threads - 1, is the number of the calling
 *  thread: with it each thread can use its own part of the workspace. */
typedef mst_status (*mst_parallel_body)(void *context, int64_t begin, int64_t end, int thread);
/** Divides items 0 to N - 1 of a kernel's work among the threads of its device. Each call of BODY gets consecutive
 *  items, and begins at a multiple of GRAIN. If there is one thread, or N is at most GRAIN, one call gets all items.
 *  The result must not depend on how the items are divided. BODY therefore must not sum over several calls: the caller
 *  does so afterwards, always in the same order. The division costs about half a microsecond. If all of the work takes
 *  less than two microseconds, GRAIN should be N. Otherwise GRAIN should be small, so that all threads get about the
 *  same work. Allocates nothing. If several calls fail, the error is that of the one with the first items. BODY must
 *  not call mst_parallel. */
MST_API MST_CHECKED mst_status mst_parallel(const mst_kernel_args *a, int64_t n, int64_t grain, mst_parallel_body body,
                                            void *context);

/** Sets an error of a running kernel. The message begins with the op and the name of its node. Returns CODE. */
MST_API mst_status mst_kernel_fail(const mst_kernel_args *a, mst_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- examples: what the registry-driven test runs ---------------------------------------------------- */

#define MST_EXAMPLE_SRC 7
#define MST_EXAMPLE_DST 3

/** One use of an op. If a source has the dtype MST_NO_DTYPE, the example runs once with each dtype of `dtypes`. */
typedef struct mst_example {
    const char *name;
    int num_src;
    unsigned dtypes; /**< MST_DTYPE_BITs of some of the op's dtypes; 0: all of them */
    struct {
        mst_dtype dtype;
        int ndim;
        int64_t dim[MST_MAX_NDIM];
        const double *value; /**< NULL: random in [low, high], whole numbers for integer dtypes */
        double low, high;    /**< both 0: [-2, 2] (from 0 for u8 and bool) */
        bool no_grad;        /**< no finite differences for this source */
    } src[MST_EXAMPLE_SRC];
    const void *options;                   /**< NULL: all zero */
    const double *expect[MST_EXAMPLE_DST]; /**< values of the outputs, NULL: not checked */
    double tolerance;                      /**< relative and absolute; 0: 1e-5 for f32, 1e-10 for f64 */
    mst_status fails; /**< MST_OK: must succeed; other: building, planning or running must fail with this code */
} mst_example;

/* ---- the op --------------------------------------------------------------------------------------- */

#define MST_VARIADIC (-1)

#define MST_DTYPE_BIT(d) (1u << (d))
#define MST_FLOATS (MST_DTYPE_BIT(MST_F32) | MST_DTYPE_BIT(MST_F64))
#define MST_INDICES (MST_DTYPE_BIT(MST_I32) | MST_DTYPE_BIT(MST_I64))
#define MST_NUMBERS (MST_FLOATS | MST_INDICES | MST_DTYPE_BIT(MST_U8))
#define MST_ALL_DTYPES (MST_NUMBERS | MST_DTYPE_BIT(MST_BOOL))
/** Dtypes of values that can be kept and passed on, even if not computed with. */
#define MST_STORED_DTYPES (MST_ALL_DTYPES | MST_DTYPE_BIT(MST_BF16))
/** Dtypes of ops that copy elements as they are, strings too. An op gets or gives bf16 and strings only if they are
 *  among its dtypes. A kernel sees strings as mst_string: it reads their bytes and never writes them. Its output
 *  strings refer to bytes of its sources. */
#define MST_MOVED_DTYPES (MST_STORED_DTYPES | MST_DTYPE_BIT(MST_STRING))

enum {
    MST_OP_STATEFUL = 1,    /**< the same sources may give other values: not folded, not merged (random, variables) */
    MST_OP_VIEW = 2,        /**< output 0 is the memory of source 0 with another shape: nothing runs */
    MST_OP_PLACEHOLDER = 4, /**< the value comes from the caller */
    MST_OP_VARIABLE = 8,    /**< the output is storage that lives as long as the session */
    MST_OP_CONSTANT = 16,   /**< the value is the tensor of the option `value` */
    MST_OP_NO_VALUE = 32,   /**< only orders other nodes: group, no_op */
    MST_OP_OVERWRITES = 64, /**< the variable that it writes need not have a value before: assign */
    /** There is one output. Each element depends only on the source elements that broadcast to its place. The reference
     *  kernel cannot fail. Muster therefore divides the elements among the threads of a device. */
    MST_OP_ELEMENTWISE = 128,
    /** The kernel cannot fail, whatever the values. It may therefore run at the end of a step, when variables are being
     *  written. If it does fail there, the variables that were still to be written are torn (mst_state_info). */
    MST_OP_INFALLIBLE = 256,
    /** The kernel cannot fail if all sources are floats: for example a division. */
    MST_OP_INFALLIBLE_FLOATS = 512,
};

/** Everything about one op. `name`, `infer` and `reference` are required, and `count_dst` if num_dst is MST_VARIADIC.
 *  The other pointers may be NULL. */
struct mst_op {
    const char *name; /**< "leaky_relu" */
    /** The op in terms of TensorFlow's ops, as src/graph/tf_form.h explains: "LeakyRelu($0; alpha=slope)". NULL:
     *  TensorFlow has no equivalent. */
    const char *tf_form;
    int num_src;             /**< or MST_VARIADIC */
    int num_dst;             /**< or MST_VARIADIC with `count_dst` */
    unsigned dtypes;         /**< allowed dtypes of source 0, or of the output if there is no source: MST_DTYPE_BITs */
    unsigned flags;          /**< MST_OP_... */
    unsigned shape_only;     /**< bit I: only the shape of source I is used; its data may be NULL in the kernel */
    bool may_alias;          /**< output 0 may be the memory of any source of its dtype and element count */
    const mst_field *fields; /**< NULL: no options */
    size_t options_size;
    /** Returns the number of outputs. OPTIONS are those of the call, before defaults are filled in; NULL: all zero.
     *  Without this function the op has num_dst outputs. */
    int (*count_dst)(const void *options, int num_src);
    mst_status (*infer)(mst_infer *c);
    /** The gradient of source I. NULL: no gradient flows through. */
    mst_value (*grad)(mst_grad *c, int i);
    /** Whether output 0 equals source 0 for these shapes. NULL: never. */
    bool (*is_identity)(const mst_infer *c);
    /** Whether the kernel changes source I, a variable. NULL: it changes none. */
    bool (*writes)(const void *options, int num_src, int i);
    /** Bytes of workspace on a device of NUM_THREADS, with all dimensions known. NULL: none. */
    size_t (*workspace)(const mst_infer *c, int num_threads);
    mst_kernel_function reference; /**< the kernel in plain C, for all dtypes in `dtypes` */
    /** How a device that compiles computes the op (muster/hlo.h). `hlo` is the one operation of StableHLO that does the
     *  same, such as "add". `lower` writes several operations. Both NULL: the op runs on the CPU of its task. */
    const char *hlo;
    void (*lower)(mst_lower *l);
    const mst_example *examples; /**< NULL: none. The library's own ops have theirs only in the tests */
    int num_examples;
};

#define MST_EXAMPLES(list) .examples = (list), .num_examples = (int)(sizeof(list) / sizeof((list)[0]))

/** Adds a node and returns its output 0. OPTIONS (NULL: all zero) is copied. GRAPH may be NULL if there is a source.
 *  Errors are kept on the graph. */
MST_API mst_value mst_call(mst_graph *graph, const mst_op *op, int num_src, const mst_value *src, const void *options);
/** As mst_call, with the node's name (NULL: the op's). */
MST_API mst_value mst_call_named(mst_graph *graph, const mst_op *op, const char *name, int num_src,
                                 const mst_value *src, const void *options);
/** As mst_call_named, with OP, the name of an op of the library or a registered one, and with the options as text. TEXT
 *  has the form that mst_graph_print shows: "axis=1, keep_dims", "shape=[2, ?], dtype=i64", "container='a b'". NULL or
 *  "": none. Options that TEXT does not give have their defaults. An unknown op or option is MST_INVALID, and the error
 *  suggests a similar name. */
MST_API mst_value mst_call_text(mst_graph *graph, const char *op, const char *name, int num_src, const mst_value *src,
                                const char *text);
/** Keeps an error on the graph, with a message in the manner of mst_infer_fail, and returns an error value. */
MST_API mst_value mst_value_fail(mst_graph *graph, mst_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Registers an op of yours under its name, for printing, loading and mst_find_op. OP must outlive the program's use of
 *  it. Fails with MST_EXISTS if the name is taken, MST_INVALID if the op is incomplete. */
MST_API MST_CHECKED mst_status mst_register_op(const mst_op *op);
/** The op of a name, or NULL. */
MST_API const mst_op *mst_find_op(const char *name);
/** The I-th op, of the library or registered; NULL past the last. */
MST_API const mst_op *mst_op_at(int i);

#ifdef __cplusplus
}
#endif
#endif
