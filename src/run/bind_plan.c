/* Gives a plan its addresses in a slot, the memory of one step in flight.
 *
 * A plan has offsets into the arena of a device, into its constants, or into an entry of the store. Binding adds these
 * offsets to the addresses of that memory for this slot, and lets each backend prepare its calls once. Only the
 * addresses of fed tensors change from step to step. They are set before each run, by a list of patches. If a larger
 * plan makes an arena grow, the slot's `generation` changes, and each plan is bound again at its next use. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "run/session.h"
#include "tensor/buffer.h"

/* ---- addresses ---- */

void *mst_bound_exchange_leaf(const mst_bound_exchange *x, int32_t leaf, int32_t value) {
    return x->rows ? mst_row_exchange_leaf(x->rows, leaf, value) : mst_exchange_leaf(x->sums, leaf, value);
}

static char *leaf_of(const mst_binding *binding, const mst_plan_value *root) {
    const int32_t values = binding->plan->exchange[root->index].num_values;
    return mst_bound_exchange_leaf(&binding->exchange[root->index], (int32_t)(root->offset / values),
                                   (int32_t)(root->offset % values));
}

static char *sum_of(const mst_binding *binding, const mst_plan_value *root) {
    const mst_bound_exchange *x = &binding->exchange[root->index];
    const int32_t value = (int32_t)root->offset;
    return x->rows ? mst_row_exchange_sum(x->rows, value) : mst_exchange_sum(x->sums, value);
}

mst_array mst_binding_array(const mst_binding *binding, int32_t value) {
    const mst_plan *plan = binding->plan;
    const mst_plan_value *v = &plan->value[value], *root = &plan->value[v->root];
    const int32_t device = plan->node[root->node].device;
    mst_array array = {.count = mst_shape_count(v->spec.shape), .dtype = v->spec.dtype, .shape = v->spec.shape};
    char *data = NULL;
    switch (root->space) {
        case MST_IN_ARENA: data = binding->arena[device] ? binding->arena[device] + root->offset : NULL; break;
        case MST_IN_STATE: data = binding->state[root->index]; break;
        case MST_IN_CONSTANT:
            data = binding->constants[device] ? binding->constants[device] + root->offset
                                              : mst_tensor_data(root->constant);
            break;
        case MST_IN_FEED:
        case MST_NOWHERE: break;
        case MST_IN_LEAF: data = leaf_of(binding, root); break;
        case MST_IN_SUM: data = sum_of(binding, root); break;
    }
    array.data = data ? data + v->shift : NULL;
    return array;
}

static mst_status bind_fill(const mst_binding *binding, int32_t value, bool shape_only, mst_array *array) {
    mst_bound_plan *bound = binding->context;
    const mst_plan_value *v = &binding->plan->value[value], *root = &binding->plan->value[v->root];
    *array = mst_binding_array(binding, value);
    if (shape_only) array->data = NULL;
    if (shape_only || root->space != MST_IN_FEED) return MST_OK;
    MST_TRY(mst_grow(&bound->patch, sizeof *bound->patch, bound->num_patches + 1, &bound->patch_capacity));
    bound->patch[bound->num_patches++] = (mst_patch){.data = &array->data, .feed = root->index, .shift = v->shift};
    return MST_OK;
}

/* ---- arenas ---- */

static mst_status bind_grow(mst_session *session, const mst_plan *plan, mst_slot *slot, int d) {
    const mst_program *program = &plan->program[d];
    mst_arena_memory *arena = &slot->arena[d];
    mst_domain *domain = session->devices.device[d].domain;
    const int64_t wanted = program->arena_bytes + program->workspace_bytes;
    void *data;
    if (program->staging_bytes > arena->staging_bytes) {
        MST_TRY(mst_pages_alloc((size_t)program->staging_bytes, &data));
        mst_pages_free(arena->staging, (size_t)arena->staging_bytes);
        arena->staging = data;
        arena->staging_bytes = program->staging_bytes;
        slot->generation++;
    }
    if (wanted <= arena->bytes) return MST_OK;
    MST_TRY(mst_session_check_limit(session, plan, d, wanted - arena->bytes));
    /* the old arena is freed first: nothing in it is needed between steps */
    if (arena->data) domain->type->free(domain, arena->data, (size_t)arena->bytes);
    slot->generation++;
    arena->data = NULL;
    arena->bytes = wanted; /* counted now, so that received strings cannot take this memory meanwhile */
    const mst_status status = domain->type->alloc(domain, (size_t)wanted, &data);
    if (status)
        arena->bytes = 0;
    else
        arena->data = data;
    return status;
}

