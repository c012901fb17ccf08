/* The state of the chief's callbacks (ps_kept.h). The chief sends it at the end of each epoch, and workers that were
 * started again get it. It is not part of the server's own state. */
#include "parameter_server/server_state.h"

#include <stdlib.h>

#include "messages/state_message.h"
#include "parameter_server/ps_kept.h"

static mst_status replace(mst_server *s, const mst_task_message *message) {
    mst_snapshot *kept;
    if (message->from != s->chief)
        return MST_FAIL(
            MST_INVALID,
            "%s has sent the state of callbacks, which only the chief sends: start the same program on all tasks",
            mst_server_name(s, message->from));
    MST_TRY(mst_ps_kept_decode(message->body, message->bytes, &kept));
    mst_snapshot_release(s->kept);
    s->kept = kept;
    return MST_OK;
}

mst_status mst_server_take_kept(mst_server *s, const mst_task_message *message) {
    const mst_task_message_head head = {
        .kind = MST_PS_KEPT, .round = s->round, .request = s->worker[message->from].request};
    if (message->head.number == 1) {
        MST_TRY(replace(s, message));
        return mst_mail_send(s->mail, message->from, &head, NULL, 0, NULL);
    }
    void *data;
    size_t bytes;
    MST_TRY(mst_state_message_encode(s->kept, &data, &bytes));
    const mst_status status = mst_mail_send(s->mail, message->from, &head, &(mst_iov){data, bytes}, 1, NULL);
    free(data);
    return status;
}
