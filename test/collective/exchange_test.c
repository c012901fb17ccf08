/* Sums over the shards of all members: exact to the bit, and no thread waits forever. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/members.h"
#include "support/sanitized.h"
#include "support/test.h"

enum { NUM_SEEDS = SANITIZED ? 1 : 2 };

enum { MOST_VALUES = 4, MOST_EXCHANGES = 12, MOST_LEAVES = 64 };

/* ---- what the sums must be ---- */

/* What a sum is made of: the value of each shard is a function of these. */
typedef struct numbers {
    mst_dtype dtype;
    uint64_t seed;
} numbers;

/* An element of a shard, as bits of its dtype in the lower ones of 64. Numbers of very different size, so that the
 * order of the additions shows. */
static double shard_double(numbers n, int32_t shard, int64_t element) {
    uint64_t state = n.seed ^ (uint64_t)shard * 0x9e3779b97f4a7c15u ^ (uint64_t)element * 0xbf58476d1ce4e5b9u;
    next_random(&state);
    const double mantissa = (double)next_random(&state) / 2147483648.0 - 0.5;
    static const double scale[] = {1e-3, 1, 1e3, 1e6};
    return mantissa * scale[next_random(&state) % 4];
}

static uint64_t shard_integer(numbers n, int32_t shard, int64_t element) {
    uint64_t state = n.seed ^ (uint64_t)shard * 0x9e3779b97f4a7c15u ^ (uint64_t)element * 0xbf58476d1ce4e5b9u;
    next_random(&state);
    return state; /* large: sums wrap around */
}

/* The sum over COUNT shards from FIRST: the largest power of two below COUNT on the left, the rest on the right. */
static float sum_f32(numbers n, int32_t first, int32_t count, int64_t element) {
    if (count == 1) return (float)shard_double(n, first, element);
    int32_t left = 1;
    while (2 * left < count) left *= 2;
    return sum_f32(n, first, left, element) + sum_f32(n, first + left, count - left, element);
}

static double sum_f64(numbers n, int32_t first, int32_t count, int64_t element) {
    if (count == 1) return shard_double(n, first, element);
    int32_t left = 1;
    while (2 * left < count) left *= 2;
    return sum_f64(n, first, left, element) + sum_f64(n, first + left, count - left, element);
}

static uint64_t sum_integer(numbers n, int32_t first, int32_t count, int64_t element) {
    uint64_t sum = 0;
    for (int32_t i = 0; i < count; i++) sum += shard_integer(n, first + i, element);
    return sum;
}

/* Writes ELEMENT of the sum over SHARDS to OUT, which has elements of the dtype. */
static void write_sum(numbers n, mst_shards shards, int64_t element, void *out) {
    if (n.dtype == MST_F32)
        ((float *)out)[element] = sum_f32(n, shards.first, shards.count, element);
    else if (n.dtype == MST_F64)
        ((double *)out)[element] = sum_f64(n, shards.first, shards.count, element);
    else if (n.dtype == MST_I32)
        ((uint32_t *)out)[element] = (uint32_t)sum_integer(n, shards.first, shards.count, element);
    else
        ((uint64_t *)out)[element] = sum_integer(n, shards.first, shards.count, element);
}

/* ---- a plan of exchanges, the same for all members ---- */

typedef struct plan {
    int32_t num_exchanges;
    mst_exchange_spec spec[MOST_EXCHANGES];
    mst_exchange_value value[MOST_EXCHANGES][MOST_VALUES];
    uint64_t seed;
    int num_runs;
    void *expected[MOST_EXCHANGES][MOST_VALUES]; /* sums of run 1 */
} plan;

static numbers numbers_of(const plan *p, int32_t exchange, int32_t value, uint64_t run) {
    return (numbers){p->value[exchange][value].dtype, p->seed + 1000 * run + 10 * (uint64_t)exchange + (uint64_t)value};
}

