/** Ops that only plans have, run without a plan: by the kernel that a device takes, and as a program. */
#ifndef MUSTER_TEST_SUPPORT_PLAN_OP_H
#define MUSTER_TEST_SUPPORT_PLAN_OP_H

#include "support/hlo_case.h"

enum { PLAN_OP_MOST_SRC = HLO_MOST_ARGUMENTS, PLAN_OP_MOST_DST = 2 };

/** A node. */
typedef struct plan_op {
    const mst_op *op;
    const void *options;
    int num_src;
    mst_tensor *src[PLAN_OP_MOST_SRC];
    int num_dst;
    mst_spec dst[PLAN_OP_MOST_DST];
} plan_op;

/** Adds a source, which plan_op_end releases; returns its number. */
int32_t plan_op_source(plan_op *p, mst_tensor *tensor);
void plan_op_end(plan_op *p);
/** Runs the kernel. Sources that the op writes are changed. DST, which the caller releases, held garbage before; where
 *  the kernel fails there are none. */
mst_status plan_op_run(const plan_op *p, mst_tensor **dst);

/** Makes H's program, whose arguments are the sources, for a function that writes the node. L, SRC and DST are filled;
 *  what is in the other two, with room for all, must live as long as L. */
typedef struct plan_op_lower {
    mst_lower lower;
    mst_hlo src[PLAN_OP_MOST_SRC], dst[PLAN_OP_MOST_DST];
    mst_spec src_spec[PLAN_OP_MOST_SRC];
} plan_op_lower;
void plan_op_begin(const plan_op *p, hlo_case *h, plan_op_lower *l);

#endif
