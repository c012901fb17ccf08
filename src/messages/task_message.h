/** Task messages: messages between tasks, with a head of some numbers and a body of any size. They go between workers
 *  and parameter servers, between tasks that check their cluster (messages/checkup.h), and in sessions over several
 *  tasks (sessions/service.h).
 *
 *  A small body travels in the control message with the head. A large one follows as data, directly into memory that
 *  the receiver allocates when the head has come (transport/transport.h):
 *
 *      worker                                                 server
 *      head (kind, number, step, bytes) ---- control ---->    memory for the body, posted
 *      body ----------------------------------- data ---->    the message is complete, and can be taken
 *
 *  Messages that are sent in each step may take a faster way. On that way they may overtake others, or be overtaken. An
 *  answer still comes after the message that it answers.
 *
 *  The queue of received messages also has the events of connections: a task was connected, or was lost for a reason. A
 *  task that was started again has another instance. */
#ifndef MUSTER_MESSAGES_TASK_MESSAGE_H
#define MUSTER_MESSAGES_TASK_MESSAGE_H

#include <stdio.h>

#include "cluster/task_status.h"
#include "cluster/task_transport.h"
#include "muster/cluster.h"
#include "transport/transport.h"

typedef struct mst_mail mst_mail;
typedef struct mst_mail_block mst_mail_block;

/** The version of task messages. Two processes must have the same one to understand each other. */
enum { MST_TASK_MESSAGE_VERSION = 16 };

/** Kinds that belong to no protocol. The first one is sent. The others are never sent: they tell the owner of a mail
 *  what has happened to a connection. */
enum {
    /** From a task that cannot listen at its address, or that was given other lists of tasks: the job ends. Body: why,
     *  a text. */
    MST_TASK_MESSAGE_CANNOT_JOIN = 1,
    MST_TASK_MESSAGE_CONNECTED,
    MST_TASK_MESSAGE_LOST, /**< body: why */
    /** There is no memory for a message that was to come; body: its size, "573000000 bytes". */
    MST_TASK_MESSAGE_NO_MEMORY
};

/** First kind of each protocol. The protocol numbers its kinds from there on. Its own header says who sends each kind,
 *  when, and what that changes. Its table (mst_protocol) has the properties that a mail needs. A new protocol takes the
 *  next range. */
enum {
    MST_TASK_MESSAGE_CHECKUP = 0x100,          /**< messages/checkup.c */
    MST_TASK_MESSAGE_PARAMETER_SERVER = 0x200, /**< kinds that parameter servers and their workers send */
    MST_TASK_MESSAGE_SESSIONS = 0x300,         /**< kinds of sessions over several tasks */
    MST_TASK_MESSAGE_RANGES_END = 0x400
};

/** The properties of a protocol that a mail needs to carry its messages. The protocol has the kinds FIRST to END - 1. A
 *  set of kinds has the bit MST_TASK_MESSAGE_BIT for each of its kinds. */
typedef struct mst_protocol {
    int32_t first, end;
    /** Kinds that are sent in each step. Such a message may go by a faster way, overtake others, and be overtaken. Its
     *  numbers tell the receiver where it belongs. */
    uint64_t overtakes;
    uint64_t lends; /**< large kinds sent in each step: may be read in the sender's memory (mst_mail_options.borrows) */
    uint64_t texts; /**< the body is a short text for display; control characters are removed from it */
    /** What happens if there is no memory for a message. True: the owner gets NO_MEMORY and ends the job, since the
     *  sender would send the message again. False: the sender counts as lost, as if its connection had broken (LOST).
     */
    bool fails_without_memory;
} mst_protocol;
#define MST_TASK_MESSAGE_BIT(first, kind) (UINT64_C(1) << ((kind) - (first)))

/** Requests of a worker are numbered from a random number on, so that requests of an earlier process have other
 *  numbers. The server's answer has the number of the request. An answer may belong to an earlier request, because it
 *  was sent twice or is meant for a process that no longer exists. The number shows that, and the answer is dropped. */
typedef struct mst_task_message_head {
    int32_t kind;   /**< of the mail's protocol, or one of those above */
    uint32_t round; /**< how often the servers have begun: gradients of an earlier round are dropped */
    int64_t number, step;
    uint64_t request; /**< of a worker: its number; of an answer: the number that it answers; 0: neither */
} mst_task_message_head;

/** The head on the wire: 56 bytes. BYTES is the size of the body, which travels as data message RUN, or directly after
 *  the head if RUN is 0. */
enum { MST_TASK_MESSAGE_HEAD = 56 };
void mst_task_message_head_encode(const mst_task_message_head *head, uint64_t bytes, uint64_t run,
                                  unsigned char at[MST_TASK_MESSAGE_HEAD]);
/** Decodes a head from SIZE received bytes. Returns NULL, or, as half a sentence, why they are not the head of a task
 *  message. A kind must be one of PROTOCOL's, or lie in the range of another protocol. */
const char *mst_task_message_head_decode(const mst_protocol *protocol, const void *data, size_t size, size_t most_bytes,
                                         mst_task_message_head *head, size_t *bytes, uint64_t *run);

