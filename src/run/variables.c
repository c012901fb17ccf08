/* Storage of variables: blocks that hold the variables of one device side by side, in the order of the graph. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "muster/ops.h"
#include "run/session.h"
#include "tensor/buffer.h"

mst_storage *mst_session_storage(const mst_session *session, const mst_node *node) {
    int32_t index = node->id < session->storage_of_capacity ? session->storage_of[node->id] : 0;
    return index ? &session->storage[index - 1] : NULL;
}

static size_t bytes_of(const mst_node *node) {
    return (size_t)mst_shape_count(node->dst[0].shape) * mst_dtype_size(node->dst[0].dtype);
}

static mst_status add_storage(mst_session *session, const mst_node *node, int device, void *data) {
    int64_t before = session->storage_of_capacity;
    MST_TRY(mst_grow(&session->storage_of, sizeof *session->storage_of, node->id + 1, &session->storage_of_capacity));
    if (session->storage_of_capacity > before)
        memset(session->storage_of + before, 0,
               (size_t)(session->storage_of_capacity - before) * sizeof *session->storage_of);
    MST_TRY(
        mst_grow(&session->storage, sizeof *session->storage, session->num_storages + 1, &session->storage_capacity));
    session->storage[session->num_storages++] =
        (mst_storage){.node = node, .device = device, .data = data, .bytes = bytes_of(node)};
    session->storage_of[node->id] = (int32_t)session->num_storages;
    return MST_OK;
}

mst_status mst_session_store(void *context, const mst_node *const *nodes, int64_t num_nodes, int device) {
    mst_session *session = context;
    size_t total = 0;
    for (int64_t i = 0; i < num_nodes; i++)
        if (!mst_session_storage(session, nodes[i])) total += mst_align(bytes_of(nodes[i]));
    const int64_t limit = session->devices.device[device].memory_limit;
    const int64_t needed = session->variable_bytes[device] + (int64_t)total;
    if (limit > 0 && needed > limit) {
        char need_text[MST_BYTES_TEXT], limit_text[MST_BYTES_TEXT];
        return MST_FAIL(MST_OUT_OF_MEMORY, "device %s: its variables need %s, the limit is %s: raise the limit",
                        session->devices.device[device].text, mst_bytes_print(needed, need_text, sizeof need_text),
                        mst_bytes_print(limit, limit_text, sizeof limit_text));
    }
    bool all_there = true;
    for (int64_t i = 0; i < num_nodes; i++) all_there &= mst_session_storage(session, nodes[i]) != NULL;
    if (all_there) return MST_OK;
    MST_TRY(mst_grow(&session->blocks, sizeof *session->blocks, session->num_blocks + 1, &session->block_capacity));
    void *block;
    MST_TRY(mst_buffer_alloc(total, &block));
    session->blocks[session->num_blocks++] = block;
    session->variable_bytes[device] += (int64_t)total;
    char *next = block;
    for (int64_t i = 0; i < num_nodes; i++) {
        if (mst_session_storage(session, nodes[i])) continue;
        MST_TRY(add_storage(session, nodes[i], device, next));
        next += mst_align(bytes_of(nodes[i]));
    }
    return MST_OK;
}

void *mst_session_variable(void *context, const mst_node *node) {
    const mst_storage *storage = mst_session_storage(context, node);
    return storage ? storage->data : NULL;
}

mst_status mst_session_get_variable(mst_session *session, mst_value variable, mst_tensor **out) {
    *out = NULL;
    if (!mst_is_variable(variable))
        return MST_FAIL(MST_INVALID, "get_variable: '%s' is no variable", mst_value_name(variable));
    const mst_storage *storage = mst_session_storage(session, variable.node);
    if (!storage || !storage->initialized)
        return MST_FAIL(MST_NOT_FOUND, "variable '%s' has no value yet: call mst_session_init_variables first",
                        variable.node->name);
    return mst_tensor_copy(variable.node->dst[0].dtype, variable.node->dst[0].shape, storage->data, out);
}

/* The first value of one that has no storage: by its own assignment, so that storage and placement are the plan's
 * business. */
