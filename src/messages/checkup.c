/* The leader is task 0, the chief. Pairs are measured one at a time, so that they do not take each other's bandwidth.
 * While a task waits for anything, it answers the pings of others. */
#include "messages/checkup.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "messages/task_message.h"
#include "transport/endpoint.h"

const mst_protocol mst_checkup_protocol = {.first = MST_TASK_MESSAGE_CHECKUP, .end = MST_CHECK_END};

enum { LEADER = 0, MOST_SMALL = 64, MOST_LARGE = 16 };
static const int64_t SECOND = 1000000000;
static const double TICK = 0.05, ANSWER = 5, CLOSING = 2; /* seconds */

_Static_assert(sizeof(mst_checkup_link) == 48, "links travel as they lie in memory");
_Static_assert(MST_NUMERIC_SIZE <= sizeof((mst_checkup_name *)0)->numeric, "room for an address in numbers");

struct mst_checkup {
    mst_checkup_options options;
    mst_mail *mail;
    int32_t num_tasks, self;
    const char *facts;
    mst_checkup_peer *peer;
    bool *is_ready;    /* [num_tasks] no longer waits for anybody */
    bool *is_measured; /* [num_tasks] has measured its links */
    mst_checkup_link *link;
    int32_t num_links, room;
    bool told, ended;           /* MEASURE has come; LINKS has come */
    int64_t link_time;          /* nanoseconds for measuring a pair */
    int64_t ping, pong;         /* number of the last ping, and of the last answer */
    int64_t pong_at, pong_wall; /* when the answer came, and the peer's time of day */
    void *payload;              /* [MST_CHECKUP_LARGE] zeros */
};

/* ---- names ---- */

static void wait_resolved(int wake, int64_t deadline) {
    uint64_t count;
    struct pollfd fd = {.fd = wake, .events = POLLIN};
    const int64_t left = deadline - mst_clock_now();
    if (poll(&fd, 1, left > 0 ? (int)(left / 1000000) + 1 : 0) > 0 && read(wake, &count, sizeof count) < 0) {
        /* nothing to do: take_results looks at all results in any case */
    }
}

static bool take_results(mst_resolving **resolving, int n, mst_checkup_name *out) {
    bool all = true;
    for (int i = 0; i < n; i++) {
        if (!resolving[i] || !mst_resolve_result(resolving[i], 0, out[i].numeric)) {
            all &= !resolving[i];
            continue;
        }
        out[i].is_loopback = mst_endpoint_is_loopback(out[i].numeric);
    }
    return all;
}

mst_status mst_checkup_resolve(const mst_cluster *cluster, double seconds, mst_checkup_name *out) {
    const int n = mst_cluster_num_training_tasks(cluster);
    const int64_t deadline = mst_clock_after(seconds);
    memset(out, 0, (size_t)n * sizeof *out);
    mst_resolving **resolving = calloc((size_t)n, sizeof *resolving);
    if (!resolving) return MST_NO_MEMORY("for the names of %d tasks", n);
    const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (int i = 0; i < n && wake >= 0; i++)
        resolving[i] = mst_resolve_start(mst_cluster_task(cluster, i).address, wake);
    while (!take_results(resolving, n, out) && mst_clock_now() < deadline) wait_resolved(wake, deadline);
    for (int i = 0; i < n; i++) mst_resolve_end(resolving[i]);
    free(resolving);
    if (wake >= 0) close(wake);
    return wake >= 0 ? MST_OK
                     : MST_FAIL(MST_OUT_OF_MEMORY, "cannot make an eventfd: allow more open files (ulimit -n)");
}

/* ---- what arrives ---- */

static bool is_over(const mst_checkup *c, int64_t deadline) {
    return mst_clock_now() >= deadline || (c->options.stop && c->options.stop());
}

