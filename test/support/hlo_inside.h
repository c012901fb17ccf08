/** What the files of the interpreter share (hlo_interpreter.h). From text to values:
 *
 *      hlo_text.c       characters, words, numbers, types
 *      hlo_attribute.c  attributes, by the table of their names
 *      hlo_parse.c      module, function, regions, ops; names of values
 *      hlo_check.c      what the checks of ops share
 *      hlo_run.c        memory of values, ops one after the other, regions
 *      hlo_block.c      blocks of elements in one of four classes, in which everything is computed
 *      hlo_array.c      shapes, strides, copies
 *
 *  Families of ops, each with what it checks, what it computes, and a table of its ops at the end: hlo_elementwise.c
 *  (hlo_float.c and hlo_integer.c have the formulas), hlo_move.c, hlo_contract.c, hlo_reduce.c, hlo_window.c,
 *  hlo_index.c, hlo_control.c. */
#ifndef MUSTER_TEST_SUPPORT_HLO_INSIDE_H
#define MUSTER_TEST_SUPPORT_HLO_INSIDE_H

#include <locale.h>

#include "support/hlo_interpreter.h"

/* Limits that valid programs do not reach, so that bad text neither takes all memory nor ends the stack. */
enum {
    HLO_MOST_NESTED = 64,
    HLO_MOST_OPERANDS = 1 << 16,
    HLO_MOST_WORD = 128,
    HLO_MOST_LISTS = 4,
    HLO_MOST_REDUCED = 8
};
#define HLO_MOST_BYTES ((int64_t)1 << 31) /* of one array; no number of a list is larger */

/* ---- a program ---- */

typedef struct hlo_list {
    int num;
    int64_t at[HLO_MOST_DIMS];
} hlo_list;

typedef enum hlo_attribute_kind {
    HLO_INTEGER_64, /* 1 : i64 */
    HLO_INTEGER_32, /* 1 : i32 */
    HLO_BOOLEAN,    /* true */
    HLO_INTEGERS,   /* array<i64: 1, 2> */
    HLO_BOOLEANS,   /* array<i1: true, false> */
    HLO_DENSE,      /* dense<...> : tensor<...> */
    HLO_DIRECTION,  /* #stablehlo<comparison_direction LT> */
    HLO_COMPARISON, /* #stablehlo<comparison_type FLOAT> */
    HLO_PRECISIONS, /* [#stablehlo<precision HIGHEST>, ...] */
    HLO_DOT,        /* #stablehlo.dot<...> */
    HLO_DIMENSIONS, /* #stablehlo.conv<...> or #stablehlo.gather<...>, then kind is one of the following */
    HLO_CONV,
    HLO_GATHER,
    HLO_SCATTER, /* #stablehlo.scatter<...> */
} hlo_attribute_kind;

/* The lists of attributes that have several */
enum { HLO_LHS_BATCHING, HLO_RHS_BATCHING, HLO_LHS_CONTRACTING, HLO_RHS_CONTRACTING };
enum { HLO_CONV_LHS, HLO_CONV_RHS, HLO_CONV_OUT }; /* each: batch or input feature, (output) feature, spatial ones */
enum { HLO_OFFSET_DIMS, HLO_COLLAPSED_DIMS, HLO_START_INDEX_MAP };
enum { HLO_UPDATE_WINDOW_DIMS, HLO_INSERTED_DIMS, HLO_SCATTER_DIMS };

typedef enum hlo_direction { HLO_EQ, HLO_NE, HLO_LT, HLO_LE, HLO_GT, HLO_GE } hlo_direction;
typedef enum hlo_comparison { HLO_FLOAT, HLO_TOTALORDER, HLO_SIGNED, HLO_UNSIGNED } hlo_comparison;

typedef struct hlo_attribute {
    const char *name; /* in the table of names */
    hlo_attribute_kind kind;
    int64_t integer;               /* of numbers, truth values, directions and types; index_vector_dim */
    hlo_list list[HLO_MOST_LISTS]; /* of lists; a single one is the first */
    hlo_array dense;               /* owned */
} hlo_attribute;

typedef struct hlo_region hlo_region;
typedef struct hlo_row hlo_row;

/* Values have numbers in the whole program. Those of an op's results follow each other. */
typedef struct hlo_op {
    const hlo_row *row;
    int line;
    int num_operands, num_results, num_regions, num_attributes, num_dead;
    int *operand; /* values */
    int result;   /* the first value */
    int *dead;    /* values of this region that no later op of it needs */
    int variant;  /* set by the op's check: what its run must find fast */
    hlo_region *region;
    hlo_attribute *attribute;
} hlo_op;

