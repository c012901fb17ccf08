/** Exchanges in a plan: sums over the shards of all tasks (collective/group.h), also of sparse rows
 *  (collective/row_exchange.h). */
#ifndef MUSTER_PLAN_TASK_SUMS_H
#define MUSTER_PLAN_TASK_SUMS_H

#include "plan/distribute.h"

/** Values that are summed by one exchange. */
typedef struct mst_plan_sums {
    const char *name;
    mst_exchange_kind kind;
    const int64_t *begin; /**< for scatter and gather: see mst_exchange_spec; must stay valid as long as the plan */
    int32_t device;       /**< device of this task that starts the exchange and waits for it */
    int32_t num_values, num_leaves;
    const int32_t *leaf;     /**< [num_values][num_leaves]: values of the plan */
    const int64_t *num_rows; /**< NULL: the values are added up element by element. Else the values are arrays of sparse
                                  gradients, two for each variable (collective/row_exchange.h), and num_rows[v] is the
                                  number of rows of variable v: [num_values / 2] */
} mst_plan_sums;

/** Checks that the session belongs to a cluster, and that WINDOW, the shards of node N, is the window of this task. The
 *  error names node N. */
MST_CHECKED mst_status mst_plan_check_window(const mst_plan *plan, int32_t n, mst_shards window, int32_t num_shards);
/** Adds the exchange of SUMS: a node that starts it, and a node that waits for it. OUT[v] is the sum of value v, in the
 *  host's memory, available after the second node. */
MST_CHECKED mst_status mst_plan_add_exchange(mst_plan *plan, const mst_plan_sums *sums, int32_t *out);
/** Makes nodes write leaves directly into the memory of their exchange where that is possible. */
void mst_plan_place_leaves(mst_plan *plan);
/** Lowers all nodes sum_replicas (plan/replica_sums.c). */
MST_CHECKED mst_status mst_distribute_replica_sums(mst_distribute_pass *d);
/** Lowers all nodes sum_shards, with one exchange for each round (op/elementwise/sum_shards.h), and all nodes
 *  sum_replicas. Sums of the late round on devices that compile get a separate exchange. */
MST_CHECKED mst_status mst_distribute_sums(mst_distribute_pass *d);

#endif