/* The most seconds that measuring all pairs takes. */
static double measuring_time(const mst_checkup *c) {
    static const double LEAST = 20, PAIR = 0.05;
    return LEAST + PAIR * 0.5 * c->num_tasks * (c->num_tasks - 1);
}

/* Whether TASK is there: it has sent something, can be sent to, and was not lost since. */
static bool is_present(const mst_checkup *c, int32_t task) {
    const mst_checkup_peer *p = &c->peer[task];
    return task != c->self && p->heard && p->reached && !p->lost;
}

static mst_status send_facts(mst_checkup *c, int32_t to) {
    const mst_task_message_head head = {.kind = MST_CHECK_FACTS, .number = c->is_ready[c->self]};
    return mst_mail_send(c->mail, to, &head, &(mst_iov){c->facts, strlen(c->facts)}, 1, NULL);
}

static mst_status take_facts(mst_checkup *c, const mst_task_message *message) {
    mst_checkup_peer *p = &c->peer[message->from];
    char *facts = strdup(message->body);
    if (!facts) return MST_NO_MEMORY("for what a task says");
    free(p->facts);
    p->facts = facts;
    p->heard = true;
    p->lost = false;
    c->is_ready[message->from] = message->head.number != 0;
    return MST_OK;
}

static mst_status add_link(mst_checkup *c, const mst_checkup_link *link) {
    if (c->num_links == c->room) {
        const int32_t room = c->room ? 2 * c->room : c->num_tasks;
        mst_checkup_link *bigger = realloc(c->link, (size_t)room * sizeof *bigger);
        if (!bigger) return MST_NO_MEMORY("for %d links", room);
        c->link = bigger;
        c->room = room;
    }
    c->link[c->num_links++] = *link;
    return MST_OK;
}

/* Adds the links of MESSAGE that task FROM has measured or, if FROM is -1, that any task has measured. Invalid ones are
 * left out. */
static mst_status take_links(mst_checkup *c, const mst_task_message *message, int32_t from) {
    const mst_checkup_link *link = message->body;
    const size_t count = message->bytes / sizeof *link, most = (size_t)c->num_tasks * (size_t)c->num_tasks;
    for (size_t i = 0; i < count && i < most; i++) {
        const bool names_pair = link[i].from >= 0 && link[i].from < link[i].to && link[i].to < c->num_tasks;
        const bool has_times = link[i].latency >= 0 && link[i].there >= 0 && link[i].back >= 0;
        if (!names_pair || !has_times || (from >= 0 && link[i].from != from)) continue;
        MST_TRY(add_link(c, &link[i]));
    }
    return MST_OK;
}

static mst_status answer_ping(mst_checkup *c, const mst_task_message *message) {
    const int64_t bytes = message->head.step;
    if (bytes < 0 || bytes > MST_CHECKUP_LARGE) return MST_OK;
    const mst_task_message_head head = {
        .kind = MST_CHECK_PONG, .number = message->head.number, .step = (int64_t)(mst_clock_wall() * 1e9)};
    return mst_mail_send(c->mail, message->from, &head, &(mst_iov){c->payload, (size_t)bytes}, 1, NULL);
}

static void take_loss(mst_checkup *c, const mst_task_message *message) {
    mst_checkup_peer *p = &c->peer[message->from];
    p->lost = true;
    snprintf(p->why, sizeof p->why, "%s", (const char *)message->body);
    mst_make_plain(p->why);
}

