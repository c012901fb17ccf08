/** Nodes of a plan that a device compiles: programs in StableHLO.
 *
 *  A type of device that compiles has no kernels. The pass `programs` replaces the nodes of such a device by nodes of
 *  the op `compiled`, whose options are a program. Their sources and outputs are whole arrays in the memory of the
 *  device. Before the gate (run/gate.h) the backend of such a device runs nothing else. Behind the gate it runs
 *  assignments: source 1 becomes the value of source 0, a variable. In a plan that donates it also runs programs there,
 *  which write variables in place.
 */
#ifndef MUSTER_PLAN_COMPILED_H
#define MUSTER_PLAN_COMPILED_H

#include <stddef.h>

#include "hlo/hlo_program.h"

/** An argument of a program. */
typedef struct mst_compiled_argument {
    mst_hlo_source_kind kind; /**< never MST_HLO_SOURCE_TENSOR: such constants are sources of the node */
    int32_t source;           /**< of a value: its number among the sources of the node; else -1 */
    uint64_t stream;          /**< of a key of random numbers: the argument STREAM of mst_rng_make; the argument SEED is
                                   that of the step (mst_step). Else 0 */
} mst_compiled_argument;

/** What can fail in a program (run/compiled_fault.h reports it). */
typedef struct mst_compiled_fault {
    mst_status code;
    const char *message; /**< the message of the error; not used if VALUE is set */
    int32_t node;        /**< the node of the plan that failed: one that the program replaced, or a variable */
    int32_t value;       /**< with check_numerics: the value of that node that has a NaN or Inf; -1: the op itself has
                              failed */
} mst_compiled_fault;

/** A variable that a program behind the gate writes. The text of the program (hlo/hlo_program.h) also marks the
 *  argument, so the result may take the memory of the argument. Whether or not it does, the old value is lost once the
 *  program has started. */
typedef struct mst_compiled_donation {
    int32_t source; /**< number of the variable among the sources of the node */
    int32_t result; /**< number of the program's result that becomes the variable's value: for donation K it is the
                         number of outputs of the node + K */
} mst_compiled_donation;

/** The options of `compiled`. The plan owns all memory. The results of the program are the outputs of the node, then
 *  the new values of the variables that it writes. If num_faults > 0, one more result follows, the word of faults. It
 *  is an i32: 0 if nothing failed, else the number, counted from 1, of the first fault that occurred. A program that
 *  writes variables has no faults. */
typedef struct mst_compiled_options {
    int zero_;
    const char *text;
    int32_t num_nodes; /**< nodes of the plan that the program replaces */
    int32_t num_arguments, num_faults, num_donated;
    const mst_compiled_argument *argument;
    const mst_compiled_fault *fault;       /**< fault number n is fault[n - 1] */
    const mst_compiled_donation *donation; /**< sorted by `source`; programs before the gate have none */
} mst_compiled_options;

/** The donation of source I of a program; NULL: source I is not donated. */
static inline const mst_compiled_donation *mst_compiled_donation_of(const mst_compiled_options *options, int32_t i) {
    int32_t low = 0, high = options->num_donated;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (options->donation[middle].source == i) return &options->donation[middle];
        *(options->donation[middle].source < i ? &low : &high) =
            options->donation[middle].source < i ? middle + 1 : middle;
    }
    return NULL;
}

/** The number of results without the word of faults. NUM_DST is the number of outputs of the program's node. */
static inline int32_t mst_compiled_num_arrays(const mst_compiled_options *options, int32_t num_dst) {
    return num_dst + options->num_donated;
}

/** The op `compiled`. It has any number of sources and outputs. */
extern const mst_op mst_op_compiled;

#endif
