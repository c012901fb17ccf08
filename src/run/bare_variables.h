/** Which variables of a graph are to get their first values now. */
#ifndef MUSTER_RUN_BARE_VARIABLES_H
#define MUSTER_RUN_BARE_VARIABLES_H

#include "graph/graph.h"

/** Says whether VARIABLE has no value. */
typedef bool (*mst_is_bare)(void *context, const mst_node *variable);
/** The assignments of first values to those variables of GRAPH that have no value, and whose first value can be
 *  computed now. If none can be computed, all assignments to variables without a value: a run of them says what is
 *  missing. A list of *WANTED, which takes the place of *OUT and is freed with free(). While the graph is read
 *  (mst_graph_read_begin). */
MST_CHECKED mst_status mst_list_bare(const mst_graph *graph, mst_is_bare is_bare, void *context, mst_value **out,
                                     int *wanted);

#endif