/* Runs alternate between two kinds of numbers, so that results left over from the previous run are wrong. */
static uint64_t kind_of(uint64_t run) {
    return run % 2;
}

static void add_exchange(plan *p, int32_t num_values, const mst_exchange_value *value) {
    const int32_t i = p->num_exchanges++;
    for (int32_t v = 0; v < num_values; v++) p->value[i][v] = value[v];
    p->spec[i] = (mst_exchange_spec){.hash = 5, .stream = (uint32_t)i, .num_values = num_values, .value = p->value[i]};
}

/* The sums of both kinds, one after the other. */
static void expect_sums(plan *p, int32_t num_shards) {
    for (int32_t i = 0; i < p->num_exchanges; i++)
        for (int32_t v = 0; v < p->spec[i].num_values; v++) {
            const mst_exchange_value value = p->value[i][v];
            const size_t bytes = (size_t)value.count * mst_dtype_size(value.dtype);
            char *sums = p->expected[i][v] = malloc(2 * bytes + 1);
            for (uint64_t kind = 0; kind < 2; kind++)
                for (int64_t k = 0; k < value.count; k++)
                    write_sum(numbers_of(p, i, v, kind), (mst_shards){0, num_shards}, k, sums + kind * bytes);
        }
}

static void free_plan(plan *p) {
    for (int32_t i = 0; i < p->num_exchanges; i++)
        for (int32_t v = 0; v < p->spec[i].num_values; v++) free(p->expected[i][v]);
}

static void make_exchanges(member *m, const plan *p, mst_exchange **x) {
    for (int32_t i = 0; i < p->num_exchanges; i++) EXPECT_OK(mst_exchange_create(m->group, &p->spec[i], &x[i]));
}

/* Leaves of both kinds, made once: recursive sums of many elements take long. */
typedef struct leaves {
    void *of[2][MOST_EXCHANGES][MOST_VALUES][MOST_LEAVES];
    int32_t count;
} leaves;

static void make_leaves(member *m, const plan *p, leaves *l) {
    mst_shards node[MOST_LEAVES];
    l->count = mst_group_leaves(m->group, m->self, node);
    for (uint64_t kind = 0; kind < 2; kind++)
        for (int32_t i = 0; i < p->num_exchanges; i++)
            for (int32_t v = 0; v < p->spec[i].num_values; v++)
                for (int32_t n = 0; n < l->count; n++) {
                    const mst_exchange_value value = p->value[i][v];
                    void *leaf = l->of[kind][i][v][n] = malloc((size_t)value.count * mst_dtype_size(value.dtype) + 1);
                    for (int64_t k = 0; k < value.count; k++) write_sum(numbers_of(p, i, v, kind), node[n], k, leaf);
                }
}

static void free_leaves(const plan *p, leaves *l) {
    for (int kind = 0; kind < 2; kind++)
        for (int32_t i = 0; i < p->num_exchanges; i++)
            for (int32_t v = 0; v < p->spec[i].num_values; v++)
                for (int32_t n = 0; n < l->count; n++) free(l->of[kind][i][v][n]);
}

static size_t value_bytes(const plan *p, int32_t exchange, int32_t value) {
    return (size_t)p->value[exchange][value].count * mst_dtype_size(p->value[exchange][value].dtype);
}

static void start_all(const plan *p, const leaves *l, mst_exchange **x, uint64_t run) {
    for (int32_t i = 0; i < p->num_exchanges; i++) {
        for (int32_t v = 0; v < p->spec[i].num_values; v++)
            for (int32_t n = 0; n < l->count; n++)
                memcpy(mst_exchange_leaf(x[i], n, v), l->of[kind_of(run)][i][v][n], value_bytes(p, i, v));
        mst_exchange_start(x[i], run);
    }
}

static void check_sums(const plan *p, mst_exchange *x, int32_t i, uint64_t run) {
    for (int32_t v = 0; v < p->spec[i].num_values; v++) {
        const size_t bytes = value_bytes(p, i, v);
        assert_memory_equal(mst_exchange_sum(x, v), (char *)p->expected[i][v] + kind_of(run) * bytes, bytes);
    }
}

