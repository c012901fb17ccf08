/** The node of a scan, for the function mst_scan, the gradient, and the plan of the body. */
#ifndef MUSTER_OP_SCAN_H
#define MUSTER_OP_SCAN_H

#include "muster/op.h"

/** Options of the node. The outputs of the body are the next carry, y, and the carry with which the step began. The
 *  last outputs of the node are these carries of all steps; the gradient computes the steps again from them. */
typedef struct mst_scan_node_options {
    mst_graph *body;
    int32_t num_carry, num_x;
    int64_t num_steps; /**< 0: as many as x has */
    bool reverse;
} mst_scan_node_options;

/** Sets DST to the specs of the inputs of a step. SRC has the specs of the node's sources. */
void mst_scan_step_specs(const mst_scan_node_options *o, int num_src, const mst_spec *src, mst_spec *dst);
/** The gradient with respect to source I: an output of another scan, in the other direction. */
mst_value mst_scan_grad(mst_grad *c, int i);

#endif
