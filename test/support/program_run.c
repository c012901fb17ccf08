/* A program as a graph, run by sessions. */
#include <stdlib.h>
#include <string.h>

#include "muster/muster.h"
#include "strategy/apply.h"
#include "support/parts.h"
#include "support/program.h"

extern const mst_op mst_op_gather_grad;

typedef struct builder {
    const program *p;
    const program_place *place;
    mst_graph *graph;
    mst_value value[PROGRAM_NODES];
    mst_value penalty[PROGRAM_NODES]; /* by update */
} builder;

/* A session, or the parts of one over several tasks. */
typedef struct runner {
    mst_session *session;
    parts *parts;
} runner;

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

/* Device I of all tasks. */
static void print_device(const builder *b, int i, char *text, size_t size) {
    const program_place *place = b->place;
    if (place->tasks > 1)
        snprintf(text, size, "/job:t/task:%d/%s:%d", i / place->num % place->tasks, place->type, i % place->num);
    else
        snprintf(text, size, "/%s:%d", place->type, i % place->num);
}

static mst_value variable(const builder *b, int n) {
    const program_node *node = &b->p->node[n];
    char name[32], devices[512] = "", one[64];
    const int task = node->device >= 0 ? node->device / b->place->num : 0; /* its copies are in one task */
    for (int d = 0; d < b->place->num; d++) {
        print_device(b, task * b->place->num + d, one, sizeof one);
        snprintf(devices + strlen(devices), sizeof devices - strlen(devices), "%s%s", d ? "," : "", one);
    }
    snprintf(name, sizeof name, "n%d", n);
    return mst_variable(b->graph, name, mst_values(b->graph, dtype_of(b->p), shape_of(node->form), node->value),
                        .mirrored = node->mirrored ? devices : NULL, .l2 = node->penalty ? 2 : 0);
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
    for (int n = 0; n < b->p->num_nodes; n++) {
        const program_node *node = &b->p->node[n];
        char device[64] = "";
        int pushed = 0;
        if (node->device >= 0) print_device(b, node->device, device, sizeof device);
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

static mst_status get_variable(const runner *at, mst_value variable, mst_tensor **out) {
    if (at->parts) return parts_get_variable(at->parts, variable, out);
    return mst_session_get_variable(at->session, variable, out);
}

static mst_status run_once(const runner *at, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                           int num_fetches, mst_tensor **outputs) {
    if (at->parts) return parts_run(at->parts, feeds, num_feeds, fetches, num_fetches, outputs);
    return mst_session_run(at->session, feeds, num_feeds, fetches, num_fetches, outputs);
}

static bool variables_agree(const builder *b, const runner *at, int r, const program_values *wanted, char **why) {
    for (int n = 0; n < b->p->num_nodes; n++) {
        const program_node *node = &b->p->node[n];
        if (!program_is_variable(node->kind)) continue;
        mst_tensor *got;
        if (get_variable(at, b->value[n], &got)) return failed(why);
        const bool other = differs(why, r, "after it", n, got, wanted->state[n], program_elements(node->form));
        mst_tensor_release(got);
        if (other) return false;
    }
    return true;
}

static bool run_agrees(const builder *b, const runner *at, int r, const program_values *wanted, char **why) {
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
    bool agrees = !run_once(at, &feed, run->fed >= 0, fetch, run->num_fetches, got) || failed(why);
    mst_tensor_release(feed.tensor);
    for (int i = 0; i < run->num_fetches; i++) {
        const program_form form = b->p->node[run->fetch[i]].form;
        if (agrees && form != FORM_NONE)
            agrees = !differs(why, r, "fetch of", run->fetch[i], got[i], wanted->fetch[i], program_elements(form));
        mst_tensor_release(got[i]);
    }
    return agrees && variables_agree(b, at, r, wanted, why);
}

static bool open_runner(const builder *b, runner *at, parts *all) {
    const program_place *place = b->place;
    if (mst_graph_check(b->graph)) return false;
    if (place->tasks > 1) {
        at->parts = all;
        return !parts_open(all, b->graph, place->tasks, place->devices, b->p->check_numerics) &&
               !parts_init_variables(all);
    }
    const mst_session_options options = {.devices = place->devices, .check_numerics = b->p->check_numerics};
    return !mst_session_create(b->graph, &options, &at->session) && !mst_session_init_variables(at->session);
}

bool program_agrees(const program *p, const program_place *place, const program_values *wanted, char **why) {
    builder b = {.p = p, .place = place};
    runner at = {NULL, NULL};
    parts all;
    *why = NULL;
    if (mst_graph_create(&b.graph)) return failed(why);
    build(&b);
    bool agrees = open_runner(&b, &at, &all);
    if (!agrees) failed(why);
    for (int r = 0; r < p->num_runs && agrees && !wanted[r].inexact; r++)
        agrees = run_agrees(&b, &at, r, &wanted[r], why);
    if (at.parts) parts_close(at.parts);
    mst_session_destroy(at.session);
    mst_graph_destroy(b.graph);
    return agrees;
}
