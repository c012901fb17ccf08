/* clang -fsanitize=fuzzer,address,undefined: what may happen to the leader of a cluster and to a member, messages from
 * anybody included. A generation ends only if it has begun, and nothing comes after the end. */
#include <string.h>

#include "membership/members.h"
#include "memory.h"

enum { TASKS = 3, HEADER = 21 };

typedef struct player {
    mst_members *members;
    bool in_generation, over;
    uint32_t generation;
} player;

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static uint8_t next(bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}

/* ---- what members want ---- */

static void expect(bool what) {
    if (!what) __builtin_trap();
}

static void on_send(void *context, int32_t to, uint64_t instance, const void *data, size_t size) {
    (void)context, (void)instance;
    mst_member_status member_status[TASKS];
    mst_member_message message;
    expect(to >= 0 && to < TASKS);
    /* numbers that peers have made up may be too large to be read again */
    if (mst_member_message_decode(data, size, TASKS, member_status, &message)) return;
}

static void on_begun(void *context, const mst_generation *generation) {
    player *p = context;
    expect(!p->over && !p->in_generation && generation->number > p->generation);
    expect(generation->source >= 0 && generation->source < TASKS);
    p->in_generation = true;
    p->generation = generation->number;
}

static void on_ended(void *context, const mst_task_failure *failure) {
    player *p = context;
    expect(!p->over && p->in_generation && failure->code);
    p->in_generation = false;
}

static void on_stopped(void *context, int64_t state_number) {
    const player *p = context;
    (void)state_number;
    expect(!p->over && p->in_generation);
}

static void on_failed(void *context, const mst_task_failure *failure) {
    player *p = context;
    expect(!p->over && failure->code);
    p->over = true;
}

static void on_waiting(void *context, const mst_waiting *waiting) {
    const player *p = context;
    expect(!p->over && !p->in_generation && waiting->num_listed <= waiting->num_waited);
}

static void on_notice(void *context, const mst_task_failure *notice) {
    const player *p = context;
    expect(!p->over && notice->code);
}

static void on_bye(void *context) {
    player *p = context;
    expect(!p->over);
    p->over = true;
}

/* ---- what happens to them ---- */

static void put(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* A message with a header that is one, mostly. */
static void receive(player *p, bytes *b) {
    uint8_t message[HEADER + 255] = {'M', 'S', 'T', MST_MEMBER_MESSAGE_VERSION};
    const int32_t from = next(b) % 4;
    const uint64_t instance = next(b) % 4;
    message[4] = next(b) % MST_MEMBER_KINDS;
    put(message + 5, next(b) % 4);
    put(message + 9, next(b) % 8);
    message[13] = next(b) % 4;
    size_t size = next(b);
    if (size > (size_t)(b->end - b->at)) size = (size_t)(b->end - b->at);
    memcpy(message + HEADER, b->at, size);
    b->at += size;
    mst_members_received(p->members, from, instance, message, HEADER + size);
}

static void act(player *p, bytes *b) {
    mst_member_state state = {.num_fingerprints = 1, .fingerprint = {{.name = "options"}}, .ended_at = MST_NO_STATE};
    mst_failure failure = {.code = MST_IO, .file = "", .message = "the disk is full"};
    mst_group_progress last[MST_GROUP_LAST];
    switch (next(b) % 5) {
        case 0:
            state.state_number = next(b) - 1;
            state.fingerprint[0].hash = next(b) % 2;
            if (mst_members_ready(p->members, &state)) return;
            break;
        case 1: mst_members_left(p->members, p->generation); break;
        case 3: mst_members_stop(p->members, next(b)); break;
        case 2:
            for (int i = 0; i < MST_GROUP_LAST; i++)
                last[i] = (mst_group_progress){.count = next(b), .run = next(b), .stream = next(b), .name = "sum"};
            mst_members_started(p->members, last, next(b) % (MST_GROUP_LAST + 1));
            break;
        default:
            failure.code = next(b) % 2 ? MST_DEADLINE : MST_IO;
            failure.derived = next(b) % 2;
            mst_members_failed(p->members, &failure);
    }
}

static void play(player *p, bytes *b, int64_t *now) {
    switch (next(b) % 8) {
        case 0:
        case 1:
        case 2: receive(p, b); break;
        case 3: {
            const int32_t by = next(b) % (TASKS + 1), task = next(b) % TASKS;
            if (by < TASKS)
                mst_members_taken(p->members, by, task, "10.0.0.9");
            else
                mst_members_list_mismatch(p->members, task, "two tasks have the number 0");
            break;
        }
        case 4: {
            const int32_t task = next(b) % TASKS;
            mst_members_lost(p->members, task, next(b) % 4, "connection closed by the peer");
            break;
        }
        case 5: mst_members_connected(p->members, next(b) % TASKS); break;
        case 6: mst_members_tick(p->members, *now += next(b) * INT64_C(500000000)); break;
        default: act(p, b);
    }
}

static void play_one(int32_t self, bytes b) {
    static const char *const name[TASKS] = {"worker:0", "worker:1", "worker:2"};
    static const char *const address[TASKS] = {"a:1", NULL, "c:3"};
    player p = {0};
    int64_t now = 0;
    const mst_members_options options = {
        .num_tasks = TASKS,
        .self = self,
        .name = name,
        .address = address,
        .instance = 1,
        .events = {.context = &p,
                   .send = on_send,
                   .begun = on_begun,
                   .ended = on_ended,
                   .stopped = on_stopped,
                   .failed = on_failed,
                   .waiting = on_waiting,
                   .notice = on_notice,
                   .bye = on_bye},
    };
    if (mst_members_create(&options, &p.members)) __builtin_trap();
    while (b.at < b.end) play(&p, &b, &now);
    mst_members_destroy(p.members);
}

static void read_input(const uint8_t *data, size_t size) {
    play_one(0, (bytes){data, data + size});
    play_one(1, (bytes){data, data + size});
}

/* The leader keeps the fingerprints of each process, by name and value. */
FUZZ(read_input, 0, 256 << 10)
