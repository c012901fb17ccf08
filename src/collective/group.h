/** Groups: tasks that make one step together. Each member computes some of the shards, and the group adds up the
 *  results.
 *
 *  The shards of a step are numbered over all tasks, and each member of a group has a window of neighbouring shards. A
 *  sum over all shards is added up in the order of the fixed tree (base/shard_tree.h). The leaves of a member are the
 *  largest nodes of the tree in its window. It contributes one value for each leaf, and gets the sum of all leaves of
 *  all members. The bits of the sum therefore depend only on the values and the number of shards, not on the number of
 *  members, their windows or the transport.
 *
 *      7 shards, 3 members       member 0: shards 0..2      member 1: 3..4       member 2: 5..6
 *      leaves                    0..1, 2                    3, 4                 5, 6
 *
 *  An exchange is such a sum of several values, for a plan that runs repeatedly. It has its own memory:
 *
 *      mst_exchange_leaf(x, leaf, value)   the caller writes here, then calls mst_exchange_start
 *      mst_exchange_sum(x, value)          the sum is here after mst_exchange_wait
 *
 *  Between start and wait the caller does other work; a thread of the group makes the sums. All members start the
 *  exchanges of a run in the same order.
 *
 *  The algorithm: all values are concatenated to one array of elements, which is cut into one piece for each member,
 *  the piece's owner. Each member sends its leaves of a piece to the owner. The owner adds them up and sends the sum to
 *  all members (reduce_scatter, then all_gather). Small arrays are sent whole from every member to every other one, and
 *  each member adds them up itself: one round of messages instead of two. In groups of more than a few members, the
 *  elements that a member handles are halved from stage to stage (collective/stages.h).
 *
 *  MST_EXCHANGE_SCATTER is only the first half: each member gets the sum of its part, and the caller says which
 *  elements a part has. MST_EXCHANGE_GATHER is the second half: every member's part, for example updated weights, is
 *  sent to all members.
 *
 *  Sparse gradients, which have only some rows, use another kind of exchange (collective/row_exchange.h). */
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
    mst_transport *transport; /**< belongs to the caller; must outlive the group */
    int32_t num_members, self;
    const int32_t *task; /**< [num_members]: number in the transport */
    int32_t num_shards;
    const mst_shards *window; /**< [num_members]: shards of each member; together all shards, from left to right */
    mst_stopwatch *waits;     /**< runs while a step waits for other members; must outlive the group. NULL: none */
} mst_group_options;

/** OPTIONS and its arrays are copied. MST_INVALID if the windows are not all shards from left to right. */
MST_CHECKED mst_status mst_group_create(const mst_group_options *options, mst_task_group **out);
/** Changes the members of the group and their windows to those in OPTIONS; its transport and `waits` stay. There must
 *  be no exchange. MST_INVALID as mst_group_create; then nothing changes. */
MST_CHECKED mst_status mst_group_form(mst_task_group *group, const mst_group_options *options);
/** Destroys the group. All exchanges must be destroyed before. NULL is allowed. */
void mst_group_destroy(mst_task_group *group);

/** Begins GENERATION, after which exchanges can be started. The transport's generation must have begun
 *  (transport/transport.h). */
void mst_group_begin(mst_task_group *group, uint32_t generation);
/** Ends the generation: exchanges under way fail with FAILURE, and so do exchanges started before the next generation.
 *  Also ends the transport's generation, and returns when that has ended, even if another thread ends it. May be called
 *  on any thread; the first failure of a generation counts. A generation also ends if the transport cannot send, or if
 *  an exchange that is under way is destroyed. */
void mst_group_end(mst_task_group *group, const mst_failure *failure);
/** MST_OK if a generation is under way. Otherwise sets the failure that ended it as the calling thread's error. Before
 *  the first generation: MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_group_check(mst_task_group *group);

int32_t mst_group_size(const mst_task_group *group);
int32_t mst_group_self(const mst_task_group *group);
/** The number of MEMBER in the transport. */
int32_t mst_group_task(const mst_task_group *group, int32_t member);
int32_t mst_group_num_shards(const mst_task_group *group);
mst_shards mst_group_window(const mst_task_group *group, int32_t member);
/** Fills OUT, which must have enough room (NULL: only counts), with the leaves of MEMBER from left to right. Returns
 *  their number. */
