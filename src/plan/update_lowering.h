/** Shared by the files that lower apply_gradients: update_lowering.c and update_....c. Lowering replaces one node
 *  apply_gradients by the nodes of the update: sums of gradients over shards, clipping, and an update node for each
 *  memory domain. */
#ifndef MUSTER_PLAN_UPDATE_LOWERING_H
#define MUSTER_PLAN_UPDATE_LOWERING_H

#include "muster/ops.h"
#include "op/state/apply_gradients.h"
#include "op/state/update.h"
#include "plan/distribute.h"

/** Some shards of a variable's gradient, and the value that holds their sum. */
typedef struct mst_gradient_part {
    mst_shards leaf;
    int32_t value;
    int32_t second; /**< a product and a sparse gradient have two values: this is the second */
} mst_gradient_part;

/** A piece of a gradient, summed over all shards: its elements from FIRST up to the next piece. */
typedef struct mst_gradient_sum {
    int64_t first;
    mst_gradient_part part;
} mst_gradient_sum;

/** One variable of the update that is lowered, or a bucket of variables (update_pairs.c). */
typedef struct mst_variable_update {
    int32_t source;    /**< number of the variable among the sources of apply_gradients */
    int32_t set;       /**< number of its mst_update_set */
    int32_t *gradient; /**< [shards of the window]: values with the gradients of the shards */
    mst_gradient_kind kind;
    bool squares, clipped; /**< of a sparse gradient: see mst_update_variable */
    int32_t num_parts;     /**< parts of its gradient: sums over shards that are still to be added up */
    mst_gradient_part *parts;
    int32_t num_pieces; /**< pieces of the sum of its gradient, if that crosses domains or tasks; else 0 */
    mst_gradient_sum *pieces;
} mst_variable_update;

/** Devices that keep the same variables. */
typedef struct mst_update_set {
    const mst_mirror_devices *mirrored; /**< NULL: one device */
    int32_t num_devices;
    const int32_t *device;
    int32_t num_domains;
    int32_t *domain_start; /**< [num_domains + 1]: where each domain begins in `ordered`; then the end */
    int32_t *ordered;      /**< the devices, sorted by domain */
    int32_t most_devices;  /**< devices of the largest domain */
} mst_update_set;

typedef struct mst_lowering {
    mst_distribute_pass *d;
    mst_plan *plan;
    int32_t node; /**< the apply_gradients */
    const mst_apply_options *options;
    mst_shards window;    /**< shards whose gradients this task computes */
    const int32_t *src;   /**< sources of apply_gradients */
    const int64_t *parts; /**< sharded state: the parts of the variables (op/state/state_parts.h); else NULL */
    mst_variable_update *variables; /**< [options->num_variables] */
    mst_update_set *sets;
    int32_t num_sets, set_capacity;
    int32_t scalars;  /**< the value that mst_lowering_scalars has added */
    int32_t factors;  /**< value with the factors by which gradients are multiplied; -1: none */
    int32_t *control; /**< nodes that make up the update */
    int64_t num_control, control_capacity;
    int32_t penalty; /**< value of the sum of penalties so far; -1: none */
} mst_lowering;

/** The devices of one domain that keep the variables of a set, and the update node that they run together. */
typedef struct mst_update_local {
    const mst_update_set *set;
    int32_t index;     /**< number of the set */
    bool first_of_set; /**< its domain is the first of the set's */
    int32_t num_devices;
    const int32_t *device;
    int32_t group; /**< number of the plan's group of these devices */
    int64_t units; /**< number of units of all variables */
    mst_update_options options;
    mst_update_variable *variable;
    int32_t *src; /**< sources of the update node */
    int64_t num_src, src_capacity;
} mst_update_local;

/** Memory that lives as long as the plan. */
void *mst_lowering_alloc(mst_lowering *l, size_t count, size_t size);
/** The node that makes VALUE. */
int32_t mst_lowering_maker(const mst_lowering *l, int32_t value);
/** The device of that node. */
int32_t mst_lowering_device(const mst_lowering *l, int32_t value);
/** The options of the variable of V. */
const mst_variable_options *mst_lowering_variable(const mst_lowering *l, const mst_variable_update *v);
/** The shape of the variable of V. */
const mst_shape *mst_lowering_shape(const mst_lowering *l, const mst_variable_update *v);
/** Whether other tasks have shards of the step too. */
bool mst_lowering_is_part(const mst_lowering *l);
/** Whether one of the values SRC is a variable, or the output of a writer. A node that reads such a value later may
 *  find it changed. */
bool mst_lowering_reads_variable(const mst_plan *plan, int num_src, const int32_t *src);
/** A node that the lowering adds. Its name is "<name of apply_gradients>/NAME". */
typedef struct mst_lowered {
    const mst_op *op;
    const char *name;
    const void *options; /**< copied; NULL for an op without options */
    int num_src;
    const int32_t *src;
    int num_dst;
    const mst_spec *dst;
    int32_t device;
} mst_lowered;

