#include "parameter_server/ps_client_inside.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "cluster/instructions.h"
#include "messages/state_message.h"
#include "parameter_server/ps_begin.h"
#include "parameter_server/ps_kept.h"
#include "store/store.h"

/* ---- opening and closing ---- */

mst_status mst_ps_client_open(const mst_task_options *options, const mst_mail_options *mail, mst_ps_client **out) {
    mst_ps_client *c = calloc(1, sizeof *c);
    if (!c) return MST_NO_MEMORY("for a task");
    mst_mail_options own = *mail;
    own.protocol = &mst_ps_protocol;
    own.borrows = true;
    c->options = *options;
    c->status = mail->status;
    c->self = mst_cluster_self(options->cluster);
    c->num_ps = mst_cluster_num_ps(options->cluster);
    c->server = calloc((size_t)c->num_ps, sizeof *c->server);
    mst_status status = c->server ? mst_mail_open(&own, &c->mail) : MST_NO_MEMORY("for a task");
    if (status) {
        mst_ps_client_close(c);
        return status;
    }
    randombytes_buf(&c->request, sizeof c->request);
    c->request >>= 1; /* other numbers than requests of earlier processes; half of the range is left for counting */
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].task = mst_cluster_find(options->cluster, "ps", p);
    *out = c;
    return MST_OK;
}

static void free_program(mst_ps_client *c) {
    for (int32_t p = 0; p < c->num_ps && c->graph; p++) mst_graph_destroy(c->graph[p]);
    free(c->graph);
    free(c->fingerprint);
    c->graph = NULL, c->fingerprint = NULL;
}

void mst_ps_client_close(mst_ps_client *c) {
    if (!c) return;
    mst_ps_values_free(&c->values);
    mst_ps_gradients_free(&c->gradients, c->mail);
    if (c->failed) mst_mail_give_up(c->mail);
    mst_mail_close(c->mail);
    mst_snapshot_release(c->kept);
    free_program(c);
    mst_store_release(c->program.store);
    free(c->server);
    free(c);
}

int32_t mst_ps_client_num_servers(const mst_ps_client *c) {
    return c->num_ps;
}

/* ---- values ---- */

/* Gives the store the values that all servers have sent. */
static mst_status store_values(mst_ps_client *c) {
    return mst_ps_values_store(&c->values, c->program.store, c->server[0].has);
}

/* ---- joining ---- */

static bool is_chief(const mst_ps_client *c) {
    return mst_cluster_is_chief(c->options.cluster);
}

/* Keeps the state of the store: servers that are started again begin with it. */
static mst_status keep_state_of_servers(mst_ps_client *c) {
    c->kept_at = mst_clock_now();
    return mst_store_snapshot_again(c->program.store, &c->kept);
}

/* On the chief, if no state is kept: keeps the state of this process. Call it before the store gets values of servers:
 * servers could not begin with these values alone, since slots would be missing. */
static mst_status keep_own_state(mst_ps_client *c) {
    if (c->kept || !is_chief(c)) return MST_OK;
    c->kept_position = c->program.position;
    return keep_state_of_servers(c);
}

/* Whether the servers give values one after another, because they bound the staleness. */
static bool gives_in_turn(const mst_ps_client *c) {
    return c->num_ps > 1 && !c->program.synchronous && c->program.staleness >= 0;
}

/* On the chief: makes all servers begin with the kept state, or with that of the store if none is kept. IS_LAST: all
 * workers have made their last step. */
