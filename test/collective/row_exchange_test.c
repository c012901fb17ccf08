/* Sums of sparse gradients over the shards of all members: exact to the bit, and only existing rows are sent. No
 * thread waits forever, and counts and row numbers from other members are checked. */
#include "collective/row_exchange.h"

#include "base/clock.h"
#include "collective/group_thread.h"
#include "support/members.h"
#include "support/test.h"

enum { MOST_SHARDS = 40, NUM_VALUES = 3 };

/* ---- what the sums must be ---- */

/* What all members sum: the rows of each shard are a function of the seed and the run. */
typedef struct plan {
    mst_row_exchange_value value[NUM_VALUES];
    uint64_t seed;
    int num_runs;
    int32_t num_shards;
} plan;

static uint64_t draw(const plan *p, uint64_t run, int32_t value, int32_t shard, int64_t number) {
    uint64_t state = p->seed ^ run * 0xff51afd7ed558ccdu ^ (uint64_t)value * 0xc4ceb9fe1a85ec53u ^
                     (uint64_t)shard * 0x9e3779b97f4a7c15u ^ (uint64_t)number * 0xbf58476d1ce4e5b9u;
    next_random(&state);
    next_random(&state);
    return state;
}

/* More and more rows from run to run; in run 2 there is none. */
static bool shard_has(const plan *p, uint64_t run, int32_t value, int32_t shard, int64_t row) {
    return run != 2 && (draw(p, run, value, shard, row) >> 40) % 12 < run;
}

/* Numbers of very different size, so that the order of the additions shows. */
static double shard_element(const plan *p, uint64_t run, int32_t value, int32_t shard, int64_t element) {
    static const double scale[] = {1e-3, 1, 1e3, 1e6};
    const uint64_t bits = draw(p, run, value, shard, element + 1000000);
    const double number = ((double)(bits >> 33) / 2147483648.0 - 0.4999) * scale[bits % 4];
    return p->value[value].dtype == MST_F32 ? (double)(float)number : number;
}

/* Element COLUMN of ROW in the sum over SHARDS, in the fixed tree; false where no shard has the row. */
static bool sum_of(const plan *p, uint64_t run, int32_t v, mst_shards shards, int64_t row, int64_t column,
                   double *out) {
    if (shards.count == 1) {
        *out = shard_element(p, run, v, shards.first, row * p->value[v].columns + column);
        return shard_has(p, run, v, shards.first, row);
    }
    int32_t half = 1;
    double left, right;
    while (2 * half < shards.count) half *= 2;
    const bool has_left = sum_of(p, run, v, (mst_shards){shards.first, half}, row, column, &left);
    const bool has_right =
        sum_of(p, run, v, (mst_shards){shards.first + half, shards.count - half}, row, column, &right);
    *out = !has_left ? right : !has_right ? left : left + right;
    if (p->value[v].dtype == MST_F32) *out = (double)(float)*out;
    return has_left || has_right;
}

/* Writes the sparse gradient that is the sum over SHARDS. */
static void write_sum(const plan *p, uint64_t run, int32_t v, mst_shards shards, void *rows, int64_t *number) {
    const int64_t columns = p->value[v].columns;
    double element;
    number[0] = 0;
    for (int64_t row = 0; row < p->value[v].num_rows; row++) {
        if (!sum_of(p, run, v, shards, row, 0, &element)) continue;
        for (int64_t c = 0; c < columns; c++) {
            (void)sum_of(p, run, v, shards, row, c, &element);
            if (p->value[v].dtype == MST_F32)
                ((float *)rows)[number[0] * columns + c] = (float)element;
            else
                ((double *)rows)[number[0] * columns + c] = element;
        }
        number[++number[0]] = row;
    }
}

/* ---- right sums ---- */

