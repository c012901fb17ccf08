/** A program with its arguments and what it must compute: that of an example of an op, with what the reference kernel
 *  computes, or one that a test fills in itself. */
#ifndef MUSTER_TEST_SUPPORT_HLO_CASE_H
#define MUSTER_TEST_SUPPORT_HLO_CASE_H

#include "hlo/program.h"
#include "support/op_case.h"

enum { HLO_MOST_ARGUMENTS = MST_EXAMPLE_SRC + 4 };

/** One argument or result: dtype (which may be MST_HLO_U32), shape, and the elements. */
typedef struct hlo_value {
    mst_spec spec;
    const void *data;
    size_t bytes;
} hlo_value;

typedef struct hlo_case {
    op_case *of; /**< NULL: not an example of an op */
    mst_hlo_program *program;
    const char *text;
    int num_arguments, num_results; /**< results: without the word of faults */
    hlo_value argument[HLO_MOST_ARGUMENTS], wanted[OP_MOST_DST];
    bool may_fail;    /**< the last result is the word of faults */
    mst_status fails; /**< with which status the reference kernel failed: then there is no `wanted` */
    mst_tensor *output[OP_MOST_DST];
    uint32_t word[HLO_MOST_ARGUMENTS][2];
} hlo_case;

hlo_value hlo_value_of(const mst_tensor *tensor);
/** Writes the program of C's node, whose graph has been built. The status is that of writing it. */
mst_status hlo_case_begin(hlo_case *h, op_case *c);
void hlo_case_end(hlo_case *h);

#endif