/* ---- right sums ---- */

static void sum_runs(member *m) {
    const plan *p = m->context;
    mst_exchange *x[MOST_EXCHANGES];
    leaves *l = malloc(sizeof *l);
    make_exchanges(m, p, x);
    make_leaves(m, p, l);
    for (int k = 0; k < p->num_runs; k++) {
        const uint64_t run = mst_group_next_run(m->group);
        start_all(p, l, x, run);
        for (int32_t i = 0; i < p->num_exchanges; i++) {
            EXPECT_OK(mst_exchange_wait(x[i], member_deadline()));
            check_sums(p, x[i], i, run);
        }
    }
    for (int32_t i = 0; i < p->num_exchanges; i++) mst_exchange_destroy(x[i]);
    free_leaves(p, l);
    free(l);
}

static void run_plan(plan *p, int32_t count, int32_t num_shards, unsigned seed) {
    members all;
    p->seed = seed;
    expect_sums(p, num_shards);
    members_open(&all, count, num_shards, seed);
    for (int32_t i = 0; i < count; i++) all.member[i].context = p;
    members_run(&all, sum_runs);
    members_close(&all);
    free_plan(p);
}

/* Small, large, of all dtypes side by side, and of nothing. */
static void make_plan(plan *p, int num_runs) {
    *p = (plan){.num_runs = num_runs};
    add_exchange(p, 1, &(mst_exchange_value){MST_F32, 1});
    add_exchange(p, 3, (const mst_exchange_value[]){{MST_F32, 17000}, {MST_F32, 17}, {MST_F32, 700}});
    add_exchange(p, 4, (const mst_exchange_value[]){{MST_F64, 1111}, {MST_I64, 5000}, {MST_F32, 5000}, {MST_I32, 801}});
    add_exchange(p, 2, (const mst_exchange_value[]){{MST_I64, 33}, {MST_F32, 10}});
    add_exchange(p, 0, NULL);
    add_exchange(p, 2, (const mst_exchange_value[]){{MST_I32, 0}, {MST_F64, 2}});
}

static void sums_are_those_of_the_tree_for_every_number_of_members(void **state) {
    (void)state;
    for (int32_t count = 1; count <= 9; count++)
        for (unsigned seed = 0; seed < NUM_SEEDS; seed++) {
            plan p;
            make_plan(&p, 3);
            run_plan(&p, count, count + (int32_t)((seed * 7 + (unsigned)count) % 23), seed);
        }
}

static void many_members_halve_to_the_same_sums(void **state) {
    (void)state;
    static const int32_t count[] = {10, 16, 17, 23, 32, 33};
    for (size_t i = 0; i < sizeof count / sizeof *count && !(SANITIZED && count[i] > 17); i++) {
        plan p;
        make_plan(&p, 2);
        run_plan(&p, count[i], count[i] + (int32_t)(i % 3 * 29), (unsigned)i);
    }
}

static void many_exchanges_are_under_way_at_once(void **state) {
    (void)state;
    for (int32_t count = 2; count <= 9; count += 7) {
        plan p = {.num_runs = SANITIZED ? 12 : 40};
        for (int32_t i = 0; i < MOST_EXCHANGES; i++)
            add_exchange(&p, 1, &(mst_exchange_value){MST_F32, i % 3 ? 3000 + i : 20000});
        run_plan(&p, count, count + 3, 1);
    }
}

/* ---- numbers of messages ---- */

static void one_run(member *m) {
    mst_exchange *x;
    const mst_exchange_value value = {MST_F32, 4096};
    EXPECT_OK(mst_exchange_create(m->group, &(mst_exchange_spec){.num_values = 1, .value = &value}, &x));
    mst_exchange_start(x, mst_group_next_run(m->group));
    EXPECT_OK(mst_exchange_wait(x, member_deadline()));
    mst_exchange_destroy(x);
}