/* Has the values from first to before end, those of inner regions among them; its arguments are the first ones. */
struct hlo_region {
    int first, end, num_arguments;
    int num_ops, room;
    hlo_op *op; /* without the return */
    int num_returned;
    int *returned; /* values */
};

struct hlo_program {
    int num_values, room;
    hlo_array *value; /* types */
    hlo_region main;
    int num_results;
    hlo_array *result; /* types */
    int *donated_to;   /* by argument */
};

/* ---- text ---- */

typedef struct hlo_parser {
    const char *at;
    int line;
    locale_t locale; /* the C locale: in others numbers have commas */
    char *error;
    size_t error_size;
} hlo_parser;

/* Writes "line N: ..." of the place now read; false. */
bool hlo_bad(hlo_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Skips white space and comments. */
void hlo_skip(hlo_parser *p);
/* Skips TEXT where it is next, else returns false. A TEXT that ends in a letter does not match half of a word. */
bool hlo_accept(hlo_parser *p, const char *text);
/* As hlo_accept, or an error that names what is there instead. */
bool hlo_expect(hlo_parser *p, const char *text);
/* Letters, digits, '_', '.' and '$'; an error where there are none. */
bool hlo_word(hlo_parser *p, const char **word, int *length);
bool hlo_integer(hlo_parser *p, int64_t *value);
/* tensor<2x3xf32> */
bool hlo_tensor_type(hlo_parser *p, hlo_array *type);
/* dense<[[1, 2], [3, 4]]> : tensor<2x2xi64> */
bool hlo_dense(hlo_parser *p, hlo_array *array);
/* The first characters of what is next, for errors. */
const char *hlo_next(hlo_parser *p, char *text, size_t size);

/* Attributes in braces; those of ROW alone, none twice, none missing. What was read stays in OP where it fails. */
bool hlo_attributes(hlo_parser *p, hlo_op *op);
void hlo_attributes_free(hlo_op *op);
/* NULL: not given */
const hlo_attribute *hlo_attribute_of(const hlo_op *op, const char *name);
/* Its list; NULL: not given. */
const hlo_list *hlo_list_of(const hlo_op *op, const char *name);

/* ---- ops ---- */

typedef struct hlo_check {
    hlo_program *program;
    const hlo_op *op;
    char *error;
    size_t error_size;
} hlo_check;

typedef struct hlo_buffer {
    int uses;
    void *data;
} hlo_buffer;

/* A value while a program runs. An array of one element is in the slot itself. */
typedef struct hlo_slot {
    void *data;
    hlo_buffer *buffer; /* NULL: data is scalar, or belongs to an argument or a constant */
    uint64_t scalar;
} hlo_slot;

typedef struct hlo_run_state {
    const hlo_program *program;
    hlo_slot *slot; /* by value */
    char *error;
    size_t error_size;
} hlo_run_state;

/* Classes of element types, as bits */
enum { HLO_IS_FLOAT = 1, HLO_IS_SIGNED = 2, HLO_IS_UNSIGNED = 4, HLO_IS_BOOL = 8 };
enum {
    HLO_IS_INTEGER = HLO_IS_SIGNED | HLO_IS_UNSIGNED,
    HLO_IS_NUMBER = HLO_IS_INTEGER | HLO_IS_FLOAT,
    HLO_IS_BITS = HLO_IS_INTEGER | HLO_IS_BOOL,
    HLO_IS_ANY = HLO_IS_NUMBER | HLO_IS_BOOL
};

struct hlo_row {
    const char *name;       /* without "stablehlo." */
    int kind;               /* of an elementwise op: its formula; else the family's own */
    int num_operands;       /* -1: any number */
    int num_regions;        /* -1: any number */
    int classes;            /* that the first operand's type may have */
    const char *attributes; /* by name; '?' behind those that may be left out */
    bool (*check)(hlo_check *c, hlo_op *op);
    bool (*run)(hlo_run_state *r, const hlo_op *op);
};

/* The families' tables, each ended by no name */
extern const hlo_row hlo_elementwise_rows[], hlo_move_rows[], hlo_contract_rows[], hlo_reduce_rows[], hlo_window_rows[],
    hlo_index_rows[], hlo_control_rows[];
/* Whether it is an elementwise op of two operands, by a formula of kind */
bool hlo_is_binary(const hlo_row *row);
/* NULL: there is no such op */
const hlo_row *hlo_row_find(const char *name, int length);

/* Writes "line N: stablehlo.OP: ..."; false. */
bool hlo_wrong(const hlo_check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define HLO_WANT(condition, ...)                            \
    do {                                                    \
        if (!(condition)) return hlo_wrong(c, __VA_ARGS__); \
    } while (0)

const hlo_array *hlo_operand_type(const hlo_check *c, int i);
const hlo_array *hlo_result_type(const hlo_check *c, int i);
/* The op has NUM results. */
bool hlo_want_results(const hlo_check *c, int num);
/* The type of result I is TYPE. */
bool hlo_want_result(const hlo_check *c, int i, const hlo_array *type);
/* The type of operand I is TYPE. */
bool hlo_want_operand(const hlo_check *c, int i, const hlo_array *type);
/* Attribute NAME, if given, has NUM numbers of at least LEAST and at most HLO_MOST_BYTES. */
bool hlo_want_list(const hlo_check *c, const char *name, int num, int64_t least);
/* The numbers are dimensions below NDIM, none twice. WHAT names them. */
bool hlo_want_dims(const hlo_check *c, const char *what, const hlo_list *dims, int ndim);
/* Region I takes arguments of the NUM types IN and returns the types OUT. */
bool hlo_want_region(const hlo_check *c, int i, const hlo_array *in, int num_in, const hlo_array *out, int num_out);
/* Region I is the body of a reduction of the first NUM operands. */
bool hlo_want_body(const hlo_check *c, int i, int num);

/* ---- arrays ---- */

bool hlo_type_find(const char *name, int length, hlo_type *type);
int hlo_type_class(hlo_type type);
int hlo_type_bits(hlo_type type);
bool hlo_same_shape(const hlo_array *a, const hlo_array *b);
hlo_array hlo_scalar_of(hlo_type type);
/* Sets count; false where there are too many elements. */
bool hlo_count(hlo_array *type);
bool hlo_list_has(const hlo_list *list, int64_t number);

/* Steps between neighbours in each dimension, in elements */
void hlo_strides(const hlo_array *type, int64_t *stride);
/* dst[sum of i * dst_stride] = src[sum of i * src_stride] for all i below dim; of SIZE bytes each. */
void hlo_copy(int ndim, const int64_t *dim, void *dst, const int64_t *dst_stride, const void *src,
              const int64_t *src_stride, size_t size);
/* The next index below dim, the last dimension fastest; false: there is none, and it is 0 again. */
bool hlo_next_index(int ndim, const int64_t *dim, int64_t *index);

/* ---- elements ---- */

/* Elements are computed in float (f32, bf16), double (f64), int64_t (signed) or uint64_t (unsigned, i1). */
enum { HLO_BLOCK = 256 };
typedef union hlo_block {
    float f32[HLO_BLOCK];
    double f64[HLO_BLOCK];
    int64_t i64[HLO_BLOCK];
    uint64_t u64[HLO_BLOCK];
} hlo_block;

/* N elements from the place FIRST on */
void hlo_load(hlo_block *block, hlo_type type, const void *data, int64_t first, int n);
/* Rounds to bf16; integers lose their upper bits; of i1 the lowest bit is kept. */
void hlo_store(const hlo_block *block, hlo_type type, void *data, int64_t first, int n);
/* From the class of one type to the type other, whose class it then has */
void hlo_convert(hlo_block *block, hlo_type from, hlo_type to, int n);
float hlo_bf16_value(uint16_t bits);
/* Rounds once. */
uint16_t hlo_bf16_of(double value);
int64_t hlo_read_integer(hlo_type type, const void *data, int64_t i);

/* Formulas by kind, one per op */
typedef enum hlo_kind {
    HLO_ABS,
    HLO_CBRT,
    HLO_CEIL,
    HLO_COSINE,
    HLO_CLZ,
    HLO_EXP,
    HLO_EXPM1,
    HLO_FLOOR,
    HLO_LOG,
    HLO_LOG1P,
    HLO_LOGISTIC,
    HLO_NEGATE,
    HLO_NOT,
    HLO_POPCNT,
    HLO_ROUND_AFZ,
    HLO_ROUND_EVEN,
    HLO_RSQRT,
    HLO_SIGN,
    HLO_SINE,
    HLO_SQRT,
    HLO_TAN,
    HLO_TANH,
    HLO_ADD,
    HLO_AND,
    HLO_ATAN2,
    HLO_DIVIDE,
    HLO_MAXIMUM,
    HLO_MINIMUM,
    HLO_MULTIPLY,
    HLO_OR,
    HLO_POWER,
    HLO_REMAINDER,
    HLO_SHIFT_LEFT,
    HLO_SHIFT_RIGHT_ARITHMETIC,
    HLO_SHIFT_RIGHT_LOGICAL,
    HLO_SUBTRACT,
    HLO_XOR,
} hlo_kind;

/* a[i] = KIND(a[i]), or KIND(a[i], b[i]) */
void hlo_float_unary(hlo_kind kind, float *a, int n);
void hlo_float_binary(hlo_kind kind, float *a, const float *b, int n);
void hlo_double_unary(hlo_kind kind, double *a, int n);
void hlo_double_binary(hlo_kind kind, double *a, const double *b, int n);
void hlo_integer_unary(hlo_kind kind, hlo_type type, hlo_block *a, int n);
void hlo_integer_binary(hlo_kind kind, hlo_type type, hlo_block *a, const hlo_block *b, int n);
void hlo_unary(hlo_kind kind, hlo_type type, hlo_block *a, int n);
void hlo_binary(hlo_kind kind, hlo_type type, hlo_block *a, const hlo_block *b, int n);

/* ---- running ---- */

/* Memory for result I; NULL: an error was written. */
void *hlo_new_result(hlo_run_state *r, const hlo_op *op, int i);
/* Memory for COUNT things of SIZE bytes, to be given to free; NULL: an error was written. */
void *hlo_scratch(hlo_run_state *r, int64_t count, size_t size);
const void *hlo_data(const hlo_run_state *r, const hlo_op *op, int i);
const hlo_array *hlo_type_of(const hlo_run_state *r, const hlo_op *op, int i);
const hlo_array *hlo_type_of_result(const hlo_run_state *r, const hlo_op *op, int i);
/* VALUE becomes what FROM is, without a copy. */
void hlo_share(hlo_run_state *r, int value, int from);
/* VALUE becomes the array at DATA, which stays the lender's. */
void hlo_lend(hlo_run_state *r, int value, void *data);
/* VALUE, a scalar, becomes the SIZE bytes at DATA. */
void hlo_set_scalar(hlo_run_state *r, int value, const void *data, size_t size);
/* Runs the region, whose arguments are set; what it returns stays in its values. */
bool hlo_run_region(hlo_run_state *r, const hlo_region *region);
/* Forgets what the region returned and its arguments. */
void hlo_end_region(hlo_run_state *r, const hlo_region *region);
/* What a reduction's body does: adds and the like are done without running it. */
typedef struct hlo_body {
    const hlo_region *region;
    int num; /* of accumulators */
    enum { HLO_BODY_ANY, HLO_BODY_SECOND, HLO_BODY_BINARY } what;
    hlo_kind kind; /* of BINARY */
} hlo_body;
hlo_body hlo_body_of(const hlo_region *region);
/* acc[k][to] = body(acc[k][to], x[k][from]) for all NUM pairs of arrays of the types TYPE */
bool hlo_apply_body(hlo_run_state *r, const hlo_body *body, const hlo_type *type, void *const *acc, int64_t to,
                    const void *const *x, int64_t from);

/* The answer of REGION, a predicate, to elements A and B of each of NUM arrays. Its arguments: a0, b0, a1, b1, ... */
bool hlo_ask(hlo_run_state *r, const hlo_region *region, int num, const hlo_type *type, const void *const *x, int64_t a,
             int64_t b, bool *answer);
void hlo_fill(void *data, int64_t count, const void *value, size_t size);

/* ---- windows ---- */

/* Windows in one dimension. The array's elements are put BASE apart, and padded by LOW and HIGH (negative: cut). A
 * window takes SIZE places of this that are DILATION apart, and begins STRIDE after the window before. */
typedef struct hlo_window {
    int64_t size, stride, base, dilation, low, high;
    bool reversed;
} hlo_window;

/* Checks the attributes of an op that has windows; BASE and DILATION are the names of two of them. */
bool hlo_check_windows(const hlo_check *c, const char *base, const char *dilation, int ndim);
/* Reads them. Sizes are 0 where no attribute has them. */
void hlo_windows(const hlo_op *op, const char *base, const char *dilation, int ndim, hlo_window *window);
/* In a dimension of DIM elements */
int64_t hlo_num_windows(const hlo_window *window, int64_t dim);
/* Where in an array is element ELEMENT of window INDEX; -1: in the padding. */
int64_t hlo_window_offset(const hlo_window *window, int ndim, const int64_t *index, const int64_t *element,
                          const int64_t *dim, const int64_t *stride);

#endif
