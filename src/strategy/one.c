/** one: all shards on the first device, one after the other. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_ONE = 1 };
#endif
#include "strategy/strategy.h"

const mst_strategy_form mst_strategy_form_one = {
    .help = "all on the first device", .scope = "replica", .device = mst_strategy_device_first};
