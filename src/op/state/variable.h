/** Sets a property of variables that only the code of optimizers may set. */
#ifndef MUSTER_OP_STATE_VARIABLE_H
#define MUSTER_OP_STATE_VARIABLE_H

#include "muster/ops.h"

/** Declares that AVERAGE, a variable of the same graph, keeps the moving average of VARIABLE. */
void mst_variable_set_average(mst_value variable, mst_value average);

#endif
