/** toy: all shards on the first device */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_TOY = NEXT };
#endif
#include "strategy/strategy.h"

const mst_strategy_form mst_strategy_form_toy = {
    .help = "a toy that is all on the first device", .scope = "toy", .device = mst_strategy_device_first};
