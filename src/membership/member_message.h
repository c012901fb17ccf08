/** Messages by which the members of a cluster agree who is there (members.h), encoded as bytes.
 *
 *      "MST", version     4 bytes
 *      kind               1
 *      job, generation    4 each, below 2^31
 *      to                 8: instance of the process that the message is for; 0: whichever process has the number
 *      body               depends on the kind, see the functions of member_message.c
 *
 *  Numbers are little-endian; texts are 2 bytes of length and UTF-8 without control characters. A message is read to
 *  its last byte or rejected. Every length is checked before it is used, and nothing is allocated.
 */
#ifndef MUSTER_MEMBERSHIP_MEMBER_MESSAGE_H
#define MUSTER_MEMBERSHIP_MEMBER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/fingerprint.h"
#include "cluster/task_failure.h"
#include "collective/group.h"
#include "membership/quorum.h"

typedef enum mst_member_kind {
    /* to the leader */
    MST_MEMBER_HERE = 1,    /**< who I am, what I have seen, and what I bring if I am ready for the next generation */
    MST_MEMBER_ACKNOWLEDGE, /**< BEGIN, PROBE, ALL_LEFT or VERDICT has arrived */
    MST_MEMBER_LEFT,        /**< my work is done */
    MST_MEMBER_FAILED,      /**< my program has failed for a reason of its own */
    MST_MEMBER_STOPS,       /**< my program ends the training after the state of FAILURE's number */
    MST_MEMBER_LINK_LOST,   /**< my connection to another member has broken */
    /* from the leader */
    MST_MEMBER_BEGIN,    /**< all are ready: this will be the next generation */
    MST_MEMBER_GO,       /**< all have acknowledged: it begins */
    MST_MEMBER_END,      /**< it has ended */
    MST_MEMBER_WAITING,  /**< no generation is under way, and for whom the leader waits */
    MST_MEMBER_PROBE,    /**< are you alive, and what are you doing? */
    MST_MEMBER_ALL_LEFT, /**< all have done their work */
    MST_MEMBER_BYE,      /**< all have acknowledged ALL_LEFT */
    MST_MEMBER_VERDICT,  /**< the job has ended with an error */
    MST_MEMBER_STOPPED,  /**< all programs end the training after the same state */
    MST_MEMBER_NOTICE,   /**< an event for the logs of all tasks, which changes nothing */
    /* to the leader; from the task that should lead: to all */
    MST_MEMBER_CANNOT_JOIN, /**< my process cannot listen at its address, so it gets no answer */
    /* from a task that leads, to all, if workers may be fewer than all */
    MST_MEMBER_LEADS, /**< I lead, and know that this generation has begun */
    MST_MEMBER_KINDS
} mst_member_kind;

enum { MST_MEMBER_MESSAGE_VERSION = 8, MST_ADDRESS_TEXT = 256, MST_WAITING_MOST = 32 };

/** What a member brings to the next generation. */
typedef struct mst_member_state {
    int32_t num_fingerprints;
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    int64_t state_number; /**< number of committed steps and edits in its state, below 2^62; or MST_NO_STATE */
    uint64_t state_hash;
    int64_t ended_at; /**< state after which a callback has ended the training, if it knows of one; or MST_NO_STATE */
} mst_member_state;

/** The place of a member in a generation. */
typedef struct mst_member_status {
    uint64_t instance;    /**< its process: data of the generation go to it, and come from it */
    int64_t state_number; /**< of the state that it brings; or MST_NO_STATE */
    bool copies;          /**< it copies the state of the source */
    bool takes_part;      /**< it is in the generation; if not, the other members mean nothing */
} mst_member_status;

/** An exchange (collective/group.h) that a member has started. */
typedef struct mst_started_exchange {
    uint64_t count; /**< its place among those that the member has started in this generation, from 1 */
    uint64_t run;
    uint32_t exchange;     /**< its number in the plan */
    uint32_t milliseconds; /**< since its start */
    char name[MST_EXCHANGE_NAME];
} mst_started_exchange;

