/** Groups: tasks that make one step together, each with some of the shards, and add up what their shards give.
 *
 *  The shards of a step are numbered over all tasks, and each member of a group has a window of neighbouring ones. A
 *  sum over all shards is that of the fixed tree (base/shard_tree.h): a member gives one value for each leaf, the
 *  largest nodes of the tree in its window, and gets the sum of all leaves of all members. So the bits depend on the
 *  number of shards alone, and not on the members, their windows or the transport.
 *
 *      7 shards, 3 members       member 0: shards 0..2      member 1: 3..4       member 2: 5..6
 *      leaves                    0..1, 2                    3, 4                 5, 6
 *
 *  An exchange is one such sum of several values, for a plan that runs again and again. Its memory is its own:
 *
 *      mst_exchange_leaf(x, leaf, value)   the caller writes here, then calls mst_exchange_start
 *      mst_exchange_sum(x, value)          here is the sum after mst_exchange_wait
 *
 *  Between the two the caller does other work; the sums are made on a thread of the group. All members start the
 *  exchanges of a run in the same order.
 *
 *  How: all values lie side by side as one array of elements, cut into as many pieces as there are members. Each member
 *  sends its leaves of a piece to the piece's owner, who adds them up and sends the sum to all (reduce_scatter, then
 *  all_gather). What is small is sent whole by everyone to everyone, who add up for themselves: one message in place of
 *  two on the way. More than a few members halve what they have from stage to stage (collective/stages.h).
 *
 *  An exchange may also stop half-way (MST_EXCHANGE_SCATTER): each member gets the sum of its part, of which the caller
 *  says which elements it has. Another one brings what the members make of their parts to all (MST_EXCHANGE_GATHER).
 *
 *  Rows of sparse gradients have an exchange of their own kind (collective/row_exchange.h). */
#ifndef MUSTER_COLLECTIVE_GROUP_H
#define MUSTER_COLLECTIVE_GROUP_H

#include "base/failure.h"
#include "base/shard_tree.h"
#include "base/stopwatch.h"
#include "muster/tensor.h"
#include "transport/transport.h"

typedef struct mst_task_group mst_task_group;
typedef struct mst_exchange mst_exchange;

typedef struct mst_group_options {
    const mst_transport_type *type;
    mst_transport *transport; /**< the caller's; must outlive the group */
    int32_t num_members, self;
    const int32_t *task; /**< [num_members]: number in the transport */
    int32_t num_shards;
    const mst_shards *window; /**< [num_members], from left to right all shards */
    mst_stopwatch *waits;     /**< runs while a step waits for other members; must outlive the group. NULL: none */
} mst_group_options;

/** OPTIONS and its arrays are copied. MST_INVALID where the windows are not all shards from left to right. */
MST_CHECKED mst_status mst_group_create(const mst_group_options *options, mst_task_group **out);
/** Makes it a group of other members, with windows of their own: as OPTIONS say, but for its transport and `waits`,
 *  which stay. There must be no exchange. MST_INVALID as mst_group_create; then it is as before. */
MST_CHECKED mst_status mst_group_form(mst_task_group *group, const mst_group_options *options);
/** NULL is allowed. All exchanges must be destroyed before. */
void mst_group_destroy(mst_task_group *group);

/** A generation begins: exchanges can be started again. The transport's must have begun (transport/transport.h). */
void mst_group_begin(mst_task_group *group, uint32_t generation);
/** The generation has ended: exchanges under way fail with FAILURE, and so do those that are started before the next
 *  one begins. Ends the transport's, and returns when that is done, also where another thread does it. Any thread; the
 *  first failure of a generation counts: it ends by itself where the transport cannot send or an exchange is destroyed
 *  while it is under way. */