/* Frees the arena of a step for which there is no room. Else the next step would count it as memory that is in use. */
static void bind_drop(mst_session *session, mst_slot *slot, int d) {
    mst_arena_memory *arena = &slot->arena[d];
    mst_domain *domain = session->devices.device[d].domain;
    if (arena->data) domain->type->free(domain, arena->data, (size_t)arena->bytes);
    arena->data = NULL;
    arena->bytes = 0;
    slot->generation++;
}

/* ---- binding ---- */

/* Exchanges that can never be freed. This list refers to them, so that leak checkers do not report them. */
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static mst_bound_exchange **kept;
static int64_t num_kept, kept_capacity;

static void keep_exchanges(mst_bound_exchange *exchange) {
    pthread_mutex_lock(&kept_lock);
    if (!mst_grow(&kept, sizeof *kept, num_kept + 1, &kept_capacity)) kept[num_kept++] = exchange;
    pthread_mutex_unlock(&kept_lock);
}

/* The memory of exchanges belongs to the task group. The group outlives the session, but a device that comes back after
 * the session was destroyed may outlive the group. So exchanges are then not touched any more. */
static void free_exchanges(mst_session *session, mst_bound_plan *bound) {
    if (!bound->num_exchanges) {
        free(bound->exchange);
        return;
    }
    pthread_mutex_lock(&session->lock); /* the group may be destroyed once `outlived` is set */
    for (int64_t x = 0; x < bound->num_exchanges && !session->outlived; x++) {
        mst_exchange_destroy(bound->exchange[x].sums);
        mst_row_exchange_destroy(bound->exchange[x].rows);
    }
    if (session->outlived)
        keep_exchanges(bound->exchange);
    else
        free(bound->exchange);
    pthread_mutex_unlock(&session->lock);
}

void mst_bound_plan_free(mst_session *session, mst_bound_plan *bound) {
    for (int d = 0; bound->instance && d < session->devices.count; d++)
        if (bound->instance[d]) session->devices.device[d].type->backend->unbind(bound->instance[d]);
    free(bound->instance);
    free(bound->use);
    free(bound->arena);
    free(bound->staging);
    free(bound->team);
    free(bound->arrays);
    free(bound->group_arrays);
    free(bound->patch);
    free_exchanges(session, bound);
    *bound = (mst_bound_plan){0};
}

/* Fills the arrays of sources and outputs of nodes that several devices run, once for all of these devices. */
static mst_status bind_groups(const mst_plan *plan, mst_bound_plan *bound) {
    int64_t count = 0;
    bound->group_arrays = calloc((size_t)plan->num_nodes + 1, sizeof *bound->group_arrays);
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->group >= 0) count += node->num_src + node->num_dst;
    }
    bound->arrays = calloc((size_t)count + 1, sizeof *bound->arrays);
    if (!bound->group_arrays || !bound->arrays) return MST_NO_MEMORY("for a plan");
    mst_array *next = bound->arrays;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->group < 0) continue;
        bound->group_arrays[plan->order[k]] = next;
        for (int i = 0; i < node->num_src; i++)
            MST_TRY(bind_fill(&bound->binding, node->src[i], mst_plan_shape_only(node, i), next++));
        for (int i = 0; i < node->num_dst; i++) MST_TRY(bind_fill(&bound->binding, node->dst + i, false, next++));
    }
    return MST_OK;
}

static mst_status bind_exchange(const mst_session *session, const mst_plan *plan, int64_t x, mst_bound_exchange *out) {
    const mst_plan_exchange *planned = &plan->exchange[x];
    const char *name = plan->node[planned->start].name;
    const mst_exchange_spec sums = {.kind = planned->kind,
                                    .name = name,
                                    .hash = plan->exchange_hash,
                                    .stream = (uint32_t)x,
                                    .num_values = planned->num_values,
                                    .value = planned->value,
                                    .begin = planned->begin};
    const mst_row_exchange_spec rows = {.name = name,
                                        .hash = plan->exchange_hash,
                                        .stream = (uint32_t)x,
                                        .num_values = planned->num_values / 2,
                                        .value = planned->rows};
    if (planned->rows) return mst_row_exchange_create(session->host.group, &rows, &out->rows);
    return mst_exchange_create(session->host.group, &sums, &out->sums);
}

