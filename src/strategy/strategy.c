#include "strategy/strategy.h"
#include "base/argument.h"
#include "device/device.h"

const mst_strategy_form *mst_strategy_form_of(const mst_strategy *strategy) {
    return mst_strategy_table[(unsigned)strategy->kind < MST_NUM_STRATEGIES ? strategy->kind : MST_STRATEGY_DEFAULT];
}

const char *mst_strategy_help(int i) {
    return i >= 0 && i < MST_NUM_STRATEGIES ? mst_strategy_table[i]->help : NULL;
}

int mst_strategy_device_first(const mst_strategy *strategy, int shard) {
    (void)strategy, (void)shard;
    return 0;
}

int mst_strategy_device_spread(const mst_strategy *strategy, int shard) {
    return shard / (strategy->num_shards / strategy->num_devices);
}

mst_status mst_strategy_resolve(mst_strategy *strategy) {
    if (MST_IS_NULL(strategy)) return MST_INVALID;
    if ((unsigned)strategy->kind >= MST_NUM_STRATEGIES)
        return MST_FAIL(MST_INVALID, "strategy: kind is %d, must be one of mst_strategy_kind", (int)strategy->kind);
    enum { MOST = 1 << 20 }; /* as many gradients as one update can take */
    if (strategy->num_devices < 0 || strategy->num_devices > MOST)
        return MST_FAIL(MST_INVALID, "strategy: %d devices, must be from 1 to %d", strategy->num_devices, MOST);
    if (strategy->num_devices == 0) strategy->num_devices = 1;
    if (strategy->kind == MST_STRATEGY_DEFAULT)
        strategy->kind = strategy->num_devices > 1 ? MST_STRATEGY_MIRRORED : MST_STRATEGY_ONE;
    const bool spread = strategy->kind != MST_STRATEGY_ONE;
    if (strategy->num_shards == 0) strategy->num_shards = spread ? strategy->num_devices : 1;
    if (strategy->num_shards < 1 || strategy->num_shards > MOST)
        return MST_FAIL(MST_INVALID, "strategy: %d shards, must be from 1 to %d", strategy->num_shards, MOST);
    if (spread && strategy->num_shards % strategy->num_devices != 0)
        return MST_FAIL(
            MST_INVALID, "strategy %s: %d shards do not divide over %d devices: take a multiple of %d shards",
            mst_strategy_names[strategy->kind], strategy->num_shards, strategy->num_devices, strategy->num_devices);
    return MST_OK;
}

const char *mst_strategy_device_name(const mst_strategy *strategy, int i, char *text, size_t size) {
    return strategy->devices ? strategy->devices[i] : mst_device_default_name(i, text, size);
}

const char *mst_strategy_device(const mst_strategy *strategy, int shard, char *text, int size) {
    if (MST_IS_NULL(strategy) || MST_IS_NULL(text)) return NULL;
    return mst_strategy_device_name(strategy, mst_strategy_form_of(strategy)->device(strategy, shard), text,
                                    (size_t)size);
}
