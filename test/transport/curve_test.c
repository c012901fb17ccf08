/* Clusters with a key: a peer with another key, or without one, cannot connect, and disturbs nobody. */
#include <stdio.h>

#include "support/tasks.h"
#include "support/test.h"

static const mst_transport_type *type;

/* Tasks 0 and 1 have KEYS and are connected. Task 2 has OTHER; it tries to connect to both, and they to it. */
static void open_with_stranger(tasks *all, const mst_cluster_keys *keys, const mst_cluster_keys *other) {
    tasks_use_keys(keys);
    tasks_make(all, type, 3, NULL);
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(all, i, (uint64_t)i + 100));
    all->options.keys = other;
    EXPECT_OK(task_open(all, 2, 102));
    all->options.keys = keys;
    task_say(all, 0, 1, "hello");
    task_say(all, 1, 0, "hello");
    for (int i = 0; i < 2; i++) task_told(&all->task[i], TOLD_CONTROL, 1 - i, 0);
    for (int i = 0; i < 2; i++) {
        task_say(all, 2, i, "let me in");
        task_say(all, i, 2, "are you there?");
    }
}

/* The two go on. When the stranger has their key, it can connect. */
static void expect_refused(const mst_cluster_keys *keys, const mst_cluster_keys *other) {
    tasks all;
    open_with_stranger(&all, keys, other);
    for (int i = 0; i < 2; i++) {
        const told *refused[] = {task_told(&all.task[2], TOLD_LOST, i, 0), task_told(&all.task[i], TOLD_LOST, 2, 0)};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(refused[k]->instance, 0);
            assert_non_null(strstr(refused[k]->data, "give all tasks the same --cluster-key FILE"));
        }
    }
    for (int i = 0; i < 2; i++) task_say(&all, i, 1 - i, "still here");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(task_told(&all.task[i], TOLD_CONTROL, 1 - i, 1)->data, "still here");
        assert_int_equal(task_count(&all.task[i], TOLD_LOST, 1 - i), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_CONTROL, 2), 0);
        assert_int_equal(task_count(&all.task[i], TOLD_CONNECTED, 2), 0);
    }
    assert_int_equal(task_count(&all.task[2], TOLD_CONTROL, -1), 0);
    assert_int_equal(task_count(&all.task[2], TOLD_CONNECTED, -1), 0);
    task_close(&all, 2, 0);
    EXPECT_OK(task_open(&all, 2, 103));
    assert_string_equal(task_told(&all.task[2], TOLD_CONTROL, 0, 0)->data, "are you there?");
    tasks_close(&all);
}

static void peer_with_another_key_gets_nowhere_and_is_told(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_keys(1), other = tasks_keys(2);
    expect_refused(&keys, &other);
}

/* It knows the listener's public key, which is never sent, but its own pair of keys is not accepted. */
static void peer_with_half_of_the_key_gets_nowhere(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_keys(1);
    mst_cluster_keys half = tasks_keys(2);
    memcpy(half.listener.public_key, keys.listener.public_key, MST_CURVE_KEY);
    expect_refused(&keys, &half);
}

static void peer_without_a_key_gets_nowhere_and_is_told(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_keys(1);
    expect_refused(&keys, NULL);
}

static void peer_with_a_key_gets_nowhere_where_there_is_none(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_keys(1);
    expect_refused(NULL, &keys);
}

static void task_with_a_key_listens_where_other_machines_reach_it(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_keys(1);
    tasks all;
    char bind[64];
    tasks_use_keys(&keys);
    tasks_make(&all, type, 1, NULL);
    snprintf(bind, sizeof bind, "0.0.0.0:%s", strrchr(all.address[0], ':') + 1);
    all.options.bind = bind;
    EXPECT_OK(task_open(&all, 0, 1));
    tasks_close(&all);
}

/* A frame grows when it is encrypted. */
static void longest_control_message_arrives_encrypted(void **state) {
    (void)state;
    static unsigned char data[1 << 20];
    const mst_cluster_keys keys = tasks_keys(1);
    tasks all;
    tasks_use_keys(&keys);
    tasks_open(&all, type, 2, NULL);
    EXPECT_OK(type->control(all.task[0].transport, 1, data, sizeof data));
    assert_int_equal(task_told(&all.task[1], TOLD_CONTROL, 0, 0)->bytes, sizeof data);
    assert_int_equal(task_count(&all.task[1], TOLD_LOST, 0), 0);
    tasks_close(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_with_another_key_gets_nowhere_and_is_told),
        cmocka_unit_test(peer_with_half_of_the_key_gets_nowhere),
        cmocka_unit_test(peer_without_a_key_gets_nowhere_and_is_told),
        cmocka_unit_test(peer_with_a_key_gets_nowhere_where_there_is_none),
        cmocka_unit_test(task_with_a_key_listens_where_other_machines_reach_it),
        cmocka_unit_test(longest_control_message_arrives_encrypted),
    };
    const mst_status status = mst_transport_find("zmq", &type);
    if (status == MST_UNAVAILABLE) {
        print_message("nothing is tested: %s\n", mst_error()->message);
        return 0;
    }
    return status ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
