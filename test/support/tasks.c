#include "support/tasks.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/test.h"

enum { FEW = 4 };

/* ---- what a task is told ---- */

static void keep(task *t, told_kind kind, int32_t from, uint64_t instance, mst_key key, const void *data,
                 size_t bytes) {
    told *e = malloc(sizeof *e + bytes + 1);
    *e = (told){.kind = kind, .from = from, .by = pthread_self(), .instance = instance, .key = key, .bytes = bytes};
    memcpy(e->data, data, bytes);
    e->data[bytes] = '\0';
    pthread_mutex_lock(&t->lock);
    *t->last = e;
    t->last = &e->next;
    pthread_cond_broadcast(&t->more);
    pthread_mutex_unlock(&t->lock);
}

static const char link_text[] = "for a connection"; /* which nobody is told of */

static void on_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    task *t = context;
    if (bytes == sizeof link_text && memcmp(data, link_text, bytes) == 0) return;
    keep(t, TOLD_CONTROL, from, instance, (mst_key){0}, data, bytes);
    pthread_mutex_lock(&t->lock);
    const bool echoes = t->echoes;
    pthread_mutex_unlock(&t->lock);
    if (echoes && t->all->type->control(t->transport, from, data, bytes)) abort();
}

static void on_connected(void *context, int32_t from) {
    keep(context, TOLD_CONNECTED, from, 0, (mst_key){0}, "", 0);
}

static void on_lost(void *context, int32_t from, uint64_t instance, const char *why) {
    keep(context, TOLD_LOST, from, instance, (mst_key){0}, why, strlen(why));
}

static void on_mismatch(void *context, int32_t from, mst_key key, const char *why) {
    keep(context, TOLD_MISMATCH, from, 0, key, why, strlen(why));
}

static void on_stranger(void *context, const char *line) {
    keep(context, TOLD_STRANGER, 0, 0, (mst_key){0}, line, strlen(line));
}

static void on_taken(void *context, int32_t by, int32_t number, const char *where) {
    (void)by;
    keep(context, TOLD_TAKEN, number, 0, (mst_key){0}, where, strlen(where));
}

static void on_list_mismatch(void *context, int32_t from, const char *why) {
    keep(context, TOLD_LIST_MISMATCH, from, 0, (mst_key){0}, why, strlen(why));
}

/* Under the lock. */
static const told *find_told(const task *t, told_kind kind, int32_t from, int number) {
    for (const told *e = t->first; e; e = e->next)
        if (e->kind == kind && (from < 0 || e->from == from) && number-- == 0) return e;
    return NULL;
}

const told *task_told(task *t, told_kind kind, int32_t from, int number) {
    static const char *const name[] = {"control message", "connection",    "loss",    "mismatch",
                                       "taken",           "list mismatch", "stranger"};
    const struct timespec until = mst_clock_timespec(TASK_SECONDS * INT64_C(1000000000));
    const told *e;
    int late = 0;
    pthread_mutex_lock(&t->lock);
    while (!(e = find_told(t, kind, from, number)) && !late)
        late = pthread_cond_clockwait(&t->more, &t->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&t->lock);
    if (e) return e;
    const int self = t->self;
    tasks_close(t->all); /* their threads must not use memory of the test any longer */
    fail_msg("task %d was told of no %s number %d of task %d", self, name[kind], number, from);
    return NULL;
}

int task_count(task *t, told_kind kind, int32_t from) {
    int count = 0;
    pthread_mutex_lock(&t->lock);
    while (find_told(t, kind, from, count)) count++;
    pthread_mutex_unlock(&t->lock);
    return count;
}

/* ---- opening and closing ---- */

/* Finds a TCP port of this machine's. The socket that is returned does not listen, and holds it, so that no other
 * program gets it: SO_REUSEADDR lets the task itself listen there. */