int32_t mst_group_leaves(const mst_task_group *group, int32_t member, mst_shards *out);
/** Returns the number of the next run in which members exchange data. All members make the same runs in the same order;
 *  in each generation the numbers begin with 1. */
uint64_t mst_group_next_run(mst_task_group *group);

enum { MST_GROUP_LAST = 8, MST_EXCHANGE_NAME = 40 };

/** An exchange, or another collective operation, that this member has started. */
typedef struct mst_group_progress {
    uint64_t count; /**< its number among the exchanges started since the generation began, from 1 */
    uint64_t run;
    uint32_t stream;
    int64_t at;                   /**< time of the start (base/clock.h) */
    char name[MST_EXCHANGE_NAME]; /**< what is summed; "": not known. Cut off if it is too long */
} mst_group_progress;
/** Fills LAST with the last exchanges started in this generation, the newest first. Returns their number. */
int32_t mst_group_started(mst_task_group *group, mst_group_progress last[MST_GROUP_LAST]);

/** A value that is summed over the shards. */
typedef struct mst_exchange_value {
    mst_dtype dtype; /**< f32, f64, i32 or i64 */
    int64_t count;
} mst_exchange_value;

/** What happens to the leaves of an exchange. */
typedef enum mst_exchange_kind {
    MST_EXCHANGE_SUM = 0, /**< every member gets the sum */
    MST_EXCHANGE_SCATTER, /**< each member gets the sum of its own part */
    MST_EXCHANGE_GATHER   /**< no sum: each member sends its part, and every member gets all parts */
} mst_exchange_kind;

typedef struct mst_exchange_spec {
    mst_exchange_kind kind;
    const char *name; /**< what is summed, for messages, copied; NULL: no name */
    uint64_t hash;    /**< hash of the plan: an error if the members have different ones */
    uint32_t stream;  /**< number of the exchange in the plan, below 2^24 */
    int32_t num_values;
    const mst_exchange_value *value; /**< [num_values], copied */
    /** For scatter and gather: [num_values][members + 1], copied. The part of member M is the elements begin[v][m] to
     *  begin[v][m + 1] - 1 of each value V. In the concatenation of all values, each part must be one range, and the
     *  parts must follow one another. */
    const int64_t *begin;
} mst_exchange_spec;

/** Makes an exchange with its memory. It can be started again after it has been waited for. */
MST_CHECKED mst_status mst_exchange_create(mst_task_group *group, const mst_exchange_spec *spec, mst_exchange **out);
/** Destroys the exchange. If it is under way, it is given up, which ends the generation (MST_CANCELLED). Waits until
 *  the group does not use its memory any more. NULL is allowed. */
void mst_exchange_destroy(mst_exchange *exchange);
/** The memory in which the caller writes leaf LEAF of VALUE, and the memory in which it reads the sum of VALUE. Both
 *  are the same in all runs, and aligned to 64 bytes unless they are a part. In a scatter the sum is the member's part.
 *  In a gather the only leaf is the member's part, and the sum is the whole value, which contains that leaf. */
void *mst_exchange_leaf(const mst_exchange *exchange, int32_t leaf, int32_t value);
void *mst_exchange_sum(const mst_exchange *exchange, int32_t value);
/** Starts the exchange. The leaves must be written, and must not change before mst_exchange_wait has returned. RUN is
 *  the result of mst_group_next_run, the same for all exchanges of a run. Does not block. If the generation has ended,
 *  mst_exchange_wait returns the error. */
void mst_exchange_start(mst_exchange *exchange, uint64_t run);
/** Waits until the sums are complete. Errors: MST_DEADLINE; if messages have not come, it names members that have not
 *  sent them, and the exchange is still under way. Otherwise the failure that ended the generation. */
MST_CHECKED mst_status mst_exchange_wait(mst_exchange *exchange, int64_t deadline);

#endif
