/* mirrored: a copy of the variables on each device. An update is a reduce-scatter (each device adds the gradients of
 * all shards for its part of the parameters), the optimizer on that part, and an all-gather (each device writes its
 * part to all copies), in one pass: local devices see each other's memory. */
#include "strategy/type.h"

const mst_strategy_type mst_strategy_mirrored = {
    .name = "mirrored", .scope = "replica", .mirrored = true, .device = mst_strategy_spread};