static int find_port(task_address address) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int hold = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    assert_int_equal(setsockopt(hold, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(hold, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(hold, (struct sockaddr *)&at, &size), 0);
    snprintf(address, sizeof(task_address), "127.0.0.1:%d", ntohs(at.sin_port));
    return hold;
}

void tasks_find_addresses(task_address *address, int32_t count) {
    const mst_transport_type *zmq;
    if (mst_transport_find("zmq", &zmq)) skip();
    for (int32_t i = 0; i < count; i++) find_port(address[i]);
}

static void find_ports(tasks *all) {
    for (int32_t i = 0; i < all->count; i++) {
        char *address = malloc(sizeof(task_address));
        all->hold[i] = find_port(address);
        all->address[i] = address;
    }
}

static const mst_cluster_keys *keys_in_use;

void tasks_use_keys(const mst_cluster_keys *keys) {
    keys_in_use = keys;
}

mst_cluster_keys tasks_keys(unsigned char number) {
    unsigned char seed[crypto_box_SEEDBYTES] = {number};
    mst_cluster_keys keys = {.is_token = false};
    assert_int_equal(crypto_box_seed_keypair(keys.listener.public_key, keys.listener.secret_key, seed), 0);
    seed[1] = 1;
    assert_int_equal(crypto_box_seed_keypair(keys.connector.public_key, keys.connector.secret_key, seed), 0);
    return keys;
}

mst_cluster_keys tasks_token(unsigned char number) {
    return (mst_cluster_keys){.is_token = true, .token = {number, 1}};
}

void tasks_make(tasks *all, const mst_transport_type *type, int32_t count, const mst_transport_options *options) {
    *all = (tasks){.type = type, .count = count};
    if (options) all->options = *options;
    if (!all->options.keys) all->options.keys = keys_in_use;
    find_ports(all);
}

mst_status task_open(tasks *all, int32_t i, uint64_t instance) {
    task *t = &all->task[i];
    mst_transport_options options = all->options;
    *t = (task){.all = all, .self = i, .last = &t->first};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    options.num_tasks = all->count;
    options.self = i;
    options.address = all->address;
    options.instance = instance;
    options.events = (mst_transport_events){.context = t,
                                            .control = on_control,
                                            .connected = on_connected,
                                            .lost = on_lost,
                                            .mismatch = on_mismatch,
                                            .taken = on_taken,
                                            .list_mismatch = on_list_mismatch,
                                            .stranger = on_stranger};
    return all->type->open(&options, &t->transport);
}

void tasks_open(tasks *all, const mst_transport_type *type, int32_t count, const mst_transport_options *options) {
    tasks_make(all, type, count, options);
    for (int32_t i = 0; i < count; i++) {
        EXPECT_OK(task_open(all, i, (uint64_t)i + 100));
        type->begin(all->task[i].transport, 1);
    }
    for (int32_t i = 0; i < count && count <= FEW && type->memory; i++)
        for (int32_t to = 0; to < count; to++)
            if (to != i) task_link(all, i, to);
}

void task_link(tasks *all, int32_t i, int32_t to) {
    mst_transport *transport = all->task[i].transport;
    const int64_t deadline = mst_clock_after(TASK_SECONDS);
    EXPECT_OK(all->type->control(transport, to, link_text, sizeof link_text));
    for (const char *route = NULL; !route || strcmp(route, "through shared memory") != 0;) {
        if (mst_clock_now() > deadline) fail_msg("task %d does not share memory with task %d", i, to);
        usleep(100);
        route = all->type->peer_info->route(transport, to);
    }
}

void *task_memory(tasks *all, int32_t i, size_t bytes) {
    task *t = &all->task[i];
    void *memory = all->type->memory ? all->type->memory->alloc(t->transport, bytes) : calloc(1, bytes);
    int k = 0;
    assert_non_null(memory);
    while (t->memory[k]) assert_true(++k < MOST_MEMORIES);
    return t->memory[k] = memory;
}

static void free_memory(task *t) {
    for (int k = 0; k < MOST_MEMORIES && t->memory[k]; k++)
        if (t->all->type->memory)
            t->all->type->memory->free(t->transport, t->memory[k]);
        else
            free(t->memory[k]);
}

void task_close(tasks *all, int32_t i, double seconds) {
    task *t = &all->task[i];
    if (!t->transport) return;
    if (all->type->memory) free_memory(t);
    all->type->close(t->transport, seconds);
    if (!all->type->memory) free_memory(t);
    t->transport = NULL;
    for (told *e = t->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    t->first = NULL;
    pthread_cond_destroy(&t->more);
    pthread_mutex_destroy(&t->lock);
}

void tasks_close(tasks *all) {
    for (int32_t i = 0; i < all->count; i++) task_close(all, i, 0);
    for (int32_t i = 0; i < all->count; i++) {
        free((char *)(uintptr_t)all->address[i]);
        close(all->hold[i]);
    }
}

/* ---- calls ---- */

void task_echo(tasks *all, int32_t i) {
    task *t = &all->task[i];
    pthread_mutex_lock(&t->lock);
    t->echoes = true;
    pthread_mutex_unlock(&t->lock);
}

void task_say(tasks *all, int32_t i, int32_t to, const char *text) {
    EXPECT_OK(all->type->control(all->task[i].transport, to, text, strlen(text)));
}

void task_send(tasks *all, int32_t i, int32_t to, mst_key key, const void *data, size_t bytes, mst_timeline *done) {
    const mst_iov piece = {data, bytes};
    EXPECT_OK(all->type->send(all->task[i].transport, to, key, &piece, 1, done));
}

void task_post(tasks *all, int32_t i, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done) {
    EXPECT_OK(all->type->post(all->task[i].transport, from, key, into, bytes, done));
}

void task_wait(mst_timeline *done, uint64_t value) {
    if (!mst_timeline_wait(done, value, mst_clock_after(TASK_SECONDS), false))
        fail_msg("a message is not done: %llu instead of %llu", (unsigned long long)mst_timeline_value(done),
                 (unsigned long long)value);
}
