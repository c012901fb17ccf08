/* Teams: each item of a job is done exactly once, even if members start late, and the first error of a job is kept. */
#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/timeline.h"
#include "support/test.h"

enum { MOST_MEMBERS = 5, MOST_ITEMS = 1000, SMALL_JOBS = 20000, MANY_TEAMS = 5000 };

static const double LONG = 30; /* seconds that a step of a test may take at most */

static mst_team *make_team(int size, bool spin, mst_team_begin begin, void *context) {
    mst_team *team;
    EXPECT_OK(mst_team_create(size, spin, begin, context, &team));
    assert_int_equal(mst_team_size(team), size);
    return team;
}

/* ---- every item once ---- */

typedef struct job {
    int64_t n, grain;
    int times[MOST_ITEMS];       /* times that each item was done; not atomic, so two at once are a data race */
    int64_t items[MOST_MEMBERS]; /* done by each member */
    bool wrong;                  /* number of runs whose bounds do not follow from n and grain */
} job;

static mst_status count_items(void *context, int64_t begin, int64_t end, int member) {
    job *j = context;
    if (begin % j->grain != 0 || (end != j->n && end - begin != j->grain) || begin >= end) j->wrong = true;
    for (int64_t i = begin; i < end; i++) j->times[i]++;
    j->items[member] += end - begin;
    return MST_OK;
}

static void check_job(mst_team *team, int64_t n, int64_t grain) {
    job j = {.n = n, .grain = grain};
    int64_t done = 0;
    EXPECT_OK(mst_team_run(team, n, grain, count_items, &j));
    for (int64_t i = 0; i < n; i++) assert_int_equal(j.times[i], 1);
    for (int i = 0; i < MOST_MEMBERS; i++) done += j.items[i];
    for (int i = mst_team_size(team); i < MOST_MEMBERS; i++) assert_int_equal(j.items[i], 0);
    assert_int_equal(done, n);
    assert_false(j.wrong);
}

static void every_item_is_done_once(void **state) {
    (void)state;
    static const int64_t n[] = {0, 1, 2, 3, 7, 64, 100, MOST_ITEMS}, grain[] = {1, 3, 64, MOST_ITEMS};
    for (int size = 0; size <= MOST_MEMBERS; size++) {
        mst_team *team = size ? make_team(size, size % 2 == 0, NULL, NULL) : NULL;
        for (size_t i = 0; i < sizeof n / sizeof *n; i++)
            for (size_t k = 0; k < sizeof grain / sizeof *grain; k++) check_job(team, n[i], grain[k]);
        mst_team_destroy(team);
    }
    assert_int_equal(mst_team_size(NULL), 1);
}

static mst_status add_up(void *context, int64_t begin, int64_t end, int member) {
    int64_t *sum = context;
    for (int64_t i = begin; i < end; i++) sum[16 * member] += i + 1;
    return MST_OK;
}

static void check_small_jobs(int size, bool spin) {
    mst_team *team = make_team(size, spin, NULL, NULL);
    for (int k = 0; k < SMALL_JOBS; k++) {
        const int64_t n = 2 + k % 7;
        int64_t sum[16 * MOST_MEMBERS] = {0}, total = 0;
        EXPECT_OK(mst_team_run(team, n, 1, add_up, sum));
        for (int i = 0; i < size; i++) total += sum[16 * i];
        assert_int_equal(total, n * (n + 1) / 2);
    }
    mst_team_destroy(team);
}

static void thousands_of_small_jobs_follow_each_other(void **state) {
    (void)state;
    check_small_jobs(2, true);
    check_small_jobs(2, false);
    check_small_jobs(MOST_MEMBERS, false);
}

static void a_team_may_end_before_its_first_job(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) mst_team_destroy(make_team(1 + i % MOST_MEMBERS, i % 2, NULL, NULL));
    mst_team_destroy(NULL);
}

/* While its members still wake for the last job, which is done already: up to 128 microseconds after it. */
static void a_team_may_end_soon_after_a_job(void **state) {
    (void)state;
    for (int i = 0; i < MANY_TEAMS; i++) {
        mst_team *team = make_team(2 + i % (MOST_MEMBERS - 1), false, NULL, NULL);
        for (int64_t n = 2; n <= 20; n++) {
            int64_t sum[16 * MOST_MEMBERS] = {0};
            EXPECT_OK(mst_team_run(team, n, 1, add_up, sum));
        }
        for (const int64_t until = mst_clock_now() + i % 128 * 1000; mst_clock_now() < until;) continue;
        mst_team_destroy(team);
    }
}

