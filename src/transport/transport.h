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
 *  A connection is made when it is first needed. It is made again whenever it breaks, until the transport is closed;
 *  the peer's name is resolved anew each time. A transport never gives up a peer: the caller decides what a lost peer
 *  means (membership/members.h).
 *
 *  A generation is a number of the cluster that rises whenever tasks were lost and have come back. Data of a later
 *  generation are kept until that generation begins; data of an earlier one are dropped. When a generation ends, all
 *  its sends and posts are done at once, whether or not their bytes have moved. A waiting caller learns from the group
 *  (collective/group.h) that the exchange has failed. Nobody therefore waits here forever.
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
    uint32_t stream; /**< number of the message within its run */
    uint64_t run;    /**< number of the run: a step that is tried again gets a new one */
    uint64_t hash;   /**< of the operation, computed by both tasks. It does not tell messages apart: if the two hashes
                      *   differ, that is an error (`mismatch`) */
} mst_key;

/** A piece of memory to be sent. */
typedef struct mst_iov {
    const void *data;
    size_t bytes;
} mst_iov;

/** A part of a message that has arrived, in memory that does not belong to the receiver. The bytes do not change before
 *  `release`, unless the generation of the message ends first. */
typedef struct mst_kept_part {
    struct mst_kept_part *next; /**< the next part */
    size_t offset, bytes;
    const void *data;
    /** not NULL: DATA is the sender's own memory. The sender may overwrite it as soon as *FLOOR is above the generation
     *  of the message's key. NULL: nobody overwrites it */
    const _Atomic uint64_t *floor;
    void (*release)(struct mst_kept_part *kept);
} mst_kept_part;

/** Whether no byte of the parts from FIRST on has been overwritten. FIRST may be NULL. */
bool mst_kept_parts_are_intact(const mst_kept_part *first, uint32_t generation);
/** Releases all parts from FIRST on. FIRST may be NULL. */
void mst_kept_parts_release(mst_kept_part *first);

/** The functions of the owner that a transport calls, on a thread of the transport, maybe before `open` has returned.
 *  Calls come one at a time. They may call the transport but not close it. */
typedef struct mst_transport_events {
    void *context;
    /** A control message of task FROM; DATA is valid only during the call. INSTANCE identifies the process: a restarted
     *  task has another one. */
    void (*control)(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes);
    /** A connection to or from TASK exists. As long as it lasts, control messages sent from now on arrive. */
    void (*connected)(void *context, int32_t task);
    /** A connection has broken, or its peer has been silent for longer than the timeout. Messages sent before may have
     *  been dropped; messages sent from now on wait for the next connection. WHY: half a sentence, "connection closed
     *  by the peer", "silent for 10 s", with what the peer last said it was doing. INSTANCE 0: there has been no
     *  connection, since the peer refuses it for the reason WHY. The transport tries again, and reports a refusal
     *  only once. */
    void (*lost)(void *context, int32_t task, uint64_t instance, const char *why);
    /** A data message does not fit the memory posted for it (another size or hash). WHY: half a sentence. */
    void (*mismatch)(void *context, int32_t task, mst_key key, const char *why);
    /** Two live processes have the number TASK. The one that came first keeps the number; task BY never accepts the
     *  other one. The transport of BY reports this once; the transport of the refused process reports it at each try.
     *  If BY and TASK are both this task, the other process has connected to this process itself. WHERE: the host of
     *  the other process, for messages. NULL: the owner does not need this event. */
    void (*taken)(void *context, int32_t by, int32_t task, const char *where);
    /** This task and TASK can never work together: their lists of tasks do not match, or only one of the two can
     *  connect to the other. Reported once for each connection that shows it. WHY: half a sentence. NULL: the owner
     *  does not need this event. */
    void (*list_mismatch)(void *context, int32_t task, const char *why);
    /** A connection was refused before any of its messages was read. LINE says so, and names the host if it is known.
     *  Reported once for each such host. NULL: the owner does not need this event. */
    void (*stranger)(void *context, const char *line);
    /** No data can be sent or received, now or later. WHY: a sentence. NULL: the owner does not need this event. */
    void (*broken)(void *context, const char *why);
} mst_transport_events;

/** What a task reports about itself to those who ask it (mst_transport_type.ask). */
typedef struct mst_transport_report {
    void *context;
    /** Returns BYTES in memory that is freed with free(); NULL if there is no memory. Called on the transport's thread:
     *  it must not wait, nor call the transport. NULL: the task reports nothing. */
    void *(*make)(void *context, size_t *bytes);
    /** Writes to TEXT, as half a sentence, what the task is doing. The text goes with each sign of life; the others
     *  mention it if the task is lost. TEXT has room for MST_TRANSPORT_DOING bytes. Rules as for `make`. */
    void (*doing)(void *context, char *text);
} mst_transport_report;

enum { MST_TRANSPORT_DOING = 160 };

