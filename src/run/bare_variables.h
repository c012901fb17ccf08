/** Finds the variables of a graph that get first values when a session initializes variables. Variables without a value
 *  are called bare here. */
#ifndef MUSTER_RUN_BARE_VARIABLES_H
#define MUSTER_RUN_BARE_VARIABLES_H

#include "graph/graph.h"

/** Returns whether VARIABLE has no value. */
typedef bool (*mst_is_bare)(void *context, const mst_node *variable);
/** Lists assignments of first values to variables of GRAPH. The variables have no value, and their first values can be
 *  computed now. If no first value can be computed, lists all assignments to variables without a value: running them
 *  gives the error that says what is missing. *OUT has *WANTED assignments; free it with free(). A list that was in
 *  *OUT before is freed. Call it while the graph is read (mst_graph_read_begin). */
MST_CHECKED mst_status mst_list_bare(const mst_graph *graph, mst_is_bare is_bare, void *context, mst_value **out,
                                     int *wanted);

#endif
