/* The order of requests at several servers of a synchronous job with backup workers. A step uses the gradients that
 * come first, and requests come in a different order at each server. The first server therefore fixes one order, in
 * which all servers take the requests. All servers then drop the same gradients and make the same updates, and the
 * values that a worker gets from all servers are of one step:
 *
 *      worker 2          ps:1                        ps:0
 *      request ------->  lists it, tells ps:0 -----> has listed it too: now all servers have the request
 *                        takes it  <---------------- takes it: the next in the order
 *                                  <---------------- makes the update, if enough gradients are there
 *                        makes the update            ...
 *
 * If a worker is lost, its request may have come to only some of the servers. Such a request is not in the order, and
 * has no effect. A request in the order is kept by all servers until they have taken it, whatever happens to its
 * worker.
 *
 * The turns of the order are numbered. With each request that a server reports to the first server, it says how many
 * turns it has taken. The first server keeps the turns that some server has not taken, and sends them again if a
 * connection was broken. In a new round, after the loss of a server, the order begins anew, and messages of an earlier
 * round are dropped.
 *
 * HELLO, BEGIN and LEAVE are not in the order: they are answered even if the first server is lost. The values that a
 * worker gets in answer to HELLO may therefore have different steps on different servers. The worker says so in the
 * message with its gradients (step -1), and these gradients are dropped. */
#include "parameter_server/server_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { UPDATE = -1 /* used in place of a worker's number */ };

/* ---- memory ---- */

mst_status mst_server_begin_order(mst_server *s) {
    mst_server_order *o = &s->order;
    const int32_t num_ps = mst_cluster_num_ps(s->options.cluster);
    if (num_ps == 1 || s->options.replay_updates || !s->job.synchronous || s->job.aggregate == s->num_workers)
        return MST_OK;
    o->listed = calloc((size_t)num_ps * (size_t)s->num_workers, sizeof *o->listed);
    o->taken_by = calloc((size_t)num_ps, sizeof *o->taken_by);
    if (!o->listed || !o->taken_by) return MST_NO_MEMORY("for the requests of %d workers", (int)s->num_workers);
    o->self = mst_cluster_task(s->options.cluster, s->self).index;
    o->num_ps = num_ps;
    return MST_OK;
}

/* Frees the listed requests of worker W. */
static void drop_listed(mst_server *s, int32_t w) {
    for (mst_task_message *message = s->worker[w].listed, *next; message; message = next) {
        next = message->next;
        mst_task_message_free(message);
    }
    s->worker[w].listed = NULL;
}

void mst_server_clear_order(mst_server *s) {
    for (int32_t w = 0; w < s->num_workers; w++) drop_listed(s, w);
    free(s->order.listed);
    free(s->order.taken_by);
    free(s->order.turn);
    s->order = (mst_server_order){.num_ps = 0};
}

/* ---- messages between servers ---- */

static int32_t task_of(const mst_server *s, int32_t p) {
    return mst_cluster_find(s->options.cluster, "ps", p);
}

/* The last listed request of worker W; NULL: none. */
static mst_task_message *last_listed(const mst_server *s, int32_t w) {
    mst_task_message *last = s->worker[w].listed;
    while (last && last->next) last = last->next;
    return last;
}

/* Tells the first server that this one has REQUEST of worker W. W is UPDATE: asks for turns that have not come. */
static mst_status tell_first(mst_server *s, int32_t w, uint64_t request) {
    const mst_task_message_head head = {
        .kind = MST_PS_ORDER, .round = s->round, .number = w, .step = s->order.taken, .request = request};
    return mst_mail_send(s->mail, task_of(s, 0), &head, NULL, 0, NULL);
}

/* Sends turn number I, counted from 1, to server P. */
static mst_status tell_turn(mst_server *s, int32_t p, int64_t i) {
    const mst_server_turn turn = s->order.turn[i - 1 - s->order.forgotten];
    const mst_task_message_head head = {
        .kind = MST_PS_ORDER, .round = s->round, .number = turn.worker, .step = i, .request = turn.request};
    return mst_mail_send(s->mail, task_of(s, p), &head, NULL, 0, NULL);
}