/** A task's answer to a question (mst_transport_type.ask). */
typedef struct mst_transport_answer {
    void *data; /**< [bytes], freed with free(); NULL: there is no answer */
    size_t bytes;
    char why[160]; /**< if there is no answer: why, as half a sentence */
} mst_transport_answer;

typedef struct mst_transport_options {
    int32_t num_tasks, self;
    const char *const
        *address;     /**< [num_tasks] "host:port", "[::1]:port"; NULL: this task never connects to that one */
    const char *bind; /**< "host:port" to listen on; NULL: address[self] */
    /** Only a peer that has these keys can connect; NULL: nothing checks who connects. A user's token is for loopback
     *  addresses only, and a task that has one may listen nowhere else. */
    const mst_cluster_keys *keys;
    /** The lists of tasks that this task was given, as one line of text. A task that was given other lists is refused,
     *  and both learn why (`list_mismatch`). NULL: lists are not compared. */
    const char *lists;
    bool insecure; /**< may listen at an address that other machines can reach, although nothing checks who connects */
    /** This task does not listen. Another task can send to it only if that task has no address for it: then messages
     *  go back by the connection that this task has made. This task may also send to its own number: the message goes
     *  to another process with the same number, which refuses it, and both owners are told (`taken`). */
    bool only_connects;
    uint64_t instance;   /**< of this process, not 0 */
    double timeout;      /**< seconds of silence after which a peer is lost; default 10. Each task sends signs of life,
                          *   one per second or, if that is more often, one per quarter of the timeout */
    size_t most_control; /**< bytes of the longest control message; default 1 MiB. The sender of a longer one is lost */
    size_t most_kept;    /**< bytes of data kept until memory is posted for them; default 1 GiB. If more come, the
                          *   sender is lost */
    mst_transport_events events;
    mst_transport_report report;
} mst_transport_options;

/** Functions for memory from which data go without a copy. */
typedef struct mst_transport_memory {
    /** Returns BYTES of zeros, aligned to 64. Sends from this memory reach some tasks without a copy: those tasks read
     *  it in place. They drop bytes that they read after the generation has ended. Such a send is done only when the
     *  receiver has posted memory for it. NULL if the transport has no such memory: the caller then uses any other
     *  memory. The transport must outlive the memory. */
    void *(*alloc)(mst_transport *transport, size_t bytes);
    void (*free)(mst_transport *transport, void *memory);
} mst_transport_memory;

/** Functions by which threads of the owner receive. */
typedef struct mst_transport_receiver {
    /** Receives messages on the calling thread, so that the transport's thread need not be woken for them. Calls
     *  GOES_ON each time after it has taken what had arrived, and returns when GOES_ON returns false. GOES_ON may sleep
     *  until the file descriptor FD is readable, which means that something may have arrived. Returns false, at once,
     *  if another thread already receives. */
    bool (*receive)(mst_transport *transport, bool (*goes_on)(void *context, int fd), void *context);
    /** From now on the thread that receives a control message may pass it on itself, which saves a change of threads.
     *  The `control` of the events must not wait, and must not call the transport except `post`. It must not take a
     *  lock under which the transport is called. */
    void (*direct)(mst_transport *transport);
    /** Optional. Whether a receiving thread should poll repeatedly before it sleeps. That helps only if no other thread
     *  of this process is needed to receive: polling would take such a thread's core. NULL: no. */
    bool (*spins)(mst_transport *transport);
} mst_transport_receiver;

/** Functions that give information about a peer. None of them waits. */
typedef struct mst_transport_peer_info {
    /** How data to TASK go now, in words: "through shared memory", "over TCP". NULL: this is not known yet, because
     *  there is no connection, or because the connection may still change to shared memory. */
    const char *(*route)(mst_transport *transport, int32_t task);
    /** Why this task has no connection to TASK although it has messages for it. Half a sentence, such as "connection
     *  refused: nothing listens there"; "" if there is a connection, or the reason is not known. TEXT has room for
     *  MST_TRANSPORT_DOING bytes. */
    void (*connect_error)(mst_transport *transport, int32_t task, char *text);
    /** What TASK last said it was doing (mst_transport_report.doing); "" if this task is not connected to TASK, or TASK
     *  has said nothing. TEXT as of `connect_error`. */
    void (*heard)(mst_transport *transport, int32_t task, char *text);
    /** Optional. Whether the last connected process of TASK is known to have ended. That can be known only if it ran on
     *  this machine, whose kernel reports the end. False for a process that does not answer, since it may still run. */
    bool (*has_ended)(mst_transport *transport, int32_t task);
} mst_transport_peer_info;

/** A kind of transport. A member may be NULL only if it is called optional. All functions but `close` may be called by
 *  any thread at any time. */
