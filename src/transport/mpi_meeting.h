/** Makes the tasks of a cluster the processes of one MPI job, if no MPI launcher has started them. Each process acts as
 *  its own launcher: it answers the PMI-1 requests of its MPI itself (transport/pmi_server.h). The processes exchange
 *  the data of these requests by control messages between the tasks:
 *
 *      MPI -- put, barrier --> meeting -- PAIRS, COME --> task 0, which waits for all
 *      MPI <-- barrier_out --- meeting <-- PAIRS, GO ---- task 0: all pairs that were put
 *
 *  A meeting does not report a lost task. The MPI then waits until the loss ends the process. */
#ifndef MUSTER_TRANSPORT_MPI_MEETING_H
#define MUSTER_TRANSPORT_MPI_MEETING_H

#include "transport/transport.h"

typedef struct mst_mpi_meeting mst_mpi_meeting;

typedef struct mst_mpi_meeting_options {
    int32_t task, num_tasks;
    uint64_t instance; /**< of this process, as the transport reports it to the others */
    void *context;
    /** Sends a control message; messages to one task arrive in order. Called on any thread. */
    mst_status (*send)(void *context, int32_t to, const void *data, size_t bytes);
} mst_mpi_meeting_options;

MST_CHECKED mst_status mst_mpi_meeting_open(const mst_mpi_meeting_options *options, mst_mpi_meeting **out);
/** The descriptor through which the MPI of this process sends its requests (PMI_FD). It stays open until the MPI has
 *  said that it has no more requests, maybe forever. If it is closed earlier, the MPI ends the process. */
int mst_mpi_meeting_descriptor(mst_mpi_meeting *meeting);
/** A control message has come. False: it does not belong to a meeting. */
bool mst_mpi_meeting_received(mst_mpi_meeting *meeting, int32_t from, uint64_t instance, const void *data,
                              size_t bytes);
/** From now on only answers to messages of others are sent. */
void mst_mpi_meeting_end(mst_mpi_meeting *meeting);
/** Call it after mst_mpi_meeting_end. NULL is allowed. */
void mst_mpi_meeting_free(mst_mpi_meeting *meeting);

#endif
