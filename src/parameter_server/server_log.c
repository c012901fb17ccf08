/* Writes the log of updates of a server (parameter_server/update_log.h). */
#include "parameter_server/server_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/no_memory.h"

static int32_t number_of_server(const mst_server *s) {
    return mst_cluster_task(s->options.cluster, s->self).index;
}

/* Adds the workers' fingerprints: options as their values, others as hashes. The hashes are text, since JSON has no
 * unsigned 64-bit numbers. */
static int add_fingerprints(const mst_server *s, json_t *head) {
    int failed = 0;
    for (int32_t i = 0; i < s->first.num_fingerprints; i++) {
        const mst_fingerprint *f = &s->first.fingerprint[i];
        char hash[20];
        if (mst_fingerprint_is_of_machine(f->name)) continue;
        snprintf(hash, sizeof hash, "%016" PRIx64, f->hash);
        failed |= json_object_set_new(head, f->name, json_string(f->value[0] ? f->value : hash));
    }
    return failed;
}

/* Makes the line `begin`, which describes the job. It must be the same when the log is replayed. */
static json_t *make_log_head(const mst_server *s) {
    json_t *variables = json_array();
    int failed = 0;
    for (int32_t v = 0; v < s->variables.count; v++)
        if (!s->variables.at[v].is_reported)
            failed |= json_array_append_new(variables, json_string(s->variables.at[v].name));
    json_t *head =
        json_pack("{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:o}", "event", "begin", "format", 1, "server",
                  (int)number_of_server(s), "servers", mst_cluster_num_ps(s->options.cluster), "workers",
                  (int)s->num_workers, "round", (json_int_t)s->round, "shards", (json_int_t)s->job.num_shards, "step",
                  (json_int_t)s->step, "last_step", (json_int_t)s->job.last_step, "variables", variables);
    failed |= head ? add_fingerprints(s, head) : 1;
    if (s->job.synchronous && head)
        failed |= json_object_set_new(head, "aggregate", json_integer((json_int_t)s->job.aggregate));
    if (!failed) return head;
    json_decref(head);
    return NULL;
}

mst_status mst_server_begin_log(mst_server *s) {
    const mst_server_options *o = &s->options;
    if ((!o->update_log && !o->replay_updates) || s->job.is_last) return MST_OK;
    if (s->job.synchronous && s->job.aggregate == s->num_workers)
        return MST_FAIL(MST_INVALID,
                        "%s is for asynchronous training or backup workers: the order of synchronous updates is fixed: "
                        "leave it out",
                        o->update_log ? "--update-log" : "--replay-updates");
    if (o->replay_updates && s->round > 1)
        return MST_FAIL(
            MST_UNAVAILABLE,
            "a parameter server was started again, and has lost the variables of the replay: start all tasks again");
    if (!o->update_log) return MST_OK;
    json_t *head = make_log_head(s);
    const mst_status status =
        head ? mst_update_writer_open(&s->update_log, o->update_log, number_of_server(s), head, s->round > 1)
             : MST_NO_MEMORY("for a log of updates");
    json_decref(head);
    return status;
}

mst_status mst_server_read_log(mst_server *s, mst_update_log *out) {
    json_t *head = make_log_head(s);
    const mst_status status = head ? mst_update_log_read(s->options.replay_updates, number_of_server(s), head, out)
                                   : MST_NO_MEMORY("for a log of updates");
    json_decref(head);
    return status;
}

mst_status mst_server_log_gradients(mst_server *s, const mst_task_message *message, mst_logged_event event) {
    return mst_update_writer_add(&s->update_log, &(mst_logged_gradients){.step = s->step,
                                                                         .position = message->head.number,
                                                                         .read = message->head.step,
                                                                         .worker = message->from,
                                                                         .event = event});
}