typedef struct mst_transport_type {
    uint32_t size; /**< size of this struct, as the transport was compiled */
    const char *name;
    /** Listens and begins to connect. OPTIONS, and what they point to, are copied. MST_INVALID if the transport cannot
     *  listen at the address; the message names the process that has the port, if known. MST_INVALID also if other
     *  machines can reach the address and OPTIONS do not allow that. */
    mst_status (*open)(const mst_transport_options *options, mst_transport **out);
    /** Sends the waiting messages, for SECONDS at most, and frees everything. Ends the generation. */
    void (*close)(mst_transport *transport, double seconds);
    /** Sends a control message, and connects to TO if there is no connection yet. The message is kept until it can be
     *  sent; if the connection breaks first, the whole message is dropped. */
    mst_status (*control)(mst_transport *transport, int32_t to, const void *data, size_t bytes);
    /** GENERATION, greater than all earlier ones, begins; the previous one has ended. */
    void (*begin)(mst_transport *transport, uint32_t generation);
    /** Ends the present generation: all its sends and posts are done. After the return no post writes to its memory any
     *  more, and no send reads from its memory. Does not wait for a function of mst_transport_events that is being
     *  called: that function may itself wait for the end of the generation. */
    void (*end)(mst_transport *transport);
    /** Posts memory for a message of FROM. DONE rises by one when the bytes are in INTO or the generation has ended;
     *  at once if KEY's generation has already ended. After that the transport uses neither the memory nor DONE: both
     *  may be freed. */
    mst_status (*post)(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                       mst_timeline *done);
    /** Sends the N pieces as one message. DONE rises by one when the pieces may be overwritten, which does not mean
     *  that they have arrived. After an error it does not rise. DONE may be NULL. */
    mst_status (*send)(mst_transport *transport, int32_t to, mst_key key, const mst_iov *piece, int n,
                       mst_timeline *done);
    /** Optional. All tasks have left, and none sends anything any more. Called before `close` if the job has ended
     *  well. */
    void (*leave)(mst_transport *transport);
    /** Optional. As `control`, by a way that may be faster. The message may overtake messages sent by `control`, or be
     *  overtaken by them. */
    mst_status (*send_urgent)(mst_transport *transport, int32_t to, const void *data, size_t bytes);
    /** Optional. As `post`, but a message that has arrived in memory readable by the caller is not copied. Before DONE
     *  rises, *LENT, at first NULL, gets the parts of the message, from left to right and without gaps. They belong to
     *  the caller, who must release them before the transport is closed. If *LENT stays NULL, the bytes are in INTO, as
     *  after `post`. The end of a generation does not wait for the release: after reading, the caller must ask
     *  mst_kept_parts_are_intact. */
    mst_status (*borrow)(mst_transport *transport, int32_t from, mst_key key, void *into, size_t bytes,
                         mst_kept_part **lent, mst_timeline *done);
    /** Optional. Asks the tasks that listen at the N addresses for their reports, and waits for SECONDS at most. The
     *  caller is not a task: it has no number, and can send nothing but this question. A task answers only a few
     *  callers at once. KEYS: of the cluster; NULL: it has none. ADDRESS[i] may be NULL: nobody is asked. Fills ANSWER,
     *  [n]; the data in it then belong to the caller. MST_OUT_OF_MEMORY: there are no data. */
    mst_status (*ask)(const mst_cluster_keys *keys, const char *const *address, int n, double seconds,
                      mst_transport_answer *answer);
    /** Optional. Why a lost task cannot come back, as a sentence that says what to do. NULL: it can come back. */
    const char *no_return;
    const mst_transport_memory *memory;       /**< optional */
    const mst_transport_receiver *receiver;   /**< optional */
    const mst_transport_peer_info *peer_info; /**< optional */
} mst_transport_type;

/** Transport between tasks that are threads of this process, for tests: messages are copied from memory to memory. The
 *  address of a task is any name, known only in this process. */
extern const mst_transport_type mst_transport_inproc;

/** Finds the type with a name (transport/transport_row.h). All but "inproc" and "sim" are in modules, which are loaded.
 *  MST_NOT_FOUND, MST_UNAVAILABLE.
 *
 *      inproc       tasks are threads of this process
 *      sim          a network with delays and faults inside this process (transport/sim.h)
 *      zmq          ZeroMQ over TCP
 *      shm          zmq, with data through shared memory to tasks of the same machine and user (transport/shm.h); fails
 *                   to open (MST_UNAVAILABLE) if this machine has no shared memory for it
 *      mpi          zmq, with data through the MPI that has started this process, or through MPICH if none has
 *                   (transport/mpi.h)
 *      mpi-threads  for tests: tasks are threads of one process that an MPI has started, otherwise MST_INVALID */
MST_CHECKED mst_status mst_transport_find(const char *name, const mst_transport_type **out);

/** Sleeps until LINE, which has an event (base/timeline.h), is at VALUE, or until DEADLINE. Returns whether LINE is at
 *  VALUE. Meanwhile messages are received on the calling thread if the transport can do that
 *  (mst_transport_type.receiver). One thread at a time may wait for the event. */
bool mst_transport_await(const mst_transport_type *type, mst_transport *transport, mst_timeline *line, uint64_t value,
                         int64_t deadline);

#endif
