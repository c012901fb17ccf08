/** Bodies: graphs that are an option of a node, such as the steps of a scan.
 *
 *  A body is an ordinary graph. Its inputs are placeholders, and a step of it computes its outputs from them. Inputs
 *  and outputs are collections of the graph, so its files have them. It has no state: no variables, and no random
 *  numbers.
 */
#ifndef MUSTER_GRAPH_BODY_H
#define MUSTER_GRAPH_BODY_H

#include "graph/graph.h"

/** Adds an input, or an output. An error value is ignored, because its error is on BODY already. */
void mst_body_input(mst_graph *body, mst_value placeholder);
void mst_body_output(mst_graph *body, mst_value value);
/** The number of inputs, or of outputs; 0 if BODY is NULL. */
int mst_body_num_inputs(const mst_graph *body);
int mst_body_num_outputs(const mst_graph *body);
/** Input I, or output I, of a body that has it. */
mst_value mst_body_input_at(const mst_graph *body, int i);
mst_value mst_body_output_at(const mst_graph *body, int i);

/** Computes the specs of the outputs, DST, from those of the inputs, SRC. C is the inference context of the node that
 *  has BODY as an option. MST_INVALID if BODY is not a body, or does not have NUM_INPUTS inputs and NUM_OUTPUTS
 *  outputs. */
MST_CHECKED mst_status mst_body_infer(mst_infer *c, const mst_graph *body, int num_inputs, const mst_spec *src,
                                      int num_outputs, mst_spec *dst);
/** Makes a graph of the same nodes, with the same numbers and names, but without inputs and outputs. */
MST_CHECKED mst_status mst_body_copy(const mst_graph *body, mst_graph **out);
/** Sets NEEDED[i] to true for each input i from which a wanted output is computed. Output o is wanted if WANTED[o] is
 *  true. */
MST_CHECKED mst_status mst_body_find_needed(const mst_graph *body, const bool *wanted, bool *needed);

/** Whether an option of OP is a body. */
bool mst_op_has_body(const mst_op *op);

#endif
