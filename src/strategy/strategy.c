#include "strategy/strategy.h"

#include <string.h>

#include "base/argument.h"
#include "device/device.h"

const mst_strategy_form *mst_strategy_form_of(const mst_strategy *strategy) {
    return mst_strategy_table[(unsigned)strategy->kind < MST_NUM_STRATEGIES ? strategy->kind : MST_STRATEGY_DEFAULT];
}

const char *mst_strategy_help(int i) {
    return i >= 0 && i < MST_NUM_STRATEGIES ? mst_strategy_table[i]->help : NULL;
}

mst_shards mst_strategy_window(const mst_strategy *strategy) {
    const int first = strategy->first_shard, here = strategy->num_shards_here;
    return (mst_shards){first, here ? here : strategy->num_shards - first};
}

int mst_strategy_device_first(const mst_strategy *strategy, int shard) {
    (void)strategy, (void)shard;
    return 0;
}

int mst_strategy_device_spread(const mst_strategy *strategy, int shard) {
    const mst_shards here = mst_strategy_window(strategy);
    return (shard - here.first) / (here.count / strategy->num_devices);
}

static mst_status check_updates(const mst_strategy *s) {
    if (s->sharded_state && s->kind != MST_STRATEGY_MULTI_WORKER)
        return MST_FAIL(
            MST_INVALID,
            "strategy %s: sharded_state shares the optimizer's slots out among the workers of multi-worker: "
            "leave it out",
            mst_strategy_names[s->kind]);
    if (s->num_parts < 0 || s->part < 0 || (s->num_parts ? s->part >= s->num_parts : s->part) ||
        (s->num_parts && !s->sharded_state))
        return MST_FAIL(MST_INVALID, "strategy: part %d of %d: mst_compile fills them in, with sharded_state", s->part,
                        s->num_parts);
    if (s->kind != MST_STRATEGY_PARAMETER_SERVER &&
        (s->synchronous || s->replicas_to_aggregate || s->max_staleness || s->by_bytes || s->part_bytes))
        return MST_FAIL(MST_INVALID,
                        "strategy %s: synchronous, replicas_to_aggregate, max_staleness, by_bytes and part_bytes are "
                        "options of parameter-server: leave them out",
                        mst_strategy_names[s->kind]);
    if (s->part_bytes < 0)
        return MST_FAIL(MST_INVALID, "strategy: part_bytes is %lld, must be at least 1, or 0 for none",
                        (long long)s->part_bytes);
    if (s->replicas_to_aggregate && !s->synchronous)
        return MST_FAIL(MST_INVALID,
                        "strategy: replicas_to_aggregate %d needs synchronous: else the gradients of each worker make "
                        "an update of their own",
                        s->replicas_to_aggregate);
    if (s->max_staleness && s->synchronous)
        return MST_FAIL(MST_INVALID,
                        "strategy: max_staleness %d is not for synchronous updates, whose gradients are never older "
                        "than the variables: leave one of them out",
                        s->max_staleness);
    return MST_OK;
}

/* The type of device I; NULL: it is not known in this process. TEXT has MST_DEVICE_TEXT bytes, for the default name of
 * a device without a name. */
static const mst_device_type *device_type(const mst_strategy *strategy, int i, char *text) {
    mst_device_name name;
    if (mst_device_name_parse(mst_strategy_device_name(strategy, i, text, MST_DEVICE_TEXT), &name)) return NULL;
    return mst_device_type_find(name.type, strlen(name.type));
}

/* Checks that devices that update copies of the variables compute the same bits. A type with an identity computes other
 * bits than other types. */
static mst_status check_types(const mst_strategy *s) {
    const mst_strategy_form *form = mst_strategy_form_of(s);
    char text[MST_DEVICE_TEXT];
    if (!s->devices || !form->mirrored || form->apart) return MST_OK;
    const mst_device_type *first = device_type(s, 0, text);
    for (int i = 1; i < s->num_devices; i++) {
        const mst_device_type *other = device_type(s, i, text);
        if (!first || !other || other == first || (!first->identity && !other->identity)) continue;
        return MST_FAIL(MST_INVALID,
                        "strategy %s: %s and %s round differently, so their copies of the variables would drift apart: "
                        "list devices of one type; the CPU is there for the rest without being listed",
                        mst_strategy_names[s->kind], first->name, other->name);
    }
    return MST_OK;
}

mst_status mst_strategy_resolve(mst_strategy *strategy) {
    if (MST_IS_NULL(strategy)) return MST_INVALID;
    if ((unsigned)strategy->kind >= MST_NUM_STRATEGIES)
        return MST_FAIL(MST_INVALID, "strategy: kind is %d, must be one of mst_strategy_kind", (int)strategy->kind);
    if ((unsigned)strategy->resumed_shards > MST_SHARDS_SAME)
        return MST_FAIL(MST_INVALID, "strategy: resumed_shards is %d, must be one of mst_resumed_shards",
                        (int)strategy->resumed_shards);
    const int most = MST_SHARDS_MOST;
    if (strategy->num_devices < 0 || strategy->num_devices > most)
        return MST_FAIL(MST_INVALID, "strategy: %d devices, must be from 1 to %d", strategy->num_devices, most);
    if (strategy->num_devices == 0) strategy->num_devices = 1;
    if (strategy->kind == MST_STRATEGY_DEFAULT)
        strategy->kind = strategy->num_devices > 1 ? MST_STRATEGY_MIRRORED : MST_STRATEGY_ONE;
    const bool spread = strategy->kind != MST_STRATEGY_ONE;
    if (strategy->num_shards == 0) strategy->num_shards = spread ? strategy->num_devices : 1;
    if (strategy->num_shards < 1 || strategy->num_shards > most)
        return MST_FAIL(MST_INVALID, "strategy: %d shards, must be from 1 to %d", strategy->num_shards, most);
    const mst_shards here = mst_strategy_window(strategy);
    if (here.first < 0 || here.count < 1 || here.count > strategy->num_shards ||
        here.first > strategy->num_shards - here.count)
        return MST_FAIL(MST_INVALID, "strategy: first_shard %d and num_shards_here %d are no part of %d shards",
                        here.first, strategy->num_shards_here, strategy->num_shards);
    if (spread && here.count % strategy->num_devices != 0)
        return MST_FAIL(MST_INVALID,
                        "strategy %s: %d shards do not divide over %d devices: take a multiple of %d shards",
                        mst_strategy_names[strategy->kind], here.count, strategy->num_devices, strategy->num_devices);
    MST_TRY(check_types(strategy));
    return check_updates(strategy);
}

const char *mst_strategy_device_name(const mst_strategy *strategy, int i, char *text, size_t size) {
    return strategy->devices ? strategy->devices[i] : mst_device_default_name(i, text, size);
}

bool mst_strategy_compiles(const mst_strategy *strategy) {
    char text[MST_DEVICE_TEXT];
    const mst_device_type *type = device_type(strategy, 0, text);
    return type && type->compiles;
}

const char *mst_strategy_device(const mst_strategy *strategy, int shard, char *text, int size) {
    if (MST_IS_NULL(strategy) || MST_IS_NULL(text)) return NULL;
    return mst_strategy_device_name(strategy, mst_strategy_form_of(strategy)->device(strategy, shard), text,
                                    (size_t)size);
}
