/* Messages to workers: variables, and all state. */
#include "parameter_server/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "messages/state_message.h"
#include "parameter_server/message_body.h"
#include "store/store.h"

static bool are_read(const mst_server_values *value) {
    return value->block || value->tensor;
}

void mst_server_release_values(mst_server *s, mst_server_values *value) {
    for (int32_t v = 0; value->tensor && v < s->variables.count; v++) mst_tensor_release(value->tensor[v]);
    free(value->tensor);
    mst_mail_block_give(s->mail, value->block);
    *value = (mst_server_values){.block = NULL};
}

/* Notes the rows of variable V that differ from those in BEFORE. */
static void note_changes(const mst_server *s, const mst_server_variable *v, const mst_tensor *before,
                         const mst_tensor *after) {
    const size_t row = v->bytes / (size_t)v->num_rows;
    const char *a = mst_tensor_data(before), *b = mst_tensor_data(after);
    for (int64_t r = 0; r < v->num_rows; r++, a += row, b += row)
        if (memcmp(a, b, row) != 0) v->changed[r] = s->step;
}

/* Reads the variables into memory from which they are sent without a copy. */
static mst_status read_block(mst_server *s, mst_server_values *out) {
    mst_store *store = mst_session_store(s->program.session);
    out->block = mst_mail_block_take(s->mail, s->variables.body_bytes);
    char *data = out->block ? mst_mail_block_data(out->block) : NULL;
    if (!data) return MST_NO_MEMORY("for variables");
    for (int32_t v = 0; v < s->variables.count; v++) {
        const mst_server_variable *at = &s->variables.at[v];
        MST_TRY(mst_store_read_to(store, NULL, at->name, &at->spec, data + at->offset));
        memset(data + at->offset + at->bytes, 0, mst_message_body_aligned(at->bytes) - at->bytes);
    }
    return MST_OK;
}

static mst_status read_tensors(mst_server *s, mst_server_values *out) {
    mst_store *store = mst_session_store(s->program.session);
    out->tensor = calloc((size_t)s->variables.count + 1, sizeof *out->tensor);
    if (!out->tensor) return MST_NO_MEMORY("for variables");
    for (int32_t v = 0; v < s->variables.count; v++)
        MST_TRY(mst_store_get(store, NULL, s->variables.at[v].name, &out->tensor[v]));
    for (int32_t v = 0; s->versions.latest.tensor && v < s->variables.count; v++)
        if (s->variables.at[v].is_sparse)
            note_changes(s, &s->variables.at[v], s->versions.latest.tensor[v], out->tensor[v]);
    return MST_OK;
}

/* Reads the variables, unless they have been read since the last update. */
static mst_status read_values(mst_server *s) {
    mst_server_values value = {.block = NULL};
    if (are_read(&s->versions.latest) && s->versions.step == s->step) return MST_OK;
    const mst_status status = s->variables.has_sparse ? read_tensors(s, &value) : read_block(s, &value);
    if (status) {
        mst_server_release_values(s, &value);
        return status;
    }
    mst_server_release_values(s, &s->versions.previous);
    if (s->job.synchronous)
        s->versions.previous = s->versions.latest;
    else
        mst_server_release_values(s, &s->versions.latest);
    s->versions.latest = value;
    s->versions.step = s->step;
    return MST_OK;
}

/* ---- a message ---- */

enum { MOST_PIECES = 3 /* pieces of a variable */ };

/* A message to send: its pieces, and memory that is freed afterwards. */
typedef struct reply {
    mst_iov *piece; /* [number of variables][MOST_PIECES]; unused ones have no bytes */
    void **memory;  /* [number of variables] */
} reply;

/* Adds the rows of V that have changed since step HAS, after their numbers. Returns their bytes; 0 if they are not less
 * than all rows, or if there is no memory. */
static size_t add_changes(const mst_server_variable *v, const mst_tensor *value, int64_t has, mst_iov *piece,
                          void **memory) {
    const size_t row = v->bytes / (size_t)v->num_rows;
    int64_t count = 0;
    for (int64_t r = 0; r < v->num_rows; r++) count += v->changed[r] > has;
    const size_t bytes = sizeof count + (size_t)count * (sizeof count + row);
    int64_t *number = bytes < v->bytes ? malloc(bytes) : NULL;
    if (!number) return 0;
    *memory = number;
    *number++ = count;
    char *to = (char *)(number + count);
    for (int64_t r = 0; r < v->num_rows; r++) {
        if (v->changed[r] <= has) continue;
        *number++ = r;
        memcpy(to, (const char *)mst_tensor_data(value) + (size_t)r * row, row);
        to += row;
    }
    *piece = (mst_iov){*memory, bytes};
    return bytes;
}

/* Adds the value of V as parameter_server/message_body.h says, for a worker that has the value of step HAS (-1:
 * none). */
