/** Types and functions that the files of src/hlo/ share: the text and the values of a program. */
#ifndef MUSTER_HLO_HLO_WRITER_H
#define MUSTER_HLO_HLO_WRITER_H

#include "base/arena.h"
#include "base/failure.h"
#include "hlo/hlo_program.h"

/** A value: its name ("%12", "%12#1", "%a0") and its type. */
typedef struct mst_hlo_value {
    int number; /**< the number in its name */
    int part;   /**< the number of the result if its operation has several; else -1 */
    bool is_source;
    int depth, region; /**< nesting depth and number of the region in which it is made; depth 0: in no region */
    mst_spec spec;
} mst_hlo_value;

typedef struct mst_hlo_fault_site {
    mst_status code;
    const char *message;
} mst_hlo_fault_site;

/** The largest nesting depth of regions. A region is the function of a reduce or sort, or the body of a loop. */
enum { MST_HLO_DEPTH = 64 };

/** Text that grows. */
typedef struct mst_hlo_text {
    char *data;
    int64_t size, capacity;
} mst_hlo_text;

struct mst_hlo_program {
    mst_arena arena;      /**< messages of faults */
    mst_failure failure;  /**< the first error */
    mst_hlo_text body;    /**< the text of the operations */
    mst_hlo_text whole;   /**< the whole text, made by mst_hlo_program_finish */
    mst_hlo_value *value; /**< by `id` of mst_hlo */
    int64_t num_values, value_capacity;
    int next_number;   /**< the last number that was given to a name */
    int depth;         /**< nesting depth of the region that is written now; decides the indentation */
    bool no_faults;    /**< a region is written that has no result for the word of faults, so nothing in it may fail */
    const char *place; /**< "in scan 'a': ", put before messages of faults in a body; NULL: not in a body */
    mst_hlo_source *source;
    int64_t num_sources, source_capacity;
    mst_hlo *source_value; /**< [num_sources]: the value of each source */
    int64_t source_value_capacity;
    mst_hlo *result;
    int64_t num_results, result_capacity;
    mst_hlo_fault_site *fault;
    int64_t num_faults, fault_capacity;
    mst_hlo fault_word;  /**< the current value of the word of faults; MST_NO_HLO before its first use */
    mst_tensor **tensor; /**< constants that the program owns */
    int64_t num_tensors, tensor_capacity;
    int region[MST_HLO_DEPTH + 1]; /**< by depth: the number of the region that is written there */
    int num_regions;
    mst_hlo step; /**< the source that is the number of the step; MST_NO_HLO before its first use */
};

/** Keeps the calling thread's error in the program if STATUS is an error and the program has none yet. */
void mst_hlo_keep(mst_hlo_program *program, mst_status status);
/** Whether the program has failed, or X is not a value that may be used here. The latter also makes the program
 *  fail. */
bool mst_hlo_lacks(mst_lower *l, mst_hlo x);
/** Adds text, formatted as by printf, to TEXT. An error is kept in the program. */
void mst_hlo_write(mst_hlo_program *program, mst_hlo_text *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Adds the name of X. */
void mst_hlo_write_name(mst_hlo_program *program, mst_hlo_text *text, mst_hlo x);
/** Adds "tensor<2x3xf32>". */
void mst_hlo_write_type(mst_hlo_program *program, mst_hlo_text *text, const mst_spec *spec);
/** Adds "(tensor<f32>, tensor<2xf32>)". */
void mst_hlo_write_types(mst_hlo_program *program, mst_hlo_text *text, int count, const mst_hlo *x);
/** Adds the text of a number of DTYPE. */
void mst_hlo_write_number(mst_hlo_program *program, mst_hlo_text *text, mst_dtype dtype, double value);
/** Adds a value; sets its depth and region. MST_NO_HLO on failure. */
mst_hlo mst_hlo_value_add(mst_hlo_program *program, const mst_hlo_value *value);

/** Sets OUT to a new tensor with one dimension of COUNT elements, which the program releases. */
MST_CHECKED mst_status mst_hlo_program_tensor(mst_hlo_program *program, mst_dtype dtype, int64_t count,
                                              mst_tensor **out);
/** Adds TENSOR as a source. */
mst_hlo mst_hlo_tensor_source(mst_hlo_program *program, mst_tensor *tensor);

/** Checks of the functions of muster/hlo.h (hlo_check.c). If one is false, the program gets an error; mst_hlo_is_listed
 *  alone gives it none. */
/** Whether SHAPE is valid for a value: at most MST_MAX_NDIM dimensions, none of them negative. */
bool mst_hlo_is_shape(mst_lower *l, const mst_shape *shape);
/** Whether AXIS, which is not negative, is among AXES. */
bool mst_hlo_is_listed(const mst_axes *axes, int axis);
/** Checks *AXIS of NDIM dimensions. A negative *AXIS, which counts from the end, is replaced by *AXIS + NDIM. */
bool mst_hlo_is_axis(mst_lower *l, int ndim, int *axis);
/** The same for all of AXES; no axis may occur twice. */
bool mst_hlo_are_axes(mst_lower *l, int ndim, mst_axes *axes);
/** Whether NAME is among NAMES, a list that NULL ends. WHAT says in the message what NAME is the name of. */
bool mst_hlo_is_among(mst_lower *l, const char *what, const char *name, const char *const *names);
/** Whether OPERATION is one of those that mst_hlo_reduce can take, such as "add". */
bool mst_hlo_combines(mst_lower *l, const char *operation);
/** Whether X is a scalar of DTYPE. */
bool mst_hlo_is_scalar(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** Whether an operation can be written: its name, sources and types of results. */
bool mst_hlo_can_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst,
                       const mst_spec *dst);

/** Writes the beginning of an operation: "%5:2 = "stablehlo.while"(%1, %2)". Adds its results to the values. */
void mst_hlo_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst, const mst_spec *dst,
                   mst_hlo *result);
