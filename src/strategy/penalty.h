/** L1 and L2 penalties of variables, as values of a graph. */
#ifndef MUSTER_STRATEGY_PENALTY_H
#define MUSTER_STRATEGY_PENALTY_H

#include "muster/strategy.h"

/** True where VARIABLE has a penalty. */
bool mst_has_penalty(mst_value variable);
/** The sum of the penalties of all trainable variables of GRAPH; MST_NONE where none has one. An update computes the
 *  same on its way (kernel/cpu/update_unit.inc): this is for graphs without one. */
mst_value mst_penalties(mst_graph *graph);

#endif
