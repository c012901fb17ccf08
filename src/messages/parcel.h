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
enum { MST_PARCEL_VERSION = 15 };

/** Kinds that no protocol owns. The first is sent; the others are never sent: they tell the owner of a mail what has
 *  happened to a connection. */
enum {
    MST_PARCEL_CANNOT_JOIN = 1, /**< from the transport of a task that cannot listen at its address, or that was told
                                 *   other lists of tasks: the job ends; body: why, a text */
    MST_PARCEL_CONNECTED,
    MST_PARCEL_LOST,     /**< body: why */
    MST_PARCEL_NO_MEMORY /**< for a parcel that was to come; body: as much, "573000000 bytes" */
};

/** Where the kinds of each protocol begin. The protocol numbers its kinds from there on, says in a header of its own
 *  who sends each, when, and what that changes, and has a table of what must be known here. A new protocol takes the
 *  next range. */
enum {
    MST_PARCEL_CHECKUP = 0x100,          /**< messages/checkup.c */
    MST_PARCEL_PARAMETER_SERVER = 0x200, /**< kinds that parameter servers and their workers send */
    MST_PARCEL_SESSIONS = 0x300,         /**< kinds of sessions over several tasks */
    MST_PARCEL_RANGES_END = 0x400
};

/** What must be known of the kinds of a protocol, FIRST to END - 1, to carry them. A set of kinds has for each the bit
 *  MST_PARCEL_BIT. */
typedef struct mst_protocol {
    int32_t first, end;
    /** Those that go to and fro in each step. Such a parcel may overtake others on a faster way, and be overtaken: who
     *  gets it knows by its numbers what it belongs to. */
    uint64_t overtakes;
    uint64_t lends; /**< large and in each step: may be read in the sender's memory (mst_mail_options.borrows) */
    uint64_t texts; /**< the body is a text that is shown: a small one, from which control characters are removed */
    /** What happens where there is no memory for a parcel. True: the owner hears of it (NO_MEMORY), and ends the job,
     *  since the sender would send it again. False: the sender is as lost as if its connection had broken (LOST). */
    bool fails_without_memory;
} mst_protocol;
#define MST_PARCEL_BIT(first, kind) (UINT64_C(1) << ((kind) - (first)))

/** Requests of a worker are numbered from a random number on, so that those of a process before it have others. What a
 *  server sends in answer has the request's number: an answer to an earlier one, which was sent twice or meant for a
 *  process that is no more, is known as such and dropped. */
typedef struct mst_parcel_head {
    int32_t kind;   /**< of the mail's protocol, or one of those above */
    uint32_t round; /**< how often the servers have begun: gradients of an earlier round are dropped */
    int64_t number, step;
    uint64_t request; /**< of a worker, or the one that is answered; 0: neither */
} mst_parcel_head;

/** The head as it travels: 56 bytes before the body, which has BYTES and travels as data message RUN; 0: right behind
 *  the head. */
enum { MST_PARCEL_HEAD = 56 };
void mst_parcel_head_encode(const mst_parcel_head *head, uint64_t bytes, uint64_t run,
                            unsigned char at[MST_PARCEL_HEAD]);
/** From a message of SIZE bytes. Returns NULL, or why that is no head of a parcel, half a sentence: a kind in the range
 *  of PROTOCOL is one of its kinds. */
const char *mst_parcel_head_decode(const mst_protocol *protocol, const void *data, size_t size, size_t most_bytes,
                                   mst_parcel_head *head, size_t *bytes, uint64_t *run);

/** A parcel that has come. */
typedef struct mst_parcel {
    struct mst_parcel *next; /**< the mail's */
    mst_parcel_head head;
    int32_t from;
    uint64_t instance;
    size_t bytes;
    void *body;          /**< [bytes], aligned to 64, and a 0 behind it; of what is lent aligned to 8, and no 0 */
    void *own;           /**< memory for it */
    mst_kept_part *lent; /**< BODY is memory of the sender's, who does not write it until the parcel is freed. NULL: it
                              is OWN */
} mst_parcel;

typedef struct mst_mail_options {
    const mst_cluster *cluster;
    const mst_protocol *protocol;   /**< of all that is sent and received; what comes of another one is left out */
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
