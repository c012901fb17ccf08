/** What the files of src/hlo/ share: the text and the values of a program. */
#ifndef MUSTER_HLO_HLO_WRITER_H
#define MUSTER_HLO_HLO_WRITER_H

#include "base/arena.h"
#include "base/failure.h"
#include "hlo/hlo_program.h"

/** A value: how it is written ("%12", "%12#1", "%a0") and its type. */
typedef struct mst_hlo_value {
    int number; /**< the number in its name */
    int part;   /**< of several results of one operation: which; else -1 */
    bool is_source;
    int depth, region; /**< the function of elements in which it is made; depth 0: none */
    mst_spec spec;
} mst_hlo_value;

typedef struct mst_hlo_fault_site {
    mst_status code;
    const char *message;
} mst_hlo_fault_site;

/** The most functions of elements and bodies within each other. */
enum { MST_HLO_DEPTH = 64 };

/** Text that grows. */
typedef struct mst_hlo_text {
    char *data;
    int64_t size, capacity;
} mst_hlo_text;

struct mst_hlo_program {
    mst_arena arena;      /**< messages of faults */
    mst_failure failure;  /**< the first error */
    mst_hlo_text body;    /**< the operations */
    mst_hlo_text whole;   /**< once finished */
    mst_hlo_value *value; /**< by id */
    int64_t num_values, value_capacity;
    int next_number;   /**< of the next operation */
    int depth;         /**< functions of elements around what is written now, for the indentation */
    bool no_faults;    /**< in a function of elements, out of which the word of faults cannot be taken */
    const char *place; /**< "in scan 'a': " before messages of what fails in a body; NULL: not in a body */
    mst_hlo_source *source;
    int64_t num_sources, source_capacity;
    mst_hlo *source_value; /**< by source: its value */
    int64_t source_value_capacity;
    mst_hlo *result;
    int64_t num_results, result_capacity;
    mst_hlo_fault_site *fault;
    int64_t num_faults, fault_capacity;
    mst_hlo fault_word;  /**< the word of faults as it is here; MST_NO_HLO before it is first asked for */
    mst_tensor **tensor; /**< constants that it has made */
    int64_t num_tensors, tensor_capacity;
    int region[MST_HLO_DEPTH + 1]; /**< by depth: the number of the function of elements there */
    int num_regions;
    mst_hlo step; /**< the source that is the number of the step, MST_NO_HLO: not asked for yet */
};

/** Keeps STATUS, the calling thread's error, as that of the program, if it is an error and the first. */
void mst_hlo_keep(mst_hlo_program *program, mst_status status);
/** Whether the program has failed, or X is none; the error is kept in the program. */
bool mst_hlo_lacks(mst_lower *l, mst_hlo x);
/** Adds text. */
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
/** Adds a value. */
mst_hlo mst_hlo_value_add(mst_hlo_program *program, const mst_hlo_value *value);

/** A new tensor of one dimension of COUNT elements, which the program releases. */
MST_CHECKED mst_status mst_hlo_program_tensor(mst_hlo_program *program, mst_dtype dtype, int64_t count,
                                              mst_tensor **out);
/** Adds TENSOR as a source. */
mst_hlo mst_hlo_tensor_source(mst_hlo_program *program, mst_tensor *tensor);

/** What the functions of muster/hlo.h check (hlo_check.c). If false, the program has an error. */
/** Whether SHAPE can be that of a value. */
bool mst_hlo_is_shape(mst_lower *l, const mst_shape *shape);
/** Whether AXIS, which is not negative, is among AXES. */
bool mst_hlo_is_listed(const mst_axes *axes, int axis);
/** Makes *AXIS, which counts from the end if it is negative, one of 0 to NDIM - 1. */
bool mst_hlo_is_axis(mst_lower *l, int ndim, int *axis);
/** The same for several, of which none may be there twice. */
bool mst_hlo_are_axes(mst_lower *l, int ndim, mst_axes *axes);
/** Whether NAME, of a WHAT, is among NAMES, ended by NULL. */
bool mst_hlo_is_among(mst_lower *l, const char *what, const char *name, const char *const *names);
/** Whether OPERATION combines elements, as mst_hlo_reduce needs it. */
bool mst_hlo_combines(mst_lower *l, const char *operation);
bool mst_hlo_is_scalar(mst_lower *l, mst_hlo x, mst_dtype dtype);
/** Whether an operation can be written: its name, sources and types of results. */
bool mst_hlo_can_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst,
                       const mst_spec *dst);