static void start(member *m, const plan *p, mst_row_exchange *x, uint64_t run) {
    mst_shards node[MOST_SHARDS];
    const int32_t num_leaves = mst_group_leaves(m->group, m->self, node);
    for (int32_t l = 0; l < num_leaves; l++)
        for (int32_t v = 0; v < NUM_VALUES; v++)
            write_sum(p, run, v, node[l], mst_row_exchange_leaf(x, l, 2 * v), mst_row_exchange_leaf(x, l, 2 * v + 1));
    mst_row_exchange_start(x, run);
}

static void check_sums(const plan *p, mst_row_exchange *x, uint64_t run) {
    for (int32_t v = 0; v < NUM_VALUES; v++) {
        const mst_row_exchange_value *value = &p->value[v];
        const size_t element = mst_dtype_size(value->dtype);
        int64_t *number = malloc((1 + (size_t)value->num_rows) * sizeof *number);
        void *rows = malloc((size_t)(value->num_rows * value->columns) * element);
        write_sum(p, run, v, (mst_shards){0, p->num_shards}, rows, number);
        assert_memory_equal(mst_row_exchange_sum(x, 2 * v + 1), number, (1 + (size_t)number[0]) * sizeof *number);
        assert_memory_equal(mst_row_exchange_sum(x, 2 * v), rows, (size_t)(number[0] * value->columns) * element);
        free(rows);
        free(number);
    }
}

static mst_row_exchange *make(member *m, const plan *p) {
    mst_row_exchange *x;
    const mst_row_exchange_spec spec = {.hash = 5, .stream = 3, .num_values = NUM_VALUES, .value = p->value};
    EXPECT_OK(mst_row_exchange_create(m->group, &spec, &x));
    return x;
}

static void sum_runs(member *m) {
    const plan *p = m->context;
    mst_row_exchange *x = make(m, p);
    for (int k = 0; k < p->num_runs; k++) {
        const uint64_t run = mst_group_next_run(m->group);
        start(m, p, x, run);
        EXPECT_OK(mst_row_exchange_wait(x, member_deadline()));
        check_sums(p, x, run);
    }
    mst_row_exchange_destroy(x);
}

/* Rows of an odd number of f32, of f64, and of one element. */
static plan make_plan(int32_t num_shards, uint64_t seed) {
    return (plan){.value = {{MST_F32, 50, 3, 50}, {MST_F64, 9, 2, 9}, {MST_F32, 200, 1, 200}},
                  .seed = seed,
                  .num_runs = 4,
                  .num_shards = num_shards};
}

static void sums_are_those_of_the_tree_for_every_number_of_members(void **state) {
    (void)state;
    static const int32_t counts[] = {1, 2, 3, 4, 7, 12};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned seed = 0; seed < 3; seed++) {
            members all;
            plan p = make_plan(counts[i] + (int32_t)(seed * 7 % 23), seed);
            members_open(&all, counts[i], p.num_shards, seed);
            for (int32_t m = 0; m < counts[i]; m++) all.member[m].context = &p;
            members_run(&all, sum_runs);
            members_close(&all);
        }
}

/* ---- what is sent ---- */

/* Bytes that member 0 sends when each of two has 7 rows. */
static long long bytes_sent(int64_t num_rows, int64_t most) {
    members all;
    mst_row_exchange *x[2];
    const mst_row_exchange_value value = {MST_F32, num_rows, 16, most};
    members_open(&all, 2, 2, 0);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_row_exchange_create(all.member[i].group,
                                          &(mst_row_exchange_spec){.num_values = 1, .value = &value}, &x[i]));
        int64_t *number = mst_row_exchange_leaf(x[i], 0, 1);
        float *rows = mst_row_exchange_leaf(x[i], 0, 0);
        number[0] = 7;
        for (int64_t k = 0; k < 7; k++) number[1 + k] = 3 * k + i;
        for (int64_t k = 0; k < 7 * 16; k++) rows[k] = (float)k;
    }
    for (int i = 0; i < 2; i++) mst_row_exchange_start(x[i], 1);
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_row_exchange_wait(x[i], member_deadline()));
    assert_int_equal(*(int64_t *)mst_row_exchange_sum(x[0], 1), 14);
    for (int i = 0; i < 2; i++) mst_row_exchange_destroy(x[i]);
    const long long bytes = member_sent_bytes(&all, 0);
    members_close(&all);
    return bytes;
}