static void *run_jobs(void *context) {
    (void)context;
    check_small_jobs(2, false);
    return NULL;
}

static void two_teams_work_at_once(void **state) {
    (void)state;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_jobs, NULL), 0);
    run_jobs(NULL);
    pthread_join(other, NULL);
}

/* ---- members that are late ---- */

/* Members that do not begin until the gate opens. */
typedef struct gate {
    mst_timeline open, joined; /* joined: runs done by members other than the caller */
    int times[MOST_ITEMS];
} gate;

static mst_status wait_at_gate(void *context, int member) {
    gate *g = context;
    (void)member;
    mst_timeline_wait(&g->open, 1, MST_NEVER, false);
    return MST_OK;
}

static mst_status without_help(void *context, int64_t begin, int64_t end, int member) {
    gate *g = context;
    if (member != 0) return MST_FAIL(MST_INTERNAL, "member %d has passed the gate", member);
    for (int64_t i = begin; i < end; i++) g->times[i]++;
    return MST_OK;
}

/* The first run opens the gate, and waits for the help that must come in this job. */
static mst_status with_late_help(void *context, int64_t begin, int64_t end, int member) {
    gate *g = context;
    for (int64_t i = begin; i < end; i++) g->times[i]++;
    if (member != 0) mst_timeline_add(&g->joined, 1);
    if (begin > 0) return MST_OK;
    mst_timeline_advance(&g->open, 1);
    if (mst_timeline_wait(&g->joined, 1, mst_clock_after(LONG), false)) return MST_OK;
    return MST_FAIL(MST_DEADLINE, "nobody came to help");
}

static void a_late_member_is_not_waited_for_and_helps_when_it_comes(void **state) {
    (void)state;
    enum { JOBS = 200, ITEMS = 50 };
    for (int spin = 0; spin < 2; spin++) {
        gate g = {.open = {0}};
        mst_team *team = make_team(3, spin, wait_at_gate, &g);
        for (int k = 0; k < JOBS; k++) EXPECT_OK(mst_team_run(team, ITEMS, 1, without_help, &g));
        for (int i = 0; i < ITEMS; i++) assert_int_equal(g.times[i], JOBS);
        memset(g.times, 0, sizeof g.times);
        EXPECT_OK(mst_team_run(team, MOST_ITEMS, 1, with_late_help, &g));
        for (int i = 0; i < MOST_ITEMS; i++) assert_int_equal(g.times[i], 1);
        mst_team_destroy(team);
    }
}

static mst_status fail_to_begin(void *context, int member) {
    (void)context;
    return member == 1 ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "member %d has no memory", member);
}

static void work_of_a_member_that_cannot_begin_is_done_by_the_others(void **state) {
    (void)state;
    mst_team *team = make_team(MOST_MEMBERS, false, fail_to_begin, NULL);
    for (int k = 0; k < 200; k++) {
        job j = {.n = MOST_ITEMS, .grain = 3};
        EXPECT_OK(mst_team_run(team, j.n, j.grain, count_items, &j));
        for (int i = 0; i < MOST_ITEMS; i++) assert_int_equal(j.times[i], 1);
        for (int i = 2; i < MOST_MEMBERS; i++) assert_int_equal(j.items[i], 0);
    }
    mst_team_destroy(team);
}

/* ---- failures ---- */

typedef struct failing {
    mst_timeline failed; /* runs that have failed */
    atomic_int done;
} failing;

enum { RUNS = 8, EARLY_RUN = 2, LATE_RUN = 5 };

/* The later run fails first. */
static mst_status fail_in_reverse(void *context, int64_t begin, int64_t end, int member) {
    failing *f = context;
    (void)end, (void)member;
    atomic_fetch_add(&f->done, 1);
    if (begin == LATE_RUN) {
        mst_status status = MST_FAIL(MST_INVALID, "item %d is wrong", LATE_RUN);
        mst_timeline_add(&f->failed, 1);
        return status;
    }
    if (begin != EARLY_RUN) return MST_OK;
    mst_timeline_wait(&f->failed, 1, mst_clock_after(LONG), false);
    return MST_FAIL(MST_CORRUPT, "item %d is corrupt", EARLY_RUN);
}

static void the_error_is_that_of_the_first_run_that_fails(void **state) {
    (void)state;
    for (int size = 2; size <= MOST_MEMBERS; size++) {
        for (int k = 0; k < 20; k++) {
            /* a team of its own: a caller that was delayed by its team works alone on all runs */
            mst_team *team = make_team(size, false, NULL, NULL);
            failing f = {.done = 0};
            EXPECT_ERROR(mst_team_run(team, RUNS, 1, fail_in_reverse, &f), MST_CORRUPT, "item 2 is corrupt");
            assert_int_equal(f.done, RUNS);
            check_job(team, 100, 3); /* which does not remember it */
            mst_team_destroy(team);
        }
    }
}

