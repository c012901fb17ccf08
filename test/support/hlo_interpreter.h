/** An interpreter of StableHLO text, the reference for programs that the library writes.
 *
 *  Text is that of MLIR's generic form, one function:
 *
 *      module @NAME {
 *        func.func public @main(%a: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2x3xf32>) {
 *          %0 = "stablehlo.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
 *          "func.return"(%0) : (tensor<2x3xf32>) -> ()
 *        }
 *      }
 *
 *  Parsing checks every rule of StableHLO's specification on types, shapes and attributes. What is unknown is an error.
 *  Not taken, though the specification has them: dynamic shapes, complex, quantized and f8 types, batching dimensions
 *  of gather and scatter, and bodies of reductions whose type differs from that of what they reduce.
 *
 *  Values are those of the specification. Where it leaves a choice:
 *    - f32 is computed in float, bf16 in float and rounded after each op, integers wrap around;
 *    - reductions, products and convolutions add in the order of the index; products and convolutions add bf16 in float
 *      and round once;
 *    - padding takes no part in reduce_window and select_and_scatter;
 *    - a float out of an integer's range becomes the nearest integer, NaN 0;
 *    - integer division by zero gives -1 (all bits), the remainder the dividend;
 *    - scatter leaves out the elements that are out of bounds, not the whole slice as XLA does.
 *
 *  Nothing here is global, and a program does not change once it is parsed: any number of threads may run it. The files
 *  hlo_*.c use the C library alone. */
#ifndef MUSTER_TEST_SUPPORT_HLO_INTERPRETER_H
#define MUSTER_TEST_SUPPORT_HLO_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HLO_MOST_DIMS = 12 };

typedef enum hlo_type {
    HLO_F32,
    HLO_F64,
    HLO_BF16, /* uint16_t */
    HLO_I8,
    HLO_I16,
    HLO_I32,
    HLO_I64,
    HLO_UI8,
    HLO_UI16,
    HLO_UI32,
    HLO_UI64,
    HLO_I1, /* a byte, 0 or 1 */
} hlo_type;

/** An array, the last dimension side by side; with data NULL its type and shape alone. */
typedef struct hlo_array {
    hlo_type type;
    int ndim;
    int64_t dim[HLO_MOST_DIMS];
    int64_t count; /* of elements: the product of dim */
    void *data;
} hlo_array;

typedef struct hlo_program hlo_program;

/** Parses and checks TEXT. NULL where that fails: ERROR then says "line N: " and what is wrong. */
hlo_program *hlo_parse(const char *text, char *error, size_t error_size);
/** NULL: nothing happens. */
void hlo_program_free(hlo_program *program);

int hlo_num_arguments(const hlo_program *program);
int hlo_num_results(const hlo_program *program);
/** Type and shape of argument or result I, data NULL. Belongs to the program. */
const hlo_array *hlo_argument(const hlo_program *program, int i);
const hlo_array *hlo_result(const hlo_program *program, int i);
/** The result that takes the memory of argument I, by its attribute tf.aliasing_output; -1: none. The interpreter
 *  itself leaves arguments as they are. */
int hlo_donated_to(const hlo_program *program, int i);
/** The most memory, in bytes, that values of a run take at once: all that are neither arguments nor results. Values
 *  that share their memory are counted each. */
int64_t hlo_inside_bytes(const hlo_program *program);

/** Runs the program on ARGS, whose types and shapes must be those of its arguments. RESULTS has room for
 *  hlo_num_results arrays, which the caller gives to hlo_array_free. False where that fails: RESULTS is then without
 *  arrays, and ERROR says what is wrong. A loop that does not end runs forever. */
bool hlo_run(const hlo_program *program, const hlo_array *args, int num_args, hlo_array *results, char *error,
             size_t error_size);

/** Bytes of an element. */
size_t hlo_type_size(hlo_type type);
/** "f32", as in text. */
const char *hlo_type_name(hlo_type type);
/** Whether both have the same type and shape. */
bool hlo_same_type(const hlo_array *a, const hlo_array *b);
enum { HLO_TYPE_TEXT = 256 };
/** "tensor<2x3xf32>"; returns TEXT. */
const char *hlo_type_text(const hlo_array *type, char *text, size_t size);
/** Frees the data. */
void hlo_array_free(hlo_array *array);

#endif
