/* Which devices a training runs on, and how a batch is cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/train/training.h"

enum { DEFAULT_BATCH = 200, DEFAULT_SHARDS = 4, SPEC_SIZE = 32 };

static int out_of_memory(void) {
    return command_fail(EXIT_FAILED, "cannot get memory for the names of the devices");
}

/* The largest number of devices that divides SHARDS and is not above CORES. */
static int devices_for(int shards, int cores) {
    int count = shards < cores ? shards : cores;
    while (shards % count != 0) count--;
    return count;
}

static int train_devices_describe(training *t) {
    const char *visible = t->o->visible_devices;
    int most = 0;
    if (mst_devices_describe(t->devices, visible, NULL, 0, &most)) return command_fail_usage("train");
    t->device = calloc((size_t)most + 1, sizeof *t->device);
    if (!t->device) return out_of_memory();
    if (mst_devices_describe(t->devices, visible, t->device, most, &t->num_devices)) return command_fail_usage("train");
    return EXIT_DONE;
}

int train_choose_devices(training *t) {
    const train_options *o = t->o;
    const bool one = o->strategy == MST_STRATEGY_ONE;
    int shards = o->shards ? o->shards : DEFAULT_SHARDS;
    char chosen[SPEC_SIZE] = "cpu";
    if (!o->devices && !one) {
        const int cores = mst_num_cores(), count = devices_for(shards, cores);
        snprintf(chosen, sizeof chosen, "cpu:%d/1", count);
        t->idle_cores = cores - count;
    }
    t->devices = strdup(o->devices ? o->devices : chosen);
    if (!t->devices) return out_of_memory();
    int status = train_devices_describe(t);
    if (status) return status;
    const int devices = one ? 1 : t->num_devices;
    if (!o->shards && shards % devices != 0) shards = devices;
    t->strategy = (mst_strategy){.kind = (mst_strategy_kind)o->strategy, .num_shards = shards, .num_devices = devices};
    if (mst_strategy_resolve(&t->strategy)) return command_fail_library(EXIT_USAGE, "shards");
    t->batch_size = o->batch_size          ? o->batch_size
                    : o->batch_per_replica ? o->batch_per_replica * shards
                                           : DEFAULT_BATCH;
    return EXIT_DONE;
}