static mst_status take(mst_checkup *c, const mst_task_message *message) {
    const mst_task_message_head *head = &message->head;
    const bool by_leader = message->from == LEADER;
    switch (head->kind) {
        case MST_TASK_MESSAGE_CONNECTED: c->peer[message->from].lost = false; return send_facts(c, message->from);
        case MST_TASK_MESSAGE_LOST: take_loss(c, message); return MST_OK;
        case MST_CHECK_FACTS: return take_facts(c, message);
        case MST_CHECK_MEASURE:
            if (!by_leader || head->number < 0 || head->number > SECOND) return MST_OK;
            c->told = true;
            c->link_time = head->number;
            return MST_OK;
        case MST_CHECK_PING: return answer_ping(c, message);
        case MST_CHECK_PONG:
            c->pong = head->number;
            c->pong_at = mst_clock_now();
            c->pong_wall = head->step;
            return MST_OK;
        case MST_CHECK_MEASURED: c->is_measured[message->from] = true; return take_links(c, message, message->from);
        case MST_CHECK_LINKS:
            if (!by_leader) return MST_OK;
            c->ended = true;
            c->num_links = 0; /* the leader's list includes those of this task */
            return take_links(c, message, -1);
        default: return MST_OK; /* an event of a connection that changes nothing here */
    }
}

static void note_reached(mst_checkup *c) {
    for (int32_t i = 0; i < c->num_tasks; i++)
        if (i != c->self && mst_mail_route(c->mail, i)) c->peer[i].reached = true;
}

/* Takes the next message, or waits for a moment. */
static mst_status take_next(mst_checkup *c, int64_t deadline) {
    const int64_t tick = mst_clock_after(TICK);
    mst_task_message *message = mst_mail_next(c->mail, tick < deadline ? tick : deadline);
    const mst_status status = message ? take(c, message) : MST_OK;
    mst_task_message_free(message);
    note_reached(c);
    return status;
}

/* ---- measuring ---- */

/* Sends BYTES to TASK, and waits for its answer of WANTED bytes. *TIME is the time from sending to the answer; -1 if no
 * answer came. */
static mst_status ping(mst_checkup *c, int32_t task, size_t bytes, int64_t wanted, int64_t *time) {
    const mst_task_message_head head = {.kind = MST_CHECK_PING, .number = ++c->ping, .step = wanted};
    const int64_t begin = mst_clock_now(), deadline = mst_clock_after(ANSWER);
    *time = -1;
    MST_TRY(mst_mail_send(c->mail, task, &head, &(mst_iov){c->payload, bytes}, 1, NULL));
    while (c->pong != c->ping && !c->peer[task].lost && !is_over(c, deadline)) MST_TRY(take_next(c, deadline));
    if (c->pong == c->ping) *time = c->pong_at - begin;
    return MST_OK;
}