static void only_the_rows_that_are_there_are_sent(void **state) {
    (void)state;
    const long long rows = 7 * 16 * 4, numbers = (1 + 7) * 8, counts = 8;
    assert_int_equal(bytes_sent(30, 7), rows + numbers + counts);
    assert_int_equal(bytes_sent(30, 30), rows + numbers + counts);
    assert_int_equal(bytes_sent(1000000, 7), rows + numbers + counts);
    assert_int_equal(bytes_sent(1000000, 1000000), rows + numbers + counts);
}

/* ---- failures ---- */

/* One thread makes the calls of all members: a start does not wait for anyone. */
typedef struct cast {
    members all;
    plan plan;
    mst_row_exchange *x[MOST_TASKS];
} cast;

static void cast_open(cast *c, int32_t count) {
    c->plan = make_plan(count, 1);
    members_open(&c->all, count, count, 0);
    for (int32_t i = 0; i < count; i++) c->x[i] = make(&c->all.member[i], &c->plan);
}

static void cast_close(cast *c) {
    for (int32_t i = 0; i < c->all.count; i++) mst_row_exchange_destroy(c->x[i]);
    members_close(&c->all);
}

static void cast_start(cast *c, int32_t i, uint64_t run) {
    start(&c->all.member[i], &c->plan, c->x[i], run);
}

static mst_status cast_wait(cast *c, int32_t i) {
    return mst_row_exchange_wait(c->x[i], member_deadline());
}

static void *wait_in_thread(void *context) {
    return (void *)(intptr_t)mst_row_exchange_wait(context, member_deadline());
}

/* All wait at the same time: a member makes room for the rows of others only when it waits. */
static void expect_waits(cast *c, uint64_t run) {
    pthread_t thread[MOST_TASKS];
    for (int32_t i = 0; i < c->all.count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, wait_in_thread, c->x[i]), 0);
    for (int32_t i = 0; i < c->all.count; i++) {
        void *status;
        pthread_join(thread[i], &status);
        assert_int_equal((intptr_t)status, MST_OK);
        check_sums(&c->plan, c->x[i], run);
    }
}

static void expect_run(cast *c, uint64_t run) {
    for (int32_t i = 0; i < c->all.count; i++) cast_start(c, i, run);
    expect_waits(c, run);
}

static void with_casts(void (*check)(cast *c)) {
    static const int32_t counts[] = {2, 3, 9};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        cast c;
        cast_open(&c, counts[i]);
        check(&c);
        cast_close(&c);
    }
}

static void check_deadline(cast *c) {
    const int32_t late = c->all.count - 1;
    char text[96];
    snprintf(text, sizeof text, "exchange 3 of run 1: waited too long, no number of rows has come from member %d",
             late);
    for (int32_t i = 0; i < late; i++) cast_start(c, i, 1);
    /* the others may need longer than that */
    for (const int64_t deadline = member_deadline(); mst_clock_now() < deadline;) {
        assert_int_equal(mst_row_exchange_wait(c->x[0], mst_clock_after(0.2)), MST_DEADLINE);
        if (strstr(mst_error()->message, text)) break;
    }
    assert_non_null(strstr(mst_error()->message, text));
    cast_start(c, late, 1);
    expect_waits(c, 1);
}

static void deadline_names_who_is_late_and_the_exchange_goes_on(void **state) {
    (void)state;
    with_casts(check_deadline);
}