static mst_status send_begin(mst_ps_client *c, uint32_t round, bool is_last) {
    const mst_ps_program *o = &c->program;
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    mst_status status = MST_OK;
    const mst_ps_job job = {.synchronous = o->synchronous,
                            .aggregate = o->aggregate,
                            .staleness = o->staleness,
                            .in_turn = gives_in_turn(c),
                            .num_shards = o->num_shards,
                            .last_step = o->last_step,
                            .position = c->kept_position,
                            .is_again = c->round > 0,
                            .is_last = is_last};
    for (int32_t p = 0; p < c->num_ps && !status; p++) {
        void *data = NULL;
        mst_snapshot *state;
        status = mst_ps_cut_state(&c->values.copies, p, c->kept, &state);
        if (status) break;
        status = mst_ps_begin_encode(&job, p, c->graph[p], state, &data, &body[p].bytes);
        mst_snapshot_release(state);
        body[p].data = data;
    }
    const mst_ps_request r = {.head = {.kind = MST_PS_BEGIN, .round = round},
                              .answer = MST_PS_VALUES,
                              .body = body,
                              .joins = true,
                              .is_last = is_last};
    if (!status) status = mst_ps_ask(c, &r);
    if (!status) c->began = round;
    for (int32_t p = 0; p < c->num_ps; p++) free((void *)(uintptr_t)body[p].data);
    free(body);
    return status;
}

/* Says HELLO to all servers, and takes their answers. */
static mst_status say_hello(mst_ps_client *c, int64_t number) {
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    for (int32_t p = 0; p < c->num_ps; p++)
        body[p] = (mst_iov){c->fingerprint, (size_t)c->program.num_fingerprints * sizeof *c->fingerprint};
    const mst_ps_request r = {.head = {.kind = MST_PS_HELLO, .number = number, .step = c->finished},
                              .answer = MST_PS_VALUES,
                              .body = body,
                              .joins = true};
    const mst_status status = mst_ps_ask(c, &r);
    free(body);
    return status;
}

/* Whether all servers have values of one round; *LAST is the greatest round of a server. */
static bool is_one_round(const mst_ps_client *c, uint32_t *last) {
    bool same = true;
    *last = 0;
    for (int32_t p = 0; p < c->num_ps; p++) {
        same &= c->server[p].round == c->server[0].round;
        if (c->server[p].round > *last) *last = c->server[p].round;
    }
    return same && *last > 0;
}

static const double AGAIN = 0.1; /* seconds between two tries to join */

/* Says HELLO again and again until all servers have values of one round. If they do not, the chief sends BEGIN with
 * values, and the other workers wait. */
static mst_status agree(mst_ps_client *c) {
    for (uint32_t last;;) {
        MST_TRY(say_hello(c, 0));
        if (!is_one_round(c, &last) && is_chief(c)) MST_TRY(send_begin(c, last + 1, false));
        if (is_one_round(c, &last)) {
            c->round = last;
            return MST_OK;
        }
        MST_TRY(mst_ps_take_next(c, &(mst_ps_request){.joins = true}, AGAIN));
    }
}

/* The smallest position of all servers. Servers that are ahead will drop gradients that they already have. */
static int64_t smallest_position(const mst_ps_client *c) {
    int64_t position = c->server[0].position;
    for (int32_t p = 1; p < c->num_ps; p++)
        if (c->server[p].position < position) position = c->server[p].position;
    return position;
}

/* Whether all servers have the same position of this worker. If not, an earlier process of this worker was lost after
 * its gradients had reached only some of the servers. */
static bool is_one_position(const mst_ps_client *c) {
    bool same = true;
    for (int32_t p = 1; p < c->num_ps; p++) same &= c->server[p].position == c->server[0].position;
    return same;
}

/* Asks for the values from which this worker can repeat its step at POSITION. Some servers have already made the update
 * with its gradients: they send the values before that update, so that this worker computes the same gradients again.
 * After that step all servers are at one step, and the chief keeps their state. */
static mst_status join_between(mst_ps_client *c, int64_t position) {
    MST_TRY(say_hello(c, position + 1));
    c->kept_at = 0;
    return MST_OK;
}

static mst_status ask_staleness(mst_ps_client *c) {
    return mst_ps_ask(c, &(mst_ps_request){.head = {.kind = MST_PS_STALENESS}, .answer = MST_PS_STALENESS});
}

/* Begins to count staleness. All gradients are counted if this worker has begun the round; otherwise only gradients
 * from now on. */
