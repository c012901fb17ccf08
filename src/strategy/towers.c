/* towers: replicas over the devices share the variables of the first, where the gradients meet and the update is made,
 * as in TensorFlow's classic multi-GPU example. */
#include "strategy/type.h"

const mst_strategy_type mst_strategy_towers = {.name = "towers", .scope = "tower", .device = mst_strategy_spread};
