/** Parcels: messages between workers and parameter servers, between tasks that check their cluster
 *  (messages/checkup.h), and of sessions over several tasks (sessions/service.h), each a head of some numbers and a
 *  body of any size.
 *
 *  A small body travels in the control message that has the head. A large one follows as data, straight into the memory
 *  that the receiver gets for it when the head has come (transport/transport.h):
 *
 *      worker                                                 server
 *      head (kind, number, step, bytes) ---- control ---->    memory for the body, posted
 *      body ----------------------------------- data ---->    the parcel is whole, and the next to be taken
 *
 *  Those that go to and fro in each step may overtake others, and be overtaken by them, on a way that is faster. A
 *  parcel that answers another one is behind that all the same.
 *
 *  What happens to the connections is taken from the same queue: that a task is connected, or lost and why. A task that
 *  was started again is another instance. */
#ifndef MUSTER_MESSAGES_PARCEL_H
#define MUSTER_MESSAGES_PARCEL_H

#include <stdio.h>

#include "cluster/task_status.h"
#include "cluster/task_transport.h"
#include "muster/cluster.h"
#include "transport/transport.h"

typedef struct mst_mail mst_mail;
typedef struct mst_mail_block mst_mail_block;

/** What of parcels two processes must have in common to understand each other. */
enum { MST_PARCEL_VERSION = 14 };

/** What is in a parcel. W: sent by workers, S: by servers, C: by tasks that check their cluster. Those of sessions are
 *  described in sessions/session_message.h. */
typedef enum mst_parcel_kind {
    MST_PARCEL_HELLO = 1, /**< W: it is there; number: 0, or 1 + the position whose values it wants; step: how many
                           *   trainings it has finished; body: its fingerprints */
    MST_PARCEL_EMPTY,     /**< S: there are no values (round 0), or not of this round, or this worker must say HELLO */
    MST_PARCEL_BEGIN,     /**< W, the chief: body: graph, variables and first values */
    MST_PARCEL_VALUES,    /**< S: number: position from which the worker goes on; step; body: parcel_body.h */
    MST_PARCEL_GRADIENTS, /**< W: number: position of the batch; step: that of the values that it has of this round;
                           *   -1: those of several servers are of different steps; body: parcel_body.h */
    MST_PARCEL_COLLECT,   /**< W: asks for all state, also when the job has ended (FAILED); number of the chief's: 1: no
                           *   update is made behind it in this round */
    MST_PARCEL_STATE,     /**< S: step; body: a snapshot (state_message.h) */
    MST_PARCEL_LEAVE,   /**< W: it has done its work; number: 0, or that of the training whose last values it has; step:
                           *   1: so have all, as another server has said */
    MST_PARCEL_DONE,    /**< S: all have; step; body: as of values, or nothing where there are none */
    MST_PARCEL_FAILED,  /**< both: body: why the job ends, a text without a 0 at its end; small, and what is received
                           *   has no control characters; number of W: 1: it is of another task, which the text names;
                           *   step: 1: a task stays away, and what is left is whole: the chief may COLLECT it */
    MST_PARCEL_FACTS,   /**< C: number: 1: it waits for nobody any more; body: what it says of itself, a text */
    MST_PARCEL_MEASURE, /**< C, the leader: measure your links; number: nanoseconds for each */
    MST_PARCEL_PING,    /**< C: number: of the ping; step: bytes wanted in its answer */
    MST_PARCEL_PONG,    /**< C: number: of the ping; step: nanoseconds since 1970 here */
    MST_PARCEL_MEASURED,    /**< C: body: links (mst_checkup_link) */
    MST_PARCEL_LINKS,       /**< C, the leader: it is over; body: all links */
    MST_PARCEL_STALENESS,   /**< W: asks how stale gradients were
                           *   S: body: counts, see below */
    MST_PARCEL_FINISHED,    /**< W: it has made its last step of training NUMBER, from 1 on; step: bits, see below
                           *   S: so have all, of whom the chief hears first; step; body: as of values, the last ones */
    MST_PARCEL_CANNOT_JOIN, /**< ends a job to which a certain task has never come. Body: why, as of FAILED. The task is
                             *   number 0: the sender, which cannot listen at its address
                             *   W to S, number 1: another server; number 2 + I: worker I, which was told other lists
                             *   from the transport: a task that was told other lists of tasks */
    MST_PARCEL_TAKEN,       /**< S, where values are given in turn: it has the gradients */
    MST_PARCEL_WANT, /**< W, where values are given in turn: number: 1: it is this server's turn to give values; 0: only
                       *   whether it has any of this round, TAKEN or EMPTY */
    MST_PARCEL_RATE, /**< W: asks for the learning rate; body: nothing, or from the chief a new one, an f32
                       *   S: body: the learning rate, an f32 */
    MST_PARCEL_LEAVING, /**< S, to all: it is about to leave, and comes back without its state, for which the chief asks
                         *   W, the chief: has that */
    MST_PARCEL_STOP,    /**< S, before values: the chief has ended the training, and this worker is to end it too */
    MST_PARCEL_KEPT,    /**< W: asks for what callbacks keep; number: 1: the chief gives it, in the body (ps_kept.h)
                      *   S: has it; or body: what was asked for */
    MST_PARCEL_AGREE,   /**< W, of a job that promises bits: asks which instructions of oneDNN all workers have
                         *   S: number: these, a bit each; when all have come */
    MST_PARCEL_NOTICE,  /**< S: body: a line for the log, a text as of FAILED */
    MST_PARCEL_ORDER,   /**< from server to server (server_order.c); number: a worker, or -1; request: of it
                         *   to the first one: this has come, or -1: say again what has not been taken; step: how many
                         *   turns have been taken
                         *   of the first one: take this, or -1: make an update; step: number of the turn */
    MST_PARCEL_GONE,    /**< W: it knows that all have done their work (DONE), and needs the server no more */
    /* of sessions: from a client to the leader */
    MST_PARCEL_SESSION_OPEN,
    MST_PARCEL_SESSION_PLAN,
    MST_PARCEL_SESSION_RUN,
    MST_PARCEL_SESSION_STATE,
    MST_PARCEL_SESSION_FORGET,
    MST_PARCEL_SESSION_CLOSE,
    MST_PARCEL_SESSION_ANSWER, /**< from the leader to the client */
    /* from the leader to a task */
    MST_PARCEL_PART_OPEN,
    MST_PARCEL_PART_PLAN,
    MST_PARCEL_PART_RUN,
    MST_PARCEL_PART_STATE,
    MST_PARCEL_PART_FORGET,
    MST_PARCEL_PART_CLOSE,
    MST_PARCEL_PART_DECIDE,
    MST_PARCEL_SERVICE_ENDS,
    /* from a task to the leader */
    MST_PARCEL_SERVICE_HELLO,
    MST_PARCEL_SERVICE_JOINS,
    MST_PARCEL_SERVICE_MISSES,
    MST_PARCEL_PART_ANSWER,
    MST_PARCEL_PART_DONE,
    MST_PARCEL_PART_VOTE,
    MST_PARCEL_PART_VALUE, /**< from task to task */
    MST_PARCEL_KINDS,
    /* never sent: what has happened to a connection */
    MST_PARCEL_CONNECTED,
    MST_PARCEL_LOST,     /**< body: why */
    MST_PARCEL_NO_MEMORY /**< for a parcel of a worker or a parameter server; body: as much, "573000000 bytes" */
} mst_parcel_kind;