static void check_end(cast *c) {
    const int32_t count = c->all.count, lost = count - 1;
    expect_run(c, 1);
    for (int32_t i = 0; i < lost; i++) cast_start(c, i, 3);
    for (int32_t i = 0; i < count; i++) member_end(&c->all.member[i], lost);
    for (int32_t i = 0; i < count; i++) {
        if (i == lost) cast_start(c, i, 3); /* in a generation that is over */
        EXPECT_ERROR(cast_wait(c, i), MST_UNAVAILABLE, "is lost");
    }
    members_begin(&c->all, 2);
    for (int32_t i = 0; i < count; i++) assert_int_not_equal(cast_wait(c, i), MST_OK); /* of the old one */
    for (uint64_t run = 1; run < 5; run++) expect_run(c, run);
}

static void end_fails_what_is_under_way_and_the_next_generation_is_right(void **state) {
    (void)state;
    with_casts(check_end);
}

static void check_destroy(cast *c) {
    for (int32_t i = 0; i + 1 < c->all.count; i++) cast_start(c, i, 7);
    mst_row_exchange_destroy(c->x[0]); /* whose last member has not started */
    c->x[0] = NULL;
    EXPECT_ERROR(mst_group_check(c->all.member[0].group), MST_CANCELLED,
                 "exchange 3 of run 7 was given up by member 0");
}

static void exchange_that_waits_for_others_can_be_destroyed(void **state) {
    (void)state;
    with_casts(check_destroy);
}

static void check_refusal(cast *c) {
    for (int after = 0; after < 2 * (c->all.count - 1); after++) { /* messages of member 0 */
        members_refuse_send(&c->all, after);
        for (int32_t i = 0; i < c->all.count; i++) cast_start(c, i, 1);
        EXPECT_ERROR(cast_wait(c, 0), MST_OUT_OF_MEMORY, "no memory for a message");
        for (int32_t i = 0; i < c->all.count; i++) member_end(&c->all.member[i], 0);
        for (int32_t i = 0; i < c->all.count; i++) assert_int_not_equal(cast_wait(c, i), MST_OK);
        members_begin(&c->all, (uint32_t)after + 2);
        expect_run(c, 1);
    }
}

static void what_the_transport_refuses_ends_the_generation(void **state) {
    (void)state;
    with_casts(check_refusal);
}

/* ---- peers that send what is no gradient ---- */

static void send_raw(cast *c, uint32_t message, const int64_t *number, size_t count) {
    const mst_key key =
        mst_exchange_key(&(const mst_exchange_base){.generation = 1, .stream = 3, .run = 1, .hash = 5}, message);
    const mst_iov piece = {number, count * sizeof *number};
    EXPECT_OK(c->all.tasks.type->send(c->all.tasks.task[1].transport, 0, key, &piece, 1, NULL));
}

/* Member 1 of 2 sends COUNT rows of value 1, a variable of 9 rows of two f64, and before them their numbers NUMBER. */
static void expect_refused(int64_t count, const int64_t *number, const char *text) {
    cast c;
    cast_open(&c, 2);
    cast_start(&c, 0, 1);
    send_raw(&c, 0, (const int64_t[]){0, count, 0}, 3);
    if (number) {
        int64_t rows[64] = {0}; /* the count of value 0 */
        memcpy(rows + 1, number, (1 + (size_t)count) * sizeof *number);
        send_raw(&c, 1, rows, 1 + (1 + (size_t)count) + 2 * (size_t)count + 1);
    }
    EXPECT_ERROR(cast_wait(&c, 0), MST_INVALID, text);
    EXPECT_ERROR(mst_group_check(c.all.member[0].group), MST_INVALID, text);
    cast_close(&c);
}