/** The beginning of an operation: "%5:2 = "stablehlo.while"(%1, %2)". Adds its results. */
void mst_hlo_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst, const mst_spec *dst,
                   mst_hlo *result);
/** Its end: " {attributes} : (types) -> types". ATTRIBUTES may be ""; NULL is an error. */
void mst_hlo_end(mst_lower *l, const char *attributes, int count, const mst_hlo *src, int num_dst,
                 const mst_hlo *result);
/** A region: "({ ^bb0(%6: tensor<f32>): ... "stablehlo.return"(%7) : (tensor<f32>) -> () }". WORD: whether the last
 *  argument and the last result are the word of faults; FUNCTION does not see it. IS_FIRST, IS_LAST: of its
 *  operation. */
typedef struct mst_hlo_region {
    int num_arguments, num_results;
    const mst_spec *argument;
    const mst_spec *result; /**< what the results must be */
    mst_hlo_function function;
    void *context;
    bool takes_word, gives_word;
    bool is_first, is_last;
} mst_hlo_region;
void mst_hlo_write_region(mst_lower *l, const mst_hlo_region *region);
/** As mst_hlo_call, for an operation with REGION alone. */
void mst_hlo_call_region(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                         const mst_hlo_region *region, int num_dst, const mst_spec *dst, mst_hlo *result);
/** The function of OPERATION, whose name is the context: RESULT[0] = OPERATION(ARGUMENT[0], ARGUMENT[1]). */
void mst_hlo_apply(mst_lower *l, void *operation, const mst_hlo *argument, mst_hlo *result);

/** Text of attributes, in TEXT of SIZE bytes: array<i64: 1, 2>. */
enum { MST_HLO_ATTRIBUTES = 2048 };
typedef struct mst_hlo_attributes {
    char text[MST_HLO_ATTRIBUTES];
    int size;
    bool is_cut; /**< there was more than TEXT can hold */
} mst_hlo_attributes;
/** Adds text; ", " before it unless it is the first. */
void mst_hlo_attribute(mst_hlo_attributes *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** NAME = array<i64: ...> of COUNT numbers. */
void mst_hlo_attribute_array(mst_hlo_attributes *a, const char *name, int count, const int64_t *number);
/** The same; 0 stands for 1. */
void mst_hlo_attribute_steps(mst_hlo_attributes *a, const char *name, int count, const int64_t *number);
/** NAME = dense<[[low, high], ...]> : tensor<COUNTx2xi64>. */
void mst_hlo_attribute_padding(mst_hlo_attributes *a, int count, const int64_t *low, const int64_t *high);
/** "NAME = [0, 2]", for lists within attributes of StableHLO. Writes to TEXT and returns it. */
enum { MST_HLO_AXES = 96 };
const char *mst_hlo_axes_text(const mst_axes *axes, char *text);
void mst_hlo_attribute_axes(mst_hlo_attributes *a, const char *name, const mst_axes *axes);
/** The whole in braces; NULL if it is cut. */
const char *mst_hlo_attributes_end(mst_hlo_attributes *a);

/** The word of faults as it is here; the constant 0 before the first fault. */
mst_hlo mst_hlo_fault_word(mst_lower *l);
/** The shape to which COUNT values broadcast; false, with an error in the program, if they do not. */
bool mst_hlo_common_shape(mst_lower *l, int count, const mst_hlo *x, mst_shape *shape);

#endif