static int most_sent(int32_t count, int32_t num_shards, unsigned seed) {
    members all;
    int most = 0;
    members_open(&all, count, num_shards, seed);
    members_run(&all, one_run);
    for (int32_t i = 0; i < count; i++) {
        const int sent = member_sent(&all, i);
        if (sent > most) most = sent;
    }
    members_close(&all);
    return most;
}

static void messages_of_a_member_grow_with_the_logarithm_of_their_number(void **state) {
    (void)state;
    assert_int_equal(most_sent(16, 16, 0), 2 * 4);
    assert_int_equal(most_sent(32, 64, 0), 2 * 5);
    for (unsigned seed = 0; seed < NUM_SEEDS; seed++) {
        const int most[] = {most_sent(9, 40, seed), most_sent(17, 80, seed), most_sent(33, 150, seed)};
        for (int i = 0; i < 3; i++) assert_in_range(most[i], 1, 3 * (4 + i));
    }
}

/* ---- failures ---- */

/* One thread makes the calls of all members: a start does not wait for anyone. */
typedef struct cast {
    members all;
    mst_exchange *x[MOST_TASKS];
    int64_t elements;
} cast;

static void cast_open(cast *c, int32_t count, int64_t elements) {
    const mst_exchange_value value = {MST_I64, elements};
    c->elements = elements;
    members_open(&c->all, count, count, 0);
    for (int32_t i = 0; i < count; i++)
        EXPECT_OK(mst_exchange_create(c->all.member[i].group,
                                      &(mst_exchange_spec){.stream = 3, .num_values = 1, .value = &value}, &c->x[i]));
}

static void cast_close(cast *c) {
    for (int32_t i = 0; i < c->all.count; i++) mst_exchange_destroy(c->x[i]);
    members_close(&c->all);
}

static void cast_start(cast *c, int32_t i, uint64_t run) {
    int64_t *leaf = mst_exchange_leaf(c->x[i], 0, 0);
    for (int64_t k = 0; k < c->elements; k++) leaf[k] = (int64_t)run * (i + 1) + k;
    mst_exchange_start(c->x[i], run);
}

static void cast_expect(cast *c, int32_t i, uint64_t run) {
    const int64_t n = c->all.count, *sum = mst_exchange_sum(c->x[i], 0);
    EXPECT_OK(mst_exchange_wait(c->x[i], member_deadline()));
    for (int64_t k = 0; k < c->elements; k++) assert_int_equal(sum[k], (int64_t)run * n * (n + 1) / 2 + n * k);
}

static void expect_run(cast *c, uint64_t run) {
    for (int32_t i = 0; i < c->all.count; i++) cast_start(c, i, run);
    for (int32_t i = 0; i < c->all.count; i++) cast_expect(c, i, run);
}

static const int32_t member_counts[] = {2, 3, 8, 13};
static const int64_t element_counts[] = {10, 30000};

/* Calls CHECK with few and many members, in one and in several steps. */
static void with_casts(void (*check)(cast *c)) {
    for (size_t i = 0; i < sizeof member_counts / sizeof *member_counts; i++)
        for (size_t k = 0; k < sizeof element_counts / sizeof *element_counts; k++) {
            cast c;
            cast_open(&c, member_counts[i], element_counts[k]);
            check(&c);
            cast_close(&c);
        }
}

static void check_deadline(cast *c) {
    const int32_t late = c->all.count - 1;
    char text[64];
    snprintf(text, sizeof text, "exchange 3 of run 1: waited too long, nothing has come from member %d", late);
    for (int32_t i = 0; i < late; i++) cast_start(c, i, 1);
    if (c->all.count <= 8)
        EXPECT_ERROR(mst_exchange_wait(c->x[0], mst_clock_after(0.01)), MST_DEADLINE, text);
    else
        assert_int_equal(mst_exchange_wait(c->x[0], mst_clock_after(0.01)), MST_DEADLINE);
    cast_start(c, late, 1);
    for (int32_t i = 0; i <= late; i++) cast_expect(c, i, 1);
}

