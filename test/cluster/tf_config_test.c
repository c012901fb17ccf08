/* TF_CONFIG in every form that TensorFlow and Kubeflow write. */
#include "support/test.h"

#include "muster/cluster.h"

static const char *printed(const char *config) {
    static char text[512];
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_tf_config(config, &cluster));
    mst_cluster_print(cluster, text, sizeof text);
    mst_cluster_release(cluster);
    return text;
}

static void all_forms_are_read(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"{\"cluster\": {\"worker\": [\"localhost:20000\", \"localhost:20001\"]}, "
         "\"task\": {\"type\": \"worker\", \"index\": 0}}",
         "worker 0 of 2 at localhost:20000, with worker 1 at localhost:20001"},
        /* Kubeflow's, with what is not read */
        {"{\"cluster\":{\"chief\":[\"j-chief-0.ns.svc:2222\"],\"ps\":[\"j-ps-0.ns.svc:2222\"],"
         "\"worker\":[\"j-worker-0.ns.svc:2222\"]},\"task\":{\"type\":\"ps\",\"index\":0},\"environment\":\"cloud\"}",
         "ps 0 of 1 at j-ps-0.ns.svc:2222, with chief 0 at j-chief-0.ns.svc:2222, "
         "worker 0 at j-worker-0.ns.svc:2222"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":\" 0 \"},\"rpc_layer\":\"grpc\","
         "\"session_master\":\"x\",\"service\":null,\"model_dir\":\"/m\"}",
         "worker 0 of 1 at a:1"},
        {"{\"cluster\":{\"master\":[\"a:1\"],\"worker\":[\"b:1\"]},\"task\":{\"type\":\"master\",\"index\":0}}",
         "master 0 of 1 at a:1, with worker 0 at b:1"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"evaluator\",\"index\":0}}",
         "evaluator 0 of 1, with worker 0 at a:1"},
        {"{\"cluster\":{\"worker\":[\"a:1\"],\"evaluator\":[\"e:1\"]},\"task\":{\"type\":\"evaluator\",\"index\":0}}",
         "evaluator 0 of 1 at e:1, with worker 0 at a:1"},
        /* enableDynamicWorker: a worker, the second ps; the key of older operators */
        {"{\"cluster\":{\"worker\":{\"1\":\"w1:1\"},\"ps\":[\"p0:1\",\"p1:1\"]},"
         "\"task\":{\"type\":\"worker\",\"index\":1}}",
         "worker 1 at w1:1, with ps 0 at p0:1, ps 1 at p1:1"},
        {"{\"cluster\":{\"worker\":{},\"ps\":[\"p1:1\"]},\"task\":{\"type\":\"ps\",\"index\":1}}", "ps 1 at p1:1"},
        {"{\"sparseCluster\":{\"worker\":{\"0\":\"w0:1\"},\"ps\":[\"p0:1\"]},"
         "\"task\":{\"type\":\"worker\",\"index\":0}}",
         "worker 0 at w0:1, with ps 0 at p0:1"},
        {"{\"sparseCluster\":{\"ps\":[\"p2:1\"]},\"task\":{\"type\":\"ps\",\"index\":2}}", "ps 2 at p2:1"},
        /* objects in which nothing is missing; an old tutorial's blank */
        {"{\"cluster\":{\"worker\":{\"1\":\"b:1\",\"0\":\"a:1\"},\"ps\":{\"0\":\"p:1\"}},"
         "\"task\":{\"type\":\"worker\",\"index\":1}}",
         "worker 1 of 2 at b:1, with worker 0 at a:1, ps 0 at p:1"},
        {"{\"cluster\":{\"worker\":{\"0\":\"a:1\",\"2\":\"c:1\"}},\"task\":{\"type\":\"worker\",\"index\":0}}",
         "worker 0 at a:1, with worker 2 at c:1"},
        {"{\"cluster\":{\"worker\":[\"localhost: 2222\",\" localhost :2223\"]},"
         "\"task\":{\"type\":\"worker\",\"index\":0}}",
         "worker 0 of 2 at localhost:2222, with worker 1 at localhost:2223"},
        /* no cluster */
        {NULL, "localhost 0 of 1"},
        {"", "localhost 0 of 1"},
        {"{}", "localhost 0 of 1"},
        {"{\"cluster\": {}}", "localhost 0 of 1"},
        {"{\"cluster\": null, \"task\": {\"type\": \"worker\", \"index\": 0}}", "localhost 0 of 1"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) assert_string_equal(printed(forms[i][0]), forms[i][1]);
}

static void without_a_cluster_the_process_is_chief_and_worker(void **state) {
    (void)state;
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_tf_config(NULL, &cluster));
    assert_true(mst_cluster_is_chief(cluster));
    assert_int_equal(mst_cluster_num_workers(cluster), 1);
    assert_string_equal(mst_cluster_task(cluster, 0).job, "localhost");
    assert_null(mst_cluster_task(cluster, 0).address);
    mst_cluster_release(cluster);
}