static mst_status begin_counting(mst_ps_client *c) {
    memset(c->counted, 0, sizeof c->counted);
    if (c->program.synchronous || c->began == c->round) return MST_OK;
    MST_TRY(ask_staleness(c));
    memcpy(c->counted, c->staleness, sizeof c->counted);
    return MST_OK;
}

static mst_status copy_graph(const mst_graph *graph, mst_graph **out) {
    void *data;
    size_t size;
    MST_TRY(mst_graph_encode(graph, &data, &size));
    const mst_status status = mst_graph_decode(data, size, out);
    free(data);
    return status;
}

/* Copies PROGRAM: servers may have to begin again after the caller has freed it. */
static mst_status copy_program(mst_ps_client *c, const mst_ps_program *program) {
    const size_t count = (size_t)program->num_fingerprints;
    free_program(c);
    mst_store_retain(program->store);
    mst_store_release(c->program.store);
    c->program = *program;
    c->program.graph = NULL, c->program.variable = NULL, c->program.fingerprint = NULL;
    c->fingerprint = malloc(count * sizeof *c->fingerprint + 1);
    c->graph = calloc((size_t)c->num_ps, sizeof(mst_graph *));
    if (!c->fingerprint || !c->graph) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    memcpy(c->fingerprint, program->fingerprint, count * sizeof *c->fingerprint);
    for (int32_t p = 0; p < c->num_ps && is_chief(c); p++) MST_TRY(copy_graph(program->graph[p], &c->graph[p]));
    return MST_OK;
}

static mst_status make_gradients(mst_ps_client *c) {
    if (c->gradients.piece && c->gradients.num_leaves == c->program.num_leaves) return MST_OK;
    mst_ps_gradients_free(&c->gradients, c->mail);
    return mst_ps_gradients_make(&c->gradients, &c->values.copies, c->program.num_leaves);
}

/* ---- the state of callbacks ---- */

/* Gets the state of callbacks from the first server, if this process was started again. Otherwise, and on the chief,
 * the store has newer data. */
static mst_status take_kept(mst_ps_client *c) {
    const mst_ps_request r = {.head = {.kind = MST_PS_KEPT}, .answer = MST_PS_KEPT, .in_turn = true};
    if (c->has_kept || c->began == c->round) return MST_OK;
    c->takes_kept = true;
    const mst_status status = mst_ps_ask(c, &r);
    c->takes_kept = false;
    c->has_kept = !status;
    return status;
}

static mst_status send_kept(mst_ps_client *c, const mst_snapshot *kept) {
    void *data;
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    mst_status status = mst_state_message_encode(kept, &data, &body->bytes);
    body->data = data;
    const mst_ps_request r = {
        .head = {.kind = MST_PS_KEPT, .number = 1}, .answer = MST_PS_KEPT, .body = body, .in_turn = true};
    if (!status) {
        status = mst_ps_ask(c, &r);
        free(data);
    }
    free(body);
    return status;
}

mst_status mst_ps_client_keep(mst_ps_client *c) {
    mst_snapshot *kept;
    c->has_kept = true;
    if (!is_chief(c)) return MST_OK;
    MST_TRY(mst_ps_kept_read(c->program.store, &kept));
    /* the number of shards is not news: the server has had it since BEGIN */
    const bool has_news = mst_snapshot_count(kept) > (mst_snapshot_find(kept, NULL, MST_STATE_SHARDS) != NULL);
    const mst_status status = has_news ? send_kept(c, kept) : MST_OK;
    mst_snapshot_release(kept);
    return status;
}

/* ---- instructions ---- */

/* Whether weights must have the same bits as in one process: each step uses the gradients of all workers. */
static bool promises_bits(const mst_ps_client *c) {
    const int32_t aggregate = c->program.aggregate;
    return c->program.synchronous && (!aggregate || aggregate == mst_cluster_num_workers(c->options.cluster));
}