static void deadline_names_who_is_late_and_the_exchange_goes_on(void **state) {
    (void)state;
    with_casts(check_deadline);
}

static void check_end(cast *c) {
    const int32_t count = c->all.count, lost = count - 1;
    expect_run(c, 1);
    for (int32_t i = 0; i < lost; i++) cast_start(c, i, 2);
    for (int32_t i = 0; i < count; i++) member_end(&c->all.member[i], lost);
    member_end(&c->all.member[0], 99); /* the first failure counts */
    for (int32_t i = 0; i < count; i++) {
        if (i == lost) cast_start(c, i, 2); /* in a generation that is over */
        EXPECT_ERROR(mst_exchange_wait(c->x[i], member_deadline()), MST_UNAVAILABLE, "task");
        assert_null(strstr(mst_error()->message, "99"));
        EXPECT_ERROR(mst_group_check(c->all.member[i].group), MST_UNAVAILABLE, "is lost");
    }
    members_begin(&c->all, 2);
    for (int32_t i = 0; i < count; i++) {
        EXPECT_OK(mst_group_check(c->all.member[i].group));
        assert_int_equal(mst_group_next_run(c->all.member[i].group), 1);
        assert_int_not_equal(mst_exchange_wait(c->x[i], member_deadline()), MST_OK); /* of the old one */
    }
    for (uint64_t run = 1; run < 4; run++) expect_run(c, run);
}

static void end_fails_what_is_under_way_and_the_next_generation_is_right(void **state) {
    (void)state;
    with_casts(check_end);
}

/* Member 1 is in the next generation while member 0 adds up what it has sent before. */
static void sums_of_memory_that_is_written_again_are_not_taken(void **state) {
    (void)state;
    cast c;
    if (strcmp(members_transport()->name, "shm") != 0) return; /* others copy what is sent */
    cast_open(&c, 2, 30000);
    cast_start(&c, 1, 1);
    member_end(&c.all.member[1], 0);
    memset(mst_exchange_leaf(c.x[1], 0, 0), 77, 1000);
    cast_start(&c, 0, 1);
    assert_int_equal(mst_exchange_wait(c.x[0], mst_clock_after(0.1)), MST_DEADLINE);
    assert_int_equal(mst_exchange_wait(c.x[1], member_deadline()), MST_UNAVAILABLE);
    member_end(&c.all.member[0], 1);
    assert_int_equal(mst_exchange_wait(c.x[0], member_deadline()), MST_UNAVAILABLE);
    members_begin(&c.all, 2);
    for (uint64_t run = 1; run < 4; run++) expect_run(&c, run);
    cast_close(&c);
}

static void wait_for_both(member *m) {
    mst_exchange **x = m->context;
    for (int k = 0; k < 2; k++) EXPECT_OK(mst_exchange_wait(x[m->self == 0 ? k : 1 - k], member_deadline()));
}

static void exchanges_are_waited_for_in_any_order(void **state) {
    (void)state;
    const mst_exchange_value value = {MST_I64, 30000};
    mst_exchange *x[2][2];
    members all;
    members_open(&all, 2, 2, 0);
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_OK(mst_exchange_create(all.member[i / 2].group,
                                      &(mst_exchange_spec){.stream = i % 2, .num_values = 1, .value = &value},
                                      &x[i / 2][i % 2]));
    for (uint64_t run = 1; run <= 100; run++) {
        for (int32_t i = 0; i < 4; i++) {
            memset(mst_exchange_leaf(x[i / 2][i % 2], 0, 0), 0, 30000 * sizeof(int64_t));
            mst_exchange_start(x[i / 2][i % 2], run);
            all.member[i / 2].context = x[i / 2];
        }
        members_run(&all, wait_for_both);
    }
    for (int32_t i = 0; i < 4; i++) mst_exchange_destroy(x[i / 2][i % 2]);
    members_close(&all);
}