static void what_peers_send_is_checked(void **state) {
    (void)state;
    expect_refused(10, NULL, "member 1 says that it sends 10 rows of a variable of 9");
    expect_refused(-1, NULL, "member 1 says that it sends -1 rows");
    expect_refused(INT64_MAX, NULL, "member 1 says that it sends 9223372036854775807 rows");
    static const char text[] = "what member 1 has sent are no ascending numbers of rows of a variable of 9 rows";
    expect_refused(2, (const int64_t[]){2, 3, 9}, text);
    expect_refused(2, (const int64_t[]){2, -1, 3}, text);
    expect_refused(2, (const int64_t[]){2, 3, 3}, text);
    expect_refused(3, (const int64_t[]){3, 1, 5, 4}, text);
    expect_refused(2, (const int64_t[]){3, 1, 2}, text);
    expect_refused(2, (const int64_t[]){INT64_MIN, 1, 2}, text);
}

static void what_cannot_be_right_is_refused(void **state) {
    (void)state;
    cast c;
    mst_row_exchange *x;
    cast_open(&c, 2);
    static const mst_row_exchange_value wrong[] = {{MST_I32, 5, 1, 5},
                                                   {MST_F32, 5, -1, 5},
                                                   {MST_F32, 5, 1, 6},
                                                   {MST_F64, INT64_MAX / 2, 3, 5},
                                                   {MST_F64, 3, INT64_MAX / 2, 3}};
    static const char *const text[] = {"is i32", "cannot have 5 of 5 rows of -1", "cannot have 6 of 5 rows",
                                       "cannot have 5 of 4611686018427387903 rows", "of 4611686018427387903 elements"};
    for (int i = 0; i < 5; i++)
        EXPECT_ERROR(mst_row_exchange_create(c.all.member[0].group,
                                             &(mst_row_exchange_spec){.num_values = 1, .value = &wrong[i]}, &x),
                     MST_INVALID, text[i]);
    cast_close(&c);
}

/* ---- generations that end at any moment ---- */

typedef struct chaos {
    const plan *plan;
    mst_row_exchange *x;
    int done; /* runs whose sums were all there */
} chaos;

/* Runs until one fails: all results before that must be right. */
static void run_until_failure(member *m) {
    chaos *c = m->context;
    for (;; c->done++) {
        const uint64_t run = mst_group_next_run(m->group);
        start(m, c->plan, c->x, run);
        const mst_status status = mst_row_exchange_wait(c->x, member_deadline());
        if (status) {
            assert_int_equal(status, MST_UNAVAILABLE);
            return;
        }
        if (run < 6) check_sums(c->plan, c->x, run);
    }
}

static void generations_end_at_any_moment(void **state) {
    (void)state;
    enum { COUNT = 3, GENERATIONS = 40, MOST_SENT = 36 /* in 3 runs */ };
    members all;
    chaos of[COUNT];
    const plan p = make_plan(COUNT + 2, 3);
    int done = 0;
    members_open(&all, COUNT, p.num_shards, 1);
    for (int32_t i = 0; i < COUNT; i++) {
        of[i] = (chaos){.plan = &p, .x = make(&all.member[i], &p)};
        all.member[i].context = &of[i];
    }
    members_end_at_random(&all, GENERATIONS, MOST_SENT, run_until_failure);
    for (int32_t i = 0; i < COUNT; i++) {
        mst_row_exchange_destroy(of[i].x);
        done += of[i].done;
    }
    members_close(&all);
    assert_true(done > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_tree_for_every_number_of_members),
        cmocka_unit_test(only_the_rows_that_are_there_are_sent),
        cmocka_unit_test(deadline_names_who_is_late_and_the_exchange_goes_on),
        cmocka_unit_test(end_fails_what_is_under_way_and_the_next_generation_is_right),
        cmocka_unit_test(exchange_that_waits_for_others_can_be_destroyed),
        cmocka_unit_test(what_the_transport_refuses_ends_the_generation),
        cmocka_unit_test(what_peers_send_is_checked),
        cmocka_unit_test(what_cannot_be_right_is_refused),
        cmocka_unit_test(generations_end_at_any_moment),
    };
    return members_run_tests(tests, sizeof tests / sizeof *tests);
}
