#include "run/bound_bodies.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "op/control/loop.h"
#include "plan/bodies.h"
#include "run/session.h"

typedef struct bound_body {
    mst_bound_body body; /* the first member, so a kernel's pointer to it also points to the whole */
    const mst_plan_body *planned;
    void *executable, *instance;
    mst_binding binding;
    char *arena, *constants; /* of the body's one device */
    mst_team *team;
    const mst_array **group_arrays; /* all NULL, because there is one device */
    mst_patch *patch;               /* where the addresses of the inputs go */
    int64_t num_patches, patch_capacity;
} bound_body;

static mst_status body_fill(const mst_binding *binding, int32_t value, bool shape_only, mst_array *array) {
    bound_body *b = binding->context;
    const mst_plan_value *v = &binding->plan->value[value], *root = &binding->plan->value[v->root];
    *array = mst_binding_array(binding, value);
    if (shape_only) array->data = NULL;
    if (shape_only || root->space != MST_IN_FEED) return MST_OK;
    MST_TRY(mst_grow(&b->patch, sizeof *b->patch, b->num_patches + 1, &b->patch_capacity));
    b->patch[b->num_patches++] = (mst_patch){.data = &array->data, .feed = root->index, .shift = v->shift};
    return MST_OK;
}

static void body_fetch(const bound_body *b, const mst_plan_node *node, void *const *src, void *const *dst) {
    const mst_plan *plan = b->planned->plan;
    const mst_plan_value *v = &plan->value[node->src[0]], *root = &plan->value[v->root];
    const mst_array array = mst_binding_array(&b->binding, node->src[0]);
    const size_t bytes = (size_t)array.count * mst_dtype_size(array.dtype);
    const char *data = root->space == MST_IN_FEED ? (const char *)src[root->index] + v->shift : array.data;
    if (bytes) memcpy(dst[b->planned->output[node->port]], data, bytes);
}

static mst_status body_run(mst_bound_body *body, void *const *src, void *const *dst) {
    const bound_body *b = (const bound_body *)body;
    const mst_plan *plan = b->planned->plan;
    const mst_program *program = &plan->program[0];
    for (int64_t i = 0; i < b->num_patches; i++)
        *b->patch[i].data = src[b->patch[i].feed] ? (char *)src[b->patch[i].feed] + b->patch[i].shift : NULL;
    for (int64_t i = 0; i < program->num_actions; i++) {
        const mst_action *action = &program->action[i];
        if (action->kind == MST_DO_RUN) MST_TRY(mst_cpu_run(b->instance, action->first, action->end));
        if (action->kind == MST_DO_FETCH) body_fetch(b, &plan->node[action->first], src, dst);
    }
    return MST_OK;
}

static void body_free(bound_body *b) {
    if (!b) return;
    mst_backend_cpu.unbind(b->instance);
    mst_backend_cpu.destroy(b->executable);
    free(b->group_arrays);
    free(b->patch);
    free(b);
}

static mst_status body_bind(bound_body *b, const mst_binding *outer, int device, char *workspace) {
    const mst_plan *plan = b->planned->plan;
    b->body.run = body_run;
    b->arena = workspace + b->planned->offset;
    b->team = outer->team[device];
    b->group_arrays = calloc((size_t)plan->num_nodes + 1, sizeof(mst_array *));
    if (!b->group_arrays) return MST_NO_MEMORY("for a plan");
    b->binding = (mst_binding){.plan = plan,
                               .arena = &b->arena,
                               .constants = &b->constants,
                               .step = outer->step,
                               .team = &b->team,
                               .group_arrays = b->group_arrays,
                               .fill = body_fill,
                               .context = b};
    MST_TRY(mst_backend_cpu.compile(plan, 0, &b->executable));
    return mst_backend_cpu.bind(b->executable, &b->binding, &b->instance);
}

mst_status mst_bound_bodies_create(const mst_binding *outer, const mst_plan_node *node, int device, char *workspace,
                                   void **out) {
    bound_body **list = calloc((size_t)node->num_bodies + 1, sizeof *list); /* a NULL entry marks the end */
    mst_status status = list ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int i = 0; i < node->num_bodies && !status; i++) {
        if (!(list[i] = calloc(1, sizeof **list))) status = MST_NO_MEMORY("for a plan");
        if (status) break;
        list[i]->planned = &node->body[i];
        status = body_bind(list[i], outer, device, workspace);
    }
    if (status) {
        mst_bound_bodies_free(list);
        list = NULL;
    }
    *out = list;
    return status;
}

void mst_bound_bodies_free(void *bodies) {
    bound_body **list = bodies;
    for (int i = 0; list && list[i]; i++) body_free(list[i]);
    free(list);
}