/** Writes the end of an operation: " {attributes} : (types) -> types". ATTRIBUTES may be ""; NULL is an error. */
void mst_hlo_end(mst_lower *l, const char *attributes, int count, const mst_hlo *src, int num_dst,
                 const mst_hlo *result);
/** A region of an operation: "({ ^bb0(%6: tensor<f32>): ... "stablehlo.return"(%7) : (tensor<f32>) -> () }". */
typedef struct mst_hlo_region {
    int num_arguments, num_results;
    const mst_spec *argument;
    const mst_spec *result;    /**< types that the results must have */
    mst_hlo_function function; /**< writes the operations inside, and is called with `context` */
    void *context;
    bool takes_word, gives_word; /**< one more argument, one more result is the word of faults; FUNCTION gets neither */
    bool is_first, is_last;      /**< the first, the last region of its operation */
} mst_hlo_region;
void mst_hlo_write_region(mst_lower *l, const mst_hlo_region *region);
/** As mst_hlo_call, for an operation with one region. */
void mst_hlo_call_region(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                         const mst_hlo_region *region, int num_dst, const mst_spec *dst, mst_hlo *result);
/** An mst_hlo_function that applies one operation: RESULT[0] = OPERATION(ARGUMENT[0], ARGUMENT[1]). The context
 *  OPERATION points to the name of the operation, a const char *. */
void mst_hlo_apply(mst_lower *l, void *operation, const mst_hlo *argument, mst_hlo *result);

/** The text of an operation's attributes: "{dimensions = array<i64: 1, 2>}". `size` is the number of bytes so far. */
enum { MST_HLO_ATTRIBUTES = 2048 };
typedef struct mst_hlo_attributes {
    char text[MST_HLO_ATTRIBUTES];
    int size;
    bool is_cut; /**< the attributes did not fit into `text` */
} mst_hlo_attributes;
/** Adds an attribute; writes "{" before the first one and ", " before any other. */
void mst_hlo_attribute(mst_hlo_attributes *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Adds "NAME = array<i64: ...>" with COUNT numbers. */
void mst_hlo_attribute_array(mst_hlo_attributes *a, const char *name, int count, const int64_t *number);
/** The same, for strides and dilations: a number 0 is the default, and is written as 1. */
void mst_hlo_attribute_steps(mst_hlo_attributes *a, const char *name, int count, const int64_t *number);
/** Adds "padding = dense<[[low, high], ...]> : tensor<COUNTx2xi64>". */
void mst_hlo_attribute_padding(mst_hlo_attributes *a, int count, const int64_t *low, const int64_t *high);
/** Writes a list such as "[0, 2]", which is a part of an attribute, to TEXT [MST_HLO_AXES]. Returns TEXT. */
enum { MST_HLO_AXES = 96 };
const char *mst_hlo_axes_text(const mst_axes *axes, char *text);
void mst_hlo_attribute_axes(mst_hlo_attributes *a, const char *name, const mst_axes *axes);
/** Closes the brace. Returns the whole text; NULL if it was cut. */
const char *mst_hlo_attributes_end(mst_hlo_attributes *a);

/** The current value of the word of faults; the constant 0 before the first fault. */
mst_hlo mst_hlo_fault_word(mst_lower *l);
/** Sets SHAPE to the shape to which the COUNT values X broadcast. If they do not, the program gets an error, and the
 *  result is false. */
bool mst_hlo_common_shape(mst_lower *l, int count, const mst_hlo *x, mst_shape *shape);

#endif
