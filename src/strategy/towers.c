/** towers: replicas over the devices, under tower_0/, tower_1/, ..., share the variables of the first device. The
 *  gradients are added up and the update is made there, as in TensorFlow's classic multi-GPU example. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_TOWERS = 2 };
#endif
#include "strategy/strategy.h"

const mst_strategy_form mst_strategy_form_towers = {
    .help = "replicas share variables on the first device", .scope = "tower", .device = mst_strategy_device_spread};
