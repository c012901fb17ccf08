/* Monitored sessions: a loop around mst_session_run that repeats a run after a task was lost, and saves checkpoints.
 *
 *      run -> if due: checkpoint, summaries, rate (chief only)
 *       | MST_UNAVAILABLE
 *       v
 *      wait until all variables have values; the chief gives them values
 *       |
 *       v
 *      if global_step has not risen: the run again; else the run has been made
 */
#include "muster/monitored_session.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/checkpoint.h"
#include "muster/summary.h"
#include "store/store.h"
#include "train/monitored_values.h"

static const double SAVE_SECONDS = 600, KEEP_SECONDS = 60, SUMMARY_SECONDS = 120, RECOVERY_SECONDS = 600;
static const double CHIEF_PAUSE = 0.1, OTHERS_PAUSE = 1, STOP_PAUSE = 0.05, TELL_AGAIN = 5; /* seconds */
enum { RATE_STEPS = 100 };

/* When an action that is repeated every so many steps or seconds was last done. */
typedef struct schedule {
    int64_t every_steps, step;
    double every_seconds, time;
} schedule;

struct mst_monitored_session {
    mst_monitored_options options;
    mst_graph *graph;
    mst_session *session;
    mst_monitored_values values;
    mst_checkpoint_manager *manager; /* for the chief, if it has a folder; else NULL */
    mst_summary_writer *writer;      /* for the chief, if it writes summaries; else NULL */
    _Atomic int64_t step;
    atomic_bool stop_requested;
    bool failed; /* the last run has failed: nothing is saved at the end */
    schedule save, summary, rate;
    /* the fetches of the last call, and how often a run of them adds 1 to global_step */
    mst_value *known;
    int num_known, num_increments;
};

static bool is_due(const schedule *s, int64_t step) {
    return (s->every_steps > 0 && step - s->step >= s->every_steps) ||
           (s->every_seconds > 0 && mst_clock_seconds() - s->time >= s->every_seconds);
}

static void mark_done(schedule *s, int64_t step) {
    s->step = step;
    s->time = mst_clock_seconds();
}