static void check_destroy(cast *c) {
    for (int32_t i = 0; i + 1 < c->all.count; i++) cast_start(c, i, 7);
    mst_exchange_destroy(c->x[0]); /* whose last member has not started */
    c->x[0] = NULL;
    EXPECT_ERROR(mst_group_check(c->all.member[0].group), MST_CANCELLED,
                 "exchange 3 of run 7 was given up by member 0");
}

static void exchange_that_waits_for_others_can_be_destroyed(void **state) {
    (void)state;
    with_casts(check_destroy);
}

/* The member whose generation has ended by itself. */
static int32_t refused_member(cast *c) {
    for (const int64_t deadline = member_deadline(); mst_clock_now() < deadline; usleep(100))
        for (int32_t i = 0; i < c->all.count; i++)
            if (mst_group_check(c->all.member[i].group)) return i;
    fail_msg("nothing was refused");
    return -1;
}

static void check_refusal(cast *c) {
    for (int after = 0; after < c->all.count && after < 4; after++) {
        members_refuse_send(&c->all, after);
        for (int32_t i = 0; i < c->all.count; i++) cast_start(c, i, 1);
        const int32_t refused = refused_member(c);
        EXPECT_ERROR(mst_exchange_wait(c->x[refused], member_deadline()), MST_OUT_OF_MEMORY, "no memory for a message");
        for (int32_t i = 0; i < c->all.count; i++) member_end(&c->all.member[i], refused);
        for (int32_t i = 0; i < c->all.count; i++)
            assert_int_not_equal(mst_exchange_wait(c->x[i], member_deadline()), MST_OK);
        members_begin(&c->all, (uint32_t)after + 2);
        expect_run(c, 1);
    }
}

static void what_the_transport_refuses_ends_the_generation(void **state) {
    (void)state;
    with_casts(check_refusal);
}

static void nothing_is_summed_before_the_first_generation(void **state) {
    (void)state;
    cast c;
    mst_task_group *group;
    mst_exchange *x;
    cast_open(&c, 2, 10);
    const mst_group_options options = {.type = members_transport(),
                                       .transport = c.all.tasks.task[0].transport,
                                       .num_members = 2,
                                       .task = (const int32_t[]){0, 1},
                                       .num_shards = 2,
                                       .window = c.all.window};
    EXPECT_OK(mst_group_create(&options, &group));
    EXPECT_ERROR(mst_group_check(group), MST_UNAVAILABLE, "have not begun");
    EXPECT_OK(mst_exchange_create(
        group, &(mst_exchange_spec){.num_values = 1, .value = &(mst_exchange_value){MST_F32, 5}}, &x));
    mst_exchange_start(x, 1);
    EXPECT_ERROR(mst_exchange_wait(x, member_deadline()), MST_UNAVAILABLE, "have not begun");
    mst_exchange_destroy(x);
    mst_group_destroy(group);
    cast_close(&c);
}

static void what_cannot_be_right_is_refused(void **state) {
    (void)state;
    cast c;
    mst_task_group *group;
    mst_exchange *x;
    cast_open(&c, 2, 10);
    mst_group_options options = {.type = members_transport(),
                                 .transport = c.all.tasks.task[0].transport,
                                 .num_members = 2,
                                 .task = (const int32_t[]){0, 1},
                                 .num_shards = 5,
                                 .window = (const mst_shards[]){{0, 2}, {2, 2}}};
    EXPECT_ERROR(mst_group_create(&options, &group), MST_INVALID, "have 4 of 5 shards");
    options.window = (const mst_shards[]){{0, 2}, {3, 2}};
    EXPECT_ERROR(mst_group_create(&options, &group), MST_INVALID, "member 1 of a group has 2 shards from 3");
    options.window = (const mst_shards[]){{0, 0}, {0, 5}};
    EXPECT_ERROR(mst_group_create(&options, &group), MST_INVALID, "at least one");
    options.self = 2;
    EXPECT_ERROR(mst_group_create(&options, &group), MST_INVALID, "no member 2 of 2");
    static const mst_exchange_value wrong[] = {{MST_BF16, 5}, {MST_F32, -1}, {MST_F64, INT64_MAX}};
    static const char *const text[] = {"is bf16", "cannot have -1", "cannot have 9223372036854775807"};
    for (int i = 0; i < 3; i++)
        EXPECT_ERROR(
            mst_exchange_create(c.all.member[0].group, &(mst_exchange_spec){.num_values = 1, .value = &wrong[i]}, &x),
            MST_INVALID, text[i]);
    cast_close(&c);
}

