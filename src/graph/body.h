/** Bodies: graphs that are an option of a node, such as the steps of a scan.
 *
 *  A body is an ordinary graph. Its inputs are placeholders, and a step of it computes its outputs from them; both are
 *  collections of it, so that they are in its files. It has no state: no variables, and no random numbers.
 */
#ifndef MUSTER_GRAPH_BODY_H
#define MUSTER_GRAPH_BODY_H

#include "graph/graph.h"

/** Adds an input, and an output. An error value is left out, as its error is on BODY. */
void mst_body_input(mst_graph *body, mst_value placeholder);
void mst_body_output(mst_graph *body, mst_value value);
/** The number of inputs, and of outputs; 0 where BODY is NULL. */
int mst_body_num_inputs(const mst_graph *body);
int mst_body_num_outputs(const mst_graph *body);
/** Input I, and output I, of a body that has so many. */
mst_value mst_body_input_at(const mst_graph *body, int i);
mst_value mst_body_output_at(const mst_graph *body, int i);

/** The specs of the outputs, DST, from those of the inputs, SRC, C being the context of the node whose option BODY is.
 *  MST_INVALID where BODY is no body, or has not NUM_INPUTS inputs and NUM_OUTPUTS outputs. */
MST_CHECKED mst_status mst_body_infer(mst_infer *c, const mst_graph *body, int num_inputs, const mst_spec *src,
                                      int num_outputs, mst_spec *dst);
/** A graph of the same nodes, with the same numbers and names, but without inputs and outputs. */
MST_CHECKED mst_status mst_body_copy(const mst_graph *body, mst_graph **out);
/** NEEDED[I] becomes true for each input I that an output of WANTED is computed from. */
MST_CHECKED mst_status mst_body_find_needed(const mst_graph *body, const bool *wanted, bool *needed);

/** Whether an option of OP is a body. */
bool mst_op_has_body(const mst_op *op);

#endif
