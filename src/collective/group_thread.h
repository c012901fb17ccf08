/** The inside of groups and exchanges, and the thread of a group, which makes the steps of the exchanges under way
 *  (collective/routes.h).
 *
 *  Each message that is received has a timeline, which goes on to the timeline of its step, and that to `news` of the
 *  group, on which the thread waits. The messages of the last step, in which sums come to their place, and everything
 *  that is sent go on to `finished`, on which the caller waits. Where all was sent at once, the last step has a sum,
 *  which the caller makes: it is small, and to wake another thread takes longer. Where the transport can lend what has
 *  come (mst_transport_type.borrow), a step of the thread adds it up where it lies, and gives it back.
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
    int event;         /**< eventfd of all timelines on which a thread of the caller's waits */
    const mst_transport_type *type;
    mst_transport *transport;
    int32_t num_members, self, num_shards;
    int32_t *task;
    mst_shards *window;
    mst_stopwatch *waits; /**< NULL: none */
    mst_stages stages;
    pthread_mutex_t ending; /**< held while the transport's generation is ended */
    pthread_mutex_t lock;   /**< of all that follows */
    uint32_t generation;
    bool active;         /**< the generation is on */
    mst_failure failure; /**< with which the last one ended */
    uint64_t next_run;
    uint64_t started;                         /**< exchanges, since the generation began */
    mst_group_progress noted[MST_GROUP_LAST]; /**< number N of them is noted[N % MST_GROUP_LAST] */
    mst_exchange *first, **last; /**< exchanges that have steps left for the thread, in the order of their starts */
    uint64_t news_due;           /**< what `news` rises to when all that was started is done */
    bool quit;
    bool spins;         /**< those that wait and receive look again and again for a while */
    int64_t idle_spins; /**< times in a row that this has been in vain */
    bool has_thread;
    pthread_t thread;
};

/** Neighbouring bytes of a leaf that are all of one dtype. */
typedef struct mst_dtype_span {
    int64_t first, bytes;
    mst_dtype dtype;
} mst_dtype_span;

struct mst_exchange {
    mst_task_group *group;
    mst_exchange_kind kind;
    uint64_t hash;
    uint32_t stream;
    char name[MST_EXCHANGE_NAME];
    int32_t num_values;
    int64_t *offset; /**< [num_values]: of each value in a leaf */
    int64_t *own;    /**< [num_values]: of the member's part of it in a leaf; NULL where there are no parts */
    int64_t *cut;    /**< [members + 1]: where the parts begin in a leaf; likewise */
    int32_t num_spans;
    mst_dtype_span *span;
    mst_routes routes;
    char *memory;         /**< as the routes divide it */
    int64_t sum_at;       /**< where the sum is in it; of a scatter, where all of it would begin */
    bool is_shared;       /**< the memory is the transport's */
    mst_iov *iov;         /**< of the routes' pieces */
    mst_array *value;     /**< [most terms of a sum] */
    mst_shards *node;     /**< of the routes' terms */
    mst_kept_part **lent; /**< [num_ins] of the routes: messages that are added up where they have arrived */
    bool *borrows;        /**< [num_ins]: the message is all terms of sums of the group's thread, and nothing else */
    int32_t last;         /**< step, which is that of the thread that waits; those before it are the group's thread's */
    uint64_t due;         /**< what `finished` rises to in a run */
    uint64_t news;        /**< by how much `news` rises in a run */
    mst_timeline *arrived, *ready, *finished;
    /* of the run */
    bool started;
    uint64_t run;
    uint32_t generation;
    /* under the group's lock */
    int32_t step; /**< next one of the thread */
    bool in_work; /**< it is being made */
    int32_t torn; /**< of its messages, those that can no more be added up, and are done when the generation ends */
    mst_exchange *next;
};

/** Starts the thread of the group. */
MST_CHECKED mst_status mst_group_thread_start(mst_task_group *group);
/** Ends it, when all exchanges are done. */
void mst_group_thread_stop(mst_task_group *group);

/** As mst_timeline_wait. The calling thread receives messages meanwhile, and makes steps, so that no other one need be
 *  woken for them, where the transport can. LINE has the group's event. */
bool mst_group_help(mst_task_group *group, mst_timeline *line, uint64_t value, int64_t deadline);

/** Makes the sums of STEP. False: the generation has ended for a member whose message was added up where it lies. The
 *  sums are of no use then, and the message is awaited again, until the generation ends here. */
bool mst_exchange_sum_step(mst_exchange *exchange, int32_t step);
/** Gives back what is lent of messages FIRST to END - 1. */
void mst_exchange_return(mst_exchange *exchange, int32_t first, int32_t end);
/** Sends the messages of STEP. */
void mst_exchange_send_step(mst_exchange *exchange, int32_t step);

/** Ends GENERATION where it is on. */
void mst_group_end_generation(mst_task_group *group, uint32_t generation, const mst_failure *failure);
/** This member starts exchange STREAM of RUN, for mst_group_started. Under the group's lock. */
void mst_group_note_start(mst_task_group *group, uint64_t run, uint32_t stream, const char *name);
/** mst_group_check; OUT: the generation that is on. */
MST_CHECKED mst_status mst_group_enter(mst_task_group *group, uint32_t *out);
/** mst_group_check of GENERATION. */
MST_CHECKED mst_status mst_group_check_generation(mst_task_group *group, uint32_t generation);
/** Ends GENERATION where it is on, since this member destroys exchange STREAM of RUN while that is under way. */
void mst_group_give_up(mst_task_group *group, uint32_t generation, uint32_t stream, uint64_t run);
/** mst_timeline_wait of a step that waits for other members. */
bool mst_group_wait(mst_task_group *group, mst_timeline *line, uint64_t value, int64_t deadline);
/** Posts a message of MEMBER, and sends one to it (transport/transport.h). Where the transport cannot, KEY's generation
 *  ends, and DONE rises all the same. LENT: borrows where the transport can; NULL: does not. */
void mst_group_post(mst_task_group *group, int32_t member, mst_key key, void *into, size_t bytes, mst_kept_part **lent,
                    mst_timeline *done);
void mst_group_send(mst_task_group *group, int32_t member, mst_key key, const mst_iov *piece, int n,
                    mst_timeline *done);

/** The stream of a key: message SERIAL between two members, below 2^8, of exchange NUMBER, below 2^24. */
static inline uint32_t mst_exchange_stream(uint32_t number, uint32_t serial) {
    return number << 8 | serial;
}

#endif
