/** The answering side of PMI-1, the protocol by which an MPI (MPICH and its relatives) asks its launcher at the start.
 *  A request is one line, and so is its answer:
 *
 *      cmd=init pmi_version=1 pmi_subversion=1        cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
 *      cmd=put kvsname=muster key=K value=V           cmd=put_result rc=0 msg=success
 *      cmd=barrier_in                                 cmd=barrier_out, when all processes are at the barrier
 *      cmd=get kvsname=muster key=K                   cmd=get_result rc=0 msg=success value=V
 *      cmd=finalize                                   cmd=finalize_ack
 *
 *  After the next barrier the other processes can get the values that one process has put. Between processes, keys and
 *  values travel as pairs: text in which each line is "K V". The answer to a line that is not a request has rc=-1. */
#ifndef MUSTER_TRANSPORT_PMI_SERVER_H
#define MUSTER_TRANSPORT_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MST_PMI_KEY_MOST = 64, /**< bytes with the terminating 0, as the MPI is told */
    MST_PMI_VALUE_MOST = 1024,
    MST_PMI_LINE = 2048 /**< bytes of a request or an answer, with the terminating 0 */
};

/** Text that grows, terminated by 0. Zero-initialised it is empty. */
typedef struct mst_pmi_text {
    char *data;
    size_t size, capacity;
} mst_pmi_text;

/** Adds SIZE bytes; false if there is no memory. */
bool mst_pmi_text_add(mst_pmi_text *text, const char *data, size_t size);

/** The state of the answers to one process. */
typedef struct mst_pmi_server {
    int32_t num_tasks;
    mst_pmi_text known; /**< pairs of all processes; begins with a newline, so that each key follows one */
    mst_pmi_text own;   /**< pairs that this process has put since the last barrier; the caller sends them to the others
                         *   and empties this when the answer is MST_PMI_WAITS (transport/mpi_meeting.c) */
} mst_pmi_server;

typedef enum mst_pmi_turn {
    MST_PMI_ANSWERED,
    MST_PMI_WAITS,    /**< the process is at a barrier: send the answer when all others have come to it */
    MST_PMI_FINISHED, /**< answered, and no more requests will come */
    MST_PMI_ABORTED   /**< no answer: the process ends itself */
} mst_pmi_turn;

/** Takes the request LINE, without its newline, and writes ANSWER, with its newline. */
mst_pmi_turn mst_pmi_server_take(mst_pmi_server *server, const char *line, char answer[MST_PMI_LINE]);
/** Adds pairs that other processes have put; false if there is no memory. */
bool mst_pmi_server_add(mst_pmi_server *server, const char *pairs, size_t size);
/** Frees what SERVER has, but not SERVER. */
void mst_pmi_server_free(mst_pmi_server *server);

/** Whether the SIZE bytes are pairs: each line has a key and a value, and neither is too long. */
bool mst_pmi_are_pairs(const char *text, size_t size);

#endif
