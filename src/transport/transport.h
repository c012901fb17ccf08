/** Messages between the tasks of a cluster.
 *
 *  A transport connects this task with the others. Tasks are numbered from 0. It carries two kinds of messages:
 *
 *    control   small, copied when sent. Messages of one sender arrive in the order in which they were sent.
 *    data      large, from the sender's memory to memory that the receiver has posted for it
 *
 *  Data messages have a key, which sender and receiver compute alike. Either side may come first:
 *
 *      task 0                                        task 1
 *      send(to 1, key, a, done) ------ bytes ------> post(from 0, key, into, done)
 *      done + 1: A may be written again              done + 1: the bytes are in INTO
 *
 *  Connections are made when they are first needed, and again whenever they break, until the transport is closed; the
 *  peer's name is resolved anew each time. Nothing here gives up on a peer: what a lost peer means is decided above
 *  (membership/members.h).
 *
 *  A generation is a number of the cluster's that rises whenever tasks were lost and have come back. Data of a later
 *  generation than the present one is kept until that begins; data of an earlier one is dropped. When a generation
 *  ends, every send and post of it is done at once, whether or not its bytes have moved: who waits learns from the
 *  group (collective/group.h) that the exchange has failed. So nobody waits here for ever.
 */
#ifndef MUSTER_TRANSPORT_TRANSPORT_H
#define MUSTER_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timeline.h"
#include "muster/status.h"
#include "transport/cluster_key.h"

typedef struct mst_transport mst_transport;

/** Names one message of data between two tasks. */
typedef struct mst_key {
    uint32_t generation;
    uint32_t stream; /**< which of the messages of a run */
    uint64_t run;    /**< counts attempts, not steps */
    uint64_t
        hash; /**< of what sender and receiver are doing. Where it differs, that is an error and no other message */
} mst_key;

/** A piece of memory to be sent. */
typedef struct mst_iov {
    const void *data;
    size_t bytes;
} mst_iov;

/** A part of a message that has arrived, in memory that is not the receiver's: the bytes stay as they are until
 *  `release`, but where a generation has ended meanwhile. */
typedef struct mst_kept_part {
    struct mst_kept_part *next; /**< the part behind it */
    size_t offset, bytes;
    const void *data;
    const _Atomic uint64_t *floor; /**< DATA is the sender's own memory, which it may write again as soon as this is
                                    *   above the generation of the message's key; NULL: nobody writes it */
    void (*release)(struct mst_kept_part *kept);
} mst_kept_part;

/** Whether the bytes of all parts from FIRST on, which may be NULL, have been those of the message until now. */
bool mst_kept_parts_are_intact(const mst_kept_part *first, uint32_t generation);
/** Releases all parts from FIRST on, which may be NULL. */
void mst_kept_parts_release(mst_kept_part *first);

/** What a transport tells its owner, on a thread of the transport, maybe before `open` has returned. Calls come one at
 *  a time, and may call the transport but not close it. */
typedef struct mst_transport_events {
    void *context;
    /** A control message of task FROM; DATA is gone on return. INSTANCE differs from process to process: a task that
     *  was restarted has another one. */
    void (*control)(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes);
    /** A connection to or from TASK is there: control messages sent from now on arrive, as long as it lasts. */
    void (*connected)(void *context, int32_t task);
    /** A connection that was there has broken, or its peer has been silent for longer than the timeout. What was sent
     *  before may have been dropped; what is sent from now on waits for the next connection. WHY: half a sentence,
     *  "connection closed by the peer", "silent for 10 s", with what the peer has said last that it does. INSTANCE 0:
     *  there has been no connection, since the peer refuses it, and WHY says for what; it is tried again, and this is
     *  told once. */
    void (*lost)(void *context, int32_t task, uint64_t instance, const char *why);
    /** A data message does not fit what was posted for it (another size or hash). WHY: half a sentence. */
    void (*mismatch)(void *context, int32_t task, mst_key key, const char *why);
    /** Two processes, both alive, have the number TASK: the one that came first keeps it, and task BY refuses the
     *  other one for good. Told by the transport of BY, once, and by that of the one that is refused, whenever it tries
     *  again. BY and TASK are both this task: the other one has connected to this process itself. WHERE: the host of
     *  the other one of the two, for messages. NULL: nobody wants to know. */
    void (*taken)(void *context, int32_t by, int32_t task, const char *where);
    /** The lists of tasks of this one and of TASK do not fit together, or only one of the two can connect to the other:
     *  so they never come together. Told once for each connection that shows it. WHY: half a sentence. NULL: nobody
     *  wants to know. */
    void (*misfit)(void *context, int32_t task, const char *why);
    /** Somebody has tried to connect and was refused before a message of his was read. LINE says so, and from where if
     *  that is known. Told once for each such host. NULL: nobody wants to know. */
    void (*stranger)(void *context, const char *line);
    /** No data can be sent or received, now or later. WHY: a sentence. NULL: nobody wants to know. */
    void (*broken)(void *context, const char *why);
} mst_transport_events;

