/** The modules `openmpi` and `mpich`: data messages between tasks through MPI. Both are built from the same files,
 *  since the two MPIs have one interface but different libraries. A process uses the module of the MPI whose launcher
 *  has started it (transport/transport.c).
 *
 *  Control messages go through another transport, which also reports who is connected and who is lost: MPI does
 *  neither. Task numbers are ranks of MPI_COMM_WORLD. If no MPI launcher has started the processes, they form one MPICH
 *  job by themselves when the first generation begins (transport/mpi_meeting.h).
 *
 *      small message    SMALL key, bytes -------------->
 *      large message    OFFER key, sizes of pieces ---->    kept until memory is posted for it
 *                       <------------------------- TAKE     the receiver waits in MPI for the pieces
 *                       pieces ------------------------>    from the sender's memory into the posted memory
 *
 *  MPI therefore never holds a message that its receiver does not wait for, and a generation can end at any time. MPI
 *  cannot cancel a message that was sent. At the end of a generation the transport therefore waits until messages that
 *  were already taken have moved. If their sender is gone, the transport never calls MPI again, so that MPI no longer
 *  reads or writes the memory of the program. */
#ifndef MUSTER_TRANSPORT_MPI_H
#define MUSTER_TRANSPORT_MPI_H

#include "transport/transport.h"

/** Who starts MPI. */
typedef enum mst_mpi_start {
    MST_MPI_LAUNCHED, /**< the launcher that has started the process */
    MST_MPI_THREADS,  /**< the launcher too, and all tasks are threads of this process; for tests */
    MST_MPI_MEETING   /**< the tasks themselves; of the module `mpich` alone */
} mst_mpi_start;

/** Interface of the modules. */
typedef struct mst_mpi_interface {
    /** The type that sends control messages through CONTROL, which is the same in each call. */
    const mst_transport_type *(*type)(const mst_transport_type *control, mst_mpi_start start);
} mst_mpi_interface;

#endif
