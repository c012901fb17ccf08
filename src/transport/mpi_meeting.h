/** How the tasks of a cluster become the processes of one MPI where no launcher of an MPI has started them: each is the
 *  launcher of itself. What its MPI asks by PMI-1 (transport/pmi_server.h) it answers itself, and what the processes
 *  tell each other goes as control messages between the tasks:
 *
 *      MPI -- put, barrier --> meeting -- PAIRS, COME --> task 0, which waits for all
 *      MPI <-- barrier_out --- meeting <-- PAIRS, GO ---- task 0: what all have put
 *
 *  A meeting does not say that a task has been lost: its MPI then waits for ever, until the process ends for that. */
#ifndef MUSTER_TRANSPORT_MPI_MEETING_H
#define MUSTER_TRANSPORT_MPI_MEETING_H

#include "transport/transport.h"

typedef struct mst_mpi_meeting mst_mpi_meeting;

typedef struct mst_mpi_meeting_options {
    int32_t task, num_tasks;
    uint64_t instance; /**< of this process, which the others are told by the transport */
    void *context;
    /** Sends a control message; messages to one task arrive in their order. On any thread. */
    mst_status (*send)(void *context, int32_t to, const void *data, size_t bytes);
} mst_mpi_meeting_options;

MST_CHECKED mst_status mst_mpi_meeting_open(const mst_mpi_meeting_options *options, mst_mpi_meeting **out);
/** The descriptor at which the MPI of this process asks (PMI_FD). It stays open from this call on until the MPI has
 *  said that it asks nothing more, maybe for ever: MPIs end the process where it is closed before. */
int mst_mpi_meeting_descriptor(mst_mpi_meeting *meeting);
/** A control message has come. False: it is none of a meeting. */
bool mst_mpi_meeting_received(mst_mpi_meeting *meeting, int32_t from, uint64_t instance, const void *data,
                              size_t bytes);
/** From now on nothing is sent but what messages of others ask for. */
void mst_mpi_meeting_end(mst_mpi_meeting *meeting);
/** After mst_mpi_meeting_end. NULL is allowed. */
void mst_mpi_meeting_free(mst_mpi_meeting *meeting);

#endif
