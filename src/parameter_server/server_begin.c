/* The beginning of a round: makes the graph, the variables and the session from the chief's BEGIN. */
#include "parameter_server/server_state.h"
#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "muster/ops.h"
#include "parameter_server/message_body.h"
#include "parameter_server/ps_kept.h"
#include "store/store.h"

/* The placeholder fed with gradient V; with SUFFIX, the one fed with the numbers of its rows. */
static mst_value find_placeholder(const mst_server *s, int32_t v, const char *suffix) {
    char name[32];
    snprintf(name, sizeof name, "gradient_%d%s", (int)v, suffix);
    return (mst_value){.node = mst_graph_find(s->program.graph, name)};
}

static mst_status wrong_gradient(mst_value fed, const mst_server_variable *at) {
    return MST_FAIL(MST_INVALID, "'%s' does not fit variable '%s' as its gradient", mst_value_name(fed), at->name);
}

/* Sets up the feeds of a gradient that has only some rows. Memory is allocated when the first rows come. */
static mst_status find_rows(mst_server_variable *at, mst_value fed, mst_value numbers) {
    const mst_spec spec = mst_value_spec(fed), number = mst_value_spec(numbers);
    const int64_t count = mst_shape_count(at->spec.shape);
    if (spec.dtype != at->spec.dtype || spec.shape.ndim != 2 || number.dtype != MST_I64 || number.shape.ndim != 1 ||
        count <= 0)
        return wrong_gradient(fed, at);
    at->is_sparse = true;
    at->num_rows = at->spec.shape.dim[0];
    at->columns = count / at->num_rows;
    at->has_squares = spec.shape.dim[1] == 2 * at->columns;
    if (!at->has_squares && spec.shape.dim[1] != at->columns) return wrong_gradient(fed, at);
    at->columns = spec.shape.dim[1];
    at->changed = calloc((size_t)at->num_rows, sizeof *at->changed);
    return at->changed ? MST_OK : MST_NO_MEMORY("for the rows of '%s'", at->name);
}

static mst_status find_variable(mst_server *s, int32_t v, mst_value variable) {
    mst_server_variable *at = &s->variables.at[v];
    const mst_value fed = find_placeholder(s, v, ""), numbers = find_placeholder(s, v, "_rows");
    const mst_spec spec = mst_value_spec(variable), gradient = mst_value_spec(fed);
    const mst_variable_options *options = mst_node_options(variable.node);
    at->is_reported = options->kind == MST_STATE_METRIC;
    at->adds = options->join == MST_JOIN_ADD;
    at->name = mst_value_name(variable);
    at->spec = spec;
    if (spec.dtype != MST_F32 && spec.dtype != MST_F64)
        return MST_FAIL(MST_UNIMPLEMENTED, "variable '%s' is %s, but parameter servers train only f32 and f64",
                        at->name, mst_dtype_name(spec.dtype));
    at->bytes = (size_t)mst_shape_count(spec.shape) * mst_dtype_size(spec.dtype);
    at->feed = s->gradients.num_feeds;
    s->variables.bytes += at->bytes;
    s->gradients.feed[s->gradients.num_feeds++].value = fed;
    at->offset = s->variables.body_bytes;
    s->variables.body_bytes += mst_message_body_aligned(at->bytes);
    if (numbers.node) {
        s->gradients.feed[s->gradients.num_feeds++].value = numbers;
        s->variables.has_sparse = true;
        return find_rows(at, fed, numbers);
    }
    if (spec.dtype != gradient.dtype || !mst_shape_equal(spec.shape, gradient.shape)) return wrong_gradient(fed, at);
    if (!s->job.synchronous) return MST_OK; /* an asynchronous job feeds gradients from their messages */
    MST_TRY(mst_tensor_create(spec.dtype, spec.shape, &at->sum));
    s->gradients.feed[at->feed].tensor = at->sum;
    return MST_OK;
}

/* Finds the variables, in the order of the graph: the gradient of variable I is fed to "gradient_I". */
static mst_status find_variables(mst_server *s) {
    int32_t count = 0;
    while (find_placeholder(s, count, "").node) count++;
    s->variables.count = count;
    s->variables.at = calloc((size_t)count + 1, sizeof *s->variables.at);
    s->gradients.feed = calloc(2 * (size_t)count + 1, sizeof *s->gradients.feed);
    if (!s->variables.at || !s->gradients.feed) return MST_NO_MEMORY("for %d variables", (int)count);
    mst_value *all = calloc((size_t)count + 1, sizeof *all);
    if (!all) return MST_NO_MEMORY("for %d variables", (int)count);
    const int found = mst_collection(s->program.graph, MST_UPDATED, NULL, all, count);
    mst_status status = found == count ? MST_OK
                                       : MST_FAIL(MST_INVALID,
                                                  "the chief's graph updates %d variables, but has gradients of %d: "
                                                  "run the same version of Muster on all tasks",
                                                  found, (int)count);
    for (int32_t v = 0; v < count && !status; v++) status = find_variable(s, v, all[v]);
    free(all);
    return status;
}

/* Restores the entries of STATE that neither describe the job nor are kept by callbacks. */
static mst_status restore_variables(mst_server *s, const mst_snapshot *state) {
    mst_snapshot *own;
    MST_TRY(mst_snapshot_create(&own));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(state) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        if (strcmp(info.container, MST_PS_CONTAINER) != 0 && !mst_ps_is_kept(&info))
            status = mst_snapshot_add(own, info.container, info.name, info.kind, mst_snapshot_value(state, i));
    }
    if (!status) status = mst_store_restore(mst_session_store(s->program.session), own);
    mst_snapshot_release(own);
    return status;
}

