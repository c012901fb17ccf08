/* mirrored: each device keeps a copy of the variables. The plan makes of an update what suits the devices: those that
 * share memory make a part each for all copies, others exchange gradients (plan/update.c). */
#include "strategy/type.h"

const mst_strategy_type mst_strategy_mirrored = {
    .name = "mirrored", .scope = "replica", .mirrored = true, .device = mst_strategy_spread};
