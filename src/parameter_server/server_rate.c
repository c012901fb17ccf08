/* The learning rate of updates that have no schedule: the chief's callbacks may set it, and all workers ask for it. It
 * is a variable of the update, so it travels with all other state. */
#include "parameter_server/server_state.h"

#include <stdlib.h>
#include <string.h>

#include "muster/store.h"

/* Finds the store's entry of the learning rate. */
static mst_status find_rate(const mst_server *s, mst_state_info *out) {
    mst_state_info *list;
    int64_t count;
    MST_TRY(mst_store_list(mst_session_store(s->program.session), &list, &count));
    *out = (mst_state_info){.name = NULL};
    for (int64_t i = 0; i < count; i++)
        if (list[i].kind == MST_STATE_RATE) *out = list[i];
    free(list);
    return out->name ? MST_OK
                     : MST_FAIL(MST_INVALID,
                                "a callback reads or sets the learning rate, but the optimizer has a schedule: leave "
                                "one of them out");
}

static mst_status set_rate(mst_server *s, const mst_state_info *info, const mst_task_message *message) {
    const mst_server_options *o = &s->options;
    float rate;
    if (message->from != s->chief || message->bytes != sizeof rate)
        return MST_FAIL(MST_INVALID,
                        "%s has sent %zu bytes as a learning rate, which only the chief sends, as one f32: start the "
                        "same program on all tasks",
                        mst_server_name(s, message->from), message->bytes);
    if (o->update_log || o->replay_updates)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "a callback sets the learning rate, which is not in the log of updates: leave %s out, or take "
                        "a schedule",
                        o->update_log ? "--update-log" : "--replay-updates");
    memcpy(&rate, message->body, sizeof rate);
    mst_tensor *value;
    MST_TRY(mst_tensor_create(MST_F32, MST_SCALAR, &value));
    mst_tensor_set(value, 0, (double)rate);
    const mst_status status =
        mst_store_set(mst_session_store(s->program.session), info->container, info->name, MST_STATE_RATE, value);
    mst_tensor_release(value);
    return status;
}

mst_status mst_server_take_rate(mst_server *s, const mst_task_message *message) {
    const mst_task_message_head head = {
        .kind = MST_PS_RATE, .round = s->round, .request = s->worker[message->from].request};
    mst_state_info info;
    mst_tensor *value;
    MST_TRY(find_rate(s, &info));
    if (message->bytes) MST_TRY(set_rate(s, &info, message));
    MST_TRY(mst_store_get(mst_session_store(s->program.session), info.container, info.name, &value));
    const float rate = (float)mst_tensor_get(value, 0);
    mst_tensor_release(value);
    return mst_mail_send(s->mail, message->from, &head, &(mst_iov){&rate, sizeof rate}, 1, NULL);
}
