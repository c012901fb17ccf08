/** L1 and L2 penalties of variables, as values of a graph. */
#ifndef MUSTER_STRATEGY_PENALTY_H
#define MUSTER_STRATEGY_PENALTY_H

#include "muster/strategy.h"

/** Whether VARIABLE has a penalty. */
bool mst_has_penalty(mst_value variable);
/** The sum of the penalties of all trainable variables of GRAPH; MST_NONE if no variable has a penalty. For graphs
 *  without an update: a node that updates variables computes this sum itself (kernel/cpu/update_unit.inc). */
mst_value mst_penalties(mst_graph *graph);

#endif
