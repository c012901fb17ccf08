/** The side of PMI-1 that answers: what an MPI (MPICH and its relatives) asks of the launcher when it starts. A request
 *  and its answer are a line each:
 *
 *      cmd=init pmi_version=1 pmi_subversion=1        cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
 *      cmd=put kvsname=muster key=K value=V           cmd=put_result rc=0 msg=success
 *      cmd=barrier_in                                 cmd=barrier_out, when all processes have come here
 *      cmd=get kvsname=muster key=K                   cmd=get_result rc=0 msg=success value=V
 *      cmd=finalize                                   cmd=finalize_ack
 *
 *  What one process has put, the others can get behind the next barrier. Between processes it goes as pairs: text of
 *  lines "K V". What is no request is answered with rc=-1. */
#ifndef MUSTER_TRANSPORT_PMI_SERVER_H
#define MUSTER_TRANSPORT_PMI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MST_PMI_KEY_MOST = 64, /**< bytes with the 0 behind them, as the MPI is told */
    MST_PMI_VALUE_MOST = 1024,
    MST_PMI_LINE = 2048 /**< of a request or an answer, likewise */
};

/** Text that grows, ended by 0; zero-initialised it is empty. */
typedef struct mst_pmi_text {
    char *data;
    size_t size, capacity;
} mst_pmi_text;

/** Adds SIZE bytes; false where there is no memory. */
bool mst_pmi_text_add(mst_pmi_text *text, const char *data, size_t size);

/** What one process is told. */
typedef struct mst_pmi_server {
    int32_t num_tasks;
    mst_pmi_text known; /**< pairs, behind an empty line */
    mst_pmi_text own;   /**< pairs that this process has put since the last barrier */
} mst_pmi_server;

typedef enum mst_pmi_turn {
    MST_PMI_ANSWERED,
    MST_PMI_WAITS,    /**< for all others, at a barrier: the answer is for then */
    MST_PMI_FINISHED, /**< answered, and nothing more is asked */
    MST_PMI_ABORTED   /**< nothing to answer: the process ends itself */
} mst_pmi_turn;

/** Takes the request LINE, without its end, and writes the ANSWER with it. */
mst_pmi_turn mst_pmi_server_take(mst_pmi_server *server, const char *line, char answer[MST_PMI_LINE]);
/** Adds pairs that other processes have put; false where there is no memory. */
bool mst_pmi_server_add(mst_pmi_server *server, const char *pairs, size_t size);
/** Frees what SERVER has, but not SERVER. */
void mst_pmi_server_free(mst_pmi_server *server);

/** Whether the SIZE bytes are pairs: of each the key and the value are there and no longer than is allowed. */
bool mst_pmi_are_pairs(const char *text, size_t size);

#endif