/* ---- generations that end at any moment ---- */

typedef struct chaos {
    const plan *plan;
    mst_exchange *x[MOST_EXCHANGES];
    leaves *leaves;
    int done; /* runs whose sums were all there */
} chaos;

/* Runs until one fails: all results before that must be right. */
static void run_until_failure(member *m) {
    chaos *c = m->context;
    const plan *p = c->plan;
    for (bool failed = false; !failed;) {
        const uint64_t run = mst_group_next_run(m->group);
        start_all(p, c->leaves, c->x, run);
        for (int32_t i = 0; i < p->num_exchanges; i++) {
            const mst_status status = mst_exchange_wait(c->x[i], member_deadline());
            failed |= status != MST_OK;
            if (status)
                assert_int_equal(status, MST_UNAVAILABLE);
            else
                check_sums(p, c->x[i], i, run);
        }
        c->done += !failed;
    }
}

static void survive(int32_t count, uint32_t num_generations) {
    members all;
    chaos of[MOST_TASKS];
    plan p;
    int done = 0;
    make_plan(&p, 0);
    p.seed = 3;
    expect_sums(&p, count + 4);
    members_open(&all, count, count + 4, 1);
    for (int32_t i = 0; i < count; i++) {
        member *m = &all.member[i];
        of[i] = (chaos){.plan = &p, .leaves = malloc(sizeof(leaves))};
        make_exchanges(m, &p, of[i].x);
        make_leaves(m, &p, of[i].leaves);
        m->context = &of[i];
    }
    const int of_a_run = p.num_exchanges * count * 2 * (count > 8 ? 4 : count - 1);
    members_end_at_random(&all, num_generations, 4 * of_a_run + 1, run_until_failure);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t k = 0; k < p.num_exchanges; k++) mst_exchange_destroy(of[i].x[k]);
        free_leaves(&p, of[i].leaves);
        free(of[i].leaves);
        done += of[i].done;
    }
    members_close(&all);
    free_plan(&p);
    assert_true(done > 0);
}

static void generations_end_at_any_moment(void **state) {
    (void)state;
    const uint32_t part = SANITIZED ? 2 : 1;
    survive(2, 60 / part);
    survive(3, 40 / part);
    survive(9, 20 / part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_tree_for_every_number_of_members),
        cmocka_unit_test(many_members_halve_to_the_same_sums),
        cmocka_unit_test(many_exchanges_are_under_way_at_once),
        cmocka_unit_test(messages_of_a_member_grow_with_the_logarithm_of_their_number),
        cmocka_unit_test(deadline_names_who_is_late_and_the_exchange_goes_on),
        cmocka_unit_test(end_fails_what_is_under_way_and_the_next_generation_is_right),
        cmocka_unit_test(sums_of_memory_that_is_written_again_are_not_taken),
        cmocka_unit_test(exchanges_are_waited_for_in_any_order),
        cmocka_unit_test(exchange_that_waits_for_others_can_be_destroyed),
        cmocka_unit_test(what_the_transport_refuses_ends_the_generation),
        cmocka_unit_test(nothing_is_summed_before_the_first_generation),
        cmocka_unit_test(what_cannot_be_right_is_refused),
        cmocka_unit_test(generations_end_at_any_moment),
    };
    return members_run_tests(tests, sizeof tests / sizeof *tests);
}