/** Bits of FINISHED, of the chief: it has all state of the last step; its callbacks have ended the training, also for
 *  workers who are not in step with it. */
enum { MST_FINISHED_HAS_STATE = 1, MST_FINISHED_STOPS = 2 };

/** Requests of a worker are numbered from a random number on, so that those of a process before it have others. What a
 *  server sends in answer has the request's number: an answer to an earlier one, which was sent twice or meant for a
 *  process that is no more, is known as such and dropped. */
typedef struct mst_parcel_head {
    mst_parcel_kind kind;
    uint32_t round; /**< how often the servers have begun: gradients of an earlier round are dropped */
    int64_t number, step;
    uint64_t request; /**< of a worker, or the one that is answered; 0: neither */
} mst_parcel_head;

/** The body of counts: an i64 for each staleness from 0 to the largest that there was: how many gradients as stale as
 *  that have been applied since BEGIN. Those of MST_STALENESS_COUNTS - 1 updates and more are counted together. */
enum { MST_STALENESS_COUNTS = 1024 };

/** The head as it travels: 56 bytes before the body, which has BYTES and travels as data message RUN; 0: right behind
 *  the head. */
enum { MST_PARCEL_HEAD = 56 };
void mst_parcel_head_encode(const mst_parcel_head *head, uint64_t bytes, uint64_t run,
                            unsigned char at[MST_PARCEL_HEAD]);
/** From a message of SIZE bytes. Returns NULL, or why that is no head of a parcel, half a sentence. */
const char *mst_parcel_head_decode(const void *data, size_t size, size_t most_bytes, mst_parcel_head *head,
                                   size_t *bytes, uint64_t *run);

/** A parcel that has come. */
typedef struct mst_parcel {
    struct mst_parcel *next; /**< the mail's */
    mst_parcel_head head;
    int32_t from;
    uint64_t instance;
    size_t bytes;
    void *body;     /**< [bytes], aligned to 64, and a 0 behind it; of what is lent aligned to 8, and no 0 */
    void *own;      /**< memory for it */
    mst_kept *lent; /**< BODY is memory of the sender's, who does not write it until the parcel is freed; NULL: own */
} mst_parcel;

