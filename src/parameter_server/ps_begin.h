/** The message with which the chief starts a parameter server: the server's update as a graph, and the state from which
 *  the server begins. The message is a snapshot (messages/state_message.h). Its entries in the container "ps" describe
 *  the job; all other entries are state. */
#ifndef MUSTER_PARAMETER_SERVER_PS_BEGIN_H
#define MUSTER_PARAMETER_SERVER_PS_BEGIN_H

#include <stdint.h>

#include "muster/graph.h"
#include "muster/store.h"
#include "parameter_server/ps_progress.h"

/** How the workers train. */
typedef struct mst_ps_job {
    int64_t synchronous;
    int64_t aggregate; /**< synchronous: number of workers whose gradients make an update; 0: all of them */
    int64_t staleness; /**< asynchronous: most updates between reading values and applying gradients; -1: any */
    /** 1 with a bound on staleness and several servers: a worker asks one server after another for its values, and each
     *  server may delay its answer. Since all workers ask in the same order, they cannot deadlock. */
    int64_t in_turn;
    int64_t num_shards;
    int64_t last_step; /**< no update is made after this step; 0: there is no last step */
    int64_t position;  /**< position of all workers, unless the state has positions */
    int64_t is_again;  /**< this is not the first BEGIN of the job: workers that are missing were lost */
    /** All workers have made their last step. The state has the weights of an earlier epoch, which the chief's
     *  callbacks have put back. */
    int64_t is_last;
} mst_ps_job;

/** Encodes the message for server PS. It contains, from STATE, the variables of GRAPH and the progress of that server,
 *  or of all servers if they are synchronous. For the first server it also contains the state of callbacks (ps_kept.h).
 *  The caller frees *OUT with free(). */
MST_CHECKED mst_status mst_ps_begin_encode(const mst_ps_job *job, int32_t ps, const mst_graph *graph,
                                           const mst_snapshot *state, void **out, size_t *bytes);
/** Decodes the message. *GRAPH and *STATE belong to the caller; *STATE includes the entries of the container "ps".
 *  MST_CORRUPT if DATA is not such a message. */
MST_CHECKED mst_status mst_ps_begin_decode(const void *data, size_t bytes, mst_ps_job *job, mst_graph **graph,
                                           mst_snapshot **state);

#endif
