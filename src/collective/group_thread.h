/** The inside of groups and exchanges, and the thread of a group, which makes the steps of the exchanges under way
 *  (collective/routes.h).
 *
 *  Each received message raises its own timeline, which raises the timeline of its step, which raises `news` of the
 *  group. The group's thread waits on `news`, and the caller waits on `finished`. Each message of the last step raises
 *  `finished`, as does each message that was sent, and the thread when it has made its steps.
 *
 *  If every member sends all its leaves at once, the only step after the sends is the last one, which makes a small
 *  sum. The caller makes that sum itself, since waking another thread would take longer. If the transport can lend a
 *  received message (mst_transport_type.borrow), a step of the thread adds it up in place, and gives it back.
 *
 *      arrived[message] ---> ready[step] ---> news         steps of the thread
 *      arrived[message] -------------------> finished      the last step
 */
#ifndef MUSTER_COLLECTIVE_GROUP_THREAD_H
#define MUSTER_COLLECTIVE_GROUP_THREAD_H

#include <pthread.h>

#include "collective/group.h"
#include "collective/routes.h"
#include "muster/op.h"

struct mst_task_group {
    mst_timeline news; /**< rises for each message that a step of the thread waits for */
    int event;         /**< eventfd of all timelines on which a calling thread waits */
    const mst_transport_type *type;
    mst_transport *transport;
    int32_t num_members, self, num_shards;
    int32_t *task;
    mst_shards *window;
    mst_stopwatch *waits; /**< NULL: none */
    mst_stages stages;
    pthread_mutex_t ending; /**< held while the transport's generation is ended */
    pthread_mutex_t lock;   /**< guards all members after it */
    uint32_t generation;
    bool active;         /**< the generation is under way */
    mst_failure failure; /**< the failure that ended the last generation */
    uint64_t next_run;
    uint64_t started;                         /**< number of exchanges since the generation began */
    mst_group_progress noted[MST_GROUP_LAST]; /**< the start numbered N is noted[N % MST_GROUP_LAST] */
    mst_exchange *first, **last; /**< exchanges that have steps left for the thread, in the order of their starts */
    uint64_t news_due;           /**< value of `news` once all exchanges that were started are done */
    bool quit;
    bool spins;         /**< threads that receive while they wait poll for a while before they sleep */
    int64_t idle_spins; /**< consecutive times that polling brought no message, or was skipped for that reason */
    bool has_thread;
    pthread_t thread;
};

/** Neighbouring bytes of a leaf that are all of one dtype. */
typedef struct mst_dtype_span {
    int64_t first, bytes;
    mst_dtype dtype;
} mst_dtype_span;

/** The members common to all kinds of exchanges. */
typedef struct mst_exchange_base {
    mst_task_group *group;
    uint64_t hash;
    uint32_t stream;
    char name[MST_EXCHANGE_NAME];
    /* of the run */
    bool started;
    uint64_t run;
    uint32_t generation;
} mst_exchange_base;

struct mst_exchange {
    mst_exchange_base base;
    mst_exchange_kind kind;
    int32_t num_values;
    int64_t *offset; /**< [num_values]: offset of each value in a leaf */
    int64_t *own;    /**< [num_values]: offset in a leaf of the member's part of each value; NULL: no parts */
    int64_t *cut;    /**< [members + 1]: offsets in a leaf at which the parts begin; NULL if there are no parts */
    int32_t num_spans;
    mst_dtype_span *span;
    mst_routes routes;
    char *memory;         /**< divided as the routes say */
    int64_t sum_at;       /**< offset of the sum in `memory`; for a scatter: where element 0 of the sum would be */
    bool is_shared;       /**< the memory belongs to the transport */
    mst_iov *iov;         /**< [num_pieces] of the routes */
    mst_array *value;     /**< [largest number of terms of a sum], the terms of the sum that is being made */
    mst_shards *node;     /**< [num_terms] of the routes */
    mst_kept_part **lent; /**< [num_ins] of the routes: messages that are added up in place */
    bool *borrows;        /**< [num_ins]: the message consists only of terms of sums that the group's thread makes */
    int32_t last;         /**< the step that the caller makes; the group's thread makes the steps before it */
    uint64_t due;         /**< by how much `finished` rises in a run */
    uint64_t news;        /**< by how much `news` rises in a run */
    mst_timeline *arrived, *ready, *finished; /**< [num_ins], [num_steps], and one; as above */
    /* of the run, under the group's lock */
    int32_t step; /**< the thread's next step */
    bool in_work; /**< that step is being made */
    int32_t torn; /**< messages of that step that can no longer be added up; they are done when the generation ends */
    mst_exchange *next;
};

/** Starts the thread of the group. */
MST_CHECKED mst_status mst_group_thread_start(mst_task_group *group);
/** Ends the thread. All exchanges must be done. */
void mst_group_thread_stop(mst_task_group *group);

/** As mst_timeline_wait. If the transport can receive on the calling thread, that thread receives messages and makes
 *  steps while it waits, so that no other thread must be woken. LINE has the group's event. */
bool mst_group_help(mst_task_group *group, mst_timeline *line, uint64_t value, int64_t deadline);

/** Makes the sums of STEP. Returns false if a message was added up in place whose sender's generation had ended. The
 *  sums are then of no use, and the message counts as missing until the generation ends here. */
bool mst_exchange_sum_step(mst_exchange *exchange, int32_t step);
/** Gives back the lent memory of messages FIRST to END - 1. */
void mst_exchange_return(mst_exchange *exchange, int32_t first, int32_t end);
/** Sends the messages of STEP. */
void mst_exchange_send_step(mst_exchange *exchange, int32_t step);

/** Ends GENERATION if it is under way. */
void mst_group_end_generation(mst_task_group *group, uint32_t generation, const mst_failure *failure);
/** Notes, for mst_group_started, that this member starts exchange STREAM of RUN. Under the group's lock. */
void mst_group_note_start(mst_task_group *group, uint64_t run, uint32_t stream, const char *name);
/** NAME, HASH and STREAM as in mst_exchange_spec. */
void mst_exchange_base_make(mst_exchange_base *base, const char *name, uint64_t hash, uint32_t stream);
/** Begins RUN, and notes it; false if no generation is under way. Under the group's lock. */
bool mst_exchange_begin(mst_exchange_base *base, uint64_t run);
/** The key of message SERIAL, below 2^8, between two members. */
mst_key mst_exchange_key(const mst_exchange_base *base, uint32_t serial);
/** Ends the generation of the run if it is under way, because this member destroys the exchange before it is done. */
void mst_exchange_give_up(const mst_exchange_base *base);
/** As mst_group_check. OUT: the generation under way. */
MST_CHECKED mst_status mst_group_enter(mst_task_group *group, uint32_t *out);
/** As mst_group_check, for GENERATION. */
MST_CHECKED mst_status mst_group_check_generation(mst_task_group *group, uint32_t generation);
/** As mst_timeline_wait, for a step that waits for other members. */
bool mst_group_wait(mst_task_group *group, mst_timeline *line, uint64_t value, int64_t deadline);
/** mst_group_post posts memory for a message from MEMBER, mst_group_send sends a message to it (transport/transport.h).
 *  If the transport refuses, the generation of KEY ends, and DONE still rises. LENT gets the message if the transport
 *  lends it; NULL: the message is never borrowed. */
void mst_group_post(mst_task_group *group, int32_t member, mst_key key, void *into, size_t bytes, mst_kept_part **lent,
                    mst_timeline *done);
void mst_group_send(mst_task_group *group, int32_t member, mst_key key, const mst_iov *piece, int n,
                    mst_timeline *done);

#endif