typedef struct mst_mail_options {
    const mst_cluster *cluster;
    const char *bind, *key_file;    /**< as in mst_task_options */
    const char *transport;          /**< as in mst_task_options */
    const mst_transport_type *type; /**< another transport, without a key; NULL: that of the option */
    bool insecure;
    /** Programs that are no tasks and may connect: they have the numbers behind those of the training tasks, and get
     *  what is sent to them by the connections that they have made. */
    int32_t num_clients;
    int32_t client;      /**< 1 + the number of this client, which does not listen; 0: this process is a task */
    bool compares_lists; /**< a task that was told other lists of tasks is not connected: a CANNOT_JOIN comes instead */
    bool tells; /**< if this task cannot be opened, the tasks that it would train with hear why (CANNOT_JOIN) */
    double name_seconds; /**< as in mst_task_transport, and so are the next two */
    bool (*stop)(void *context);
    void *context;
    double timeout;             /**< seconds */
    FILE *log;                  /**< for how data go, and who is refused; NULL: no line */
    const char *const *address; /**< of all training tasks; NULL: the cluster's */
    size_t most_bytes;          /**< of a body; 0: 16 GiB */
    bool borrows;               /**< gradients and values may be lent; all are freed before the mail is closed */
    mst_task_status *status;    /**< what is told to those who ask, as long as the mail is open; NULL: nothing */
} mst_mail_options;

/** Those of a task, or of a parameter server, that was opened with OPTIONS, a pointer. */
#define MST_MAIL_OPTIONS(options)                          \
    ((mst_mail_options){.cluster = (options)->cluster,     \
                        .bind = (options)->bind,           \
                        .key_file = (options)->key_file,   \
                        .transport = (options)->transport, \
                        .insecure = (options)->insecure,   \
                        .compares_lists = true,            \
                        .tells = true,                     \
                        .name_seconds = MST_NAME_SECONDS,  \
                        .stop = (options)->stop,           \
                        .context = (options)->context,     \
                        .timeout = (options)->timeout,     \
                        .log = (options)->log})

/** Listens at the address of this task of the cluster. Errors as mst_task_open_with; where others are told of one, that
 *  takes at most 5 seconds. */
MST_CHECKED mst_status mst_mail_open(const mst_mail_options *options, mst_mail **out);
/** How many seconds mst_mail_close waits for tasks that are not there yet, or not any more, to take what was sent to
 *  them; 1 where this is not called. */
void mst_mail_linger(mst_mail *mail, double seconds);
/** The job has failed: mst_mail_close does not wait for large bodies, which nobody takes any more. */
void mst_mail_give_up(mst_mail *mail);
/** Sends what was asked for, and frees all. NULL is allowed. */
void mst_mail_close(mst_mail *mail);

/** Sends a parcel whose body is the N pieces, also to this task itself. Their memory must stay until *SENT has risen by
 *  one; of a small body, or where SENT is NULL, they are copied, and *SENT rises before it returns. */
MST_CHECKED mst_status mst_mail_send(mst_mail *mail, int32_t to, const mst_parcel_head *head, const mst_iov *piece,
                                     int n, mst_timeline *sent);
/** Memory of at least BYTES from which bodies are sent without being copied, and nothing of which is still being sent;
 *  NULL: there is none. It is given back, also while something is being sent from it. */
mst_mail_block *mst_mail_block_take(mst_mail *mail, size_t bytes);
/** BLOCK, which may be NULL, may be taken again when all that was sent from it has gone. */
void mst_mail_block_give(mst_mail *mail, mst_mail_block *block);
/** BLOCK, which may be NULL, is not taken again, since somebody may write to it still: it goes with the mail. */
void mst_mail_block_leave(mst_mail *mail, mst_mail_block *block);
/** Aligned to 64. */
void *mst_mail_block_data(const mst_mail_block *block);
/** Sends a parcel whose body is BYTES of BLOCK, from OFFSET on, which are not written before it is taken again. */
MST_CHECKED mst_status mst_mail_send_block(mst_mail *mail, int32_t to, const mst_parcel_head *head,
                                           mst_mail_block *block, size_t offset, size_t bytes);
/** The next parcel that is whole, the caller's (mst_parcel_free); NULL where none comes until DEADLINE. */
mst_parcel *mst_mail_next(mst_mail *mail, int64_t deadline);
void mst_parcel_free(mst_parcel *parcel);
/** How messages to task TO go now, in words; NULL: this task has no connection to it (transport/transport.h). */
const char *mst_mail_route(mst_mail *mail, int32_t to);
/** "worker:1 at localhost:2223", and where this task has something for it and cannot connect to it, why; likewise. */
const char *mst_mail_missing(const mst_mail *mail, int32_t task, char *text, size_t size);
/** What TASK has said last of what it does; "": not known. TEXT has room for MST_TRANSPORT_DOING bytes. */
void mst_mail_heard(const mst_mail *mail, int32_t task, char *text);
/** "worker:1 at localhost:2223", in TEXT of SIZE bytes, which is returned. */
const char *mst_mail_name(const mst_mail *mail, int32_t task, char *text, size_t size);

#endif