/* ---- taking turns ---- */

/* Takes the listed REQUEST of worker W. Earlier listed requests of W are not in the order, and are dropped. */
static mst_status take_listed(mst_server *s, int32_t w, uint64_t request) {
    mst_server_worker *worker = &s->worker[w];
    mst_task_message *message;
    while ((message = worker->listed) && message->head.request != request) {
        worker->listed = message->next;
        mst_task_message_free(message);
    }
    if (!message)
        return MST_FAIL(MST_INTERNAL, "the first server takes a request of %s that has not come here",
                        mst_server_name(s, w));
    worker->listed = message->next;
    message->next = NULL;
    const mst_status status = s->take_request(s, &message);
    mst_server_end_message(s, message, status);
    return status;
}

static mst_status take_turn(mst_server *s, mst_server_turn turn) {
    s->order.taken++;
    return turn.worker == UPDATE ? mst_server_make_update(s) : take_listed(s, turn.worker, turn.request);
}

/* ---- the first server ---- */

/* Forgets the turns that all servers have taken, once they are more than half of those that are kept. */
static void forget_turns(mst_server_order *o) {
    int64_t taken = o->taken;
    for (int32_t p = 1; p < o->num_ps; p++)
        if (o->taken_by[p] < taken) taken = o->taken_by[p];
    const int64_t drop = taken - o->forgotten;
    if (drop <= o->num_turns / 2) return;
    o->num_turns -= drop;
    memmove(o->turn, o->turn + drop, (size_t)o->num_turns * sizeof *o->turn);
    o->forgotten = taken;
}

static mst_status keep_turn(mst_server_order *o, mst_server_turn turn) {
    enum { LEAST = 64 };
    forget_turns(o);
    if (o->num_turns == o->room) {
        const int64_t room = o->room ? 2 * o->room : LEAST;
        mst_server_turn *more = realloc(o->turn, (size_t)room * sizeof *more);
        if (!more) return MST_NO_MEMORY("for the order of %lld requests", (long long)room);
        o->turn = more, o->room = room;
    }
    o->turn[o->num_turns++] = turn;
    return MST_OK;
}

/* Gives TURN to all servers as the next one. */
static mst_status give_turn(mst_server *s, mst_server_turn turn) {
    MST_TRY(keep_turn(&s->order, turn));
    for (int32_t p = 1; p < s->order.num_ps; p++) MST_TRY(tell_turn(s, p, s->order.taken + 1));
    return take_turn(s, turn);
}

static bool have_all_listed(const mst_server *s, int32_t w, uint64_t request) {
    bool all = true;
    for (int32_t p = 0; p < s->order.num_ps; p++) all &= s->order.listed[(ptrdiff_t)p * s->num_workers + w] == request;
    return all;
}

mst_status mst_server_update_together(mst_server *s) {
    bool due;
    MST_TRY(mst_server_is_update_due(s, &due));
    if (!due) return MST_OK;
    if (!s->order.num_ps) return mst_server_make_update(s);
    return s->order.self == 0 ? give_turn(s, (mst_server_turn){.worker = UPDATE}) : MST_OK;
}

/* Notes that server P has REQUEST of worker W; P may have said so before. If all servers have it, gives it the next
 * turn. */
static mst_status note_listed(mst_server *s, int32_t p, int32_t w, uint64_t request) {
    if (request <= s->worker[w].request) return MST_OK;
    s->order.listed[(ptrdiff_t)p * s->num_workers + w] = request;
    const mst_task_message *own = last_listed(s, w);
    if (!own || own->head.request != request || !have_all_listed(s, w, request)) return MST_OK;
    MST_TRY(give_turn(s, (mst_server_turn){.worker = w, .request = request}));
    return mst_server_update_together(s);
}

