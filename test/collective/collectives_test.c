/* Broadcast, all_gather, reduce_scatter and all_reduce over members that are threads of the test. */
#include "collective/collectives.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stopwatch.h"
#include "collective/group_thread.h"
#include "support/members.h"
#include "support/sanitized.h"
#include "support/test.h"

static const int32_t member_counts[] = {1, 2, 3, 5, 8, 13, 33};

/* Calls BODY for all members of groups of several sizes. */
static void with_members(void (*body)(member *m)) {
    for (size_t i = 0; i < sizeof member_counts / sizeof *member_counts; i++) {
        members all;
        members_open(&all, member_counts[i], member_counts[i] + 5, (unsigned)i);
        members_run(&all, body);
        members_close(&all);
    }
}

/* ---- broadcast ---- */

static unsigned char byte_of(int32_t root, size_t i) {
    return (unsigned char)(i * 31 + i / 999 + (size_t)root * 7);
}

static void receive_all(member *m) {
    /* sizes of one, two and four pieces; with many members under a sanitizer, at most two */
    static const size_t size[] = {0, 1, 1000, (1 << 20) + 1, (1 << 20), 3500000};
    const size_t num_sizes = SANITIZED && m->all->count > 8 ? 4 : sizeof size / sizeof *size;
    for (size_t k = 0; k < num_sizes; k++) {
        const int32_t root = (int32_t)(k * 5) % m->all->count;
        unsigned char *data = malloc(size[k] + 1);
        for (size_t i = 0; i <= size[k]; i++) data[i] = m->self == root ? byte_of(root, i) : 0;
        if (m->self != root) data[size[k]] = 77;
        EXPECT_OK(mst_group_broadcast(m->group, root, data, size[k], member_deadline()));
        size_t wrong = 0;
        for (size_t i = 0; i < size[k]; i++) wrong += data[i] != byte_of(root, i);
        assert_int_equal(wrong, 0);
        if (m->self != root) assert_int_equal(data[size[k]], 77);
        free(data);
    }
}

static void broadcast_brings_the_bytes_of_the_root_to_all(void **state) {
    (void)state;
    with_members(receive_all);
}

/* ---- all_gather ---- */

static void gather_all(member *m) {
    enum { MOST = MOST_TASKS * 2000 };
    size_t bytes[MOST_TASKS] = {0}, at = 0;
    unsigned char *data = calloc(MOST, 1);
    for (int32_t i = 0; i < m->all->count; i++) bytes[i] = i % 3 == 2 ? 0 : (size_t)(1000 + i * 10);
    for (int32_t i = 0; i < m->self; i++) at += bytes[i];
    for (size_t i = 0; i < bytes[m->self]; i++) data[at + i] = byte_of(m->self, i);
    EXPECT_OK(mst_group_all_gather(m->group, bytes, data, member_deadline()));
    const unsigned char *part = data;
    for (int32_t k = 0; k < m->all->count; part += bytes[k++])
        for (size_t i = 0; i < bytes[k]; i++) assert_int_equal(part[i], byte_of(k, i));
    free(data);
}

/* One message per round, and a second one if the range of parts continues with that of member 0. */
static int messages_in_rounds(int32_t self, int32_t n) {
    int count = 0;
    for (int32_t has = 1; has < n; has *= 2) count += self + (has < n - has ? has : n - has) > n ? 2 : 1;
    return count;
}

static void all_gather_brings_the_parts_of_all_to_all(void **state) {
    (void)state;
    with_members(gather_all);
}

static void all_gather_of_many_sends_no_empty_messages(void **state) {
    (void)state;
    enum { MANY = 13 };
    members all;
    members_open(&all, MANY, MANY, 0);
    members_run(&all, gather_all);
    for (int32_t i = 0; i < MANY; i++) assert_int_equal(member_sent(&all, i), messages_in_rounds(i, MANY));
    members_close(&all);
}

/* ---- reduce_scatter ---- */

static float value_of(int32_t member, int64_t i) {
    uint64_t state = (uint64_t)member * 1000003 + (uint64_t)i;
    next_random(&state);
    const float value = (float)next_random(&state) / 2147483648.0F - 0.5F;
    return next_random(&state) % 2 ? value : value * 10000;
}

/* The largest power of two below COUNT on the left, the rest on the right. */
static float sum_of(int32_t first, int32_t count, int64_t i) {
    if (count == 1) return value_of(first, i);
    int32_t left = 1;
    while (2 * left < count) left *= 2;
    return sum_of(first, left, i) + sum_of(first + left, count - left, i);
}

