/** Row exchanges: sums of sparse gradients over the shards of all members of a group (collective/group.h).
 *
 *  A sparse gradient has some rows of a variable, each at most once, in ascending order. It is two arrays:
 *
 *      array 2 v        rows of value v      [count, columns], f32 or f64
 *      array 2 v + 1    their numbers        i64 [1 + count]: the count, then the number of each row
 *
 *  As in other exchanges, a member contributes one gradient for each of its leaves, and gets the sum of all leaves of
 *  all members. Every member sends its leaves to every other one, and each member adds them up (kernel/row_merge.h).
 *  The caller's arrays have room for the largest possible number of rows, but only existing rows are sent. A first
 *  message has the number of rows of each leaf. The receiver then posts memory for the second message, which has the
 *  rows.
 *
 *      counts    i64 [leaves of the sender][values]
 *      rows      for each leaf and value: count, numbers, rows, and 4 bytes if the length is not a multiple of 8 */
#ifndef MUSTER_COLLECTIVE_ROW_EXCHANGE_H
#define MUSTER_COLLECTIVE_ROW_EXCHANGE_H

#include "collective/group.h"

typedef struct mst_row_exchange mst_row_exchange;

/** A sparse gradient that is summed over the shards. */
typedef struct mst_row_exchange_value {
    mst_dtype dtype;  /**< f32 or f64 */
    int64_t num_rows; /**< of the variable: an upper bound for the rows of the sum */
    int64_t columns;  /**< elements of a row */
    int64_t most;     /**< most rows of a leaf of this member, at most num_rows; may differ between members */
} mst_row_exchange_value;

typedef struct mst_row_exchange_spec {
    const char *name; /**< as in mst_exchange_spec */
    uint64_t hash;    /**< of the plan, as in mst_exchange_spec */
    uint32_t stream;  /**< number of the exchange in the plan, below 2^24 */
    int32_t num_values;
    const mst_row_exchange_value *value; /**< [num_values], copied */
} mst_row_exchange_spec;

/** Makes an exchange with its memory. It can be started again after it has been waited for. */
MST_CHECKED mst_status mst_row_exchange_create(mst_task_group *group, const mst_row_exchange_spec *spec,
                                               mst_row_exchange **out);
/** As mst_exchange_destroy. NULL is allowed. */
void mst_row_exchange_destroy(mst_row_exchange *exchange);
/** The memory in which ARRAY of leaf LEAF is written, and the memory in which ARRAY of the sum is read. Both are
 *  aligned to 64 bytes, and the same in all runs. */
void *mst_row_exchange_leaf(const mst_row_exchange *exchange, int32_t leaf, int32_t array);
void *mst_row_exchange_sum(const mst_row_exchange *exchange, int32_t array);
/** As mst_exchange_start. */
void mst_row_exchange_start(mst_row_exchange *exchange, uint64_t run);
/** As mst_exchange_wait. The data of other members are checked: MST_INVALID if they are not a sparse gradient of the
 *  variable. MST_OUT_OF_MEMORY if there is no memory for them. Both errors end the generation. */
MST_CHECKED mst_status mst_row_exchange_wait(mst_row_exchange *exchange, int64_t deadline);

#endif
