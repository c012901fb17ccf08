#include "parameter_server/ps_begin.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "messages/state_message.h"
#include "parameter_server/ps_kept.h"

#define GRAPH "graph"
#define JOB "job"
enum { NUM_NUMBERS = sizeof(mst_ps_job) / sizeof(int64_t) };

static mst_status add(mst_snapshot *to, const char *name, mst_dtype dtype, int64_t count, const void *data) {
    mst_tensor *value;
    MST_TRY(mst_tensor_copy(dtype, MST_SHAPE(count), data, &value));
    const mst_status status = mst_snapshot_add(to, MST_PS_CONTAINER, name, MST_STATE_CURSOR, value);
    mst_tensor_release(value);
    return status;
}

static mst_status add_graph(mst_snapshot *to, const mst_graph *graph) {
    void *data;
    size_t size;
    MST_TRY(mst_graph_encode(graph, &data, &size));
    const mst_status status = add(to, GRAPH, MST_U8, (int64_t)size, data);
    free(data);
    return status;
}

/* Whether server PS needs this entry. It needs the variables of the graph, and its own progress; the first server also
 * needs the state of callbacks. Synchronous servers have all made the same updates, so each may use the progress of any
 * server: the state may come from a job with fewer servers. */
static bool is_wanted(const mst_ps_job *job, int32_t ps, const mst_graph *graph, const mst_state_info *info) {
    if (strcmp(info->container, MST_PS_CONTAINER) == 0)
        return mst_ps_progress_is_of(info, job->synchronous ? MST_PS_ANY : ps);
    if (mst_ps_is_kept(info)) return ps == 0;
    const mst_node *node = *info->container ? NULL : mst_graph_find(graph, info->name);
    return node && (node->op->flags & MST_OP_VARIABLE);
}

static mst_status add_state(mst_snapshot *to, const mst_ps_job *job, int32_t ps, const mst_graph *graph,
                            const mst_snapshot *state) {
    for (int64_t i = 0; i < mst_snapshot_count(state); i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        if (is_wanted(job, ps, graph, &info))
            MST_TRY(mst_snapshot_add(to, info.container, info.name, info.kind, mst_snapshot_value(state, i)));
    }
    return MST_OK;
}

mst_status mst_ps_begin_encode(const mst_ps_job *job, int32_t ps, const mst_graph *graph, const mst_snapshot *state,
                               void **out, size_t *bytes) {
    mst_snapshot *all;
    MST_TRY(mst_snapshot_create(&all));
    mst_status status = add_state(all, job, ps, graph, state);
    if (!status) status = add(all, JOB, MST_I64, NUM_NUMBERS, job);
    if (!status) status = add_graph(all, graph);
    if (!status) status = mst_state_message_encode(all, out, bytes);
    mst_snapshot_release(all);
    return status;
}

/* The entry NAME of the job, which must have COUNT elements (-1: any number). */
static mst_status find(const mst_snapshot *from, const char *name, mst_dtype dtype, int64_t count, mst_tensor **out) {
    *out = mst_snapshot_find(from, MST_PS_CONTAINER, name);
    if (*out && mst_tensor_dtype(*out) == dtype && (count < 0 || mst_tensor_count(*out) == count)) return MST_OK;
    return MST_FAIL(MST_CORRUPT,
                    "the chief's description of the job lacks '%s': run the same version of Muster on all tasks", name);
}

static mst_status read_job(const mst_snapshot *from, mst_ps_job *job, mst_graph **graph) {
    mst_tensor *numbers, *encoded;
    MST_TRY(find(from, JOB, MST_I64, NUM_NUMBERS, &numbers));
    MST_TRY(find(from, GRAPH, MST_U8, -1, &encoded));
    memcpy(job, mst_tensor_data(numbers), sizeof *job);
    return mst_graph_decode(mst_tensor_data(encoded), (size_t)mst_tensor_count(encoded), graph);
}

mst_status mst_ps_begin_decode(const void *data, size_t bytes, mst_ps_job *job, mst_graph **graph,
                               mst_snapshot **state) {
    MST_TRY(mst_state_message_decode(data, bytes, state));
    const mst_status status = read_job(*state, job, graph);
    if (!status) return MST_OK;
    mst_snapshot_release(*state);
    *state = NULL;
    return status;
}
