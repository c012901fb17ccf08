/** What the files of the pass distribute share. */
#ifndef MUSTER_PLAN_DISTRIBUTE_H
#define MUSTER_PLAN_DISTRIBUTE_H

#include "plan/plan.h"

/** Devices that keep a copy each of the variables that are mirrored over them. */
typedef struct mst_mirror_devices {
    const char *text; /**< "/device:CPU:0,/device:CPU:1" */
    int32_t count;
    int32_t *device;
    int32_t *place;                          /**< by device: its place in the list, -1 */
    const struct mst_mirror_devices *firsts; /**< the first of each domain: they keep the slots and averages */
} mst_mirror_devices;

/** A mirrored variable, or a slot, average or master of one: the value of each copy, -1 until it is first asked for. */
typedef struct mst_mirror {
    const mst_mirror_devices *devices;
    bool of_domain; /**< a copy serves all devices of a domain */
    const mst_node *variable;
    int32_t *value;
} mst_mirror;

typedef struct mst_distribute_pass {
    mst_plan *plan;
    mst_mirror **mirror_of; /**< by value of a mirrored variable; NULL for others */
    int32_t *num_writers;   /**< by value of a variable: nodes that write it */
    int64_t num_values;     /**< of mirror_of and num_writers */
    int64_t num_imported;   /**< nodes that were there before; joins come after them */
    int32_t *join_of;       /**< by node that became several: one that comes after all of them; -1 */
    mst_mirror_devices *lists;
    int64_t num_lists, list_capacity;
} mst_distribute_pass;

/** The mirror of a value, NULL if it is no mirrored variable. */
mst_mirror *mst_distribute_mirror(const mst_distribute_pass *d, int32_t value);
/** The copy that a node on DEVICE works with: its own, or one of its domain, or the first. */
MST_CHECKED mst_status mst_distribute_copy(mst_distribute_pass *d, mst_mirror *mirror, int32_t device, int32_t *out);
/** Replaces node N, an apply_gradients, by what updates each variable where it is. */
MST_CHECKED mst_status mst_distribute_update(mst_distribute_pass *d, int32_t n);
/** leaf_rows.c: replaces node N, a leaf_rows, by sums of rows on the devices of the shards, and their sum. */
MST_CHECKED mst_status mst_distribute_leaf_rows(mst_distribute_pass *d, int32_t n);

#endif