/** Adds NODE. *OUT is the value of its first output. */
MST_CHECKED mst_status mst_lowering_node(mst_lowering *l, const mst_lowered *node, int32_t *out);
/** Adds one more source to the update of X. */
MST_CHECKED mst_status mst_lowering_push(mst_update_local *x, int32_t value);
/** Adds the node update of X for PURPOSE. *OUT is the value of its output. */
MST_CHECKED mst_status mst_lowering_update(mst_lowering *l, const mst_update_local *x, mst_update_purpose purpose,
                                           const char *name, int32_t *out);
/** Like mst_lowering_update, for a node that only one domain of the set has. On devices that compile the node becomes a
 *  program of its own, so that the other programs are the same on all devices. */
MST_CHECKED mst_status mst_lowering_alone(mst_lowering *l, const mst_update_local *x, mst_update_purpose purpose,
                                          const char *name, int32_t *out);
/** Makes NODE a part of the update: nodes that come after apply_gradients come after NODE too. */
MST_CHECKED mst_status mst_lowering_part(mst_lowering *l, int32_t node);

/** update_scalars.c: adds the node that computes the numbers that are the same for all elements, and the next state of
 *  the rule. */
MST_CHECKED mst_status mst_lowering_scalars(mst_lowering *l);

/** update_clip.c: adds the nodes for the norms of all gradients, and for the factors by which gradients are multiplied.
 *  The devices of a set's first domain compute the norms of that set. */
MST_CHECKED mst_status mst_lowering_clipping(mst_lowering *l, mst_update_local *locals, int32_t num_locals);

/** update_constraint.c: sets *OUT to the constraint of the variable of V; NULL: it has none. */
MST_CHECKED mst_status mst_lowering_find_constraint(mst_lowering *l, const mst_variable_update *v,
                                                    const mst_constraint_form **out);
/** Adds the node that constrains the variables of X after node STEP, their update, if one of them has a constraint. On
 *  devices that compile, the program of STEP does it. */
MST_CHECKED mst_status mst_lowering_constrain(mst_lowering *l, const mst_update_local *x, int32_t step);

/** update_gradients.c: finds the kind of V's gradient, and adds up the shards of each device on that device. */
MST_CHECKED mst_status mst_lowering_gradient(mst_lowering *l, mst_variable_update *v);
/** Adds NODE, which gives at most BOUND rows of the gradient of V, in the form that sum_rows gives. Fills in its name
 *  and outputs. */
MST_CHECKED mst_status mst_lowering_rows(mst_lowering *l, const mst_variable_update *v, mst_lowered node, int64_t bound,
                                         mst_gradient_part *out);

/** update_pairs.c: whether one of the devices of SET compiles. Then the gradients of the whole set are added up as on
 *  devices that compile. */
bool mst_lowering_compiles(const mst_lowering *l, int32_t set);
/** Adds up the parts of V's gradient in pairs. Before, there is one part for each shard. Afterwards there is one for
 *  each leaf of this task's window. TURN chooses the device that adds two parts of different devices. */
MST_CHECKED mst_status mst_lowering_pairs(mst_lowering *l, mst_variable_update *v, int32_t turn);
/** Adds up the dense gradients of a set in buckets, over the shards of all tasks. The devices of the set compile. */
MST_CHECKED mst_status mst_lowering_buckets(mst_lowering *l, int32_t set);
/** update_exchange.c: the same for its sparse gradients, over all tasks. */
MST_CHECKED mst_status mst_lowering_exchange_rows(mst_lowering *l, int32_t set);

/** update_exchange.c: the first variable of the bucket of dense gradients whose last one is LAST. */
int32_t mst_lowering_bucket(const mst_lowering *l, int32_t set, int32_t last);

/** update_shard.c, for sharded state: finds the parts of the variables; an error if the update cannot be sharded. */
MST_CHECKED mst_status mst_lowering_find_parts(mst_lowering *l);
/** Returns `begin` of mst_plan_sums for a bucket with the variables LAST down to FIRST: where each task's part of each
 *  value begins. NULL if memory runs out. */
const int64_t *mst_lowering_bucket_parts(mst_lowering *l, int32_t first, int32_t last);
/** Adds the exchange of norms between tasks. *NORMS is the value with the norms of this task's units. On return it is
 *  the value with the norms of all units. */
MST_CHECKED mst_status mst_lowering_share_norms(mst_lowering *l, const mst_update_local *x, int32_t *norms);
/** Adds the nodes that compute the new values of this task's part before the gate, and send them to all tasks. All new
 *  values become sources of X. */
MST_CHECKED mst_status mst_lowering_stage(mst_lowering *l, mst_update_local *x);

/** update_exchange.c: adds up the gradients of a set's variables across domains and tasks. */
MST_CHECKED mst_status mst_lowering_exchange(mst_lowering *l, int32_t set);

#endif