static int compare_times(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median time of at most MOST pings within NANOSECONDS; -1 if one was not answered. The first ping is not counted:
 * it takes longer, since some things are only done once. */
static mst_status measure_pings(mst_checkup *c, int32_t task, size_t bytes, int64_t wanted, int most,
                                int64_t nanoseconds, int64_t *median) {
    int64_t time[MOST_SMALL];
    const int64_t begin = mst_clock_now();
    int count = 0;
    MST_TRY(ping(c, task, bytes, wanted, median));
    while (*median >= 0 && count < most && (count == 0 || mst_clock_now() - begin < nanoseconds)) {
        MST_TRY(ping(c, task, bytes, wanted, &time[count]));
        if (time[count] < 0) *median = -1;
        count++;
    }
    if (*median < 0) return MST_OK;
    qsort(time, (size_t)count, sizeof *time, compare_times);
    *median = time[count / 2];
    return MST_OK;
}

/* Measures how far the clock of TASK is ahead, with the quickest of some pings. */
static mst_status compare_clocks(mst_checkup *c, int32_t task, int64_t *ahead) {
    enum { PINGS = 5 };
    int64_t best = INT64_MAX, time;
    *ahead = 0;
    for (int i = 0; i < PINGS; i++) {
        const int64_t begin = (int64_t)(mst_clock_wall() * 1e9);
        MST_TRY(ping(c, task, MST_CHECKUP_SMALL, MST_CHECKUP_SMALL, &time));
        if (time < 0 || time >= best) continue;
        best = time;
        *ahead = c->pong_wall - (begin + time / 2);
    }
    return MST_OK;
}

/* The time of a large message alone, without its answer. TIME: round trip of the large message with its small answer.
 * LATENCY: half the round trip of a small message. The result is at least half of TIME: on a busy machine LATENCY may
 * be too long. */
static int64_t without_answer(int64_t time, int64_t latency) {
    return time - latency > time / 2 ? time - latency : time / 2;
}

static mst_status measure_link(mst_checkup *c, int32_t task) {
    const int64_t part = c->link_time / 3;
    mst_checkup_link link = {.from = c->self, .to = task};
    int64_t small, there = -1, back = -1;
    MST_TRY(measure_pings(c, task, MST_CHECKUP_SMALL, MST_CHECKUP_SMALL, MOST_SMALL, part, &small));
    if (small >= 0) MST_TRY(measure_pings(c, task, MST_CHECKUP_LARGE, MST_CHECKUP_SMALL, MOST_LARGE, part, &there));
    if (there >= 0) MST_TRY(measure_pings(c, task, MST_CHECKUP_SMALL, MST_CHECKUP_LARGE, MOST_LARGE, part, &back));
    if (back < 0) return MST_OK;
    MST_TRY(compare_clocks(c, task, &link.ahead));
    const char *route = mst_mail_route(c->mail, task);
    link.shared = route && strcmp(route, "through shared memory") == 0;
    link.latency = small / 2;
    link.there = without_answer(there, link.latency);
    link.back = without_answer(back, link.latency);
    return add_link(c, &link);
}

static mst_status measure_links(mst_checkup *c) {
    const int64_t deadline = mst_clock_after(measuring_time(c));
    for (int32_t i = c->self + 1; i < c->num_tasks && !is_over(c, deadline); i++)
        if (is_present(c, i)) MST_TRY(measure_link(c, i));
    return MST_OK;
}

/* ---- the whole ---- */

static bool all_present(const mst_checkup *c) {
    for (int32_t i = 0; i < c->num_tasks; i++)
        if (i != c->self && !is_present(c, i)) return false;
    return true;
}

static bool all_ready(const mst_checkup *c) {
    for (int32_t i = 0; i < c->num_tasks; i++)
        if (is_present(c, i) && !c->is_ready[i]) return false;
    return true;
}

static mst_status send_links(mst_checkup *c, int32_t to, int32_t kind) {
    const mst_iov piece = {c->link, (size_t)c->num_links * sizeof *c->link};
    return mst_mail_send(c->mail, to, &(mst_task_message_head){.kind = kind}, &piece, 1, NULL);
}

/* Lets one task after another measure its links, and sends all links to all tasks. */
static mst_status lead(mst_checkup *c) {
    static const double LINK = 0.2, ALL = 10; /* seconds for measuring a pair; for all pairs if there are many */
    const double share = 2 * ALL / ((double)c->num_tasks * (c->num_tasks - 1));
    const int64_t deadline = mst_clock_after(measuring_time(c));
    const mst_task_message_head head = {.kind = MST_CHECK_MEASURE,
                                        .number = (int64_t)((share < LINK ? share : LINK) * 1e9)};
    c->link_time = head.number;
    MST_TRY(measure_links(c));
    for (int32_t i = 1; i < c->num_tasks - 1 && !is_over(c, deadline); i++) {
        if (!is_present(c, i)) continue;
        MST_TRY(mst_mail_send(c->mail, i, &head, NULL, 0, NULL));
        while (!c->is_measured[i] && is_present(c, i) && !is_over(c, deadline)) MST_TRY(take_next(c, deadline));
    }
    for (int32_t i = 1; i < c->num_tasks; i++)
        if (is_present(c, i)) MST_TRY(send_links(c, i, MST_CHECK_LINKS));
    c->ended = true;
    return MST_OK;
}

/* Does what the leader says until the check is over. */
static mst_status follow(mst_checkup *c) {
    const int64_t deadline = mst_clock_after(c->options.wait + measuring_time(c) + 2 * ANSWER);
    while (!c->ended && is_present(c, LEADER) && !is_over(c, deadline)) {
        if (c->told) {
            c->told = false;
            MST_TRY(measure_links(c));
            MST_TRY(send_links(c, LEADER, MST_CHECK_MEASURED));
        }
        MST_TRY(take_next(c, deadline));
    }
    return MST_OK;
}

mst_status mst_checkup_gather(mst_checkup *c, const char *facts) {
    const int64_t deadline = mst_clock_after(c->options.wait);
    if (strlen(facts) >= MST_CHECKUP_FACTS)
        return MST_FAIL(MST_INTERNAL, "the facts of a task are %zu bytes long", strlen(facts));
    c->facts = facts;
    for (int32_t i = 0; i < c->num_tasks; i++)
        if (i != c->self) MST_TRY(send_facts(c, i));
    while (!all_present(c) && !c->told && !c->ended && !is_over(c, deadline)) MST_TRY(take_next(c, deadline));
    c->is_ready[c->self] = true;
    if (c->self != LEADER && is_present(c, LEADER)) MST_TRY(send_facts(c, LEADER));
    while (c->self == LEADER && !all_ready(c) && !is_over(c, deadline)) MST_TRY(take_next(c, deadline));
    return c->self == LEADER ? lead(c) : follow(c);
}

const mst_checkup_peer *mst_checkup_peer_of(const mst_checkup *c, int32_t task) {
    return &c->peer[task];
}

int32_t mst_checkup_links(const mst_checkup *c, const mst_checkup_link **out) {
    *out = c->link;
    return c->num_links;
}

/* ---- opening and closing ---- */

static mst_status open_checkup(mst_checkup *c) {
    const mst_checkup_options *o = &c->options;
    const size_t n = (size_t)c->num_tasks;
    mst_mail_options mail = {.cluster = o->cluster,
                             .bind = o->bind,
                             .key_file = o->key_file,
                             .transport = o->transport,
                             .insecure = o->insecure,
                             .protocol = &mst_checkup_protocol,
                             .most_bytes = MST_CHECKUP_LARGE + n * n * sizeof(mst_checkup_link)};
    c->peer = calloc(n, sizeof *c->peer);
    c->is_ready = calloc(n, sizeof *c->is_ready);
    c->is_measured = calloc(n, sizeof *c->is_measured);
    c->payload = calloc(1, MST_CHECKUP_LARGE);
    if (!c->peer || !c->is_ready || !c->is_measured || !c->payload) return MST_NO_MEMORY("for %d tasks", c->num_tasks);
    for (int32_t i = 0; i < c->num_tasks; i++)
        if (!mst_cluster_task(o->cluster, i).address)
            return MST_FAIL(MST_INVALID, "the addresses of all tasks must be known: give TF_CONFIG the whole list");
    return mst_mail_open(&mail, &c->mail);
}

mst_status mst_checkup_open(const mst_checkup_options *options, mst_checkup **out) {
    mst_checkup *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return MST_NO_MEMORY("for a checkup");
    c->options = *options;
    c->num_tasks = mst_cluster_num_training_tasks(options->cluster);
    c->self = mst_cluster_self(options->cluster);
    const mst_status status = open_checkup(c);
    if (status)
        mst_checkup_close(c);
    else
        *out = c;
    return status;
}

void mst_checkup_close(mst_checkup *c) {
    if (!c) return;
    const int64_t deadline = mst_clock_after(CLOSING);
    mst_status status = MST_OK;
    while (c->mail && c->ended && c->self != LEADER && !c->peer[LEADER].lost && !status && mst_clock_now() < deadline)
        status = take_next(c, deadline);
    mst_mail_close(c->mail);
    for (int32_t i = 0; c->peer && i < c->num_tasks; i++) free(c->peer[i].facts);
    free(c->peer);
    free(c->is_ready);
    free(c->is_measured);
    free(c->link);
    free(c->payload);
    free(c);
}
