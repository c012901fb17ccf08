#include "support/members.h"

#include <unistd.h>

#include "base/clock.h"

static const mst_transport_type *transport;

const mst_transport_type *members_transport(void) {
    return transport;
}

int members_run_tests(const struct CMUnitTest *tests, size_t count) {
    static const char *const names[] = {"inproc", "zmq", "shm"};
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        const mst_status status = mst_transport_find(names[i], &transport);
        if (status) print_error("transport %s is not tested: %s\n", names[i], mst_error()->message);
        failed += status != MST_OK && status != MST_UNAVAILABLE;
        if (!status) failed += _cmocka_run_group_tests(names[i], tests, count, NULL, NULL);
    }
    return failed;
}

uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

int64_t member_deadline(void) {
    return mst_clock_after(TASK_SECONDS);
}

/* ---- counting and refusing ---- */

/* One test program has one set of members at a time. */
static members *present;

static mst_status counting_send(mst_transport *transport, int32_t to, mst_key key, const mst_iov *piece, int n,
                                mst_timeline *done) {
    long long bytes = 0;
    for (int k = 0; k < n; k++) bytes += (long long)piece[k].bytes;
    for (int32_t i = 0; i < present->count; i++) {
        if (present->tasks.task[i].transport != transport) continue;
        atomic_fetch_add(&present->sent[i], 1);
        atomic_fetch_add(&present->sent_bytes[i], bytes);
    }
    if (atomic_load(&present->before_refusal) >= 0 && atomic_fetch_sub(&present->before_refusal, 1) == 0)
        return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for a message to task %d", to);
    return present->tasks.type->send(transport, to, key, piece, n, done);
}

int member_sent(const members *all, int32_t i) {
    return atomic_load(&all->sent[i]);
}

long long member_sent_bytes(const members *all, int32_t i) {
    return atomic_load(&all->sent_bytes[i]);
}

void members_refuse_send(members *all, int after) {
    atomic_store(&all->before_refusal, after);
}

/* ---- opening ---- */

void cut_windows(mst_shards *window, int32_t count, int32_t num_shards, unsigned seed) {
    uint64_t random = seed;
    for (int32_t i = 0, first = 0; i < count; i++) {
        const int32_t left = count - i, rest = num_shards - first - (left - 1);
        const int32_t even = (num_shards - first) / left, most = 2 * even < rest ? 2 * even : rest;
        const int32_t size = left == 1 ? rest : seed == 0 ? even : 1 + (int32_t)(next_random(&random) % (uint32_t)most);
        window[i] = (mst_shards){first, size};
        first += size;
    }
}

void members_open(members *all, int32_t count, int32_t num_shards, unsigned seed) {
    mst_shards window[MOST_TASKS];
    cut_windows(window, count, num_shards, seed);
    members_open_windows(all, transport, count, window);
}

void members_open_windows(members *all, const mst_transport_type *type, int32_t count, const mst_shards *window) {
    int32_t task[MOST_TASKS];
    tasks_open(&all->tasks, type, count, NULL);
    all->count = count;
    all->num_shards = window[count - 1].first + window[count - 1].count;
    all->counting = *type;
    all->counting.send = counting_send;
    present = all;
    members_refuse_send(all, -1);
    memcpy(all->window, window, (size_t)count * sizeof *window);
    for (int32_t i = 0; i < count; i++) task[i] = i;
    for (int32_t i = 0; i < count; i++) {
        member *m = &all->member[i];
        const mst_group_options options = {.type = &all->counting,
                                           .transport = all->tasks.task[i].transport,
                                           .num_members = count,
                                           .self = i,
                                           .task = task,
                                           .num_shards = all->num_shards,
                                           .window = all->window};
        *m = (member){.all = all, .self = i};
        EXPECT_OK(mst_group_create(&options, &m->group));
        mst_group_begin(m->group, 1);
        atomic_store(&all->sent[i], 0);
        atomic_store(&all->sent_bytes[i], 0);
    }
}

void members_close(members *all) {
    for (int32_t i = 0; i < all->count; i++) mst_group_destroy(all->member[i].group);
    tasks_close(&all->tasks);
}

/* ---- running ---- */

typedef struct call {
    member *member;
    void (*body)(member *m);
} call;

static void *run_member(void *context) {
    const call *c = context;
    c->body(c->member);
    return NULL;
}

void members_run(members *all, void (*body)(member *m)) {
    call calls[MOST_TASKS];
    for (int32_t i = 0; i < all->count; i++) {
        calls[i] = (call){&all->member[i], body};
        assert_int_equal(pthread_create(&all->member[i].thread, NULL, run_member, &calls[i]), 0);
    }
    for (int32_t i = 0; i < all->count; i++) pthread_join(all->member[i].thread, NULL);
}

void member_end(member *m, int lost) {
    mst_failure failure;
    mst_failure_keep(&failure, MST_FAIL(MST_UNAVAILABLE, "task %d is lost", lost));
    mst_group_end(m->group, &failure);
}

void members_begin(members *all, uint32_t generation) {
    for (int32_t i = 0; i < all->count; i++) {
        all->tasks.type->begin(all->tasks.task[i].transport, generation);
        mst_group_begin(all->member[i].group, generation);
    }
}

/* ---- generations that end at any moment ---- */

typedef struct ender {
    members *all;
    int most;
} ender;

static int sent_by_all(const members *all) {
    int sent = 0;
    for (int32_t i = 0; i < all->count; i++) sent += member_sent(all, i);
    return sent;
}

static void *end_soon(void *context) {
    const ender *e = context;
    uint64_t state = (uint64_t)mst_clock_now();
    const int end = sent_by_all(e->all) + (int)(next_random(&state) % (uint32_t)e->most);
    while (sent_by_all(e->all) < end) usleep(20);
    for (int32_t i = 0; i < e->all->count; i++) {
        if (next_random(&state) % 4 == 0) usleep(next_random(&state) % 300);
        member_end(&e->all->member[i], 1);
    }
    return NULL;
}

void members_end_at_random(members *all, uint32_t generations, int most, void (*body)(member *m)) {
    ender e = {all, most};
    for (uint32_t generation = 1; generation <= generations; generation++) {
        pthread_t thread;
        if (generation > 1) members_begin(all, generation);
        assert_int_equal(pthread_create(&thread, NULL, end_soon, &e), 0);
        members_run(all, body);
        pthread_join(thread, NULL);
    }
}
