#include "parameter_server/server_messages.h"

#include <stdarg.h>
#include <string.h>

#include "cluster/task_log.h"
#include "parameter_server/server_state.h"

/* ---- lines ---- */

void mst_server_say(mst_server *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(s->options.log, s->options.cluster, format, list);
    va_end(list);
}

const char *mst_server_name(mst_server *s, int32_t task) {
    return mst_mail_name(s->mail, task, s->text, sizeof s->text);
}

mst_status mst_server_send_line(mst_server *s, int32_t kind, int32_t to, uint64_t request, const char *text) {
    const bool is_left = kind == MST_PS_FAILED && s->end.is_left;
    const mst_task_message_head head = {.kind = kind, .step = is_left, .request = request};
    return mst_mail_send(s->mail, to, &head, &(mst_iov){text, strlen(text)}, 1, NULL);
}

/* ---- messages ---- */

mst_status mst_server_send_empty(mst_server *s, int32_t to, uint64_t request) {
    const mst_task_message_head head = {.kind = MST_PS_EMPTY, .round = s->round, .request = request};
    return mst_mail_send(s->mail, to, &head, NULL, 0, NULL);
}

void mst_server_drop_gradients(mst_server *s, int32_t w) {
    mst_task_message_free(s->worker[w].gradients);
    s->worker[w].gradients = NULL;
}

void mst_server_end_message(mst_server *s, mst_task_message *message, mst_status status) {
    if (message && status) {
        message->next = s->program.failed;
        s->program.failed = message;
        return;
    }
    mst_task_message_free(message);
}