static void add_reply_value(const mst_server_variable *v, const mst_tensor *value, int64_t has, mst_iov *piece,
                            void **memory) {
    static const int64_t all = -1;
    static const char zero[MST_MESSAGE_BODY_ALIGN] = {0};
    size_t bytes = v->is_sparse && has >= 0 ? add_changes(v, value, has, piece, memory) : 0;
    if (!bytes) {
        if (v->is_sparse) *piece++ = (mst_iov){&all, sizeof all};
        *piece = (mst_iov){mst_tensor_data(value), bytes = v->bytes};
    }
    piece[1] = (mst_iov){zero, mst_message_body_aligned(bytes) - bytes};
}

/* Sends VALUE to a worker that has the values of step HAS; -1: none. */
static mst_status send_variables(mst_server *s, int32_t to, const mst_task_message_head *head,
                                 const mst_server_values *value, int64_t has) {
    if (value->block) return mst_mail_send_block(s->mail, to, head, value->block, 0, s->variables.body_bytes);
    const size_t count = (size_t)s->variables.count;
    reply r = {.piece = calloc(MOST_PIECES * count + 1, sizeof *r.piece),
               .memory = calloc(count + 1, sizeof *r.memory)};
    mst_status status = r.piece && r.memory ? MST_OK : MST_NO_MEMORY("for variables");
    for (size_t v = 0; v < count && !status; v++)
        add_reply_value(&s->variables.at[v], value->tensor[v], has, r.piece + MOST_PIECES * v, &r.memory[v]);
    if (!status) status = mst_mail_send(s->mail, to, head, r.piece, MOST_PIECES * s->variables.count, NULL);
    for (size_t v = 0; r.memory && v < count; v++) free(r.memory[v]);
    free(r.memory);
    free(r.piece);
    return status;
}

static mst_status tell_to_stop(mst_server *s, int32_t to) {
    const mst_task_message_head head = {.kind = MST_PS_STOP, .request = s->worker[to].request};
    return mst_mail_send(s->mail, to, &head, NULL, 0, NULL);
}

mst_status mst_server_send_values(mst_server *s, int32_t kind, int32_t first, int32_t end,
                                  bool (*whom)(const mst_server_worker *)) {
    mst_status status = read_values(s);
    for (int32_t w = first; w < end && !status; w++) {
        const mst_task_message_head head = {.kind = kind,
                                            .round = s->round,
                                            .number = s->position[w],
                                            .step = s->step,
                                            .request = s->worker[w].request};
        if (whom && !whom(&s->worker[w])) continue;
        if (s->end.stops && kind == MST_PS_VALUES) MST_TRY(tell_to_stop(s, w));
        s->worker[w].computes = kind == MST_PS_VALUES;
        s->worker[w].held = s->worker[w].wants = false;
        s->worker[w].read = s->step;
        status = send_variables(s, w, &head, &s->versions.latest, kind == MST_PS_VALUES ? s->worker[w].has : -1);
    }
    return status;
}

bool mst_server_wants_previous(const mst_server *s, int32_t w, int64_t number) {
    return s->job.synchronous && are_read(&s->versions.previous) && s->versions.step == s->step &&
           number == s->worker[w].previous + 1 && number <= s->position[w];
}

mst_status mst_server_send_previous(mst_server *s, int32_t w) {
    const mst_task_message_head head = {.kind = MST_PS_VALUES,
                                        .round = s->round,
                                        .number = s->worker[w].previous,
                                        .step = s->step - 1,
                                        .request = s->worker[w].request};
    return send_variables(s, w, &head, &s->versions.previous, -1);
}

mst_status mst_server_send_staleness(mst_server *s, int32_t to) {
    const mst_task_message_head head = {.kind = MST_PS_STALENESS, .request = s->worker[to].request};
    int32_t count = MST_STALENESS_COUNTS;
    while (count > 0 && s->counts.staleness[count - 1] == 0) count--;
    return mst_mail_send(s->mail, to, &head,
                         &(mst_iov){s->counts.staleness, (size_t)count * sizeof *s->counts.staleness}, 1, NULL);
}

/* ---- all state ---- */

static mst_status store_progress(mst_server *s) {
    const int32_t self = mst_cluster_task(s->options.cluster, s->self).index;
    for (int32_t w = 0; w < s->num_workers; w++)
        MST_TRY(mst_ps_progress_store(mst_session_store(s->program.session), self, w,
                                      (mst_ps_progress){.updates = s->step, .position = s->position[w]}));
    return MST_OK;
}

mst_status mst_server_send_state(mst_server *s, int32_t to) {
    mst_snapshot *snapshot;
    void *data = NULL;
    size_t bytes = 0;
    MST_TRY(store_progress(s));
    MST_TRY(mst_store_snapshot(mst_session_store(s->program.session), &snapshot));
    const mst_task_message_head head = {.kind = MST_PS_STATE, .step = s->step, .request = s->worker[to].request};
    mst_status status = mst_state_message_encode(snapshot, &data, &bytes);
    if (!status) status = mst_mail_send(s->mail, to, &head, &(mst_iov){data, bytes}, 1, NULL);
    mst_snapshot_release(snapshot);
    free(data);
    return status;
}