static mst_status fail_always(void *context, int64_t begin, int64_t end, int member) {
    (void)context, (void)end, (void)member;
    return MST_FAIL(MST_INVALID, "run from %d", (int)begin);
}

static void where_all_runs_fail_the_first_is_named(void **state) {
    (void)state;
    mst_team *team = make_team(MOST_MEMBERS, false, NULL, NULL);
    for (int k = 0; k < 200; k++) EXPECT_ERROR(mst_team_run(team, 64, 4, fail_always, NULL), MST_INVALID, "run from 0");
    mst_team_destroy(team);
    EXPECT_ERROR(mst_team_run(NULL, 64, 4, fail_always, NULL), MST_INVALID, "run from 0");
}

/* ---- denormal numbers ---- */

typedef struct products {
    mst_timeline helped;
    bool flushed;
} products;

static mst_status multiply(void *context, int64_t begin, int64_t end, int member) {
    products *p = context;
    (void)end;
    if (member != 0) {
        volatile float small = 1e-30f, smaller = 1e-10f;
        const bool flushed = small * smaller == 0;
        if (!flushed) p->flushed = false;
        mst_timeline_add(&p->helped, 1);
    }
    if (member == 0 && begin == 0) mst_timeline_wait(&p->helped, 1, mst_clock_after(LONG), false);
    return MST_OK;
}

static void members_take_denormal_numbers_as_zero(void **state) {
    (void)state;
    if (!MST_FLUSH) return; /* not known for this processor */
    products p = {.flushed = true};
    mst_team *team = make_team(2, false, NULL, NULL);
    EXPECT_OK(mst_team_run(team, 100, 1, multiply, &p));
    assert_true(mst_timeline_value(&p.helped) > 0);
    assert_true(p.flushed);
    mst_team_destroy(team);
}

/* ---- members that hinder ---- */

enum { HINDERED_RUNS = 8 };

typedef struct hindered {
    bool hinders;          /* a run of another member takes long, as on a core that another program has */
    atomic_int by_members; /* runs of others than the caller */
} hindered;

static mst_status spin_for(void *context, int64_t begin, int64_t end, int member) {
    hindered *h = context;
    (void)begin;
    (void)end;
    const int64_t until = mst_clock_now() + (member && h->hinders ? 3000000 : 50000);
    while (mst_clock_now() < until) {
    }
    if (member) atomic_fetch_add(&h->by_members, 1);
    return MST_OK;
}

/* Runs that others than the caller did in SECONDS of jobs. */
static int help_of_members(mst_team *team, hindered *h, double seconds) {
    atomic_store(&h->by_members, 0);
    for (const int64_t end = mst_clock_after(seconds); mst_clock_now() < end;)
        EXPECT_OK(mst_team_run(team, HINDERED_RUNS, 1, spin_for, h));
    return atomic_load(&h->by_members);
}

static void caller_works_alone_while_late_members_slow_it_down(void **state) {
    (void)state;
    mst_team *team = make_team(2, true, NULL, NULL);
    hindered h = {.hinders = true};
    help_of_members(team, &h, 0.5);
    /* asked for some milliseconds in each quarter of a second */
    assert_in_range(help_of_members(team, &h, 1), 0, 150);
    h.hinders = false;
    int helped = 0;
    for (const int64_t end = mst_clock_after(LONG); helped < 200 && mst_clock_now() < end;)
        helped = help_of_members(team, &h, 0.1);
    assert_true(helped >= 200);
    mst_team_destroy(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(thousands_of_small_jobs_follow_each_other),
        cmocka_unit_test(a_team_may_end_before_its_first_job),
        cmocka_unit_test(a_team_may_end_soon_after_a_job),
        cmocka_unit_test(two_teams_work_at_once),
        cmocka_unit_test(a_late_member_is_not_waited_for_and_helps_when_it_comes),
        cmocka_unit_test(work_of_a_member_that_cannot_begin_is_done_by_the_others),
        cmocka_unit_test(the_error_is_that_of_the_first_run_that_fails),
        cmocka_unit_test(where_all_runs_fail_the_first_is_named),
        cmocka_unit_test(caller_works_alone_while_late_members_slow_it_down),
        cmocka_unit_test(members_take_denormal_numbers_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
