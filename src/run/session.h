/** The inside of a session. */
#ifndef MUSTER_RUN_SESSION_H
#define MUSTER_RUN_SESSION_H

#include "graph/graph.h"
#include "plan/plan.h"
#include "run/executor.h"
#include "run/port.h"

/** Where the value of one variable lives. */
typedef struct mst_storage {
    const mst_node *node;
    int device;
    void *data; /**< in a block */
    size_t bytes;
    bool initialized;
} mst_storage;

/** A plan with what it needs to run, and the call it was made for. */
typedef struct mst_cached_plan {
    uint64_t graph_version, hash;
    int num_feeds, num_fetches;
    mst_feed *feeds; /**< tensors not held: `spec` describes them, `tensor` only says that it is one */
    mst_value *fetches;
    mst_plan *plan;
    mst_ports ports;
    const char **keys;
} mst_cached_plan;

struct mst_session {
    mst_graph *graph;
    mst_session_options options;
    mst_devices devices;
    mst_plan_host host;
    mst_executor *executor;
    int64_t step;
    mst_storage *storage;
    int64_t num_storages, storage_capacity;
    int32_t *storage_of; /**< by node id: index + 1, 0 for none */
    int64_t storage_of_capacity;
    void **blocks;
    int64_t num_blocks, block_capacity;
    int64_t *variable_bytes; /**< by device */
    mst_cached_plan **plans; /**< the last used first */
    int64_t num_plans, plan_capacity, plans_made;
};

/** Storage of a variable node, or NULL. */
mst_storage *mst_session_storage(const mst_session *session, const mst_node *node);
/** The functions of session->host that concern variables. */
mst_status mst_session_store(void *session, const mst_node *const *nodes, int64_t num_nodes, int device);
void *mst_session_variable(void *session, const mst_node *node);

/** The plan for this call, from the cache or new. */
MST_CHECKED mst_status mst_session_plan(mst_session *session, const mst_feed *feeds, int num_feeds,
                                        const mst_value *fetches, int num_fetches, mst_cached_plan **out);
void mst_cached_plan_destroy(mst_cached_plan *cached);
/** Destroys the plan used last. */
void mst_session_drop_plan(mst_session *session);

#endif
