/* Our teams share the work. OpenMP starts no thread, because it would end the process if it could not start one. */
#include <dirent.h>
#include <omp.h>

#include "support/test.h"

static int count_threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* oneDNN rearranges a constant factor while the plan is made. */
static void planning_and_running_products_starts_no_thread(void **state) {
    (void)state;
    enum { M = 1000, K = 784, N = 500, THREADS = 4 };
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(M, K));
    mst_tensor *factor = engine_random(MST_F32, MST_SHAPE(K, N), -1, 1, 5);
    mst_value y = mst_matmul(x, mst_constant(g, factor));
    mst_tensor *in = engine_tensor(MST_F32, MST_SHAPE(M, K), NULL), *out = NULL;
    mst_session *s = engine_session(g, "cpu:1/1");
    const int before = omp_get_max_threads(), threads = count_threads();
    omp_set_num_threads(THREADS);
    EXPECT_OK(mst_session_run(s, (mst_feed[]){{.value = x, .tensor = in}}, 1, &y, 1, &out));
    assert_int_equal(count_threads(), threads);
    assert_int_equal(omp_get_max_threads(), THREADS); /* the caller's number is as it was */
    omp_set_num_threads(before);
    mst_tensor_release(factor);
    mst_tensor_release(in);
    mst_tensor_release(out);
    mst_session_destroy(s);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planning_and_running_products_starts_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