static mst_status agree_on_instructions(mst_ps_client *c) {
    const mst_ps_request r = {.head = {.kind = MST_PS_AGREE}, .answer = MST_PS_AGREE, .joins = true, .in_turn = true};
    char name[300], line[256];
    const uint64_t own = mst_fingerprints_instructions(c->fingerprint, c->program.num_fingerprints);
    if (!own || !promises_bits(c)) return MST_OK;
    MST_TRY(mst_ps_ask(c, &r));
    mst_mail_name(c->mail, c->self, name, sizeof name);
    MST_TRY(
        mst_instructions_limit(c->fingerprint, c->program.num_fingerprints, c->instructions, name, line, sizeof line));
    if (*line) mst_ps_say(c, "%s", line);
    return MST_OK;
}

/* ---- joining, all steps ---- */

static mst_status join_once(mst_ps_client *c, int64_t *position) {
    c->must_join = false;
    MST_TRY(agree(c));
    *position = smallest_position(c);
    /* a server may still have a position of the previous training */
    if (*position < c->began_at) *position = c->began_at;
    c->is_between = c->program.synchronous && !mst_ps_have_order(c) && !is_one_position(c);
    if (c->is_between) MST_TRY(join_between(c, *position));
    c->joined = true;
    MST_TRY(store_values(c));
    MST_TRY(take_kept(c));
    MST_TRY(agree_on_instructions(c));
    if (is_chief(c)) MST_TRY(begin_counting(c));
    const bool is_of_others = c->began != c->round;
    return is_chief(c) && is_of_others && !c->is_between ? mst_ps_client_collect(c) : MST_OK;
}

/* Tries again if a server is lost, or leaves, while this worker joins. */
mst_status mst_ps_client_join(mst_ps_client *c, const mst_ps_program *program, int64_t *position) {
    mst_status status;
    MST_TRY(copy_program(c, program));
    if (c->has_last) c->began_at = program->position;
    c->has_last = c->has_given = c->is_ended = false;
    if (!c->values.copies.copy) MST_TRY(mst_ps_values_make(&c->values, program, c->num_ps));
    MST_TRY(make_gradients(c));
    MST_TRY(keep_own_state(c));
    while ((status = join_once(c, position)) && c->must_join)
        MST_TRY(mst_ps_take_next(c, &(mst_ps_request){.joins = true}, AGAIN));
    return status;
}

bool mst_ps_client_is_between(const mst_ps_client *c) {
    return c->is_between;
}

bool mst_ps_client_must_join(const mst_ps_client *c) {
    return c->must_join;
}

/* ---- steps ---- */

enum { KEPT_APART = 60 /* seconds */ };

/* On the chief: keeps the state of the servers from time to time, even if no checkpoint is saved. */
static mst_status keep_if_due(mst_ps_client *c) {
    const bool is_due = c->kept_at == 0 || mst_clock_now() - c->kept_at > KEPT_APART * INT64_C(1000000000);
    return is_chief(c) && is_due ? mst_ps_client_collect(c) : MST_OK;
}

/* Asks one server after another for its values. All servers already have this worker's gradients, so no server waits
 * for them. */
static mst_status ask_in_turn(mst_ps_client *c) {
    mst_status status = MST_OK;
    for (int32_t p = 0; p < c->num_ps && !status; p++)
        status = mst_ps_ask(c, &(mst_ps_request){.head = {.kind = MST_PS_WANT, .round = c->round, .number = 1},
                                                 .answer = MST_PS_VALUES,
                                                 .in_turn = true,
                                                 .turn = p});
    return status;
}

static mst_status collect_state(mst_ps_client *c, const mst_ps_request *how);

bool mst_ps_client_is_leaving(const mst_ps_client *c) {
    return is_chief(c) && mst_ps_is_one_leaving(c);
}

/* On the chief: collects the state of all servers, which then make no more updates, and lets the leaving servers go.
 * All workers go on from that state when the servers have come back. */