static void monitored_tell(const mst_monitored_session *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void monitored_tell(const mst_monitored_session *s, const char *format, ...) {
    va_list list;
    if (!s->options.log) return;
    va_start(list, format);
    vfprintf(s->options.log, format, list);
    va_end(list);
    fputc('\n', s->options.log);
    fflush(s->options.log);
}

static bool monitored_is_stopped(mst_monitored_session *s) {
    if (!atomic_load(&s->stop_requested) && s->options.stop && s->options.stop(s->options.context))
        atomic_store(&s->stop_requested, true);
    return atomic_load(&s->stop_requested);
}

static mst_status pause_for(mst_monitored_session *s, double seconds) {
    const struct timespec pause = {.tv_nsec = (long)(STOP_PAUSE * 1e9)};
    const int64_t end = mst_clock_after(seconds);
    while (mst_clock_now() < end) {
        if (monitored_is_stopped(s)) return MST_FAIL(MST_CANCELLED, "monitored session: stopped while it waited");
        nanosleep(&pause, NULL);
    }
    return MST_OK;
}

/* ---- values for all variables ---- */

/* Reads the newest checkpoint of the folder into the copy. Does nothing if there is none. */
static mst_status read_newest(mst_monitored_session *s) {
    mst_restored restored = {0};
    if (!s->manager) return MST_OK;
    MST_TRY(mst_checkpoint_manager_wait(s->manager));
    MST_TRY(mst_store_clear(s->values.kept, (1u << MST_NUM_STATE_KINDS) - 1));
    mst_status status = mst_checkpoint_manager_restore(s->manager, s->values.kept, NULL, &restored);
    if (!status) monitored_tell(s, "restored %s, step %lld", restored.path, (long long)restored.step);
    if (!status && *restored.missing) monitored_tell(s, "not in %s: %s", restored.path, restored.missing);
    s->values.is_whole = !status;
    mst_restored_free(&restored);
    return status == MST_NOT_FOUND ? MST_OK : status;
}

/* Gives values to all variables; MISSING of them have none. */
static mst_status give_values(mst_monitored_session *s, int missing) {
    MST_TRY(read_newest(s));
    const bool restores = s->values.is_whole;
    if (restores) {
        if (!s->manager)
            monitored_tell(s, "%d of %d variables have lost their values: all go back to what they had %.0f s ago",
                           missing, s->values.count, mst_clock_seconds() - s->save.time);
        MST_TRY(mst_monitored_values_set(&s->values, s->session));
    }
    MST_TRY(mst_session_init_variables(s->session));
    if (!restores) monitored_tell(s, "first values for %d of %d variables", missing, s->values.count);
    return MST_OK;
}

/* Checks whether all variables have values (*READY). If not, gives them values if this client may; otherwise WHY says
 * for what the session waits. */
static mst_status try_ready(mst_monitored_session *s, bool *ready, char *why, size_t size) {
    const char *first;
    int missing;
    if (!s->session) MST_TRY(mst_session_create(s->graph, &s->options.session, &s->session));
    MST_TRY(mst_monitored_values_missing(&s->values, s->session, &missing, &first));
    *ready = missing == 0;
    if (*ready) return MST_OK;
    if (!s->options.waits_for_chief) return give_values(s, missing);
    snprintf(why, size, "waiting for the chief: %d of %d variables have no value, such as '%.100s'", missing,
             s->values.count, first);
    return MST_OK;
}

static mst_status too_late(const mst_monitored_session *s, mst_status status, const char *why) {
    if (status) return mst_error_prefix("monitored session: not ready within %g s", s->options.recovery_timeout);
    return MST_FAIL(MST_UNAVAILABLE, "monitored session: gave up after %g s of %s: start the chief",
                    s->options.recovery_timeout, why);
}

static mst_status make_ready(mst_monitored_session *s) {
    const int64_t deadline = mst_clock_after(s->options.recovery_timeout);
    double told = -INFINITY;
    char why[512] = "", before[512] = "";
    bool ready = false;
    for (;;) {
        mst_status status = try_ready(s, &ready, why, sizeof why);
        if (status && status != MST_UNAVAILABLE) return status;
        if (!status && ready) return MST_OK;
        /* this client has given the variables values: checks again */
        if (!status && !s->options.waits_for_chief) continue;
        if (status) snprintf(why, sizeof why, "waiting: %s", mst_error()->message);
        if (mst_clock_now() >= deadline) return too_late(s, status, why);
        if (strcmp(why, before) != 0 || mst_clock_seconds() - told >= TELL_AGAIN) {
            monitored_tell(s, "%s", why);
            memcpy(before, why, sizeof why);
            told = mst_clock_seconds();
        }
        MST_TRY(pause_for(s, s->options.waits_for_chief ? OTHERS_PAUSE : CHIEF_PAUSE));
    }
}

/* Whether STATUS, the calling thread's error, is due to the loss of a task. This includes MST_INVALID if variables have
 * no values: if a task is started again between two runs, the next run only fails because its variables have none. */
static bool has_lost(mst_monitored_session *s, mst_status status) {
    mst_failure failure;
    const char *first;
    int missing = 0;
    if (!s->options.session.target || status != MST_INVALID) return status == MST_UNAVAILABLE;
    mst_failure_keep(&failure, status);
    const mst_status asked = mst_monitored_values_missing(&s->values, s->session, &missing, &first);
    (void)mst_failure_restore(&failure);
    return asked == MST_UNAVAILABLE || (!asked && missing > 0);
}

/* Waits until all variables have values, and reads the step. */
static mst_status recover(mst_monitored_session *s) {
    mst_status status;
    int64_t step = 0;
    do {
        MST_TRY(make_ready(s));
        status = mst_monitored_values_step(&s->values, s->session, &step);
    } while (status == MST_UNAVAILABLE || status == MST_NOT_FOUND);
    MST_TRY(status);
    if (step < s->save.step) s->save.step = step;
    mark_done(&s->rate, step);
    if (step < s->summary.step) s->summary.step = step;
    atomic_store(&s->step, step);
    return MST_OK;
}

/* ---- actions after a run ---- */

static mst_status save(mst_monitored_session *s) {
    mst_status status;
    int64_t step = 0;
    while (has_lost(s, status = mst_monitored_values_keep(&s->values, s->session, &step))) {
        monitored_tell(s, "%s", mst_error()->message);
        MST_TRY(recover(s));
    }
    MST_TRY(status);
    mark_done(&s->save, step);
    return s->manager ? mst_checkpoint_manager_save(s->manager, s->values.kept) : MST_OK;
}

static void note_rate(mst_monitored_session *s, int64_t step) {
    const double seconds = mst_clock_seconds() - s->rate.time;
    const double rate = seconds > 0 ? (double)(step - s->rate.step) / seconds : 0;
    monitored_tell(s, "global_step/sec: %g", rate);
    if (s->writer) mst_summary_scalar(s->writer, "global_step/sec", rate, step);
    mark_done(&s->rate, step);
}

static void write_summaries(mst_monitored_session *s, mst_tensor *const *value, int64_t step) {
    for (int i = 0; i < s->options.num_summaries; i++) {
        const char *tag = s->options.summaries[i].tag;
        if (!value[i]) continue;
        if (mst_tensor_count(value[i]) == 1)
            mst_summary_scalar(s->writer, tag, mst_tensor_get(value[i], 0), step);
        else
            mst_summary_histogram(s->writer, tag, value[i], step);
    }
    mark_done(&s->summary, step);
}

static mst_status do_what_is_due(mst_monitored_session *s) {
    const int64_t step = atomic_load(&s->step);
    if (s->options.waits_for_chief) return MST_OK;
    if (is_due(&s->rate, step)) note_rate(s, step);
    return step > s->save.step && is_due(&s->save, step) ? save(s) : MST_OK;
}

/* ---- a run ---- */

/* Counts the nodes that change global_step among the nodes that a run of the fetches needs. Each of them adds 1. */
static int count_increments(const mst_monitored_session *s, const mst_value *fetches, int num_fetches,
                            unsigned char *met, mst_node **stack) {
    int64_t depth = 0;
    int count = 0;
    for (int i = 0; i < num_fetches; i++)
        if (!met[fetches[i].node->id]) met[fetches[i].node->id] = 1, stack[depth++] = fetches[i].node;
    while (depth > 0) {
        const mst_node *node = stack[--depth];
        for (int i = 0; i < node->num_src + node->num_control; i++) {
            mst_node *next = i < node->num_src ? node->src[i].node : node->control[i - node->num_src];
            if (!met[next->id]) met[next->id] = 1, stack[depth++] = next;
            if (i >= node->num_src || !node->op->writes || !node->op->writes(node->options, node->num_src, i)) continue;
            /* the source is an earlier writer: goes on to its variable */
            while (!(next->op->flags & MST_OP_VARIABLE)) next = next->src[0].node;
            count += next == s->values.step.node;
        }
    }
    return count;
}

/* Sets num_increments for a run of the fetches. Computes it only if they differ from those of the last call. */
static mst_status know_fetches(mst_monitored_session *s, const mst_value *fetches, int num_fetches) {
    const size_t bytes = (size_t)num_fetches * sizeof *fetches;
    bool same = s->num_known == num_fetches;
    for (int i = 0; i < num_fetches && same; i++)
        same = s->known[i].node == fetches[i].node && s->known[i].index == fetches[i].index;
    if (same) return MST_OK;
    MST_TRY(mst_graph_read_begin(s->graph));
    const size_t nodes = (size_t)s->graph->num_nodes + 1;
    unsigned char *met = calloc(nodes, 1);
    mst_node **stack = calloc(nodes, sizeof *stack);
    mst_value *known = malloc(bytes + 1);
    const bool made = met && stack && known;
    if (made) s->num_increments = count_increments(s, fetches, num_fetches, met, stack);
    mst_graph_read_end(s->graph);
    free(met);
    free(stack);
    if (!made) {
        free(known);
        return MST_NO_MEMORY("for a run");
    }
    if (bytes) memcpy(known, fetches, bytes);
    free(s->known);
    s->known = known;
    s->num_known = num_fetches;
    return MST_OK;
}

/* A run. Its fetches are the caller's, then global_step, then the summaries. */
typedef struct call {
    const mst_feed *feeds;
    int num_feeds, num_fetches, num_all;
    mst_value *fetch;
    mst_tensor **output;
} call;

static void read_step(mst_monitored_session *s, const call *c) {
    atomic_store(&s->step, (int64_t)mst_tensor_get(c->output[c->num_fetches], 0) + s->num_increments);
    if (c->num_all > c->num_fetches + 1)
        write_summaries(s, c->output + c->num_fetches + 1, (int64_t)mst_tensor_get(c->output[c->num_fetches], 0));
}

/* Makes the run, and repeats it after a task was lost. *MADE: the outputs are set. After MST_INVALID the run is tried
 * once more: variables may have lost their values, and the chief may already have given them new ones. */
static mst_status run_until_made(mst_monitored_session *s, const call *c, bool *made) {
    for (bool again = false;; again = true) {
        const int64_t before = atomic_load(&s->step);
        const mst_status status = mst_session_run(s->session, c->feeds, c->num_feeds, c->fetch, c->num_all, c->output);
        *made = !status;
        if (!status) read_step(s, c);
        if (!status || !s->options.session.target) return status;
        if (!has_lost(s, status)) {
            if (status != MST_INVALID || again) return status;
            continue;
        }
        monitored_tell(s, "%s", mst_error()->message);
        MST_TRY(recover(s));
        monitored_tell(s, "going on from step %lld", (long long)atomic_load(&s->step));
        if (s->num_increments && atomic_load(&s->step) > before) return MST_OK;
    }
}

static bool writes_summaries(const mst_monitored_session *s) {
    return s->writer && s->options.num_summaries && s->num_increments && is_due(&s->summary, atomic_load(&s->step));
}

static mst_status run_with(mst_monitored_session *s, call *c, const mst_value *fetches, mst_tensor **outputs) {
    bool made = false;
    if (c->num_fetches) memcpy(c->fetch, fetches, (size_t)c->num_fetches * sizeof *fetches);
    c->fetch[c->num_fetches] = s->values.step;
    c->num_all = c->num_fetches + 1;
    if (writes_summaries(s))
        for (int i = 0; i < s->options.num_summaries; i++) c->fetch[c->num_all++] = s->options.summaries[i].value;
    for (int i = 0; i < c->num_fetches && outputs; i++) c->output[i] = outputs[i];
    const mst_status status = run_until_made(s, c, &made);
    for (int i = 0; i < c->num_fetches && outputs; i++) {
        outputs[i] = c->output[i];
        c->output[i] = NULL;
        if (status || made) continue;
        mst_tensor_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

mst_status mst_monitored_session_run(mst_monitored_session *session, const mst_feed *feeds, int num_feeds,
                                     const mst_value *fetches, int num_fetches, mst_tensor **outputs) {
    if (MST_IS_NULL(session) || (num_fetches && MST_IS_NULL(fetches))) return MST_INVALID;
    mst_monitored_session *s = session;
    for (int i = 0; i < num_fetches; i++)
        if (!fetches[i].node || mst_value_graph(fetches[i]) != s->graph)
            return MST_FAIL(MST_INVALID, "monitored session: fetch %d is not a value of its graph", i);
    MST_TRY(know_fetches(s, fetches, num_fetches));
    const size_t most = (size_t)num_fetches + (size_t)s->options.num_summaries + 1;
    call c = {.feeds = feeds,
              .num_feeds = num_feeds,
              .num_fetches = num_fetches,
              .fetch = calloc(most, sizeof *c.fetch),
              .output = calloc(most, sizeof *c.output)};
    mst_status status = c.fetch && c.output ? run_with(s, &c, fetches, outputs) : MST_NO_MEMORY("for a run");
    if (!status) status = do_what_is_due(s);
    s->failed = status != MST_OK;
    for (size_t i = 0; i < most && c.output; i++) mst_tensor_release(c.output[i]);
    free(c.output);
    free(c.fetch);
    return status;
}

/* ---- opening and closing ---- */

static mst_status check_monitored_options(const mst_monitored_options *o) {
    if (o->waits_for_chief && (o->checkpoint_dir || o->logdir))
        return MST_FAIL(MST_INVALID,
                        "monitored session: '%s' is the chief's: leave it out where waits_for_chief is set",
                        o->checkpoint_dir ? "checkpoint_dir" : "logdir");
    const struct {
        const char *name;
        double value;
    } rows[] = {{"last_step", (double)o->last_step},         {"save_steps", (double)o->save_steps},
                {"save_seconds", o->save_seconds},           {"summary_steps", (double)o->summary_steps},
                {"summary_seconds", o->summary_seconds},     {"rate_steps", (double)o->rate_steps},
                {"num_summaries", (double)o->num_summaries}, {"recovery_timeout", o->recovery_timeout}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].value >= 0))
            return MST_FAIL(MST_INVALID, "monitored session: %s is %g: write 0 or more", rows[i].name, rows[i].value);
    for (int i = 0; i < o->num_summaries; i++)
        if (!o->summaries || !o->summaries[i].tag || !o->summaries[i].value.node)
            return MST_FAIL(MST_INVALID, "monitored session: summary %d has no tag or no value", i);
    return MST_OK;
}

static void set_schedules(mst_monitored_session *s) {
    const mst_monitored_options *o = &s->options;
    s->save = (schedule){.every_steps = o->save_steps, .every_seconds = o->save_seconds};
    s->summary = (schedule){.every_steps = o->summary_steps, .every_seconds = o->summary_seconds};
    s->rate = (schedule){.every_steps = o->rate_steps ? o->rate_steps : RATE_STEPS};
    if (!o->save_steps && !(o->save_seconds > 0))
        s->save.every_seconds = o->checkpoint_dir ? SAVE_SECONDS : KEEP_SECONDS;
    if (!o->summary_steps && !(o->summary_seconds > 0)) s->summary.every_seconds = SUMMARY_SECONDS;
    if (!(o->recovery_timeout > 0)) s->options.recovery_timeout = RECOVERY_SECONDS;
}

static mst_status open_files(mst_monitored_session *s) {
    const mst_monitored_options *o = &s->options;
    const mst_checkpoint_options checkpoints = {
        .directory = o->checkpoint_dir, .keep = o->keep, .optimizer = o->optimizer};
    if (o->checkpoint_dir) MST_TRY(mst_checkpoint_manager_open(&checkpoints, &s->manager));
    return MST_OK;
}

/* Opens the writer of summaries, which goes on from STEP. The first summary is written after the first run. */
static mst_status open_writer(mst_monitored_session *s, int64_t step) {
    const mst_summary_options options = {.resume_step = step};
    if (!s->options.logdir) return MST_OK;
    MST_TRY(mst_summary_writer_create(s->options.logdir, &options, &s->writer));
    mst_summary_graph(s->writer, s->graph);
    s->summary.step = step - s->summary.every_steps;
    s->summary.time = -INFINITY;
    return MST_OK;
}

static mst_status begin(mst_monitored_session *s) {
    MST_TRY(open_files(s));
    MST_TRY(recover(s));
    const int64_t step = atomic_load(&s->step);
    mark_done(&s->save, step);
    if (s->options.waits_for_chief) return MST_OK;
    MST_TRY(open_writer(s, step));
    return save(s);
}

static mst_status free_all(mst_monitored_session *s) {
    mst_status status = mst_checkpoint_manager_close(s->manager);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    if (mst_summary_writer_close(s->writer) && !status) mst_failure_keep(&failure, status = mst_error()->code);
    mst_session_destroy(s->session);
    mst_monitored_values_free(&s->values);
    free(s->known);
    free(s);
    return status ? mst_failure_restore(&failure) : MST_OK;
}

mst_status mst_monitored_session_create_with(mst_graph *graph, const mst_monitored_options *options,
                                             mst_monitored_session **out) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(options) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    MST_TRY(check_monitored_options(options));
    mst_monitored_session *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a session");
    s->options = *options;
    s->graph = graph;
    set_schedules(s);
    mst_status status = mst_monitored_values_open(graph, &s->values);
    if (!status) status = begin(s);
    if (status) {
        mst_failure failure;
        mst_failure_keep(&failure, status);
        (void)!free_all(s);
        return mst_failure_restore(&failure);
    }
    *out = s;
    return MST_OK;
}

bool mst_monitored_session_should_stop(mst_monitored_session *session) {
    if (!session) return true;
    const int64_t last = session->options.last_step;
    return monitored_is_stopped(session) || (last && atomic_load(&session->step) >= last);
}

void mst_monitored_session_request_stop(mst_monitored_session *session) {
    if (session) atomic_store(&session->stop_requested, true);
}

int64_t mst_monitored_session_step(const mst_monitored_session *session) {
    return session ? atomic_load(&session->step) : 0;
}

mst_session *mst_monitored_session_inner(mst_monitored_session *session) {
    return session ? session->session : NULL;
}

mst_status mst_monitored_session_close(mst_monitored_session *session) {
    if (!session) return MST_OK;
    mst_failure failure;
    mst_status status = MST_OK;
    const bool saves = session->manager && !session->failed && atomic_load(&session->step) != session->save.step;
    if (saves) status = save(session);
    mst_failure_keep(&failure, status);
    const mst_status freed = free_all(session);
    return status ? mst_failure_restore(&failure) : freed;
}
