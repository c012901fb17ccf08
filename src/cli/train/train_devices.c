#include "cli/train/train_devices.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/busy_cores.h"
#include "base/shard_rows.h"
#include "cli/accelerators.h"
#include "cli/command.h"
#include "cli/train/train_checkpoint.h"
#include "cli/train/train_cluster.h"

enum { DEFAULT_BATCH = 200, DEFAULT_SHARDS = 4, SPEC_SIZE = 32 };

static int out_of_memory(void) {
    return command_fail(EXIT_FAILED, "cannot get memory for the names of the devices");
}

/* The largest number of devices that divides SHARDS and is at most CORES. */
static int devices_for(int shards, int cores) {
    int count = shards < cores ? shards : cores;
    while (shards % count != 0) count--;
    return count;
}

int train_shards_here(const training *t, int shards) {
    if (!t->cluster) return shards;
    const int workers = mst_cluster_num_workers(t->cluster), self = mst_cluster_self(t->cluster);
    const int64_t here = mst_part_begin(shards, workers, self + 1) - mst_part_begin(shards, workers, self);
    return here > 0 ? (int)here : 1;
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

/* The number of running threads of other programs if there is at least one for each hardware thread; else 0. */
static int others_on_all_cores(void) {
    mst_machine machine;
    mst_machine_read(&machine);
    const int others = mst_others_running("/proc/loadavg");
    return mst_cores_are_taken(others, machine.num_hardware_threads) ? others : 0;
}

void train_look_at_others(training *t) {
    const int others = t->others ? others_on_all_cores() : 0;
    if (others < t->others) t->others = others;
}

void train_take_shards(training *t, int shards) {
    t->strategy.num_shards = shards;
    if (!t->cluster || t->o->elastic) return; /* --elastic: not known here who else trains */
    t->strategy.num_devices = t->num_devices;
    while (train_shards_here(t, shards) % t->strategy.num_devices) t->strategy.num_devices--;
}

/* Whether the strategy HERE takes these types of devices together. */
static int check_types(const training *t, mst_strategy here) {
    const char **name = calloc((size_t)t->num_devices + 1, sizeof *name);
    if (!name) return out_of_memory();
    for (int i = 0; i < t->num_devices; i++) name[i] = t->device[i].name;
    here.devices = name;
    const mst_status status = mst_strategy_resolve(&here);
    free(name);
    return status ? command_fail_library(EXIT_USAGE, "devices") : EXIT_DONE;
}

/* Resolves the strategy. The devices must divide the number of shards here, whichever these are. If workers resume a
 * training with KEPT shards, the library chooses among their devices when they have joined. */
static int resolve(training *t, int kept) {
    mst_strategy here = t->strategy;
    if (t->cluster) here.num_shards_here = train_shards_here(t, here.num_shards);
    if (t->cluster && kept) here.num_devices = 1;
    if (mst_strategy_resolve(&here)) return command_fail_library(EXIT_USAGE, "shards");
    t->strategy.kind = here.kind;
    return check_types(t, here);
}

/* Where devices compile, each shard more costs calls, and a pass over the gradients: as many as the devices of all
 * workers. On CPUs the same number on every machine, so that weights do not depend on it. */
static int default_shards(const training *t, int devices, int workers) {
    if (t->device[0].compiles) return devices * workers;
    if (t->cluster) return workers > DEFAULT_SHARDS ? workers : DEFAULT_SHARDS;
    return DEFAULT_SHARDS % devices ? devices : DEFAULT_SHARDS;
}

/* As many devices of one core each as there are cores, and as divide SHARDS, in SPEC. */
static void choose_cores(training *t, int shards, char spec[SPEC_SIZE]) {
    const int cores = train_cluster_cores(t, mst_num_cores());
    const int count = devices_for(train_shards_here(t, shards), cores);
    snprintf(spec, SPEC_SIZE, "cpu:%d/1", count);
    t->idle_cores = cores - count;
    if (count > 1 && !t->cluster) t->others = others_on_all_cores();
}

/* Sets SPEC to all accelerators of this host, or to as many as divide SHARDS, if these are chosen (else 0). Returns
 * false if there are none. */
static bool choose_accelerators(training *t, int shards, char spec[SPEC_SIZE]) {
    accelerators found;
    accelerators_find(ACCELERATORS_FASTER, t->o->visible_devices, &found);
    if (*found.problem && !found.is_other) {
        command_tell("note: %s; the training is on CPUs", found.problem);
        t->accelerators_problem = strdup(found.problem); /* for JSON */
    }
    if (!found.type) return false;
    const bool is_one = t->o->strategy == MST_STRATEGY_ONE;
    if (t->o->visible_devices || (!shards && !is_one && found.count > 1)) {
        snprintf(spec, SPEC_SIZE, "%s", found.type);
    } else {
        const int count = is_one ? 1 : shards ? devices_for(train_shards_here(t, shards), found.count) : found.count;
        snprintf(spec, SPEC_SIZE, "%s:%d", found.type, count);
    }
    return true;
}

/* Writes "--devices gpu:2" to TEXT, for COUNT devices of the type that was given; or else, how many to list. */
static void suggest_devices(const training *t, int count, char text[64]) {
    const char *type = accelerators_short_name(&t->device[0]);
    char name[16] = "";
    bool is_plain = !t->o->visible_devices;
    for (size_t i = 0; i < sizeof name - 1 && type[i] && type[i] != ':'; i++)
        name[i] = (char)tolower((unsigned char)type[i]);
    for (int i = 0; i < t->num_devices; i++)
        is_plain &= t->device[i].physical < 0 || accelerators_is_first(t->device, i);
    if (is_plain)
        snprintf(text, 64, "--devices %s:%d", name, count);
    else
        snprintf(text, 64, "a list of %d device%s", count, count == 1 ? "" : "s");
}

/* The error of a training that is resumed with KEPT shards, which DEVICES devices do not divide. */
static int fail_to_divide(const training *t, int kept, int devices) {
    char choice[64];
    suggest_devices(t, devices_for(kept, devices), choice);
    return command_fail(EXIT_USAGE,
                        "train: the training in '%s' has %d shard%s, which %d devices do not divide: give %s, --shards "
                        "N to go on with other sums, or --no-resume",
                        t->o->checkpoint_dir, kept, kept == 1 ? "" : "s", devices, choice);
}

int train_choose_devices(training *t) {
    const train_options *o = t->o;
    const bool one = o->strategy == MST_STRATEGY_ONE;
    const int workers = t->cluster ? mst_cluster_num_workers(t->cluster) : 1;
    const int kept = o->shards ? 0 : train_checkpoint_shards(t);
    char chosen[SPEC_SIZE] = "cpu";
    if (o->shards && o->shards < workers)
        return command_fail(EXIT_USAGE, "train: --shards %d are too few for %d workers: give at least as many",
                            o->shards, workers);
    if (!o->devices && !choose_accelerators(t, o->shards ? o->shards : kept, chosen) && !one) {
        const int most = workers > DEFAULT_SHARDS ? workers : DEFAULT_SHARDS;
        choose_cores(t, o->shards ? o->shards : kept ? kept : most, chosen);
    }
    t->devices = strdup(o->devices ? o->devices : chosen);
    if (!t->devices) return out_of_memory();
    int status = train_devices_describe(t);
    if (status) return status;
    const int devices = one ? 1 : t->num_devices;
    if (!t->cluster && kept % devices != 0) return fail_to_divide(t, kept, devices);
    t->default_shards = default_shards(t, devices, workers);
    const int shards = o->shards ? o->shards : kept && !t->cluster ? kept : t->default_shards;
    t->strategy = (mst_strategy){.kind = t->is_alone                  ? MST_STRATEGY_DEFAULT
                                         : !t->cluster                ? (mst_strategy_kind)o->strategy
                                         : train_cluster_is_served(t) ? MST_STRATEGY_PARAMETER_SERVER
                                                                      : MST_STRATEGY_MULTI_WORKER,
                                 .synchronous = train_cluster_is_served(t) && o->is_sync,
                                 .replicas_to_aggregate = o->replicas_to_aggregate,
                                 .max_staleness = o->max_staleness,
                                 .sharded_state = o->sharded_state,
                                 .by_bytes = train_cluster_is_served(t) && o->ps_placement == PS_PLACEMENT_GREEDY,
                                 .part_bytes = train_cluster_is_served(t) ? o->ps_part_bytes : 0,
                                 .num_shards = shards,
                                 .resumed_shards = o->shards ? MST_SHARDS_NEW : MST_SHARDS_KEPT,
                                 .num_devices = devices};
    t->batch_size = o->batch_size          ? o->batch_size
                    : o->batch_per_replica ? o->batch_per_replica * (kept ? kept : shards)
                                           : DEFAULT_BATCH;
    return resolve(t, kept);
}
