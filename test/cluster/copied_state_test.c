/* A task that has copied the state of another task owns that state, even if it has made no step with it: it gives
 * the state back when the other task returns without one. The tasks are threads here, which talk over TCP. */
#include <pthread.h>
#include <semaphore.h>

#include "muster/muster.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "task/task.h"

enum { WORKERS = 2, NEWEST = 5 /* steps of the first state of worker 1, and its value */ };

static const mst_fingerprint fingerprint = {.name = "program", .hash = 7};
static sem_t has_copied; /* worker 0 has the state of worker 1 */

static mst_task *open_task(task_address *address, int self) {
    mst_task *task;
    mst_task_group *group;
    EXPECT_OK(open_worker(address, WORKERS, self, (mst_task_options){.cluster = NULL}, &task));
    EXPECT_OK(mst_task_share(task, WORKERS, &group));
    return task;
}

static mst_store *store_with(int64_t value) {
    mst_store *store;
    mst_tensor *tensor;
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_tensor_copy(MST_I64, MST_SCALAR, &value, &tensor));
    EXPECT_OK(mst_store_set(store, NULL, "x", MST_STATE_WEIGHT, tensor));
    mst_tensor_release(tensor);
    return store;
}

static int64_t value_of(mst_store *store) {
    mst_tensor *tensor;
    EXPECT_OK(mst_store_get(store, NULL, "x", &tensor));
    const int64_t value = (int64_t)mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return value;
}

/* Joins with a state of NUMBER steps. Returns whether the state of the other worker replaced it. */
static bool join(mst_task *task, mst_store *store, int64_t number) {
    mst_task_joined joined;
    const mst_task_state state = {.store = store, .number = number, .fingerprint = &fingerprint, .num_fingerprints = 1};
    EXPECT_OK(mst_task_join(task, &state, &joined));
    return joined.copied;
}

static void *copy_and_leave(void *address) {
    mst_task *task = open_task(address, 0);
    mst_store *store = store_with(0);
    assert_true(join(task, store, 0));
    assert_int_equal(value_of(store), NEWEST);
    sem_post(&has_copied);
    EXPECT_OK(mst_task_leave(task));
    assert_int_equal(value_of(store), NEWEST);
    mst_task_close(task);
    mst_store_release(store);
    return NULL;
}

static void state_that_was_copied_is_brought_again(void **state) {
    (void)state;
    task_address address[WORKERS];
    pthread_t other;
    assert_int_equal(sem_init(&has_copied, 0, 0), 0);
    tasks_find_addresses(address, WORKERS);
    assert_int_equal(pthread_create(&other, NULL, copy_and_leave, address), 0);
    mst_task *task = open_task(address, 1);
    mst_store *store = store_with(NEWEST);
    assert_false(join(task, store, NEWEST));
    sem_wait(&has_copied); /* messages to it may still be on their way */
    mst_task_close(task);  /* lost */
    mst_store_release(store);
    task = open_task(address, 1);
    store = store_with(1);
    assert_true(join(task, store, 1));
    assert_int_equal(value_of(store), NEWEST);
    EXPECT_OK(mst_task_leave(task));
    assert_int_equal(pthread_join(other, NULL), 0);
    mst_task_close(task);
    mst_store_release(store);
    sem_destroy(&has_copied);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(state_that_was_copied_is_brought_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