/* Makes the exchanges of the plan. Their memory belongs to the slot. */
static mst_status bind_exchanges(const mst_session *session, const mst_plan *plan, mst_bound_plan *bound) {
    bound->exchange = calloc((size_t)plan->num_exchanges + 1, sizeof *bound->exchange);
    if (!bound->exchange) return MST_NO_MEMORY("for a plan");
    for (int64_t x = 0; x < plan->num_exchanges; x++) {
        MST_TRY(bind_exchange(session, plan, x, &bound->exchange[x]));
        bound->num_exchanges++;
    }
    return MST_OK;
}

static mst_status bind(mst_session *session, mst_cached_plan *cached, mst_slot *slot, mst_bound_plan *bound) {
    const size_t count = (size_t)session->devices.count;
    bound->instance = calloc(count, sizeof *bound->instance);
    bound->arena = calloc(count, sizeof *bound->arena);
    bound->staging = calloc(count, sizeof *bound->staging);
    bound->team = calloc(count, sizeof *bound->team);
    bound->use = calloc((size_t)cached->num_uses + 1, sizeof *bound->use);
    if (!bound->instance || !bound->arena || !bound->staging || !bound->team || !bound->use)
        return MST_NO_MEMORY("for a plan");
    MST_TRY(bind_exchanges(session, cached->plan, bound));
    memcpy(bound->use, cached->use, (size_t)cached->num_uses * sizeof *bound->use);
    for (int d = 0; d < session->devices.count; d++) {
        bound->arena[d] = slot->arena[d].data;
        bound->staging[d] = slot->arena[d].staging;
        bound->team[d] = mst_executor_team(session->executor, d);
    }
    bound->binding = (mst_binding){.plan = cached->plan,
                                   .arena = bound->arena,
                                   .constants = cached->constants,
                                   .staging = bound->staging,
                                   .state = cached->data,
                                   .exchange = bound->exchange,
                                   .step = &slot->frame.step,
                                   .team = bound->team,
                                   .fill = bind_fill,
                                   .context = bound};
    MST_TRY(bind_groups(cached->plan, bound));
    bound->binding.group_arrays = bound->group_arrays;
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const int32_t d = cached->devices[i];
        MST_TRY(session->devices.device[d].type->backend->bind(cached->executable[d], &bound->binding,
                                                               &bound->instance[d]));
    }
    return MST_OK;
}

/* A generous estimate of the memory that libraries allocate themselves in a first run, such as small blocks and buffers
 * of each thread. */
enum { MOST_OF_A_FIRST_RUN = 8 << 20 };

bool mst_session_is_bound(const mst_session *session, const mst_cached_plan *cached, int index) {
    return cached->bound[index].generation == session->slots[index].generation;
}

mst_status mst_session_bind(mst_session *session, mst_cached_plan *cached, int index) {
    mst_slot *slot = &session->slots[index];
    mst_bound_plan *bound = &cached->bound[index];
    int64_t fresh = 0;
    for (int32_t i = 0; i < cached->num_devices; i++) {
        const int32_t d = cached->devices[i];
        const int64_t before = slot->arena[d].bytes;
        MST_TRY(bind_grow(session, cached->plan, slot, d));
        const bool grew = slot->arena[d].bytes > before && session->devices.device[d].domain->type->host;
        if (grew) fresh += slot->arena[d].bytes; /* all of it: the old arena was freed */
    }
    mst_bound_plan_free(session, bound);
    mst_status status = bind(session, cached, slot, bound);
    if (!status && fresh) status = mst_session_check_room(cached, fresh + MOST_OF_A_FIRST_RUN);
    if (!status) status = mst_memory_probe(MOST_OF_A_FIRST_RUN);
    if (!status) {
        bound->generation = slot->generation;
        return MST_OK;
    }
    mst_bound_plan_free(session, bound);
    for (int32_t i = 0; i < cached->num_devices && fresh; i++) bind_drop(session, slot, cached->devices[i]);
    return status;
}
