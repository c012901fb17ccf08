#include "collective/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "collective/group_thread.h"
#include "collective/stages.h"
#include "collective/tree_sum.h"

/* ---- a call ---- */

/* A message that is received. */
typedef struct message {
    mst_timeline arrived;
    int32_t member;
    bool posted;
} message;

typedef struct call {
    mst_task_group *group;
    const char *name;
    mst_key key;
    int64_t deadline;
    mst_timeline sent;
    uint64_t num_sent;
    int64_t num_messages;
    message *message;
} call;

/* Kinds of calls. They are part of the hash: it is an error if members make calls of different kinds. */
enum { BROADCAST = 1, ALL_GATHER, REDUCE_SCATTER, GATHER };

static mst_status call_open(call *c, mst_task_group *g, const char *name, uint64_t hash, int64_t num_messages,
                            int64_t deadline) {
    *c = (call){.group = g, .name = name, .deadline = deadline, .num_messages = num_messages};
    MST_TRY(mst_group_enter(g, &c->key.generation));
    c->key.run = mst_group_next_run(g);
    c->key.hash = hash;
    pthread_mutex_lock(&g->lock);
    mst_group_note_start(g, c->key.run, 0, name);
    pthread_mutex_unlock(&g->lock);
    const size_t bytes = (size_t)(num_messages > 0 ? num_messages : 1) * sizeof *c->message;
    c->message = aligned_alloc(_Alignof(message), bytes);
    if (!c->message) return MST_NO_MEMORY("for a %s of %d tasks", name, g->num_members);
    memset(c->message, 0, bytes);
    c->sent.event = g->event + 1;
    for (int64_t i = 0; i < num_messages; i++) c->message[i].arrived.event = g->event + 1;
    return MST_OK;
}

static mst_key key_of(const call *c, int64_t number) {
    mst_key key = c->key;
    key.stream = (uint32_t)number;
    return key;
}

/* Posts memory for message NUMBER from MEMBER, as c->message[I]. MEMBER sends the message with the same number. */
static mst_status call_post(call *c, int64_t i, int64_t number, int32_t member, void *into, size_t bytes) {
    const mst_task_group *g = c->group;
    message *m = &c->message[i];
    m->member = member;
    MST_TRY(g->type->post(g->transport, g->task[member], key_of(c, number), into, bytes, &m->arrived));
    m->posted = true;
    return MST_OK;
}

static mst_status call_send(call *c, int64_t number, int32_t member, const mst_iov *piece, int n) {
    const mst_task_group *g = c->group;
    MST_TRY(g->type->send(g->transport, g->task[member], key_of(c, number), piece, n, &c->sent));
    c->num_sent++;
    return MST_OK;
}

static mst_status call_wait(call *c, int64_t i) {
    message *m = &c->message[i];
    if (mst_group_wait(c->group, &m->arrived, 1, c->deadline)) return MST_OK;
    return MST_FAIL(MST_DEADLINE, "%s of run %llu: waited too long, nothing has come from member %d", c->name,
                    (unsigned long long)c->key.run, m->member);
}

static mst_status call_wait_all(call *c) {
    for (int64_t i = 0; i < c->num_messages; i++) MST_TRY(call_wait(c, i));
    return MST_OK;
}

static mst_status wait_until_sent(call *c) {
    if (mst_group_wait(c->group, &c->sent, c->num_sent, c->deadline)) return MST_OK;
    return MST_FAIL(MST_DEADLINE, "%s of run %llu: waited too long until all was sent", c->name,
                    (unsigned long long)c->key.run);
}

/* Ends the call, whose result so far is STATUS. If it has failed, ends the generation, so that the transport no longer
 * uses the memory of the call. */
static mst_status call_close(call *c, mst_status status) {
    if (!status) status = wait_until_sent(c);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    if (status) mst_group_end_generation(c->group, c->key.generation, &failure);
    for (int64_t i = 0; c->message && i < c->num_messages; i++)
        if (c->message[i].posted) mst_timeline_wait(&c->message[i].arrived, 1, MST_NEVER, false);
    mst_timeline_wait(&c->sent, c->num_sent, MST_NEVER, false);
    free(c->message);
    return status ? mst_failure_restore(&failure) : mst_group_check_generation(c->group, c->key.generation);
}

