/** Writes a node with TensorFlow's ops, by the form of its op (tf_form.h). */
#ifndef MUSTER_GRAPH_GRAPHDEF_FORM_H
#define MUSTER_GRAPH_GRAPHDEF_FORM_H

#include "graph/graphdef_message.h"
#include "graph/tf_form.h"

/** Finds the form for a node; NULL if TensorFlow has no equivalent. */
MST_CHECKED mst_status mst_graph_form_of(mst_graph_writer *w, const mst_node *from, const mst_form **out);
/** Writes NODE by FORM: its op, its attributes, and its inputs except control inputs. Other nodes that the form needs
 *  are added to the written graph before it. */
MST_CHECKED mst_status mst_graph_write_form(mst_graph_writer *w, const mst_node *from, const mst_form *form,
                                            Muster__NodeDef *node);
/** Makes an empty node with room for attributes. */
MST_CHECKED mst_status mst_graph_new_node(mst_graph_writer *w, const char *name, size_t num_attributes,
                                          Muster__NodeDef **out);
/** Appends NODE to the graph that is written. */
MST_CHECKED mst_status mst_graph_put_node(mst_graph_writer *w, Muster__NodeDef *node);

#endif
