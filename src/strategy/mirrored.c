/** mirrored: replicas over the devices, under replica_0/, replica_1/, ...; each device keeps a copy of the variables.
 *  Devices that share memory divide the update: each makes a part of it, from the gradients of all shards, for all
 *  copies. Devices that share no memory exchange sums of gradients, and each makes the whole update of its own
 *  copies. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_MIRRORED = 3 };
#endif
#include "strategy/strategy.h"

/* How the devices share an update is decided by the plan (plan/update_lowering.c). */
const mst_strategy_form mst_strategy_form_mirrored = {
    .help = "each device has a copy", .scope = "replica", .mirrored = true, .device = mst_strategy_device_spread};