/** What a task says of itself to those who ask it (mst_transport_type.ask). */
typedef struct mst_transport_report {
    void *context;
    /** BYTES in memory that is freed with free(); NULL where there is none. On the transport's thread: must not wait,
     *  nor call the transport. NULL: the task says nothing. */
    void *(*make)(void *context, size_t *bytes);
    /** What the task does, as half a sentence: it goes with each sign of life, and the others say it where the task is
     *  lost. TEXT has room for MST_TRANSPORT_DOING bytes. As `make`. */
    void (*doing)(void *context, char *text);
} mst_transport_report;

enum { MST_TRANSPORT_DOING = 160 };

/** What one who was asked has answered. */
typedef struct mst_transport_answer {
    void *data; /**< [bytes], freed with free(); NULL: nothing has come */
    size_t bytes;
    char why[160]; /**< nothing has come: half a sentence */
} mst_transport_answer;

typedef struct mst_transport_options {
    int32_t num_tasks, self;
    const char *const
        *address;     /**< [num_tasks] "host:port", "[::1]:port"; NULL: of a task that never connects from here */
    const char *bind; /**< "host:port" to listen on; NULL: address[self] */
    /** Nobody without them can connect; NULL: nothing checks who connects. A user's token counts at loopback addresses
     *  alone, and nowhere else may such a task listen. */
    const mst_cluster_keys *keys;
    /** The lists of tasks that this one was told, as one line of text. A task that was told others is refused, and both
     *  hear why (`misfit`). NULL: they are not compared. */
    const char *lists;
    bool insecure; /**< may listen where other machines can connect, although nothing checks who they are */
    /** Does not listen: what others send to it arrives where they do not know an address of it. It may send to its own
     *  number, to a process that has it too, which refuses it and is told so (`taken`). */
    bool only_connects;
    uint64_t instance;   /**< of this process, not 0 */
    double heartbeat;    /**< seconds between signs of life; default 1 */
    double timeout;      /**< seconds of silence after which a peer is lost; default 10 */
    size_t most_control; /**< bytes of the longest control message; default 1 MiB. Longer ones: the peer is lost */
    size_t most_kept;    /**< bytes of data kept that nobody has posted for yet; default 1 GiB. More: likewise */
    mst_transport_events events;
    mst_transport_report report;
} mst_transport_options;

/** A kind of transport. No pointer may be NULL but the last twelve. All functions but `close` may be called by any
 *  thread at any time. */
