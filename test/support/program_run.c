/* A program as a graph, run by sessions. */
#include <stdlib.h>
#include <string.h>

#include "muster/muster.h"
#include "strategy/apply.h"
#include "support/program.h"

extern const mst_op mst_op_gather_grad;

typedef struct builder {
    const program *p;
    const char *type; /* of the devices */
    int num_devices;
    mst_graph *graph;
    mst_value value[PROGRAM_NODES];
    mst_value penalty[PROGRAM_NODES]; /* by update */
    char devices[256];                /* all of them, for mirrored variables */
} builder;

static mst_dtype dtype_of(const program *p) {
    return p->dtype == PROGRAM_F64 ? MST_F64 : p->dtype == PROGRAM_I64 ? MST_I64 : MST_F32;
}

static mst_shape shape_of(program_form form) {
    switch (form) {
        case FORM_SQUARE: return MST_SHAPE(2, 2);
        case FORM_FLAT: return MST_SHAPE(4);
        case FORM_ROW: return MST_SHAPE(2);
        default: return MST_SCALAR;
    }
}

static mst_value update(builder *b, int n) {
    const program_node *node = &b->p->node[n];
    mst_value variable[PROGRAM_SOURCES], gradient[PROGRAM_SOURCES];
    for (int i = 0; i < node->num_variables; i++) variable[i] = b->value[node->src[i]];
    for (int i = node->num_variables; i < node->num_src; i++)
        gradient[i - node->num_variables] = b->value[node->src[i]];
    mst_optimizer sgd = mst_sgd(.learning_rate = 1), optimizer;
    if (node->averages) sgd.ema_decay = 0.5;
    if (node->clips) sgd.clip_global_norm = 1e30;
    if (!mst_resolve_optimizer(b->graph, &sgd, &optimizer)) return MST_NONE;
    const mst_update update = {.graph = b->graph,
                               .optimizer = &optimizer,
                               .num_variables = node->num_variables,
                               .num_shards = node->num_shards,
                               .variables = variable,
                               .gradients = gradient,
                               .global_step = mst_global_step(b->graph)};
    mst_update_values built = {0};
    mst_build_update(&update, &built);
    b->penalty[n] = built.penalty;
    return built.train;
}

static mst_value variable(const builder *b, int n) {
    const program_node *node = &b->p->node[n];
    char name[32];
    snprintf(name, sizeof name, "n%d", n);
    return mst_variable(b->graph, name, mst_values(b->graph, dtype_of(b->p), shape_of(node->form), node->value),
                        .mirrored = node->mirrored ? b->devices : NULL, .l2 = node->penalty ? 2 : 0);
}

static mst_value make(builder *b, int n) {
    const program_node *node = &b->p->node[n];
    const mst_value none = MST_NONE, x = node->num_src > 0 ? b->value[node->src[0]] : none,
                    y = node->num_src > 1 ? b->value[node->src[1]] : none;
    const mst_value rows =
        mst_values(b->graph, MST_I32, MST_SHAPE(2), (const double[]){node->index[0], node->index[1]});
    mst_value all[PROGRAM_SOURCES];
    switch (node->kind) {
        case PROGRAM_VARIABLE: return variable(b, n);
        case PROGRAM_AVERAGE: return mst_moving_average(x);
        case PROGRAM_CONSTANT: return mst_values(b->graph, dtype_of(b->p), shape_of(node->form), node->value);
        case PROGRAM_IDENTITY: return mst_identity(x);
        case PROGRAM_STOP_GRADIENT: return mst_stop_gradient(x);
        case PROGRAM_RESHAPE: return mst_reshape(x, shape_of(node->form));
        case PROGRAM_NEG: return mst_neg(x);
        case PROGRAM_RELU: return mst_relu(x);
        case PROGRAM_ADD:
        case PROGRAM_ADD_ROW: return mst_add(x, y);
        case PROGRAM_SUB: return mst_sub(x, y);
        case PROGRAM_MUL: return mst_mul(x, y);
        case PROGRAM_SUM: return mst_reduce_sum(x, .axes = MST_AXES(0));
        case PROGRAM_TRANSPOSE: return mst_transpose(x);
        case PROGRAM_ZEROS_LIKE: return mst_zeros_like(x);
        case PROGRAM_MATMUL:
            return mst_matmul(x, y, .transpose_a = node->transpose_a, .transpose_b = node->transpose_b);
        case PROGRAM_GATHER: return mst_gather(x, rows, 0);
        case PROGRAM_GATHER_GRAD:
            return mst_call(b->graph, &mst_op_gather_grad, 3, (const mst_value[]){x, rows, x}, NULL);
        case PROGRAM_GROUP:
            for (int i = 0; i < node->num_src; i++) all[i] = b->value[node->src[i]];
            return mst_group(all, node->num_src);
        case PROGRAM_ASSIGN: return mst_assign(x, y);
        case PROGRAM_ASSIGN_ADD: return mst_assign_add(x, y);
        case PROGRAM_ASSIGN_SUB: return mst_assign_sub(x, y);
        case PROGRAM_UPDATE: return update(b, n);
        case PROGRAM_PENALTY: return b->penalty[node->src[0]];
        default: return none;
    }
}

