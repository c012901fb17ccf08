/** What the chief tells a parameter server at the beginning: the server's update, as a graph, and the state from which
 *  it begins. It travels as a snapshot (messages/state_message.h): entries of the container "ps" describe the job; all
 *  others are state. */
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
    /** With a bound on staleness and several servers: a worker asks one server after another for its values. Each
     *  server may let it wait. Since all workers ask in the same order, they cannot wait for each other in a circle. */
    int64_t in_turn;
    int64_t num_shards;
    int64_t last_step; /**< no update is made after this step; 0: there is no last step */
    int64_t position;  /**< position of all workers, unless the state has positions */
    int64_t is_again;  /**< the job has begun before: workers that are missing were lost */
    int64_t is_last;   /**< all have made their last step: the chief has put back these weights */
} mst_ps_job;

/** Encodes the message for server PS. From STATE it takes the variables of GRAPH and the progress of that server, or of
 *  all servers if they are synchronous. For the first server it also takes what callbacks keep (ps_kept.h). The caller
 *  frees *OUT with free(). */
MST_CHECKED mst_status mst_ps_begin_encode(const mst_ps_job *job, int32_t ps, const mst_graph *graph,
                                           const mst_snapshot *state, void **out, size_t *bytes);
/** Decodes the message. *GRAPH and *STATE belong to the caller; *STATE includes the entries of the container "ps".
 *  MST_CORRUPT if DATA is not such a message. */
MST_CHECKED mst_status mst_ps_begin_decode(const void *data, size_t bytes, mst_ps_job *job, mst_graph **graph,
                                           mst_snapshot **state);

#endif