static mst_status let_leave(mst_ps_client *c) {
    const mst_task_message_head head = {.kind = MST_PS_LEAVING};
    MST_TRY(collect_state(c, &(mst_ps_request){.head = {.number = 1}}));
    for (int32_t p = 0; p < c->num_ps; p++)
        if (c->server[p].leaves) MST_TRY(mst_mail_send(c->mail, c->server[p].task, &head, NULL, 0, NULL));
    c->must_join = true;
    return MST_FAIL(MST_UNAVAILABLE, "a parameter server has left");
}

mst_status mst_ps_client_place_gradients(mst_ps_client *c, mst_tensor **gradient) {
    return mst_ps_gradients_place(&c->gradients, c->mail, gradient);
}

mst_status mst_ps_client_update(mst_ps_client *c, int64_t position, mst_tensor *const *gradient, int64_t *step) {
    if (mst_ps_client_is_leaving(c) && !c->is_between) return let_leave(c);
    MST_TRY(mst_ps_gradients_list(&c->gradients, gradient));
    const mst_ps_request r = {.head = {.kind = MST_PS_GRADIENTS, .round = c->round, .number = position},
                              .answer = gives_in_turn(c) ? MST_PS_TAKEN : MST_PS_VALUES,
                              .gradients = &c->gradients};
    mst_status status = mst_ps_ask(c, &r);
    if (!status && gives_in_turn(c)) status = ask_in_turn(c);
    if (!status) status = store_values(c);
    if (!status) c->is_between = false;
    *step = c->server[0].step;
    return status ? status : keep_if_due(c);
}

static bool is_one_step(const mst_ps_client *c) {
    bool same = true;
    for (int32_t p = 1; p < c->num_ps; p++) same &= c->server[p].step == c->server[0].step;
    return same;
}

/* Writes the states that all servers have sent to the store. */
static mst_status join_states(mst_ps_client *c) {
    mst_snapshot *joined;
    MST_TRY(mst_snapshot_create(&joined));
    mst_status status = MST_OK;
    for (int32_t p = 0; p < c->num_ps && !status; p++)
        status = mst_ps_join_state(&c->values.copies, p, c->server[p].state, joined);
    if (!status) status = mst_ps_progress_forget_others(c->program.store, joined);
    if (!status) status = mst_store_restore(c->program.store, joined);
    mst_snapshot_release(joined);
    return status;
}

static void drop_states(mst_ps_client *c) {
    c->collects = false;
    for (int32_t p = 0; p < c->num_ps; p++) {
        mst_snapshot_release(c->server[p].state);
        c->server[p].state = NULL;
    }
}

static mst_status collect_state(mst_ps_client *c, const mst_ps_request *how) {
    mst_ps_request r = *how;
    r.head.kind = MST_PS_COLLECT, r.answer = MST_PS_STATE;
    if (!c->program.synchronous) MST_TRY(mst_ps_values_save(&c->values, c->program.store));
    c->collects = true;
    mst_status status = mst_ps_ask(c, &r);
    while (!status && mst_ps_have_order(c) && !r.at_end && !is_one_step(c))
        /* a server whose answer was lost has sent it again, and may be at a later step now */
        status = mst_ps_ask(c, &r);
    if (!status && (mst_ps_unanswered(c) < c->num_ps || (r.at_end && c->program.synchronous && !is_one_step(c))))
        status = MST_FAIL(MST_UNAVAILABLE, "the parameter servers no longer have the complete state");
    if (!status) status = join_states(c);
    drop_states(c);
    MST_TRY(status);
    mst_tensor *const step = c->values.step;
    /* asynchronous servers have different steps: that of the first one counts */
    mst_tensor_set(step, 0, (double)c->server[0].step);
    MST_TRY(mst_store_set(c->program.store, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, step));
    c->has_collected = true;
    return keep_state_of_servers(c);
}

mst_status mst_ps_client_collect(mst_ps_client *c) {
    return c->has_last && is_chief(c) ? MST_OK /* the store already has it */
                                      : collect_state(c, &(mst_ps_request){.at_end = false});
}