static float *values_of(int32_t member, int64_t count) {
    float *values = malloc((size_t)count * sizeof *values + 1);
    for (int64_t i = 0; i < count; i++) values[i] = value_of(member, i);
    return values;
}

static void scatter_sums(member *m) {
    int64_t count[MOST_TASKS] = {0}, all = 0, at = 0;
    for (int32_t i = 0; i < m->all->count; all += count[i++]) count[i] = i % 4 == 3 ? 0 : 100 + i;
    for (int32_t i = 0; i < m->self; i++) at += count[i];
    float *values = values_of(m->self, all), *out = malloc((size_t)count[m->self] * sizeof *out + 1);
    EXPECT_OK(mst_group_reduce_scatter(m->group, MST_F32, count, values, out, member_deadline()));
    for (int64_t i = 0; i < count[m->self]; i++) {
        const float expected = sum_of(0, m->all->count, at + i);
        assert_memory_equal(&out[i], &expected, sizeof expected);
    }
    free(values);
    free(out);
}

static void reduce_scatter_gives_each_its_part_of_the_sums_of_the_tree(void **state) {
    (void)state;
    with_members(scatter_sums);
}

/* ---- all_reduce ---- */

static void sum_all(member *m) {
    static const int64_t count[] = {0, 1, 100, 40000}; /* the last is too much to send all to all */
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        float *values = values_of(m->self, count[k]);
        EXPECT_OK(mst_group_all_reduce(m->group, MST_F32, values, count[k], member_deadline()));
        for (int64_t i = 0; i < count[k]; i += 1 + count[k] / 1000) {
            const float expected = sum_of(0, m->all->count, i);
            assert_memory_equal(&values[i], &expected, sizeof expected);
        }
        free(values);
    }
}

static void all_reduce_gives_all_the_sums_of_the_tree(void **state) {
    (void)state;
    with_members(sum_all);
}

/* ---- failures ---- */

enum { COUNT = 3, BYTES = SANITIZED ? 1500000 : 5000000 }; /* several pieces */

typedef mst_status (*collective)(member *m, int64_t deadline);

static mst_status call_broadcast(member *m, int64_t deadline) {
    char *data = calloc(BYTES, 1);
    const mst_status status = mst_group_broadcast(m->group, COUNT - 1, data, BYTES, deadline);
    free(data); /* nobody may use it any more */
    return status;
}

static mst_status call_all_gather(member *m, int64_t deadline) {
    static const size_t bytes[COUNT] = {BYTES, 1, BYTES};
    char *data = calloc(2 * BYTES + 1, 1);
    const mst_status status = mst_group_all_gather(m->group, bytes, data, deadline);
    free(data);
    return status;
}

static mst_status call_reduce_scatter(member *m, int64_t deadline) {
    static const int64_t count[COUNT] = {BYTES / 8, 0, 5};
    int64_t *leaf = calloc(BYTES / 8 + 5, sizeof *leaf), *out = calloc(BYTES / 8, sizeof *out);
    const mst_status status = mst_group_reduce_scatter(m->group, MST_I64, count, leaf, out, deadline);
    free(leaf);
    free(out);
    return status;
}

static mst_status call_all_reduce(member *m, int64_t deadline) {
    double *data = calloc(BYTES / 8, sizeof *data);
    const mst_status status = mst_group_all_reduce(m->group, MST_F64, data, BYTES / 8, deadline);
    free(data);
    return status;
}

static const collective all_collectives[] = {call_broadcast, call_all_gather, call_reduce_scatter, call_all_reduce};
static const char *const names[] = {"broadcast", "all_gather", "reduce_scatter", "reduce_scatter"};
enum { COLLECTIVES = sizeof names / sizeof *names };

static void deadline_names_who_is_late_and_ends_the_generation(void **state) {
    (void)state;
    for (int i = 0; i < COLLECTIVES; i++) {
        members all;
        char text[32];
        members_open(&all, COUNT, COUNT, 0);
        snprintf(text, sizeof text, "%s of run 1: ", names[i]);
        const mst_status status = all_collectives[i](&all.member[0], mst_clock_after(0.01));
        assert_int_equal(status, MST_DEADLINE);
        assert_non_null(strstr(mst_error()->message, text));
        assert_non_null(strstr(mst_error()->message, "nothing has come from member"));
        EXPECT_ERROR(mst_group_check(all.member[0].group), MST_DEADLINE, "nothing has come");
        EXPECT_ERROR(all_collectives[i](&all.member[0], member_deadline()), MST_DEADLINE, "nothing has come");
        members_close(&all);
    }
}

