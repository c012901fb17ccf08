/** Shared by the files of the pass distribute, which makes the copies of mirrored variables, and spreads updates over
 *  devices, memory domains and tasks. */
#ifndef MUSTER_PLAN_DISTRIBUTE_H
#define MUSTER_PLAN_DISTRIBUTE_H

#include "plan/plan.h"

/** The devices over which a set of variables is mirrored. Each keeps a copy of each variable. */
typedef struct mst_mirror_devices {
    const char *text; /**< "/device:CPU:0,/device:CPU:1" */
    int32_t count;
    int32_t *device;
    int32_t *place; /**< by device: its place in `device`; -1: the device is not in the list */
    /** The list with only the first device of each domain. It is the list of values of which a domain keeps one copy:
     *  slots, averages and masters. NULL in that list itself. */
    const struct mst_mirror_devices *firsts;
} mst_mirror_devices;

/** A mirrored variable, or one of its slots, its average or its master (the f32 values of a weight in bf16). */
typedef struct mst_mirror {
    const mst_mirror_devices *devices;
    bool of_domain; /**< one copy serves all devices of a domain */
    const mst_node *variable;
    int32_t *value; /**< by place in `devices`: the value of the plan for this copy; -1: no node has needed it yet */
} mst_mirror;

typedef struct mst_distribute_pass {
    mst_plan *plan;
    mst_mirror **mirror_of; /**< by value of a mirrored variable; NULL for others */
    int32_t *num_writers;   /**< by value of a variable: the number of nodes that write it */
    int64_t num_values;     /**< length of mirror_of and num_writers */
    int64_t num_imported;   /**< number of nodes before this pass; joins are numbered after them */
    int32_t *join_of;       /**< by node that became several nodes: its join, a node without a value that comes after
                                 all of them; -1 for other nodes */
    mst_mirror_devices *lists;
    int64_t num_lists, list_capacity;
} mst_distribute_pass;

/** The mirror of a value; NULL if the value is no mirrored variable. */
mst_mirror *mst_distribute_mirror(const mst_distribute_pass *d, int32_t value);
/** Sets OUT to the copy that a node on DEVICE works with: the device's own, else the one of its domain, else the
 *  first. */
MST_CHECKED mst_status mst_distribute_copy(mst_distribute_pass *d, mst_mirror *mirror, int32_t device, int32_t *out);
/** Replaces node N, an apply_gradients, by nodes that update each variable on the devices that have it. */
MST_CHECKED mst_status mst_distribute_update(mst_distribute_pass *d, int32_t n);
/** leaf_rows.c: replaces node N, a leaf_rows, by sums of rows on the devices of the shards and a sum of these sums. */
MST_CHECKED mst_status mst_distribute_leaf_rows(mst_distribute_pass *d, int32_t n);

#endif