/* Tries several times: servers may be at different steps now, until the gradients that are on their way have
 * arrived. */
mst_status mst_ps_client_collect_last(mst_ps_client *c) {
    const mst_ps_request r = {.at_end = true, .until = mst_clock_after(c->options.timeout)};
    const int tries = c->failed ? 1 : 20;
    mst_status status = c->has_last ? MST_OK : MST_UNAVAILABLE;
    int64_t step = 0;
    for (int i = 0; i < tries && status && !mst_ps_is_one_lost(c) && mst_clock_now() < r.until; i++)
        status = collect_state(c, &r);
    if (!status) return MST_OK;
    if (!c->has_collected) {
        mst_ps_say(c,
                   "the parameter servers have lost part of the state, and the chief has not received any state from "
                   "them: nothing is saved");
        return status;
    }
    MST_TRY(mst_store_restore(c->program.store, c->kept));
    MST_TRY(mst_store_read_to(c->program.store, NULL, MST_STATE_GLOBAL_STEP, &(mst_spec){MST_I64, MST_SCALAR}, &step));
    mst_ps_say(c, "the parameter servers have lost part of the state: the chief has that of step %lld, and uses it",
               (long long)step);
    return MST_OK;
}

bool mst_ps_client_is_left(const mst_ps_client *c) {
    return is_chief(c) && c->is_left;
}

bool mst_ps_client_is_ended(const mst_ps_client *c) {
    return c->is_ended;
}

bool mst_ps_client_has_last(const mst_ps_client *c) {
    return c->has_last;
}

bool mst_ps_client_is_asked_to_stop(const mst_ps_client *c) {
    return c->stopped || (c->options.stop && c->options.stop(c->options.context));
}

bool mst_ps_client_was_stopped(const mst_ps_client *c) {
    return c->stopped;
}

mst_status mst_ps_client_use_values(mst_ps_client *c) {
    return c->values.are_saved ? store_values(c) : MST_OK;
}

mst_status mst_ps_client_staleness(mst_ps_client *c, int64_t count[MST_STALENESS_COUNTS]) {
    MST_TRY(ask_staleness(c));
    for (int i = 0; i < MST_STALENESS_COUNTS; i++) count[i] = c->staleness[i] - c->counted[i];
    memcpy(c->counted, c->staleness, sizeof c->counted);
    return MST_OK;
}

mst_status mst_ps_client_rate(mst_ps_client *c, const float *rate, float *out) {
    mst_iov *body = calloc((size_t)c->num_ps, sizeof *body);
    if (!body) return MST_NO_MEMORY("for %d parameter servers", c->num_ps);
    for (int32_t p = 0; p < c->num_ps && rate; p++) body[p] = (mst_iov){rate, sizeof *rate};
    const mst_ps_request r = {.head = {.kind = MST_PS_RATE}, .answer = MST_PS_RATE, .body = body};
    const mst_status status = mst_ps_ask(c, &r);
    free(body);
    if (!status) *out = c->rate;
    return status;
}

mst_status mst_ps_client_fail(mst_ps_client *c, mst_status status) {
    mst_failure failure;
    if (c->failed || status == MST_CANCELLED) return status;
    if (!c->round) mst_mail_linger(c->mail, MST_PS_LINGER);
    mst_failure_keep(&failure, status);
    const mst_task_message_head head = {.kind = MST_PS_FAILED};
    const mst_iov text = {failure.message, strlen(failure.message)};
    for (int32_t p = 0; p < c->num_ps; p++)
        if (mst_mail_send(c->mail, c->server[p].task, &head, &text, 1, NULL)) break;
    c->failed = true;
    return mst_failure_restore(&failure);
}

