/** A program in StableHLO while it is written: its sources, operations, results and faults (the places where it can
 *  fail).
 *
 *  The text is canonical: values are numbered in the order in which they are written, and nothing in the text depends
 *  on names of nodes. So nodes that do the same give the same text, and a text that was compiled before is found again.
 *
 *      module @main {
 *        func.func public @main(%a0: tensor<2xf32>, %a1: tensor<2xui32>) -> (tensor<2xf32>, tensor<i32>) {
 *          %1 = "stablehlo.add"(%a0, %a0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 *          ...
 *          "func.return"(%1, %9) : (tensor<2xf32>, tensor<i32>) -> ()
 *        }
 *      }
 *
 *  If the program has faults, its last result is the word of faults: 0 if nothing failed, else the number, from 1, of
 *  the first fault that occurred.
 *
 *  A result may take the memory of an argument (a donated argument). The text then has an attribute behind the type of
 *  that argument: "%a0: tensor<2xf32> {tf.aliasing_output = 0 : i32}".
 */
#ifndef MUSTER_HLO_HLO_PROGRAM_H
#define MUSTER_HLO_HLO_PROGRAM_H

#include "muster/hlo.h"

typedef struct mst_hlo_program mst_hlo_program;

/** The kinds of sources of a program. */
typedef enum mst_hlo_source_kind {
    MST_HLO_SOURCE_VALUE, /**< a value that the caller added with mst_hlo_program_source */
    MST_HLO_SOURCE_KEY,   /**< the key of a sequence of random numbers: u32[2] */
    MST_HLO_SOURCE_STEP,  /**< the number of the step: u32[2], the lower word first */
    MST_HLO_SOURCE_TENSOR /**< a constant that is too large for the text */
} mst_hlo_source_kind;

typedef struct mst_hlo_source {
    mst_hlo_source_kind kind;
    mst_spec spec;
    uint64_t stream;    /**< of a key: the argument of mst_rng_make; 0 for other kinds */
    mst_tensor *tensor; /**< the constant, owned by the graph or by the program; NULL for other kinds */
    int64_t taken_by;   /**< 1 + the number of the result that takes the memory of the source; 0: none */
} mst_hlo_source;

MST_CHECKED mst_status mst_hlo_program_create(mst_hlo_program **out);
/** NULL is allowed. */
void mst_hlo_program_destroy(mst_hlo_program *program);

/** Adds a source. */
mst_hlo mst_hlo_program_source(mst_hlo_program *program, const mst_spec *spec);
/** Writes one op: fills L's `dst` from its other members. `program` is set here, the caller sets the others. Fails with
 *  MST_UNIMPLEMENTED if the op has neither `hlo` nor `lower`. */
MST_CHECKED mst_status mst_hlo_program_op(mst_hlo_program *program, mst_lower *l);
/** Adds a result. */
void mst_hlo_program_result(mst_hlo_program *program, mst_hlo value);
/** Adds VALUE as a result that takes the memory of SOURCE, a source of the same type that no other result takes. */
void mst_hlo_program_donate(mst_hlo_program *program, mst_hlo source, mst_hlo value);
/** Adds the word of faults to the results if there are faults, and sets *TEXT, which is valid as long as PROGRAM.
 *  Afterwards nothing may be added to PROGRAM. */
MST_CHECKED mst_status mst_hlo_program_finish(mst_hlo_program *program, const char **text);

/** The sources, in the order of the program's arguments. A key, step or constant is added when an op first uses it. */
int mst_hlo_program_num_sources(const mst_hlo_program *program);
const mst_hlo_source *mst_hlo_program_source_at(const mst_hlo_program *program, int i);
/** The number of faults. */
int mst_hlo_program_num_faults(const mst_hlo_program *program);
/** Returns the code of fault I, from 0, and sets *MESSAGE, which is valid as long as PROGRAM. */
mst_status mst_hlo_program_fault_at(const mst_hlo_program *program, int i, const char **message);
/** Sets the calling thread's error after a run whose word of faults is WORD, not 0. Returns the code of the error. */
mst_status mst_hlo_program_fault(const mst_hlo_program *program, int word);

/** Writes the nodes of BODY (graph/body.h). ARGUMENT has a value for each input; RESULT is filled, with one for each
 *  output. */
void mst_hlo_body(mst_lower *l, const mst_graph *body, const mst_hlo *argument, mst_hlo *result);

#endif
