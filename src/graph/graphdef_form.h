/** Writing a node as TensorFlow says it: by the form of its op (tf_form.h). */
#ifndef MUSTER_GRAPH_GRAPHDEF_FORM_H
#define MUSTER_GRAPH_GRAPHDEF_FORM_H

#include "graph/graphdef_message.h"
#include "graph/tf_form.h"

/** The form that says the node, NULL where TensorFlow has no equal of it. */
MST_CHECKED mst_status mst_graph_form_of(mst_graph_writer *w, const mst_node *from, const mst_form **out);
/** Op, inputs without those that only run before, and attributes of NODE by FORM. The nodes that it is composed of
 *  beside are added to the graph that is written, before it. */
MST_CHECKED mst_status mst_graph_write_form(mst_graph_writer *w, const mst_node *from, const mst_form *form,
                                            Muster__NodeDef *node);
/** An empty node with room for attributes. */
MST_CHECKED mst_status mst_graph_new_node(mst_graph_writer *w, const char *name, size_t num_attributes,
                                          Muster__NodeDef **out);
/** The node is the next of the graph that is written. */
MST_CHECKED mst_status mst_graph_put_node(mst_graph_writer *w, Muster__NodeDef *node);

#endif