mst_status mst_ps_client_finish(mst_ps_client *c, bool stops) {
    const int64_t bits = stops && is_chief(c) ? MST_FINISHED_STOPS : 0;
    mst_ps_request r = {.head = {.kind = MST_PS_FINISHED, .number = c->finished + 1, .step = bits},
                        .answer = MST_PS_FINISHED};
    for (;;) {
        r.until = is_chief(c) ? mst_clock_after(KEPT_APART) : 0;
        MST_TRY(mst_ps_ask(c, &r));
        if (mst_ps_unanswered(c) == c->num_ps) break;
        if (mst_ps_is_one_leaving(c)) return let_leave(c);
        MST_TRY(mst_ps_client_collect(c)); /* other workers still make steps */
    }
    /* the chief collects all state. Then its second FINISHED lets the servers answer the other workers */
    if (is_chief(c)) {
        MST_TRY(mst_ps_client_collect(c));
        r.head.step = bits | MST_FINISHED_HAS_STATE;
        r.until = 0;
        MST_TRY(mst_ps_ask(c, &r));
    }
    c->finished++;
    c->has_last = true;
    return store_values(c);
}

mst_status mst_ps_client_give_weights(mst_ps_client *c) {
    if (!is_chief(c) || !c->has_last) return MST_OK;
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].was_lost = c->server[p].lost;
    MST_TRY(keep_state_of_servers(c));
    MST_TRY(send_begin(c, c->round + 1, true));
    c->round++;
    c->has_given = true;
    return MST_OK;
}

/* Leaves. A server that was started again gets the last state from the chief, if a worker waits for it. If this worker
 * must stop while it waits for the others to leave, that is not an error. All its work is done, and a process started
 * in its place might find no servers. */
static mst_status leave_when_all_have_values(mst_ps_client *c) {
    const mst_ps_request r = {.head = {.kind = MST_PS_LEAVE, .number = c->has_last ? c->finished : 0},
                              .answer = MST_PS_DONE,
                              .is_last = c->has_last};
    /* only losses from now on count (check_lost in ps_request.c) */
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].was_lost = c->server[p].lost;
    for (;;) {
        const mst_status status = mst_ps_ask(c, &r);
        if (status == MST_CANCELLED && c->has_last && !mst_ps_is_one_lost(c)) return MST_OK;
        if (!status || !c->must_join || !c->has_last) return status;
        c->must_join = false;
        MST_TRY(agree(c));
    }
}

/* Whether the store already has all last values, and is left unchanged. This is so after a finished training, unless
 * the chief's callbacks have put back the weights of an earlier epoch: then the servers have sent other values than
 * those of the last step. Changes by the program, such as averages in place of weights, stay in an unchanged store. If
 * a server was lost and has sent no values, the values of the store are the last ones. */
static bool has_all(const mst_ps_client *c) {
    bool all = true, others = false;
    for (int32_t p = 0; p < c->num_ps; p++) {
        all &= c->server[p].sent_last;
        others |= c->server[p].sent_others;
    }
    return c->has_last && (!all || !others || c->has_given);
}

/* Sends GONE: the servers end when all workers have sent it. */
static mst_status say_gone(mst_ps_client *c) {
    const mst_task_message_head head = {.kind = MST_PS_GONE};
    for (int32_t p = 0; p < c->num_ps; p++)
        if (!c->server[p].lost) MST_TRY(mst_mail_send(c->mail, c->server[p].task, &head, NULL, 0, NULL));
    return MST_OK;
}

mst_status mst_ps_client_leave(mst_ps_client *c) {
    if (!c->joined) return MST_OK;
    c->joined = false;
    for (int32_t p = 0; p < c->num_ps; p++) c->server[p].sent_last = c->server[p].sent_others = false;
    mst_status status = leave_when_all_have_values(c);
    if (!status) status = say_gone(c);
    if (!status) return has_all(c) ? MST_OK : store_values(c);
    if (!c->must_join) return status;
    mst_failure lost; /* a server has lost steps, and nobody will repeat them: an error for all */
    mst_failure_keep(&lost, status);
    status = MST_FAIL(lost.code,
                      "%s after this worker had made its last step: start the job again; with --checkpoint-dir it goes "
                      "on from the last checkpoint",
                      lost.message);
    return mst_ps_client_fail(c, status);
}
