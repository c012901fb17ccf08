/** Nodes of a plan that a device compiles: programs in StableHLO.
 *
 *  A type of device that compiles has no kernels. The pass `programs` replaces the nodes of such a device by nodes of
 *  the op `compiled`, whose options are a program. Their sources and outputs are whole arrays in the memory of the
 *  device. Before the gate the backend of such a device runs nothing else. Behind it come assignments, whose source 1
 *  becomes the value of source 0, a variable; and, in a plan that donates, programs that write variables in place.
 */
#ifndef MUSTER_PLAN_COMPILED_H
#define MUSTER_PLAN_COMPILED_H

#include <stddef.h>

#include "hlo/hlo_program.h"

/** An argument of a program. */
typedef struct mst_compiled_argument {
    mst_hlo_source_kind kind; /**< never MST_HLO_SOURCE_TENSOR: such constants are sources of the node */
    int32_t source;           /**< of a value: the number among the sources of the node; else -1 */
    uint64_t stream;          /**< of a key: that of mst_rng_make with the seed of the step (mst_step); else 0 */
} mst_compiled_argument;

/** What can fail in a program (run/compiled_fault.h reports it). */
typedef struct mst_compiled_fault {
    mst_status code;
    const char *message; /**< the whole message, unless VALUE says more */
    int32_t node;        /**< the node of the plan that failed; it was replaced by the program, or is a variable */
    int32_t value;       /**< with check_numerics: the value of the plan, of that node, that has a NaN or Inf; -1: the
                              op itself has failed */
} mst_compiled_fault;

/** A variable that a program behind the gate writes. The text says the same (hlo/hlo_program.h): the result may take
 *  the memory of the argument. Whether or not it does, the old value is gone once the program has started. */
typedef struct mst_compiled_donation {
    int32_t source; /**< number of the variable among the sources of the node */
    int32_t result; /**< number of the program's result that becomes its value: NUM_DST + K of donation K */
} mst_compiled_donation;

/** The options of `compiled`. All memory is the plan's. The results of the program are the outputs of the node, then
 *  the new values of the variables that it writes. With faults one more result follows, the word of faults: i32, 0 or
 *  the number, from 1, of the first that failed. A program that writes variables has no faults. */
typedef struct mst_compiled_options {
    int zero_;
    const char *text;
    int32_t num_nodes; /**< nodes of the plan that the program replaces */
    int32_t num_arguments, num_faults, num_donated;
    const mst_compiled_argument *argument;
    const mst_compiled_fault *fault;       /**< number n is fault[n - 1] */
    const mst_compiled_donation *donation; /**< by source, ascending; none before the gate */
} mst_compiled_options;

/** The donation of source I of a program; NULL: it is not donated. */
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

/** The number of results that are arrays, of a program whose node has NUM_DST outputs. */
static inline int32_t mst_compiled_num_arrays(const mst_compiled_options *options, int32_t num_dst) {
    return num_dst + options->num_donated;
}

/** compiled: any sources and outputs. */
extern const mst_op mst_op_compiled;

#endif