/* ---- broadcast ---- */

/* Bytes of a piece: large compared with the cost of sending one, and small enough to be passed on soon. */
enum { PIECE = 1 << 20 };

/* Member r, counted from the root, passes each piece on to members 2 r + 1 and 2 r + 2. */
static mst_status pass_pieces(call *c, int32_t root, char *data, size_t bytes, int64_t num_pieces) {
    const mst_task_group *g = c->group;
    const int32_t n = g->num_members, rank = (g->self - root + n) % n;
    for (int64_t i = 0; i < c->num_messages; i++) {
        const size_t at = (size_t)i * PIECE, rest = bytes - at;
        MST_TRY(call_post(c, i, i, ((rank - 1) / 2 + root) % n, data + at, rest < PIECE ? rest : PIECE));
    }
    for (int64_t i = 0; i < num_pieces; i++) {
        const size_t at = (size_t)i * PIECE, rest = bytes - at;
        const mst_iov piece = {data + at, rest < PIECE ? rest : PIECE};
        if (c->num_messages) MST_TRY(call_wait(c, i));
        for (int64_t child = 2 * (int64_t)rank + 1; child <= 2 * (int64_t)rank + 2 && child < n; child++)
            MST_TRY(call_send(c, i, (int32_t)((child + root) % n), &piece, 1));
    }
    return MST_OK;
}

mst_status mst_group_broadcast(mst_task_group *group, int32_t root, void *data, size_t bytes, int64_t deadline) {
    call c;
    if (root < 0 || root >= group->num_members)
        return MST_FAIL(MST_INVALID, "a broadcast from member %d of %d", root, group->num_members);
    const int64_t num_pieces = bytes > 0 ? (int64_t)((bytes - 1) / PIECE) + 1 : 1;
    const uint64_t hash = BROADCAST | (uint64_t)root << 8;
    mst_status status = call_open(&c, group, "broadcast", hash, group->self == root ? 0 : num_pieces, deadline);
    if (!status) status = pass_pieces(&c, root, data, bytes, num_pieces);
    return call_close(&c, status);
}

/* ---- all_gather ---- */

/* all_gather of few members: each sends its part to every other one. */
static mst_status gather_from_each(call *c, const size_t *bytes, char *data) {
    const mst_task_group *g = c->group;
    size_t at = 0, own = 0;
    for (int32_t m = 0, i = 0; m < g->num_members; at += bytes[m++])
        if (m == g->self)
            own = at;
        else
            MST_TRY(call_post(c, i++, 0, m, data + at, bytes[m]));
    const mst_iov part = {data + own, bytes[g->self]};
    for (int32_t m = 0; m < g->num_members; m++)
        if (m != g->self) MST_TRY(call_send(c, 0, m, &part, 1));
    return call_wait_all(c);
}

/* The parts of COUNT consecutive members from FIRST on, where member 0 follows the last member. They are one range of
 * memory; or two ranges, if member 0 follows another of them. Each range is one message. */
typedef struct parts {
    mst_iov place[2];
    int32_t num_places;
} parts;

static parts find_parts(const mst_task_group *g, const size_t *bytes, char *data, int32_t first, int32_t count) {
    parts p = {.place = {{data, 0}, {data, 0}}, .num_places = first + count > g->num_members ? 2 : 1};
    size_t at = 0;
    for (int32_t m = 0; m < g->num_members; at += bytes[m++]) {
        if (m == first) p.place[0].data = data + at;
        if (m >= first && m < first + count) p.place[0].bytes += bytes[m];
        if (m < first + count - g->num_members) p.place[1].bytes += bytes[m];
    }
    return p;
}

/* Rounds of the algorithm of Bruck and others, "Efficient Algorithms for All-to-All Communications in Multiport
 * Message-Passing Systems", 1997. In round r each member has its own part and the parts of the 2^r - 1 members after
 * it, and sends them to the member 2^r places before it. A member thus needs connections to 2 log2 N members. */