static void build(builder *b) {
    for (int d = 0; d < b->num_devices; d++)
        snprintf(b->devices + strlen(b->devices), sizeof b->devices - strlen(b->devices), "%s/%s:%d", d ? "," : "",
                 b->type, d);
    for (int n = 0; n < b->p->num_nodes; n++) {
        const program_node *node = &b->p->node[n];
        char device[32] = "";
        int pushed = 0;
        if (node->device >= 0) snprintf(device, sizeof device, "/%s:%d", b->type, node->device % b->num_devices);
        for (int i = 0; i < node->num_control; i++) pushed += mst_control_push(b->graph, b->value[node->control[i]]);
        mst_with_device (b->graph, device) b->value[n] = make(b, n);
        for (int i = 0; i < pushed; i++) mst_control_pop(b->graph);
    }
}

/* ---- running ---- */

static bool differs(char **why, int run, const char *what, int n, const mst_tensor *got, const double *wanted,
                    int count) {
    bool same = mst_tensor_count(got) == count;
    for (int i = 0; i < count && same; i++) same = mst_tensor_get(got, i) == wanted[i];
    if (same) return false;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "run %d, %s n%d:", run, what, n);
    for (int64_t i = 0; i < mst_tensor_count(got); i++) fprintf(file, " %g", mst_tensor_get(got, i));
    fprintf(file, ", by the rule:");
    for (int i = 0; i < count; i++) fprintf(file, " %g", wanted[i]);
    fclose(file);
    *why = text;
    return true;
}

static bool failed(char **why) {
    *why = strdup(mst_error()->message);
    return false;
}

static bool variables_agree(const builder *b, mst_session *session, int r, const program_values *wanted, char **why) {
    for (int n = 0; n < b->p->num_nodes; n++) {
        const program_node *node = &b->p->node[n];
        if (!program_is_variable(node->kind)) continue;
        mst_tensor *got;
        if (mst_session_get_variable(session, b->value[n], &got)) return failed(why);
        const bool other = differs(why, r, "after it", n, got, wanted->state[n], program_elements(node->form));
        mst_tensor_release(got);
        if (other) return false;
    }
    return true;
}

static bool run_agrees(const builder *b, mst_session *session, int r, const program_values *wanted, char **why) {
    const program_run *run = &b->p->run[r];
    mst_value fetch[PROGRAM_FETCHES];
    mst_tensor *got[PROGRAM_FETCHES] = {NULL};
    for (int i = 0; i < run->num_fetches; i++) fetch[i] = b->value[run->fetch[i]];
    mst_feed feed = {0};
    if (run->fed >= 0) {
        const program_form form = b->p->node[run->fed].form;
        if (mst_tensor_create(dtype_of(b->p), shape_of(form), &feed.tensor)) return failed(why);
        for (int i = 0; i < program_elements(form); i++) mst_tensor_set(feed.tensor, i, run->value[i]);
        feed.value = b->value[run->fed];
    }
    bool agrees = !mst_session_run(session, &feed, run->fed >= 0, fetch, run->num_fetches, got) || failed(why);
    mst_tensor_release(feed.tensor);
    for (int i = 0; i < run->num_fetches; i++) {
        const program_form form = b->p->node[run->fetch[i]].form;
        if (agrees && form != FORM_NONE)
            agrees = !differs(why, r, "fetch of", run->fetch[i], got[i], wanted->fetch[i], program_elements(form));
        mst_tensor_release(got[i]);
    }
    return agrees && variables_agree(b, session, r, wanted, why);
}

bool program_agrees(const program *p, const char *devices, const char *type, int num, const program_values *wanted,
                    char **why) {
    builder b = {.p = p, .type = type, .num_devices = num};
    mst_session *session = NULL;
    *why = NULL;
    if (mst_graph_create(&b.graph)) return failed(why);
    build(&b);
    const mst_session_options options = {.devices = devices, .check_numerics = p->check_numerics};
    bool agrees = !mst_graph_check(b.graph) && !mst_session_create(b.graph, &options, &session) &&
                  !mst_session_init_variables(session);
    if (!agrees) failed(why);
    for (int r = 0; r < p->num_runs && agrees && !wanted[r].inexact; r++)
        agrees = run_agrees(&b, session, r, &wanted[r], why);
    mst_session_destroy(session);
    mst_graph_destroy(b.graph);
    return agrees;
}