void mst_group_end(mst_task_group *group, const mst_failure *failure);
/** MST_OK, or the failure with which the generation ended as the calling thread's error. Before the first generation:
 *  MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_group_check(mst_task_group *group);

int32_t mst_group_size(const mst_task_group *group);
int32_t mst_group_self(const mst_task_group *group);
/** The number of MEMBER in the transport. */
int32_t mst_group_task(const mst_task_group *group, int32_t member);
int32_t mst_group_num_shards(const mst_task_group *group);
mst_shards mst_group_window(const mst_task_group *group, int32_t member);
/** Fills OUT (NULL: only counts), which has room for them, with the leaves of MEMBER, from left to right; returns how
 *  many there are. */
int32_t mst_group_leaves(const mst_task_group *group, int32_t member, mst_shards *out);
/** The number of the next run in which members exchange something. All members make the same runs in the same order; a
 *  generation begins with 1. */
uint64_t mst_group_next_run(mst_task_group *group);

enum { MST_GROUP_LAST = 8, MST_EXCHANGE_NAME = 40 };

/** An exchange, or another collective, that this member has started. */
typedef struct mst_group_progress {
    uint64_t count; /**< which it is of those since the generation began, from 1 */
    uint64_t run;
    uint32_t stream;
    int64_t at;                   /**< when (base/clock.h) */
    char name[MST_EXCHANGE_NAME]; /**< what is summed; "": not known. Cut off where it is longer */
} mst_group_progress;
/** The last ones since the generation began, the newest first; returns how many they are. */
int32_t mst_group_started(mst_task_group *group, mst_group_progress last[MST_GROUP_LAST]);

/** A value that is summed over the shards. */
typedef struct mst_exchange_value {
    mst_dtype dtype; /**< f32, f64, i32 or i64 */
    int64_t count;
} mst_exchange_value;

/** What becomes of the leaves of an exchange. */
typedef enum mst_exchange_kind {
    MST_EXCHANGE_SUM = 0, /**< every member gets the sum */
    MST_EXCHANGE_SCATTER, /**< each member gets the sum of its part */
    MST_EXCHANGE_GATHER   /**< nothing is added up: each member gives its part, and every member gets all parts */
} mst_exchange_kind;

typedef struct mst_exchange_spec {
    mst_exchange_kind kind;
    const char *name; /**< what is summed, for messages, copied; NULL: it has none */
    uint64_t hash;    /**< of the plan: members whose hashes differ are doing different things, which is an error */
    uint32_t stream;  /**< number of the exchange in the plan, below 2^24 */
    int32_t num_values;
    const mst_exchange_value *value; /**< [num_values], copied */
    /** Of scatter and gather: [num_values][members + 1], copied. Member M has the elements begin[v][m] to begin[v][m +
     *  1] - 1 of value V. Where all values stand one behind the other, so do the parts. */
    const int64_t *begin;
} mst_exchange_spec;

/** Makes an exchange with its memory. It can be started again when it has been waited for. */
MST_CHECKED mst_status mst_exchange_create(mst_task_group *group, const mst_exchange_spec *spec, mst_exchange **out);
/** NULL is allowed. One that is under way is given up, which ends the generation (MST_CANCELLED). Waits until the group
 *  does not use its memory any more. */
void mst_exchange_destroy(mst_exchange *exchange);
/** Where leaf LEAF of VALUE is written, and where its sum is read; aligned to 64, but for parts. The same from run to
 *  run. Of a scatter the sum is the member's part; of a gather the only leaf is, and the sum is all of the value, in
 *  which the leaf lies. */
void *mst_exchange_leaf(const mst_exchange *exchange, int32_t leaf, int32_t value);
void *mst_exchange_sum(const mst_exchange *exchange, int32_t value);
/** Starts: the leaves are written, and stay as they are until the wait has returned. RUN: mst_group_next_run, the same
 *  for all exchanges of a run. Does not block. The error of a generation that has ended comes from the wait. */
void mst_exchange_start(mst_exchange *exchange, uint64_t run);
/** Waits until the sums are there. MST_DEADLINE, naming the members from which nothing has come; or the failure with
 *  which the generation ended. After MST_DEADLINE it is still under way. */
MST_CHECKED mst_status mst_exchange_wait(mst_exchange *exchange, int64_t deadline);

#endif