/* Handles ORDER from server P, which reports a request, or asks for the turns that it has not taken. */
static mst_status hear_of_listed(mst_server *s, int32_t p, const mst_task_message_head *head) {
    mst_server_order *o = &s->order;
    if (head->step > o->taken || head->number < UPDATE || head->number >= s->num_workers) return MST_OK;
    if (head->step > o->taken_by[p]) o->taken_by[p] = head->step; /* smaller if a later message came before this one */
    if (head->number != UPDATE) return note_listed(s, p, (int32_t)head->number, head->request);
    for (int64_t i = o->taken_by[p] + 1; i <= o->taken; i++) MST_TRY(tell_turn(s, p, i));
    return MST_OK;
}

/* ---- the other servers ---- */

/* Takes turn number head->step. If an earlier turn is missing, this turn is dropped: the first server sends it again
 * after the missing one. */
static mst_status hear_turn(mst_server *s, const mst_task_message_head *head) {
    const int64_t next = s->order.taken + 1;
    if (head->step < next || head->number < UPDATE || head->number >= s->num_workers) return MST_OK;
    if (head->step > next) return tell_first(s, UPDATE, 0);
    return take_turn(s, (mst_server_turn){.worker = (int32_t)head->number, .request = head->request});
}

/* Reports all listed requests to the first server again: a connection may have broken unnoticed, and messages may have
 * been lost with it. */
static mst_status tell_first_all(mst_server *s) {
    MST_TRY(tell_first(s, UPDATE, 0));
    for (int32_t w = 0; w < s->num_workers; w++) {
        const mst_task_message *last = last_listed(s, w);
        if (last) MST_TRY(tell_first(s, w, last->head.request));
    }
    return MST_OK;
}

mst_status mst_server_remind_first(mst_server *s, int64_t now) {
    static const int64_t APART = INT64_C(500000000); /* nanoseconds */
    bool waits = false;
    if (s->order.self == 0 || now - s->order.told < APART) return MST_OK;
    for (int32_t w = 0; w < s->num_workers; w++) waits |= s->worker[w].listed || s->worker[w].gradients;
    s->order.told = now;
    return waits ? tell_first_all(s) : MST_OK;
}

mst_status mst_server_hear_server(mst_server *s, const mst_task_message *message) {
    const int32_t p = mst_cluster_task(s->options.cluster, message->from).index;
    const bool is_first = s->order.self == 0;
    if (!s->order.num_ps || (!is_first && p != 0)) return MST_OK;
    if (message->head.kind == MST_TASK_MESSAGE_CONNECTED)
        return is_first ? hear_of_listed(s, p, &(mst_task_message_head){.number = UPDATE, .step = s->order.taken_by[p]})
                        : tell_first_all(s);
    if (message->head.kind != MST_PS_ORDER || message->head.round != s->round) return MST_OK;
    return is_first ? hear_of_listed(s, p, &message->head) : hear_turn(s, &message->head);
}

/* ---- requests ---- */

/* False for a request that has already had its turn, and is sent again because its answer was lost. */
bool mst_server_is_ordered(const mst_server *s, const mst_task_message *message) {
    const int32_t kind = message->head.kind;
    const bool counts = kind == MST_PS_COLLECT || kind == MST_PS_RATE || kind == MST_PS_FINISHED ||
                        (kind == MST_PS_GRADIENTS && message->head.round == s->round);
    return s->order.num_ps && counts && message->head.request > s->worker[message->from].request;
}

mst_status mst_server_list_request(mst_server *s, mst_task_message **message) {
    const int32_t w = (*message)->from;
    const uint64_t request = (*message)->head.request;
    mst_task_message *last = last_listed(s, w);
    const bool is_known = last && last->instance == (*message)->instance;
    if (is_known && request < last->head.request) return MST_OK; /* a later request has come before this one */
    if (!is_known || request > last->head.request) {
        *(last ? &last->next : &s->worker[w].listed) = *message;
        *message = NULL;
    }
    return s->order.self == 0 ? note_listed(s, 0, w, request) : tell_first(s, w, request);
}

/* Forgets the requests of an earlier process of worker W: they are not ordered any more. */
void mst_server_forget_listed(mst_server *s, int32_t w) {
    if (!s->order.num_ps || s->order.self != 0) return;
    drop_listed(s, w);
    s->order.listed[w] = 0;
}
