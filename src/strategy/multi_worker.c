/** multi-worker: mirrored over the devices of all workers of a cluster (muster/task.h). Each worker has the shards of
 *  its window, and a copy of the variables on each of its devices. It makes the whole update from sums over the shards
 *  of all workers. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_MULTI_WORKER = 4 };
#endif
#include "strategy/strategy.h"

/* The graph is built as for mirrored; first_shard and num_shards_here of the strategy say which shards this worker
 * has. */
const mst_strategy_form mst_strategy_form_multi_worker = {
    .help = "mirrored over all workers", .scope = "replica", .mirrored = true, .device = mst_strategy_device_spread};
