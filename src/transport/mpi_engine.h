/** The thread that makes all calls of MPI in this process (MPI_THREAD_FUNNELED). After bytes have moved, it polls for a
 *  moment without sleeping, but yields its core to other threads between polls. Then it sleeps between polls, longer
 *  each time. If it has nothing to wait for, it polls a hundred times per second.
 *
 *  MPI starts with the first task (mst_mpi_join). If no MPI launcher has started the processes, it starts when all
 *  tasks are there (mst_mpi_begin).
 *
 *  MPI ends when all tasks have left (mst_mpi_leave). If a task has failed or is gone, MPI_Finalize is not called: it
 *  would wait for the others. */
#ifndef MUSTER_TRANSPORT_MPI_ENGINE_H
#define MUSTER_TRANSPORT_MPI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

enum { MST_MPI_BYTES = 3840 /* MPIs send a whole packet of this size without asking the receiver first */ };
enum { MST_MPI_PIECES = MST_MPI_BYTES / sizeof(uint64_t) };

typedef enum mst_mpi_kind {
    MST_MPI_SMALL = 1, /**< key, bytes: a whole message */
    MST_MPI_OFFER,     /**< key, number, total, sizes of the pieces of a large message */
    MST_MPI_TAKE,      /**< number, tag: send the message with this tag */
    MST_MPI_REFUSE,    /**< number: the message is not wanted */
    MST_MPI_DROPPED    /**< tag: the message will not be sent */
} mst_mpi_kind;

/** A message between tasks, sent in the same form as it has in memory. */
typedef struct mst_mpi_packet {
    uint32_t kind, num_bytes; /**< num_bytes: after the key */
    int32_t from, to;
    int32_t tag, serial; /**< serial: of the client that sends the packet */
    uint64_t number, total;
    mst_key key;
    union { /* only the part in use is sent */
        unsigned char bytes[MST_MPI_BYTES];
        uint64_t size[MST_MPI_PIECES];
    };
} mst_mpi_packet;

/** One message of MPI. */
typedef struct mst_mpi_job {
    struct mst_mpi_job *next; /**< used by the engine */
    bool receives;
    int rank, tag;
    void *data;
    size_t bytes; /**< at most MST_MPI_MOST */
    /** The job no longer uses the memory. WHOLE: all bytes have moved. Called on any thread; may submit jobs. */
    void (*done)(struct mst_mpi_job *job, bool whole);
    void *context;
} mst_mpi_job;

enum { MST_MPI_MOST = 1 << 30 /* bytes of a job: MPI counts them with an int */ };

/** A task of this process. */
typedef struct mst_mpi_client {
    struct mst_mpi_client *next;     /**< used by the engine */
    int32_t task, num_tasks, serial; /**< serial: set by the engine */
    bool threads;                    /**< all tasks are threads of this process */
    bool begins_later;               /**< MPI starts in mst_mpi_begin */
    void *context;
    /** A packet has come. On the thread of the engine; may submit jobs and cancel receives. */
    void (*packet)(void *context, const mst_mpi_packet *packet);
    /** Whether the task waits for messages that are under way. */
    bool (*waits)(void *context);
    /** MPI could not be started after mst_mpi_begin, because of WHY. On the thread of the engine. */
    void (*failed)(void *context, const char *why);
} mst_mpi_client;

/** Starts MPI, unless it has been started, and waits for all its processes, unless CLIENT begins later. MST_UNAVAILABLE
 *  if they do not come, or if MPI has ended in this process; MST_INVALID if task numbers and ranks differ. */
MST_CHECKED mst_status mst_mpi_join(mst_mpi_client *client);
/** Starts MPI, unless it has been started, for a client that begins later. Does not wait. DESCRIPTOR: the socket that
 *  answers PMI-1 (transport/mpi_meeting.h). Jobs may be submitted before. */
void mst_mpi_begin(int descriptor);
/** After the return no function of CLIENT is called any more. FINALIZE: waits until the other processes do the same,
 *  and ends MPI. Gives up waiting if STOP(CONTEXT) says that one of them will not. */
void mst_mpi_leave(mst_mpi_client *client, bool finalize, bool (*stop)(void *context));

/** The rank of TASK. */
int mst_mpi_rank(const mst_mpi_client *client, int32_t task);
/** A tag for the pieces of one message, unique in this process. */
int mst_mpi_tag(void);
/** Jobs begin in the order in which they are submitted. */
void mst_mpi_submit(mst_mpi_job *job);
/** A packet with room for NUM_BYTES; NULL if there is no memory. */
mst_mpi_packet *mst_mpi_packet_create(mst_mpi_kind kind, const mst_mpi_client *client, int32_t to, size_t num_bytes);
/** Sends PACKET and frees it. */
void mst_mpi_send(const mst_mpi_client *client, mst_mpi_packet *packet);
/** Cancels the receives of TAG from RANK. On the thread of the engine. */
void mst_mpi_cancel(int rank, int tag);
/** Waits until all jobs that were submitted are done, SECONDS at most. */
void mst_mpi_flush(double seconds);
/** A caller waits for a message from now on: the thread polls more often. */
void mst_mpi_expect(void);
/** BEGINS true: a caller begins to wait for all jobs that are under way; false: it has ended its wait. If a wait takes
 *  longer than half a second, a peer is gone, and no call of MPI is made any more. */
void mst_mpi_hurry(bool begins);
/** Whether no call of MPI is made any more. */
bool mst_mpi_is_over(void);

#endif