/** The exchanges started last, the newest first. */
typedef struct mst_started_exchanges {
    int32_t count; /**< number of elements; 0: the member has started none */
    mst_started_exchange last[MST_GROUP_LAST];
} mst_started_exchanges;

/** Why the next generation cannot begin. */
typedef enum mst_waiting_cause {
    MST_WAITS_FOR_ALL,      /**< all tasks are needed, or get some time to come */
    MST_WAITS_FOR_MIN,      /**< fewer tasks are there than elastic_min */
    MST_WAITS_FOR_MAJORITY, /**< a majority of the last generation is missing (quorum.h) */
    MST_WAITING_CAUSES
} mst_waiting_cause;

/** A task that the others wait for. */
typedef struct mst_waited_task {
    int32_t task;
    bool present; /**< its process is there, but not ready yet */
} mst_waited_task;

typedef struct mst_member_message {
    mst_member_kind kind;
    uint32_t job, generation;
    uint64_t to;
    bool ready;                       /**< HERE: `state` is valid. WAITING: the receiver is known to be ready */
    bool has_run;                     /**< HERE: the sender has been in a generation. BEGIN: a task has */
    bool all_left;                    /**< HERE: the sender knows that all have done their work */
    char address[MST_ADDRESS_TEXT];   /**< HERE: "host:port" of the sender, for messages; or "" */
    mst_known_generations known;      /**< HERE: what the sender remembers. BEGIN: only `begun` */
    uint32_t withdrawn;               /**< BEGIN: no generation proposed by the leader from this number on has begun */
    mst_task_set ended;               /**< HERE: tasks whose processes have ended, as far as the sender knows */
    mst_member_state state;           /**< HERE */
    mst_member_kind acknowledged;     /**< ACKNOWLEDGE */
    uint64_t instance;                /**< PROBE and its ACKNOWLEDGE: of the process that claims the number; or 0 */
    mst_started_exchanges started;    /**< ACKNOWLEDGE of PROBE */
    mst_task_failure failure;         /**< FAILED, STOPS, STOPPED, LINK_LOST, END, VERDICT, NOTICE, CANNOT_JOIN */
    int32_t source;                   /**< BEGIN: the task whose state counts */
    uint64_t instructions;            /**< BEGIN: those of oneDNN that all members have; 0: they are not compared */
    int64_t ended_at;                 /**< BEGIN: the source's state, if training has ended after it; or MST_NO_STATE */
    mst_member_status *member_status; /**< BEGIN: [number of tasks], belongs to the caller */
    mst_waiting_cause cause;          /**< WAITING */
    int32_t num_waited, num_listed;   /**< WAITING: number of all such tasks, and of those in the list */
    mst_waited_task waited[MST_WAITING_MOST];
} mst_member_message;

/** No message between NUM_TASKS tasks is longer, in bytes. The longest are HERE, with all fingerprints, and BEGIN, with
 *  18 bytes for each task; 2048 are enough for everything else. */
#define MST_MEMBER_MESSAGE_MOST(num_tasks) \
    (2048 + MST_FINGERPRINTS_MOST * sizeof(mst_fingerprint) + 18 * (size_t)(num_tasks))

/** Writes MESSAGE to DST, which has room for MST_MEMBER_MESSAGE_MOST(num_tasks); returns the number of bytes. Control
 *  characters in its texts become '?'. */
size_t mst_member_message_encode(const mst_member_message *message, int32_t num_tasks, uint8_t *dst);
/** Reads a message. BEGIN fills MEMBER_STATUS, [num_tasks]. MST_CORRUPT if DATA is not a message, or is one for another
 *  number of tasks. */
MST_CHECKED mst_status mst_member_message_decode(const void *data, size_t bytes, int32_t num_tasks,
                                                 mst_member_status *member_status, mst_member_message *out);

#endif