static mst_status set_first(mst_session *session, mst_node *variable, const mst_tensor *value) {
    mst_value initial = mst_variable_initial((mst_value){.node = variable});
    mst_node *assign = NULL;
    for (int64_t id = variable->id; id < session->graph->num_nodes && !assign; id++) {
        mst_node *node = session->graph->node[id];
        if (node->op->writes && node->num_src == 2 && node->src[0].node == variable &&
            mst_value_equal(node->src[1], initial))
            assign = node;
    }
    if (!assign) return MST_FAIL(MST_INTERNAL, "variable '%s' has no initial assignment", variable->name);
    mst_feed feed = {.value = initial};
    MST_TRY(mst_tensor_copy(mst_tensor_dtype(value), mst_tensor_shape(value), mst_tensor_data(value), &feed.tensor));
    int64_t step = session->step;
    mst_status status = mst_session_run(session, &feed, 1, &(mst_value){.node = assign}, 1, NULL);
    session->step = step;
    if (!status) mst_session_drop_plan(session); /* it will not run again */
    mst_tensor_release(feed.tensor);
    return status;
}

static mst_status set_one(mst_session *session, mst_node *variable, const mst_tensor *value) {
    mst_storage *storage = mst_session_storage(session, variable);
    if (!storage) return set_first(session, variable, value);
    if (storage->bytes) memcpy(storage->data, mst_tensor_data(value), storage->bytes);
    storage->initialized = true;
    return MST_OK;
}

/* A mirrored variable has a copy on each device. */
static bool is_copy_of(const mst_node *node, mst_value variable) {
    return (node->op->flags & MST_OP_VARIABLE) &&
           mst_value_equal(((const mst_variable_options *)node->options)->copy_of, variable);
}

mst_status mst_session_set_variable(mst_session *session, mst_value variable, const mst_tensor *value) {
    if (!mst_is_variable(variable))
        return MST_FAIL(MST_INVALID, "set_variable: '%s' is no variable", mst_value_name(variable));
    const mst_spec *spec = &variable.node->dst[0];
    if (mst_tensor_dtype(value) != spec->dtype || !mst_shape_equal(mst_tensor_shape(value), spec->shape)) {
        char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
        return MST_FAIL(MST_INVALID, "set_variable: '%s' is %s%s, the value is %s%s", variable.node->name,
                        mst_dtype_name(spec->dtype), mst_shape_print(spec->shape, want, sizeof want),
                        mst_dtype_name(mst_tensor_dtype(value)),
                        mst_shape_print(mst_tensor_shape(value), have, sizeof have));
    }
    MST_TRY(mst_graph_check(session->graph));
    MST_TRY(set_one(session, variable.node, value));
    for (int64_t id = variable.node->id + 1; id < session->graph->num_nodes; id++)
        if (is_copy_of(session->graph->node[id], variable)) MST_TRY(set_one(session, session->graph->node[id], value));
    return MST_OK;
}

mst_status mst_session_init_variables(mst_session *session) {
    int count = mst_collection(session->graph, MST_INITIALIZERS, NULL, NULL, 0), wanted = 0;
    mst_value *assigns = malloc(((size_t)count + 1) * sizeof *assigns);
    if (!assigns) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for initial values");
    mst_collection(session->graph, MST_INITIALIZERS, NULL, assigns, count);
    for (int i = 0; i < count; i++) {
        const mst_storage *storage = mst_session_storage(session, assigns[i].node->src[0].node);
        if (!storage || !storage->initialized) assigns[wanted++] = assigns[i];
    }
    int64_t step = session->step;
    session->step = 0; /* initial values do not depend on when they are asked for */
    mst_status status = wanted ? mst_session_run(session, NULL, 0, assigns, wanted, NULL) : MST_OK;
    session->step = step;
    if (wanted && !status) mst_session_drop_plan(session); /* it will not run again */
    free(assigns);
    return status;
}
