/** What the chief tells a parameter server at the beginning: the update that it makes, as a graph, and the state from
 *  which it begins. It travels as a snapshot (messages/state_message.h): entries of the container "ps" are of the job,
 *  all others are state. */
#ifndef MUSTER_PARAMETER_SERVER_PS_BEGIN_H
#define MUSTER_PARAMETER_SERVER_PS_BEGIN_H

#include <stdint.h>

#include "muster/graph.h"
#include "muster/store.h"
#include "parameter_server/ps_progress.h"

/** How the workers train. */
typedef struct mst_ps_job {
    int64_t synchronous;
    int64_t aggregate; /**< synchronous: gradients that make an update, of as many workers; 0: of all */
    int64_t staleness; /**< else: most updates between the reading of variables and that of their gradients; -1: any */
    /** With a bound on staleness and several servers: a worker asks one server after the other for its values. Each may
     *  let it wait, and in one order for all they do not wait for each other in a circle. */
    int64_t in_turn;
    int64_t num_shards;
    int64_t last_step; /**< no update is made past it; 0: there is no last one */
    int64_t position;  /**< of all workers, where the state says none */
    int64_t is_again;  /**< the job has begun before: workers that are missing were lost */
    int64_t is_last;   /**< all have made their last step: the weights are those that the chief has put back */
} mst_ps_job;

/** For server PS. STATE: entries of it that are variables of GRAPH are sent, the progress of that server, or where they
 *  are synchronous of all, and to the first one what callbacks keep (ps_kept.h). *OUT is freed by the caller with
 *  free(). */
MST_CHECKED mst_status mst_ps_begin_encode(const mst_ps_job *job, int32_t ps, const mst_graph *graph,
                                           const mst_snapshot *state, void **out, size_t *bytes);
/** *GRAPH is the caller's; *STATE too, and has the entries of the container "ps". MST_CORRUPT where DATA is none. */
MST_CHECKED mst_status mst_ps_begin_decode(const void *data, size_t bytes, mst_ps_job *job, mst_graph **graph,
                                           mst_snapshot **state);

#endif