static void call_again(member *m) {
    const collective *called = m->context;
    EXPECT_OK((*called)(m, member_deadline()));
}

/* Member 0 waits for the others, which come when its stopwatch shows that it waits. */
static void come_when_waited_for(member *m) {
    mst_task_group *waiting = m->all->member[0].group;
    int64_t waited = 0, present;
    /* the wait may be over already, if another member has brought what member 0 waits for */
    for (int i = 0; i < 20000 && m->self > 0 && waited == 0; i++) {
        usleep(1000);
        waited = mst_stopwatch_read(waiting->waits, mst_clock_now(), &present);
    }
    assert_true(m->self == 0 || waited > 0);
    call_again(m);
}

static void waiting_for_others_is_told(void **state) {
    (void)state;
    for (int i = 0; i < COLLECTIVES; i++) {
        members all;
        mst_stopwatch watch;
        mst_stopwatch_init(&watch);
        members_open(&all, COUNT, COUNT, 0);
        all.member[0].group->waits = &watch;
        for (int k = 0; k < COUNT; k++) all.member[k].context = (void *)(uintptr_t)&all_collectives[i];
        members_run(&all, come_when_waited_for);
        members_close(&all);
        mst_stopwatch_destroy(&watch);
    }
}

static void wait_for_the_lost(member *m) {
    const collective *called = m->context;
    if (m->self == COUNT - 1) {
        usleep(2000);
        for (int32_t i = 0; i < COUNT; i++) member_end(&m->all->member[i], COUNT - 1);
    } else {
        EXPECT_ERROR((*called)(m, member_deadline()), MST_UNAVAILABLE, "task 2 is lost");
    }
}

static void end_wakes_all_and_the_next_generation_goes_on(void **state) {
    (void)state;
    for (int i = 0; i < COLLECTIVES; i++) {
        members all;
        members_open(&all, COUNT, COUNT, 0);
        for (int k = 0; k < COUNT; k++) all.member[k].context = (void *)(uintptr_t)&all_collectives[i];
        for (uint32_t generation = 2; generation < (SANITIZED ? 4 : 8); generation++) {
            members_run(&all, wait_for_the_lost);
            for (int k = 0; k < COUNT; k++) member_end(&all.member[k], 9);
            members_begin(&all, generation);
            members_run(&all, call_again);
        }
        members_close(&all);
    }
}

static void send_that_is_refused_fails_the_call(void **state) {
    (void)state;
    for (int i = 0; i < COLLECTIVES; i++) {
        members all;
        members_open(&all, COUNT, COUNT, 0);
        members_refuse_send(&all, 0);
        EXPECT_ERROR(all_collectives[i](&all.member[COUNT - 1], member_deadline()), MST_OUT_OF_MEMORY, "no memory for");
        EXPECT_ERROR(mst_group_check(all.member[COUNT - 1].group), MST_OUT_OF_MEMORY, "no memory for");
        members_close(&all);
    }
}

static void what_cannot_be_right_is_refused(void **state) {
    (void)state;
    members all;
    members_open(&all, 2, 2, 0);
    EXPECT_ERROR(mst_group_broadcast(all.member[0].group, 2, NULL, 0, MST_NEVER), MST_INVALID, "from member 2 of 2");
    EXPECT_OK(mst_group_check(all.member[0].group));
    members_close(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broadcast_brings_the_bytes_of_the_root_to_all),
        cmocka_unit_test(all_gather_brings_the_parts_of_all_to_all),
        cmocka_unit_test(all_gather_of_many_sends_no_empty_messages),
        cmocka_unit_test(reduce_scatter_gives_each_its_part_of_the_sums_of_the_tree),
        cmocka_unit_test(all_reduce_gives_all_the_sums_of_the_tree),
        cmocka_unit_test(deadline_names_who_is_late_and_ends_the_generation),
        cmocka_unit_test(waiting_for_others_is_told),
        cmocka_unit_test(end_wakes_all_and_the_next_generation_goes_on),
        cmocka_unit_test(send_that_is_refused_fails_the_call),
        cmocka_unit_test(what_cannot_be_right_is_refused),
    };
    return members_run_tests(tests, sizeof tests / sizeof *tests);
}
