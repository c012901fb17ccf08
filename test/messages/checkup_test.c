/* The checkup of a cluster over a transport inside this process: all tasks learn the facts and the links of all.
 * Nobody waits forever for a task that does not come, and messages that come out of turn change nothing. */
#include "messages/checkup.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "messages/task_message.h"
#include "support/test.h"

enum { TASKS = 3 };
static const char hosts[] = "localhost:1,localhost:2,localhost:3";

typedef struct looker {
    int task;
    double wait;
    bool (*stop)(void);
    mst_status status;
    mst_cluster *cluster;
    mst_checkup *checkup;
    char facts[32];
    pthread_t thread;
} looker;

static mst_cluster *cluster_of(int task) {
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts(NULL, hosts, "worker", task, &cluster));
    return cluster;
}

static void open_looker(looker *l, int task, double wait) {
    *l = (looker){.task = task, .wait = wait, .stop = l->stop, .cluster = cluster_of(task)};
    const mst_checkup_options options = {.cluster = l->cluster, .transport = "inproc", .wait = wait, .stop = l->stop};
    snprintf(l->facts, sizeof l->facts, "facts of %d", task);
    EXPECT_OK(mst_checkup_open(&options, &l->checkup));
}

static void *close_looker(void *context) {
    looker *l = context;
    mst_checkup_close(l->checkup);
    mst_cluster_release(l->cluster);
    return NULL;
}

static void *gather(void *context) {
    looker *l = context;
    l->status = mst_checkup_gather(l->checkup, l->facts);
    return NULL;
}

/* Each of N on a thread of its own. */
static void on_threads(looker *l, int n, void *(*run)(void *)) {
    for (int i = 0; i < n; i++) assert_int_equal(mst_thread_start(&l[i].thread, run, &l[i]), 0);
    for (int i = 0; i < n; i++) pthread_join(l[i].thread, NULL);
}

static void expect_link(const looker *l, int32_t from, int32_t to) {
    const mst_checkup_link *link;
    const int32_t count = mst_checkup_links(l->checkup, &link);
    int found = 0;
    for (int32_t i = 0; i < count; i++) {
        if (link[i].from != from || link[i].to != to) continue;
        assert_in_range(link[i].latency, 1, 1000000000);
        assert_in_range(link[i].there, 1, 1000000000);
        assert_in_range(link[i].back, 1, 1000000000);
        assert_true(fabs((double)link[i].ahead) < 1e8); /* one clock, on a machine that may be busy */
        found++;
    }
    assert_int_equal(found, 1);
}

static void all_learn_the_facts_and_the_links_of_all(void **state) {
    (void)state;
    looker l[TASKS] = {{0}};
    for (int i = 0; i < TASKS; i++) open_looker(&l[i], i, 20);
    on_threads(l, TASKS, gather);
    for (int i = 0; i < TASKS; i++) {
        const mst_checkup_link *link;
        assert_int_equal(l[i].status, MST_OK);
        assert_int_equal(mst_checkup_links(l[i].checkup, &link), 3);
        for (int32_t k = 0; k < TASKS; k++) {
            const mst_checkup_peer *p = mst_checkup_peer_of(l[i].checkup, k);
            if (k != i) assert_true(p->reached && p->heard && !p->lost && strcmp(p->facts, l[k].facts) == 0);
            for (int32_t m = k + 1; m < TASKS; m++) expect_link(&l[i], k, m);
        }
    }
    on_threads(l, TASKS, close_looker);
}

static void nobody_waits_for_ever_for_the_leader(void **state) {
    (void)state;
    looker l[2] = {{0}};
    const double begin = mst_clock_seconds();
    for (int i = 0; i < 2; i++) open_looker(&l[i], 1 + i, 0.2);
    on_threads(l, 2, gather);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(l[i].status, MST_OK);
        assert_true(mst_checkup_peer_of(l[i].checkup, 2 - i)->heard);
        assert_false(mst_checkup_peer_of(l[i].checkup, 0)->heard);
    }
    on_threads(l, 2, close_looker);
    assert_true(mst_clock_seconds() - begin < 10);
}

static atomic_bool stops;

static bool is_stopped(void) {
    return atomic_load(&stops);
}

static void waiting_can_be_stopped(void **state) {
    (void)state;
    looker l = {.stop = is_stopped};
    atomic_store(&stops, true);
    open_looker(&l, 0, 1000);
    gather(&l);
    assert_int_equal(l.status, MST_OK);
    close_looker(&l);
}

/* Task 2 sends what only the leader may, links that are none, and pings that want more than there is. */
static void what_comes_out_of_turn_changes_nothing(void **state) {
    (void)state;
    static const mst_checkup_link wrong[] = {{.from = 2, .to = 1000000},
                                             {.from = -1, .to = 2},
                                             {.from = 2, .to = 2},
                                             {.from = 1, .to = 2},
                                             {.from = 0, .to = 1, .latency = -1}};
    static const mst_task_message_head heads[] = {{.kind = MST_CHECK_LINKS},
                                                  {.kind = MST_CHECK_MEASURE, .number = 1},
                                                  {.kind = MST_CHECK_MEASURED},
                                                  {.kind = MST_CHECK_PING, .step = INT64_MAX},
                                                  {.kind = MST_CHECK_PING, .step = -1},
                                                  {.kind = MST_CHECK_PONG, .number = 7},
                                                  {.kind = MST_CHECK_END}};
    static const char *const addresses[] = {"localhost:1", "localhost:2", "localhost:3"};
    looker l[2] = {{0}};
    mst_cluster *cluster = cluster_of(2);
    mst_mail *rogue;
    const mst_checkup_link *link;
    for (int i = 0; i < 2; i++) open_looker(&l[i], i, 0.3);
    const mst_mail_options mail = {
        .cluster = cluster, .protocol = &mst_checkup_protocol, .transport = "inproc", .address = addresses};
    EXPECT_OK(mst_mail_open(&mail, &rogue));
    for (int to = 0; to < 2; to++)
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            EXPECT_OK(mst_mail_send(rogue, to, &heads[i], &(mst_iov){wrong, sizeof wrong - 1}, 1, NULL));
    on_threads(l, 2, gather);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(l[i].status, MST_OK);
        assert_false(mst_checkup_peer_of(l[i].checkup, 2)->heard);
        assert_int_equal(mst_checkup_links(l[i].checkup, &link), 1);
        expect_link(&l[i], 0, 1);
    }
    mst_mail_close(rogue);
    mst_cluster_release(cluster);
    on_threads(l, 2, close_looker);
}

static void names_are_looked_up(void **state) {
    (void)state;
    mst_cluster *cluster = cluster_of(0);
    mst_checkup_name name[TASKS];
    EXPECT_OK(mst_checkup_resolve(cluster, 5, name));
    for (int i = 0; i < TASKS; i++) assert_true(*name[i].numeric && name[i].is_loopback);
    mst_cluster_release(cluster);
    EXPECT_OK(mst_cluster_from_hosts(NULL, "nowhere.invalid:1,10.1.2.3:2", "worker", 0, &cluster));
    EXPECT_OK(mst_checkup_resolve(cluster, 5, name));
    assert_string_equal(name[0].numeric, "");
    assert_string_equal(name[1].numeric, "10.1.2.3:2");
    assert_false(name[1].is_loopback);
    mst_cluster_release(cluster);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_learn_the_facts_and_the_links_of_all),
        cmocka_unit_test(nobody_waits_for_ever_for_the_leader),
        cmocka_unit_test(waiting_can_be_stopped),
        cmocka_unit_test(what_comes_out_of_turn_changes_nothing),
        cmocka_unit_test(names_are_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