static mst_status make_session(mst_server *s, const mst_snapshot *state) {
    const mst_task_info self = mst_cluster_task(s->options.cluster, s->self);
    mst_node *train = mst_graph_find(s->program.graph, "train");
    if (!train)
        return MST_FAIL(MST_INVALID,
                        "the chief's graph has no node 'train': run the same version of Muster on all tasks");
    s->program.train = (mst_value){.node = train};
    const mst_session_options options = {.devices = s->options.devices,
                                         .job_name = self.job,
                                         .task_index = self.index,
                                         .timeout = s->options.step_timeout};
    MST_TRY(mst_session_create_here(s->program.graph, &options, &s->program.session));
    MST_TRY(mst_session_init_variables(s->program.session));
    return restore_variables(s, state);
}

/* Reads the progress of this server from the state; if the state has none, uses the chief's position. For synchronous
 * servers the progress of any server is used, even if there were fewer tasks. */
static mst_status read_progress(mst_server *s, const mst_snapshot *state) {
    const int32_t self = mst_cluster_task(s->options.cluster, s->self).index;
    mst_store *store = mst_session_store(s->program.session);
    mst_tensor *step;
    int64_t updates = -1;
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_ps_progress progress = {.position = s->job.position};
        if (mst_ps_progress_find(state, self, w, &progress) ||
            (s->job.synchronous && mst_ps_progress_find_any(state, &progress)))
            updates = progress.updates;
        s->position[w] = progress.position;
    }
    MST_TRY(mst_store_get(store, NULL, MST_STATE_GLOBAL_STEP, &step));
    if (updates >= 0) mst_tensor_set(step, 0, (double)updates);
    s->step = (int64_t)mst_tensor_get(step, 0);
    const mst_status status = mst_store_set(store, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, step);
    mst_tensor_release(step);
    return status;
}

static void free_failed(mst_server *s) {
    for (mst_task_message *message = s->program.failed, *next; message; message = next) {
        next = message->next;
        mst_task_message_free(message);
    }
}

void mst_server_clear(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_drop_gradients(s, w);
        s->worker[w].has = -1;
        s->worker[w].finished = s->worker[w].has_state = false;
    }
    mst_server_clear_order(s);
    for (int32_t v = 0; s->variables.at && v < s->variables.count; v++) {
        mst_tensor_release(s->variables.at[v].sum);
        mst_tensor_release(s->variables.at[v].number);
        free(s->variables.at[v].changed);
    }
    mst_server_release_values(s, &s->versions.latest);
    mst_server_release_values(s, &s->versions.previous);
    mst_session_destroy(s->program.session);
    free_failed(s);
    mst_graph_destroy(s->program.graph);
    free(s->variables.at);
    mst_server_clear_gradients(s);
    s->program = (mst_server_program){.graph = NULL};
    s->variables = (mst_server_variables){.at = NULL};
    s->end.is_closed = s->end.stops = false;
    s->waiting.since = 0;
}

static mst_status keep_of_callbacks(mst_server *s, const mst_snapshot *state) {
    mst_snapshot *kept;
    MST_TRY(mst_ps_kept_select(state, &kept));
    mst_snapshot_release(s->kept);
    s->kept = kept;
    return MST_OK;
}

static void say_what_it_keeps(mst_server *s) {
    int32_t count = 0;
    size_t bytes = 0;
    for (int32_t v = 0; v < s->variables.count; v++) {
        if (s->variables.at[v].is_reported) continue;
        count++;
        bytes += s->variables.at[v].bytes;
    }
    if (s->job.is_last) return;
    if (s->round)
        mst_server_say(s, "begins again at step %lld", (long long)s->step);
    else
        mst_server_say(s, "keeps %d variables, %zu bytes", (int)count, bytes);
}

/* Tells workers that their gradients are dropped; otherwise they would wait for answers. */
static mst_status tell_who_waits(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_server_worker *worker = &s->worker[w];
        const mst_task_message *last = worker->listed;
        while (last && last->next) last = last->next;
        if (last || worker->gradients)
            MST_TRY(mst_server_send_empty(s, w, last ? last->head.request : worker->request));
    }
    return MST_OK;
}

mst_status mst_server_begin(mst_server *s, const mst_task_message *message) {
    mst_snapshot *state;
    if (message->from != s->chief || message->head.round <= s->round) return mst_server_answer(s, message->from);
    MST_TRY(tell_who_waits(s));
    mst_server_clear(s);
    MST_TRY(mst_ps_begin_decode(message->body, message->bytes, &s->job, &s->program.graph, &state));
    mst_status status = find_variables(s);
    if (!status) status = mst_server_make_leaves(s);
    if (!status) status = mst_server_begin_order(s);
    if (!status) status = make_session(s, state);
    if (!status) status = read_progress(s, state);
    if (!status) status = keep_of_callbacks(s, state);
    mst_snapshot_release(state);
    MST_TRY(status);
    say_what_it_keeps(s);
    memset(s->counts.staleness, 0, sizeof s->counts.staleness);
    for (int32_t w = 0; w < s->num_workers; w++) s->worker[w].read = s->step; /* all workers train on from this step */
    s->round = message->head.round;
    mst_task_status_begin(&s->status, MST_TASK_SERVES);
    MST_TRY(mst_server_begin_log(s));
    s->worker[s->chief].waits = true;
    return mst_server_answer_waiting(s);
}
