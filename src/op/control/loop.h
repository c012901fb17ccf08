/** Code that scan and while share: building their bodies, and running the steps of their kernels.
 *
 *  A body is a graph that computes one step. Its inputs are carry, x and captured, in this order. Its outputs are the
 *  next carry, and y: values of the step that are kept. The outputs of the node are the last carry, and the y of all
 *  steps.
 */
#ifndef MUSTER_OP_LOOP_H
#define MUSTER_OP_LOOP_H

#include "graph/body.h"
#include "muster/op.h"
#include "muster/ops.h"

/* ---- building ---- */

/** The sources of a loop while it is built. */
typedef struct mst_loop {
    const char *op;
    mst_graph *graph;
    mst_value src[3 * MST_LOOP_MOST];
    int num_carry, num_x, num_captured;
} mst_loop;

/** Fills *OUT from lists of MST_LOOP_MOST values, each ended by MST_NONE; X may be NULL. On failure the error is on the
 *  graph, and *ERROR is the value that the function of the op returns. */
MST_CHECKED mst_status mst_loop_sources(const char *op, const mst_value *carry, const mst_value *x,
                                        const mst_value *captured, mst_loop *out, mst_value *error);
/** Fills STEP: makes a new body, and its inputs. */
MST_CHECKED mst_status mst_loop_body(const mst_loop *loop, void *context, mst_loop_step *step);
/** Adds VALUE to the outputs of BODY. WHAT and I name the value in errors, such as "next" 0. */
MST_CHECKED mst_status mst_loop_output(const mst_loop *loop, mst_graph *body, const char *what, int i, mst_value value);
/** Adds the values of `next` to the outputs of the step's body. */
MST_CHECKED mst_status mst_loop_next(const mst_loop *loop, const mst_loop_step *step);
/** Fails unless *SPEC and NEXT, the specs of carry number CARRY before and after a step, agree. A dimension that is
 *  unknown in *SPEC is taken from NEXT. */
MST_CHECKED mst_status mst_loop_unify(mst_infer *c, int carry, const mst_spec *next, mst_spec *spec);

/* ---- running ---- */

/** A body that can be run. */
typedef struct mst_bound_body mst_bound_body;
struct mst_bound_body {
    /** SRC: the data of the inputs. DST: where the outputs go; NULL: the output is not needed. */
    mst_status (*run)(mst_bound_body *body, void *const *src, void *const *dst);
};
/** The bodies of a node, in the order of its options: the state of its kernel. */
typedef mst_bound_body *const *mst_bound_bodies;

/** The state of a kernel between steps. `src` and `dst` are the data of the next step's inputs and outputs.
 *  mst_loop_advance sets the elements for the carry. The kernel sets the elements for x and y. */
typedef struct mst_loop_run {
    const mst_kernel_args *args;
    int num_carry;
    int64_t step; /**< the number of the next step */
    void **src, **dst;
    char *buffer; /**< two places for each carry: steps read one and write the other, in turn */
} mst_loop_run;

/** Bytes of workspace of a node with these sources and outputs. */
size_t mst_loop_workspace(int num_carry, const mst_infer *c);
mst_loop_run mst_loop_begin(const mst_kernel_args *a, int num_carry);
/** Runs one step; its next carry becomes the carry of the step after it. */
MST_CHECKED mst_status mst_loop_advance(mst_loop_run *run, mst_bound_body *body);
/** Copies the last carry to the outputs of the node. */
void mst_loop_end(const mst_loop_run *run);

#endif
