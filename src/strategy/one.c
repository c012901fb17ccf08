/* one: all shards on the first device, one after the other. */
#include "strategy/type.h"

static int device(const mst_strategy *strategy, int shard) {
    (void)strategy, (void)shard;
    return 0;
}

const mst_strategy_type mst_strategy_one = {.name = "one", .scope = "replica", .device = device};
