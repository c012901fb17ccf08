/** Options of the op apply_gradients, which strategies build. */
#ifndef MUSTER_OP_APPLY_GRADIENTS_H
#define MUSTER_OP_APPLY_GRADIENTS_H

#include "base/shard_tree.h"
#include "muster/optimizer.h"

typedef struct mst_apply_options {
    int zero_;
    mst_optimizer optimizer; /**< its schedule is in the source learning_rate */
    int32_t num_variables;
    int32_t num_shards;                 /**< of all tasks */
    int32_t first_shard, num_gradients; /**< the shards of this task, whose gradients are sources; 0 gradients: all */
    int32_t num_slots;                  /**< of each variable: the rule's, then the accumulated gradient, if any */
    bool averages;                      /**< each variable has a moving average */
    bool masters;                       /**< each variable also has its value in f32 */
    int32_t num_parts, part; /**< sharded state: slots have part PART of NUM_PARTS (state_parts.h); 0: they are whole */
} mst_apply_options;

/** Numbers of the first sources: learning rate, global step, state of the rule; then the first source of variable 0. */
enum { MST_APPLY_LEARNING_RATE, MST_APPLY_STEP, MST_APPLY_STATE, MST_APPLY_FIRST };

/** The shards whose gradients are sources. */
mst_shards mst_apply_window(const mst_apply_options *options);
/** The number of sources of each variable that are written: the variable, its slots, its average, its master. */
int mst_apply_num_written(const mst_apply_options *options);
/** The name of slot K; sets *INITIAL to the first value of its elements. The slot's full name is the name of its
 *  variable, "/", and this name. */
const char *mst_apply_slot(const mst_apply_options *options, int k, double *initial);
/** Returns how many elements of variable V this task keeps slots for, and sets *FIRST to the index of the first of
 *  them. PARTS says where each part begins: `begin` of mst_state_parts (op/state/state_parts.h). */
int64_t mst_apply_own(const mst_apply_options *options, const int64_t *parts, int v, int64_t *first);
/** The number of sources of each variable. */
int mst_apply_per_variable(const mst_apply_options *options);
/** The source that says how many gradients were added up since the last update; -1: gradients are not accumulated. */
int mst_apply_accumulated(const mst_apply_options *options);
/** The number of the first source of variable V. Its sources are the variable, its slots, its average, its master, and
 *  its gradients by shard. */
int mst_apply_source(const mst_apply_options *options, int v);

#endif
