/** auto: the strategy `mirrored` for several devices, `one` for a single device. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_DEFAULT = 0 };
#endif
#include "strategy/strategy.h"

/* mst_strategy_resolve replaces it by another strategy. */
const mst_strategy_form mst_strategy_form_auto = {
    .help = "mirrored, or one where there is one device", .scope = "replica", .device = mst_strategy_device_first};
