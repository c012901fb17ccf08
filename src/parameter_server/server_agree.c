/* Agreeing on the CPU instructions that oneDNN uses, so that all workers compute the same bits. In a synchronous job
 * that waits for all workers, they use only instructions that all of them have. Each worker asks for these before its
 * first step, and is answered when all workers have come. A worker that comes later must have all of them. */
#include "parameter_server/server_state.h"

static bool have_all_come(const mst_server *s) {
    bool all = true;
    for (int32_t w = 0; w < s->num_workers; w++) all &= s->worker[w].instance != 0;
    return all;
}

/* The instructions that all workers have. Workers that have left, and whose instructions are unknown, do not count. */
static uint64_t common_instructions(const mst_server *s) {
    uint64_t common = UINT64_MAX;
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].instructions) common &= s->worker[w].instructions;
    return common;
}

mst_status mst_server_agree(mst_server *s) {
    if (!have_all_come(s)) return MST_OK;
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (!worker->agrees) continue;
        if (!s->instructions) s->instructions = common_instructions(s);
        const mst_task_message_head head = {
            .kind = MST_PS_AGREE, .round = s->round, .number = (int64_t)s->instructions, .request = worker->request};
        worker->agrees = false;
        MST_TRY(mst_mail_send(s->mail, w, &head, NULL, 0, NULL));
    }
    return MST_OK;
}

mst_status mst_server_take_agree(mst_server *s, const mst_task_message *message) {
    s->worker[message->from].agrees = true;
    return mst_server_agree(s);
}

bool mst_server_lacks_instructions(const mst_server *s, uint64_t instructions) {
    return (s->instructions & instructions) != s->instructions;
}