static mst_status gather_in_rounds(call *c, const size_t *bytes, char *data) {
    const mst_task_group *g = c->group;
    const int32_t n = g->num_members;
    for (int32_t r = 0, has = 1; has < n; r++, has *= 2) {
        const int32_t from = (g->self + has) % n, count = has < n - has ? has : n - has;
        const parts p = find_parts(g, bytes, data, from, count);
        for (int32_t i = 0; i < p.num_places; i++)
            MST_TRY(call_post(c, 2 * r + i, 2 * r + i, from, (char *)(uintptr_t)p.place[i].data, p.place[i].bytes));
    }
    for (int32_t r = 0, has = 1; has < n; r++, has *= 2) {
        const int32_t to = (g->self - has + n) % n, count = has < n - has ? has : n - has;
        const parts p = find_parts(g, bytes, data, g->self, count);
        for (int32_t i = 0; i < p.num_places; i++) MST_TRY(call_send(c, 2 * r + i, to, &p.place[i], 1));
        for (int32_t i = 0; i < 2; i++)
            if (c->message[2 * r + i].posted) MST_TRY(call_wait(c, 2 * r + i));
    }
    return MST_OK;
}

mst_status mst_group_all_gather(mst_task_group *group, const size_t *bytes, void *data, int64_t deadline) {
    const bool in_rounds = group->num_members > MST_FEW_MEMBERS;
    int64_t num_rounds = 0;
    while (1 << num_rounds < group->num_members) num_rounds++;
    call c;
    mst_status status =
        call_open(&c, group, "all_gather", ALL_GATHER, in_rounds ? 2 * num_rounds : group->num_members - 1, deadline);
    if (!status) status = in_rounds ? gather_in_rounds(&c, bytes, data) : gather_from_each(&c, bytes, data);
    return call_close(&c, status);
}

/* ---- gather ---- */

static mst_status gather_at_root(call *c, const size_t *bytes, char *data) {
    for (int32_t m = 0, i = 0; m < c->group->num_members; data += bytes[m++])
        if (m != c->group->self) MST_TRY(call_post(c, i++, 0, m, data, bytes[m]));
    return call_wait_all(c);
}

mst_status mst_group_gather(mst_task_group *group, int32_t root, const size_t *bytes, void *data, int64_t deadline) {
    call c;
    if (root < 0 || root >= group->num_members)
        return MST_FAIL(MST_INVALID, "a gather to member %d of %d", root, group->num_members);
    const bool is_root = group->self == root;
    const mst_iov part = {data, bytes[group->self]};
    mst_status status =
        call_open(&c, group, "gather", GATHER | (uint64_t)root << 8, is_root ? group->num_members - 1 : 0, deadline);
    if (!status) status = is_root ? gather_at_root(&c, bytes, data) : call_send(&c, 0, root, &part, 1);
    return call_close(&c, status);
}

/* ---- reduce_scatter ---- */

/* Writes the sum over all members of COUNT elements to OUT; VALUE[m] has the elements of member m. */
static mst_status sum_members(const mst_task_group *g, mst_dtype dtype, const mst_array *value, int64_t count,
                              void *out) {
    mst_shards *node = calloc((size_t)g->num_members, sizeof *node);
    if (!node) return MST_NO_MEMORY("for a sum over %d tasks", g->num_members);
    for (int32_t m = 0; m < g->num_members; m++) node[m] = (mst_shards){m, 1};
    const uint64_t mode = mst_flush_denormals();
    mst_tree_sum(dtype, value, node, g->num_members, g->num_members, 0, count, out);
    mst_float_mode_set(mode);
    free(node);
    return MST_OK;
}

/* reduce_scatter: each member receives the other members' data for its part, and adds them up. MEMORY has room for the
 * received data. */
static mst_status scatter_sums(call *c, mst_dtype dtype, const int64_t *count, const void *data, char *memory,
                               mst_array *value, void *out) {
    const mst_task_group *g = c->group;
    const size_t element = mst_dtype_size(dtype), bytes = (size_t)count[g->self] * element;
    const char *part = data;
    for (int32_t m = 0, i = 0; m < g->num_members; part += (size_t)count[m++] * element) {
        value[m].data = m == g->self ? (char *)(uintptr_t)part : memory; /* the sum only reads it */
        if (m == g->self) continue;
        MST_TRY(call_post(c, i++, 0, m, memory, bytes));
        memory += bytes;
    }
    part = data;
    for (int32_t m = 0; m < g->num_members; part += (size_t)count[m++] * element) {
        const mst_iov piece = {part, (size_t)count[m] * element};
        if (m != g->self) MST_TRY(call_send(c, 0, m, &piece, 1));
    }
    MST_TRY(call_wait_all(c));
    return sum_members(g, dtype, value, count[g->self], out);
}

