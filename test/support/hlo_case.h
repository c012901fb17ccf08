/** A program, its arguments and what it must compute. */
#ifndef MUSTER_TEST_SUPPORT_HLO_CASE_H
#define MUSTER_TEST_SUPPORT_HLO_CASE_H

#include "hlo/hlo_program.h"
#include "support/op_case.h"

enum { HLO_MOST_ARGUMENTS = 32, HLO_MOST_RESULTS = 24 };

/** One argument or result: dtype (which may be MST_HLO_U32), shape, and the elements. */
typedef struct hlo_value {
    mst_spec spec;
    const void *data;
    size_t bytes;
} hlo_value;

typedef struct hlo_case {
    const char *label;       /**< for messages */
    double tolerance;        /**< of floats, relative and absolute; bf16 must be the same, as integers */
    mst_precision precision; /**< of the session */
    mst_hlo_program *program;
    const char *text;
    int num_arguments, num_results; /**< results: without the word of faults */
    hlo_value argument[HLO_MOST_ARGUMENTS], wanted[HLO_MOST_RESULTS];
    bool may_fail;       /**< the last result is the word of faults */
    mst_status fails;    /**< with which status the program must fail: then there is no `wanted` */
    const char *culprit; /**< what the message of this fault must name */
    mst_tensor *output[OP_MOST_DST];
    uint32_t word[HLO_MOST_ARGUMENTS][2];
} hlo_case;

hlo_value hlo_value_of(const mst_tensor *tensor);

/** Writes the program of C's node, whose graph has been built, and runs the reference kernel. The status is that of
 *  writing. */
mst_status hlo_case_begin(hlo_case *h, op_case *c);
/** For other tests, which begin with H of zeros. Writes the program of NODE, whose sources are the arguments VALUE, in
 *  H; they must live as long as H. The status is that of writing. */
mst_status hlo_case_write(hlo_case *h, const mst_node *node, mst_tensor *const *value);
/** TEXT under MST_FLOAT32 as it is under MST_TENSORFLOAT32: products ask for DEFAULT in place of HIGHEST. Returns the
 *  number of words that were changed. */
int hlo_case_round(char *text);
/** Fails the test if the program of NODE is not so. Returns the number of words that differ. */
int hlo_case_expect_rounded(const char *label, const mst_node *node, mst_tensor *const *value);
/** The next argument, whose program has been made, and the next result. The tensors must live as long as H. */
mst_hlo hlo_case_argument(hlo_case *h, const mst_tensor *tensor);
void hlo_case_result(hlo_case *h, mst_hlo value, const mst_tensor *wanted);
/** Ends a program that was written by these. */
void hlo_case_finish(hlo_case *h);
void hlo_case_end(hlo_case *h);

/** The interpreter (support/hlo_interpreter.h) gives what H wants. Prints what differs; false if anything does. */
bool hlo_case_agrees(const hlo_case *h);

#endif