/** A received task message. */
typedef struct mst_task_message {
    struct mst_task_message *next; /**< used by the mail */
    mst_task_message_head head;
    int32_t from;
    uint64_t instance;
    size_t bytes;
    void *body;          /**< [bytes], aligned to 64, with a 0 after it; if it is lent: aligned to 8, and no 0 */
    void *own;           /**< memory allocated for the body */
    mst_kept_part *lent; /**< BODY is memory of the sender, which does not write to it until the message is freed. NULL:
                              BODY is OWN */
} mst_task_message;

typedef struct mst_mail_options {
    const mst_cluster *cluster;
    const mst_protocol *protocol;   /**< of all messages; those of another protocol are dropped */
    const char *bind, *key_file;    /**< as in mst_task_options */
    const char *transport;          /**< as in mst_task_options */
    const mst_transport_type *type; /**< a transport to use instead of `transport`, without a key; NULL: none */
    bool insecure;
    /** Number of programs that are not tasks and may connect. They are numbered after the training tasks, and get
     *  messages by the connections that they have made. */
    int32_t num_clients;
    int32_t client;      /**< 1 + the number of this client, which does not listen; 0: this process is a task */
    bool compares_lists; /**< a task with other lists of tasks is not connected: a CANNOT_JOIN comes instead */
    bool tells;          /**< if this task cannot be opened, the other training tasks are told why (CANNOT_JOIN) */
    double name_seconds; /**< as in mst_task_transport, as are `stop` and `context` */
    bool (*stop)(void *context);
    void *context;
    double timeout;             /**< seconds of silence after which a peer is lost */
    FILE *log;                  /**< gets lines about how data go, and who is refused; NULL: no lines */
    const char *const *address; /**< addresses of all training tasks; NULL: as in the cluster */
    size_t most_bytes;          /**< most bytes of a body; 0: 16 GiB */
    bool borrows;               /**< gradients and values may be lent; free all of them before the mail is closed */
    mst_task_status *status;    /**< reported to those who ask while the mail is open; NULL: no report */
} mst_mail_options;

/** The mail options of a task, or of a parameter server, that was opened with OPTIONS, a pointer. */
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

/** Listens at the address of this task of the cluster. Errors as mst_task_open_with. If other tasks are told of the
 *  error, that takes at most 5 seconds. */
MST_CHECKED mst_status mst_mail_open(const mst_mail_options *options, mst_mail **out);
/** Sets how many seconds mst_mail_close waits for tasks that are not connected now. Such a task may connect, and take
 *  what was sent to it. The default is 1. */
void mst_mail_linger(mst_mail *mail, double seconds);
/** The job has failed: mst_mail_close does not wait for large bodies, which nobody will take. */
void mst_mail_give_up(mst_mail *mail);
/** Sends what is waiting, and frees everything. NULL is allowed. */
void mst_mail_close(mst_mail *mail);

/** Sends a message whose body is the N pieces; TO may be this task itself. The pieces must not change until *SENT has
 *  risen by one. If the body is small or SENT is NULL, they are copied, and *SENT rises before the return. */
MST_CHECKED mst_status mst_mail_send(mst_mail *mail, int32_t to, const mst_task_message_head *head,
                                     const mst_iov *piece, int n, mst_timeline *sent);
/** Returns memory of at least BYTES from which bodies are sent without a copy; nothing in it is still being sent. NULL:
 *  there is none. It may be given back while bodies are still being sent from it. */
mst_mail_block *mst_mail_block_take(mst_mail *mail, size_t bytes);
/** Gives BLOCK back. It may be taken again when everything in it has been sent. NULL is allowed. */
void mst_mail_block_give(mst_mail *mail, mst_mail_block *block);
/** Leaves BLOCK to the mail, which frees it when it is closed. It is not taken again, since somebody may still write to
 *  it. NULL is allowed. */
void mst_mail_block_leave(mst_mail *mail, mst_mail_block *block);
/** The memory of BLOCK, aligned to 64. */
void *mst_mail_block_data(const mst_mail_block *block);
/** Sends a message whose body is BYTES of BLOCK, from OFFSET on. They must not change until BLOCK is taken again. */
MST_CHECKED mst_status mst_mail_send_block(mst_mail *mail, int32_t to, const mst_task_message_head *head,
                                           mst_mail_block *block, size_t offset, size_t bytes);
/** The next complete message; free it with mst_task_message_free. NULL if none comes until DEADLINE. */
mst_task_message *mst_mail_next(mst_mail *mail, int64_t deadline);
void mst_task_message_free(mst_task_message *message);
/** How messages to task TO go now, in words; NULL: this task has no connection to it (transport/transport.h). */
const char *mst_mail_route(mst_mail *mail, int32_t to);
/** "worker:1 at localhost:2223" in TEXT of SIZE bytes, which is returned. If this task cannot connect to TASK although
 *  it has messages for it, the reason is added. */
const char *mst_mail_missing(const mst_mail *mail, int32_t task, char *text, size_t size);
/** What TASK last said it was doing; "": not known. TEXT has room for MST_TRANSPORT_DOING bytes. */
void mst_mail_heard(const mst_mail *mail, int32_t task, char *text);
/** "worker:1 at localhost:2223", in TEXT of SIZE bytes, which is returned. */
const char *mst_mail_name(const mst_mail *mail, int32_t task, char *text, size_t size);

#endif