mst_status mst_group_reduce_scatter(mst_task_group *group, mst_dtype dtype, const int64_t *count, const void *data,
                                    void *out, int64_t deadline) {
    call c;
    const size_t num_others = (size_t)group->num_members - 1;
    const size_t bytes = (size_t)count[group->self] * mst_dtype_size(dtype) * num_others;
    mst_status status =
        call_open(&c, group, "reduce_scatter", REDUCE_SCATTER | (uint64_t)dtype << 8, group->num_members - 1, deadline);
    char *memory = malloc(bytes > 0 ? bytes : 1);
    mst_array *value = calloc(num_others + 1, sizeof *value);
    if (!status && (!memory || !value)) status = MST_NO_MEMORY("for a reduce_scatter of %d tasks", group->num_members);
    if (!status) status = scatter_sums(&c, dtype, count, data, memory, value, out);
    status = call_close(&c, status);
    free(memory);
    free(value);
    return status;
}

/* ---- all_reduce ---- */

/* all_reduce of little data: every member gets the data of all members, and adds them up itself. This takes one round
 * of messages instead of two. SIZE[m]: bytes of member m. */
static mst_status gather_and_sum(mst_task_group *g, mst_dtype dtype, int64_t count, size_t *size, mst_array *value,
                                 void *data, int64_t deadline) {
    const size_t bytes = (size_t)count * mst_dtype_size(dtype);
    char *memory = malloc(bytes * (size_t)g->num_members + 1);
    if (!memory) return MST_NO_MEMORY("for an all_reduce of %d tasks", g->num_members);
    for (int32_t m = 0; m < g->num_members; m++) {
        size[m] = bytes;
        value[m].data = memory + bytes * (size_t)m;
    }
    if (bytes) memcpy(memory + bytes * (size_t)g->self, data, bytes);
    mst_status status = mst_group_all_gather(g, size, memory, deadline);
    if (!status) status = sum_members(g, dtype, value, count, data);
    free(memory);
    return status;
}

/* all_reduce of much data: each member adds up one part, and sends the sum to all. */
static mst_status sum_parts(mst_task_group *g, mst_dtype dtype, int64_t count, size_t *size, int64_t *part, char *data,
                            int64_t deadline) {
    const size_t element = mst_dtype_size(dtype);
    for (int32_t m = 0; m < g->num_members; m++) {
        part[m] = mst_part_begin(count, g->num_members, m + 1) - mst_part_begin(count, g->num_members, m);
        size[m] = (size_t)part[m] * element;
    }
    char *sum = malloc(size[g->self] + 1);
    if (!sum) return MST_NO_MEMORY("for an all_reduce of %d tasks", g->num_members);
    mst_status status = mst_group_reduce_scatter(g, dtype, part, data, sum, deadline);
    if (!status) memcpy(data + (size_t)mst_part_begin(count, g->num_members, g->self) * element, sum, size[g->self]);
    if (!status) status = mst_group_all_gather(g, size, data, deadline);
    free(sum);
    return status;
}

mst_status mst_group_all_reduce(mst_task_group *group, mst_dtype dtype, void *data, int64_t count, int64_t deadline) {
    enum { SMALL = 128 * 1024 }; /* bytes of the data of all members together, as in exchange.c */
    const size_t n = (size_t)group->num_members;
    const bool at_once = (size_t)count * mst_dtype_size(dtype) <= SMALL / n;
    size_t *size = calloc(n, sizeof *size);
    int64_t *part = calloc(n, sizeof *part);
    mst_array *value = calloc(n, sizeof *value);
    mst_status status = size && part && value ? MST_OK : MST_NO_MEMORY("for an all_reduce of %zu tasks", n);
    if (!status && at_once) status = gather_and_sum(group, dtype, count, size, value, data, deadline);
    if (!status && !at_once) status = sum_parts(group, dtype, count, size, part, data, deadline);
    free(size);
    free(part);
    free(value);
    return status;
}