static void worker_of_a_sparse_cluster_knows_the_leader_and_no_count(void **state) {
    (void)state;
    mst_cluster *cluster;
    EXPECT_OK(
        mst_cluster_from_tf_config("{\"cluster\":{\"worker\":{\"1\":\"w1:1\"},\"ps\":[\"p0:1\",\"p1:1\"]},"
                                   "\"task\":{\"type\":\"worker\",\"index\":1}}",
                                   &cluster));
    assert_true(mst_cluster_is_sparse(cluster));
    assert_false(mst_cluster_is_chief(cluster));
    assert_string_equal(mst_cluster_task(cluster, mst_cluster_leader(cluster)).address, "p0:1");
    mst_cluster_release(cluster);
    EXPECT_OK(mst_cluster_from_tf_config(
        "{\"sparseCluster\":{\"ps\":[\"p2:1\"]},\"task\":{\"type\":\"ps\",\"index\":2}}", &cluster));
    assert_int_equal(mst_cluster_leader(cluster), -1);
    mst_cluster_release(cluster);
}

#define TASK "\"task\":{\"type\":\"worker\",\"index\":0}"

static void bad_text_is_refused_with_place_and_remedy(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"cluster\": {\"worker\" [\"a:1\"]}}", "TF_CONFIG: it is not JSON: line 1, column 23: "},
        {"{\n\n'cluster'}", "line 3, column"},
        {"worker", "write it like {\"cluster\": {\"worker\": [\"a:2222\""},
        {"[]", "TF_CONFIG: it must be an object"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"cluster\":{}}", "duplicate object key"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]}}", "\"task\" is missing: add \"task\": {\"type\": \"worker\""},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":7}", "\"task\" is missing"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"index\":0}}", "\"type\" of \"task\" must be the name"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":3,\"index\":0}}", "\"type\" of \"task\""},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\"}}",
         "\"index\" of \"task\" must be a whole"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":0.5}}", "must be a whole number"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":\"one\"}}",
         "must be a whole number"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":-1}}", "counted from 0"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":\"-1\"}}", "counted from 0"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}", "which has 1"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":4294967296}}", "at most 1000000"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"workers\",\"index\":0}}", "did you mean 'worker'?"},
        {"{\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"evaluator\",\"index\":1}}", "has only worker"},
        {"{\"cluster\":[\"a:1\"]," TASK "}", "\"cluster\" must be an object of jobs"},
        {"{\"cluster\":{\"worker\":\"a:1\"}," TASK "}", "job 'worker' must be a list of addresses"},
        {"{\"cluster\":{\"worker\":[]}," TASK "}", "job 'worker' has no tasks: leave it out"},
        {"{\"cluster\":{\"worker\":[\"a:1\",2222]}," TASK "}", "worker 1: an address must be a string"},
        {"{\"cluster\":{\"worker\":[\"a:1\",\"b\"]}," TASK "}", "TF_CONFIG: worker 1: 'b' has no port"},
        {"{\"cluster\":{\"worker\":[\"a:1\",\"a:1\"]}," TASK "}",
         "worker 0 at 'a:1' and worker 1 at 'a:1' have one address"},
        {"{\"cluster\":{\"worker\":[\"localhost:1\",\"b:1\"]}," TASK "}", "worker 0 is at 'localhost:1', where"},
        {"{\"cluster\":{\"worker\":{\"x\":\"a:1\"}}," TASK "}", "job 'worker': 'x' is not an index"},
        {"{\"cluster\":{\"worker\":{\"1\":\"a:1\"}}," TASK "}", "task 0 of job 'worker', whose address is missing"},
        {"{\"cluster\":{\"worker\":{\"1\":\"a:1\",\"01\":\"b:1\"}}," TASK "}", "worker 1 is described twice"},
        {"{\"cluster\":{\"worker\":{}}," TASK "}", "the cluster has no tasks"},
        {"{\"cluster\":{\"chief\":[\"c:1\",\"d:1\"],\"worker\":[\"a:1\"]}," TASK "}", "at most one chief"},
        {"{\"cluster\":{\"\":[\"a:1\"]}," TASK "}", "job '': a name has"},
        {"{\"task\":{\"type\":\"ps\",\"index\":0}}", "task 0 of job 'ps', but \"cluster\" is missing"},
        {"{\"task\":{\"type\":\"worker\",\"index\":2}}", "task 2 of job 'worker', but \"cluster\" is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_cluster *cluster;
        EXPECT_ERROR(mst_cluster_from_tf_config(wrong[i][0], &cluster), MST_INVALID, wrong[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_are_read),
        cmocka_unit_test(without_a_cluster_the_process_is_chief_and_worker),
        cmocka_unit_test(worker_of_a_sparse_cluster_knows_the_leader_and_no_count),
        cmocka_unit_test(bad_text_is_refused_with_place_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