typedef struct mst_transport_type {
    uint32_t size; /**< of this struct, as its author knew it */
    const char *name;
    /** Listens and begins to connect. OPTIONS, and what they point to, are copied. MST_INVALID where the address cannot
     *  be listened on, naming who has the port where that is known, or where other machines can reach it and OPTIONS
     *  do not allow that. */
    mst_status (*open)(const mst_transport_options *options, mst_transport **out);
    /** Sends a control message; connects to TO where it has not yet. Kept until it can be sent; dropped, in whole,
     *  where the connection breaks first. */
    mst_status (*control)(mst_transport *transport, int32_t to, const void *data, size_t bytes);
    /** GENERATION, greater than all before it, begins; the one before it has ended. */
    void (*begin)(mst_transport *transport, uint32_t generation);
    /** The present generation has ended: everything sent and posted in it is done. On return no post writes its memory
     *  any more, and no send reads its own. It does not wait for a call of the events to return: that call may itself
     *  wait until the generation has ended. */
    void (*end)(mst_transport *transport);
    /** Memory for a message of FROM. DONE rises by one when its bytes are there or the generation has ended; at once
     *  where KEY's has ended before. After that neither the memory nor DONE is touched: both may be freed. */
    mst_status (*post)(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                       mst_timeline *done);
    /** Sends the N pieces as one message. DONE (NULL: nobody waits) rises by one when they may be written again, which
     *  does not say that they have arrived. After an error it does not rise. */
    mst_status (*send)(mst_transport *transport, int32_t to, mst_key key, const mst_iov *piece, int n,
                       mst_timeline *done);
    /** Sends what was asked for within SECONDS, and frees all. Ends the generation. */
    void (*close)(mst_transport *transport, double seconds);
    /** BYTES of zeros, aligned to 64, that are sent to some tasks without being copied: these read them where they lie,
     *  and when a generation has ended drop what they read too late. So a send is done when the receiver has posted for
     *  it. NULL where there is no such memory: then any other does. The transport must outlive it. */
    void *(*alloc)(mst_transport *transport, size_t bytes);
    void (*free)(mst_transport *transport, void *memory);
    /** How data to TASK go now, in words: "through shared memory", "over TCP"; NULL: there is no connection yet, or it
     *  is not known yet whether memory can be shared by it. */
    const char *(*route)(mst_transport *transport, int32_t task);
    /** Asks the tasks that listen at the N addresses what they report, and waits for SECONDS at most. The caller is no
     *  task: it has no number, and can send nothing but this question; a task takes few at once. KEYS of their cluster;
     *  NULL: it has none. ADDRESS[i] may be NULL: nobody is asked. Fills ANSWER, [n], whose data are then the
     *  caller's; MST_OUT_OF_MEMORY: there are none. */
    mst_status (*ask)(const mst_cluster_keys *keys, const char *const *address, int n, double seconds,
                      mst_transport_answer *answer);
    /** All tasks have left, and none sends anything any more: called before `close` where the job has ended well. */
    void (*leave)(mst_transport *transport);
    /** Whether the process of TASK that was connected last is known to have ended: it ran on this machine, which says
     *  so. A process that does not answer may still run; then this is false. */
    bool (*has_ended)(mst_transport *transport, int32_t task);
    /** As `post`, but a message that has arrived in memory where the caller can read it is not copied: *LENT, which is
     *  NULL before, gets its parts before DONE rises, from left to right and without gaps, and they are the caller's,
     *  who releases them before the transport is closed. Else its bytes are in INTO, as those of a post. A generation
     *  that ends does not wait for them: who has read them asks mst_kept_parts_are_intact then. */
    mst_status (*borrow)(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                         mst_kept_part **lent, mst_timeline *done);
    /** Receives what comes on the calling thread, which waits for it, in place of the transport's, which need not be
     *  woken then: for as long as GOES_ON, which is called after each look. It may sleep until FD, a file descriptor,
     *  is readable: then there is something to look at. False, at once, where another thread receives already. */
    bool (*receive)(mst_transport *transport, bool (*goes_on)(void *context, int fd), void *context);
    /** Whether a thread that receives may do well to look again and again before it sleeps: what comes needs none of
     *  this process' other threads, which it would keep from their core. NULL: no. */
    bool (*spins)(mst_transport *transport);
    /** From now on control messages may be told on the thread that receives them, which spares a change of threads.
     *  The `control` of the events does not wait, calls nothing here but `post`, and takes no lock under which the
     *  transport is called. */
    void (*direct)(mst_transport *transport);
    /** Why a task that was lost cannot come back, as a sentence that says what to do. NULL: it can. */
    const char *no_return;
    /** As `control`, by a way that may be faster, on which the message may overtake those of `control`, or be overtaken
     *  by them. */
    mst_status (*hasten)(mst_transport *transport, int32_t to, const void *data, size_t bytes);
    /** Why this task has no connection to TASK, for which it has something: half a sentence, "connection refused:
     *  nothing listens there"; "" where there is one, or that is not known. TEXT has room for MST_TRANSPORT_DOING
     *  bytes. Does not wait. */
    void (*trouble)(mst_transport *transport, int32_t task, char *text);
    /** What TASK has said last of what it does (mst_transport_report.doing), to which this task is connected; "" where
     *  it is not, or has said nothing. TEXT as of `trouble`. NULL: nobody says that. */
    void (*heard)(mst_transport *transport, int32_t task, char *text);
} mst_transport_type;

/** Tasks that are threads of this process, for tests: messages are copied from memory to memory. The address of a task
 *  is any name, known to this process alone. */
extern const mst_transport_type mst_transport_inproc;

/** The type of a name: "inproc"; "sim" (transport/sim.h); "zmq", and "shm", which is zmq with data through shared
 *  memory to tasks of the same machine and user, and fails to open (MST_UNAVAILABLE) where this machine has none
 *  (transport/shm.h); "mpi", which is zmq with data by the MPI that has started this process, or where none has by
 *  MPICH (transport/mpi.h); for tests "mpi-threads", whose tasks are threads of one process that an MPI has started,
 *  else MST_INVALID. All but the first two are in modules, which are loaded. MST_NOT_FOUND, MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_transport_find(const char *name, const mst_transport_type **out);

/** Sleeps until LINE, which has an event (base/timeline.h), is at VALUE, which is returned, or DEADLINE has come. What
 *  comes meanwhile is received on the calling thread where the transport can (mst_transport_type.receive). One thread
 *  at a time for the event. */
bool mst_transport_await(const mst_transport_type *type, mst_transport *transport, mst_timeline *line, uint64_t value,
                         int64_t deadline);

#endif
