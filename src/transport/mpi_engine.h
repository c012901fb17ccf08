/** The thread that makes all calls of MPI in this process (MPI_THREAD_FUNNELED). It spins for a moment after something
 *  has moved, giving its core to whoever wants it; then it sleeps between two looks, longer each time. Without anything
 *  to wait for it looks a hundred times a second.
 *
 *  MPI starts with the first task (mst_mpi_join); where no launcher of an MPI has started the processes, when all tasks
 *  are there (mst_mpi_begin).
 *
 *  MPI ends when all tasks have left (mst_mpi_leave). Where that does not come about, since a task has failed or is
 *  gone, MPI_Finalize is not called: it would wait for the others. */
#ifndef MUSTER_TRANSPORT_MPI_ENGINE_H
#define MUSTER_TRANSPORT_MPI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

enum { MST_MPI_BYTES = 3840 /* with the rest of a packet below what MPIs send without asking */ };
enum { MST_MPI_PIECES = MST_MPI_BYTES / sizeof(uint64_t) };

typedef enum mst_mpi_kind {
    MST_MPI_SMALL = 1, /**< key, bytes: a whole message */
    MST_MPI_OFFER,     /**< key, number, total, sizes of the pieces */
    MST_MPI_TAKE,      /**< number, tag: send it */
    MST_MPI_REFUSE,    /**< number: it is not wanted */
    MST_MPI_DROPPED    /**< tag: it will not be sent */
} mst_mpi_kind;

/** What goes from task to task, in the form in which it is in memory. */
typedef struct mst_mpi_packet {
    uint32_t kind, num_bytes; /**< that follow */
    int32_t from, to;
    int32_t tag, serial; /**< serial: of the client that sends */
    uint64_t number, total;
    mst_key key;
    union { /* only what is in use is sent */
        unsigned char bytes[MST_MPI_BYTES];
        uint64_t size[MST_MPI_PIECES];
    };
} mst_mpi_packet;

/** One message of MPI. */
typedef struct mst_mpi_job {
    struct mst_mpi_job *next; /**< the engine's */
    bool receives;
    int rank, tag;
    void *data;
    size_t bytes; /**< at most MST_MPI_MOST */
    /** The job's memory is the caller's again. WHOLE: all bytes have moved. On any thread, and may submit jobs. */
    void (*done)(struct mst_mpi_job *job, bool whole);
    void *context;
} mst_mpi_job;

enum { MST_MPI_MOST = 1 << 30 };

/** A task of this process. */
typedef struct mst_mpi_client {
    struct mst_mpi_client *next;     /**< the engine's */
    int32_t task, num_tasks, serial; /**< serial: the engine's */
    bool threads;                    /**< all tasks are of this process */
    bool begins_later;               /**< at mst_mpi_begin */
    void *context;
    /** On the thread of the engine; may submit jobs and cancel. */
    void (*packet)(void *context, const mst_mpi_packet *packet);
    /** Whether messages are under way that concern the task. */
    bool (*waits)(void *context);
    /** MPI could not be started at mst_mpi_begin: WHY. On the thread of the engine. */
    void (*failed)(void *context, const char *why);
} mst_mpi_client;

/** Starts MPI, where that has not been, and waits for all its processes, unless CLIENT begins later. MST_UNAVAILABLE
 *  where they do not come, or MPI has ended in this process; MST_INVALID where tasks and ranks do not have the same
 *  numbers. */
MST_CHECKED mst_status mst_mpi_join(mst_mpi_client *client);
/** Starts MPI, where that has not been, for the client that begins later, and does not wait. DESCRIPTOR: where PMI-1 is
 *  answered (transport/mpi_meeting.h). Jobs may be submitted before. */
void mst_mpi_begin(int descriptor);
/** On return no function of CLIENT is called any more. FINALIZE: waits until the other processes do the same, or MST
 *  STOP(CONTEXT) says that one will not, and ends MPI. */
void mst_mpi_leave(mst_mpi_client *client, bool finalize, bool (*stop)(void *context));

/** The rank of TASK. */
int mst_mpi_rank(const mst_mpi_client *client, int32_t task);
/** A number for the messages of one body, of this process alone. */
int mst_mpi_tag(void);
/** Jobs are begun in the order in which they were submitted. */
void mst_mpi_submit(mst_mpi_job *job);
/** A packet with NUM_BYTES of room; NULL without memory. */
mst_mpi_packet *mst_mpi_packet_create(mst_mpi_kind kind, const mst_mpi_client *client, int32_t to, size_t num_bytes);
/** Sends PACKET, which is freed. */
void mst_mpi_send(const mst_mpi_client *client, mst_mpi_packet *packet);
/** Ends the receives of TAG from RANK. On the thread of the engine. */
void mst_mpi_cancel(int rank, int tag);
/** Waits until all jobs that were submitted are done, SECONDS at most. */
void mst_mpi_flush(double seconds);
/** Somebody waits for a message from now on: the thread looks more often. */
void mst_mpi_expect(void);
/** Somebody waits from now on (or no longer) for all jobs that are under way: where that takes longer than half a
 *  second, a peer is gone, and no call of MPI is made any more. */
void mst_mpi_hurry(bool begins);
/** Whether no call of MPI is made any more. */
bool mst_mpi_is_over(void);

#endif
