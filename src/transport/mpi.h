/** The modules `openmpi` and `mpich`: data messages between tasks by the MPI that has started them. Both are made of
 *  the same files, since the two have different libraries under one interface; the one is taken whose launcher has
 *  started the process (transport/transport.c).
 *
 *  Control messages go by another transport, which also says who is there and who is lost: MPI does neither. Task
 *  numbers are ranks of MPI_COMM_WORLD. Where no launcher of an MPI has started the processes, they become those of one
 *  MPICH by themselves, when the first generation begins (transport/mpi_meeting.h).
 *
 *      small message    SMALL key, bytes -------------->
 *      large message    OFFER key, sizes of pieces ---->    kept, until memory is posted for it
 *                       <------------------------- TAKE     the receiver waits in MPI for the pieces
 *                       pieces ------------------------>    from the sender's memory into that of the post
 *
 *  So nothing is in MPI that its receiver does not wait for, and a generation can end at any time: MPI cannot take back
 *  what was sent. What was taken is waited for then, since its sender is there; where it is not, no call of MPI is made
 *  any more, for good: then nothing reads or writes the memory of the program. */
#ifndef MUSTER_TRANSPORT_MPI_H
#define MUSTER_TRANSPORT_MPI_H

#include "transport/transport.h"

/** Who starts MPI. */
typedef enum mst_mpi_start {
    MST_MPI_LAUNCHED, /**< the launcher that has started the process */
    MST_MPI_THREADS,  /**< the same, and all tasks are threads of this process, for tests */
    MST_MPI_MEETING   /**< the tasks themselves; of the module `mpich` alone */
} mst_mpi_start;

/** Interface of the modules. */
typedef struct mst_mpi_interface {
    /** The type that sends control messages by CONTROL, which is always the same. */
    const mst_transport_type *(*type)(const mst_transport_type *control, mst_mpi_start start);
} mst_mpi_interface;

#endif
