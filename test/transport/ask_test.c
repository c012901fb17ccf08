/* Programs that are not tasks, and ask a task what it is doing: how many are answered at the same time, which are
 * refused, and that tasks are not disturbed. */
#include "support/tasks.h"
#include "support/test.h"

static const mst_transport_type *type;

static void *say_hello(void *context, size_t *bytes) {
    *bytes = strlen(context);
    return strdup(context);
}

enum { PLACES = 4, SECONDS = 30 };
static const mst_transport_options with_report = {.report = {.context = "hello", .make = say_hello}};

/* Two tasks that are connected, and have KEYS. */
static void open_two(tasks *all, const mst_transport_options *options, const mst_cluster_keys *keys) {
    tasks_use_keys(keys);
    tasks_open(all, type, 2, options);
    for (int i = 0; i < 2; i++) task_say(all, i, 1 - i, "first");
    for (int i = 0; i < 2; i++) task_told(&all->task[i], TOLD_CONTROL, 1 - i, 0);
}

/* The tasks have received messages only from each other, and are still connected. */
static void close_undisturbed(tasks *all) {
    for (int i = 0; i < 2; i++) task_say(all, i, 1 - i, "last");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(task_told(&all->task[i], TOLD_CONTROL, 1 - i, 1)->data, "last");
        assert_int_equal(task_count(&all->task[i], TOLD_CONTROL, -1), 2);
        assert_int_equal(task_count(&all->task[i], TOLD_LOST, -1), 0);
        assert_int_equal(task_count(&all->task[i], TOLD_TAKEN, -1), 0);
    }
    tasks_close(all);
    tasks_use_keys(NULL);
}

/* Asks TIMES at the same time at one address; returns how many are answered. WHY is the reason of one that is not. */
static int ask(const char *address, const mst_cluster_keys *keys, int times, char why[160]) {
    const char *addresses[2 * PLACES] = {NULL};
    mst_transport_answer answer[2 * PLACES];
    int count = 0;
    for (int i = 0; i < times; i++) addresses[i] = address;
    EXPECT_OK(type->ask(keys, addresses, times, SECONDS, answer));
    for (int i = 0; i < times; i++) {
        if (!answer[i].data) {
            memcpy(why, answer[i].why, sizeof answer[i].why);
            continue;
        }
        assert_int_equal(answer[i].bytes, 5);
        assert_memory_equal(answer[i].data, "hello", 5);
        free(answer[i].data);
        count++;
    }
    return count;
}

static void few_are_answered_at_once_and_tasks_do_not_notice(void **state) {
    (void)state;
    tasks all;
    char why[160];
    open_two(&all, &with_report, NULL);
    assert_int_equal(ask(all.address[0], NULL, 2 * PLACES, why), PLACES);
    assert_non_null(strstr(why, "it refuses: others ask it already"));
    while (ask(all.address[0], NULL, PLACES, why) < PLACES) {
        /* until the task has seen the ends of their connections */
    }
    close_undisturbed(&all);
}

static void who_has_not_the_key_is_not_answered(void **state) {
    (void)state;
    tasks all;
    char why[160];
    const mst_cluster_keys keys = tasks_keys(1), other = tasks_keys(2);
    open_two(&all, &with_report, &keys);
    assert_int_equal(ask(all.address[1], &keys, 1, why), 1);
    assert_int_equal(ask(all.address[1], &other, 1, why), 0);
    assert_non_null(strstr(why, "as a task with a different cluster key or none does"));
    assert_int_equal(ask(all.address[1], NULL, 1, why), 0);
    assert_non_null(strstr(why, "give --cluster-key FILE"));
    close_undisturbed(&all);
}

static void key_where_there_is_none_is_told(void **state) {
    (void)state;
    tasks all;
    char why[160];
    const mst_cluster_keys keys = tasks_keys(1);
    open_two(&all, &with_report, NULL);
    assert_int_equal(ask(all.address[0], &keys, 1, why), 0);
    /* the two find out at the same time: the task may have closed the connection before the other side knows why */
    assert_true(strstr(why, "it has no cluster key") || strstr(why, "a different cluster key or none"));
    close_undisturbed(&all);
}

static void task_that_says_nothing_and_address_without_a_task_are_told(void **state) {
    (void)state;
    tasks all;
    char why[160];
    mst_transport_answer answer;
    open_two(&all, NULL, NULL);
    assert_int_equal(ask(all.address[0], NULL, 1, why), 0);
    assert_non_null(strstr(why, "it says nothing of itself"));
    task_address nobody;
    tasks_find_addresses(&nobody, 1);
    assert_int_equal(ask(nobody, NULL, 1, why), 0);
    assert_string_equal(why, "nothing listens there");
    EXPECT_OK(type->ask(NULL, &(const char *){NULL}, 1, 1, &answer));
    assert_string_equal(answer.why, "its address is not known");
    assert_int_equal(type->ask(NULL, &(const char *){"no address"}, 1, 1, &answer), MST_INVALID);
    close_undisturbed(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_answered_at_once_and_tasks_do_not_notice),
        cmocka_unit_test(who_has_not_the_key_is_not_answered),
        cmocka_unit_test(key_where_there_is_none_is_told),
        cmocka_unit_test(task_that_says_nothing_and_address_without_a_task_are_told),
    };
    const mst_status status = mst_transport_find("zmq", &type);
    if (status == MST_UNAVAILABLE) {
        print_message("nothing is tested: %s\n", mst_error()->message);
        return 0;
    }
    return status ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
