/* Descriptions of clusters from the C API and from flags, and the mistakes that are refused in both. */
#include "support/test.h"

#include "cluster/address.h"
#include "muster/cluster.h"

static const char *printed(const mst_cluster *cluster) {
    static char text[512];
    return mst_cluster_print(cluster, text, sizeof text);
}

static mst_cluster *cluster_of(const char *ps, const char *workers, const char *job, int index) {
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_from_hosts(ps, workers, job, index, &cluster));
    return cluster;
}

static const mst_cluster_job *job_of(const char *name, int num_tasks, const char *const *address) {
    static mst_cluster_job jobs[8];
    static int next;
    mst_cluster_job *job = &jobs[next++ % 8];
    *job = (mst_cluster_job){.name = name, .num_tasks = num_tasks, .address = address};
    return job;
}

static void addresses_have_one_form(void **state) {
    (void)state;
    static const char *const forms[][2] = {
        {"a:2222", "a:2222"},
        {"  job-worker-0.ns.svc:2222\n", "job-worker-0.ns.svc:2222"},
        {"grpc://Host_1.Example.COM:1", "host_1.example.com:1"},
        {"tcp://10.0.0.1:65535", "10.0.0.1:65535"},
        {"[::1]:02222", "[::1]:2222"},
        {"[2001:DB8:0:0:0:0:0:1]:80", "[2001:db8::1]:80"},
        {"a:0", "a:0"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        mst_address address;
        char text[MST_ADDRESS_TEXT];
        EXPECT_OK(mst_address_parse(forms[i][0], &address));
        assert_string_equal(mst_address_print(&address, text), forms[i][1]);
    }
}

static void wrong_addresses_are_refused_with_the_right_form(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "has no port: write host:port"},
        {"worker0", "'worker0' has no port: write host:port, such as worker0:2222"},
        {"[::1]", "has no port"},
        {"a:", "the port must be a number from 1 to 65535"},
        {"a:b", "the port must be a number"},
        {"a:-1", "the port must be a number"},
        {"a:65536", "the port must be a number"},
        {"a:99999999999999999999", "the port must be a number"},
        {"a:22 22", "the port must be a number"},
        {"a:2222/x", "the port must be a number"},
        {":2222", "is not a host's name or address"},
        {"a b:2222", "is not a host's name or address"},
        {"http://a:2222", "brackets"},
        {"b\xc3\xbc:2222", "is not a host's name or address"},
        {"300.0.0.1:2222", "is not a host's name or address"},
        {"10.0.1:2222", "is not a host's name or address"},
        {"::1:2222", "write an IPv6 address in brackets"},
        {"[::1:2222", "is not an IPv6 address"},
        {"[]:2222", "is not an IPv6 address"},
        {"[::g]:2222", "is not an IPv6 address"},
        {"[10.0.0.1]:2222", "is not an IPv6 address"},
    };
    mst_address address;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT_ERROR(mst_address_parse(wrong[i][0], &address), MST_INVALID, wrong[i][1]);
    char longer[400];
    memset(longer, 'a', sizeof longer);
    memcpy(longer + 300, ":2222", 6);
    EXPECT_ERROR(mst_address_parse(longer, &address), MST_INVALID, "write host:port, such as");
}

static void loopback_addresses_are_known(void **state) {
    (void)state;
    static const char *const near[] = {"localhost:1", "127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "x.localhost:1"};
    static const char *const far[] = {"a:1", "10.0.0.1:1", "[::2]:1", "localhosts:1", "mylocalhost:1"};
    mst_address address;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        EXPECT_OK(mst_address_parse(near[i], &address));
        assert_true(mst_address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        EXPECT_OK(mst_address_parse(far[i], &address));
        assert_false(mst_address_is_loopback(&address));
    }
}

static void flags_make_a_cluster(void **state) {
    (void)state;
    mst_cluster *cluster = cluster_of("localhost:2222", " localhost:2223, grpc://localhost:2224 ", "worker", 1);
    assert_string_equal(printed(cluster),
                        "worker 1 of 2 at localhost:2224, with worker 0 at localhost:2223, ps 0 at localhost:2222");
    assert_int_equal(mst_cluster_num_tasks(cluster), 3);
    assert_int_equal(mst_cluster_num_training_tasks(cluster), 3);
    assert_int_equal(mst_cluster_num_workers(cluster), 2);
    assert_int_equal(mst_cluster_num_ps(cluster), 1);
    assert_int_equal(mst_cluster_self(cluster), 1);
    assert_int_equal(mst_cluster_leader(cluster), 2);
    assert_false(mst_cluster_is_chief(cluster));
    assert_false(mst_cluster_is_sparse(cluster));
    mst_cluster_release(cluster);
}

static void wrong_flags_are_named(void **state) {
    (void)state;
    static const struct {
        const char *ps, *workers, *job;
        int index;
        const char *message;
    } wrong[] = {
        {"a:1", "b:1,c", "worker", 0, "flags of the cluster: --worker_hosts: worker 1: 'c' has no port"},
        {"a:1,", "b:1", "worker", 0, "--ps_hosts: ps 1: '' has no port"},
        {"a:0", "b:1", "worker", 0, "--ps_hosts: ps 0: 'a:0': the port must be a number from 1"},
        {NULL, "", "worker", 0, "the cluster has no tasks"},
        {"a:1", "b:1", "wroker", 0, "task 0 of job 'wroker', but the cluster has only worker, ps: did you mean"},
        {"a:1", "b:1,c:1", "worker", 2, "task 2 of job 'worker', which has 2: write an index from 0 to 1"},
        {"a:1", "b:1", "ps", -1, "task -1 of job 'ps': tasks are counted from 0"},
        {"a:1", "b:1", "", 0, "job '': a name has 1 to"},
        {"a:1", "b:1,a:1", "ps", 0, "worker 1 at 'a:1' and ps 0 at 'a:1' have one address"},
        {"127.0.0.1:1", "localhost:1", "ps", 0, "have one address: give each task a port of its own"},
        {"localhost:1", "b:1", "ps", 0,
         "ps 0 is at 'localhost:1', where tasks on other hosts, such as worker 0 at 'b:1'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_cluster *cluster;
        EXPECT_ERROR(mst_cluster_from_hosts(wrong[i].ps, wrong[i].workers, wrong[i].job, wrong[i].index, &cluster),
                     MST_INVALID, wrong[i].message);
    }
}

static void tasks_are_numbered_by_job_whatever_the_order(void **state) {
    (void)state;
    static const char *const names[] = {"evaluator", "reader", "ps", "cache", "worker", "chief"};
    static const char *const addresses[][2] = {{"e:1"}, {"r:1"}, {"p:1", "p:2"}, {"c:1"}, {"w:1", "w:2"}, {"m:1"}};
    static const int counts[] = {1, 1, 2, 1, 2, 1};
    static const char *const numbered[] = {"m:1", "w:1", "w:2", "p:1", "p:2", "c:1", "r:1", "e:1"};
    mst_cluster_job jobs[6];
    for (int i = 0; i < 6; i++) jobs[i] = *job_of(names[i], counts[i], addresses[i]);
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_create(
        &(mst_cluster_options){.jobs = jobs, .num_jobs = 6, .job_name = "chief", .task_index = 0}, &cluster));
    assert_int_equal(mst_cluster_num_tasks(cluster), 8);
    assert_int_equal(mst_cluster_num_training_tasks(cluster), 7);
    assert_int_equal(mst_cluster_num_workers(cluster), 3);
    assert_int_equal(mst_cluster_leader(cluster), 3);
    assert_true(mst_cluster_is_chief(cluster));
    for (int i = 0; i < 8; i++) {
        const mst_task_info task = mst_cluster_task(cluster, i);
        assert_string_equal(task.address, numbered[i]);
        assert_int_equal(mst_cluster_find(cluster, task.job, task.index), i);
    }
    assert_int_equal(mst_cluster_find(cluster, "worker", 2), -1);
    assert_int_equal(mst_cluster_find(cluster, "none", 0), -1);
    assert_null(mst_cluster_task(cluster, 8).job);
    assert_null(mst_cluster_task(cluster, -1).job);
    mst_cluster_release(cluster);
}

/* Whether task INDEX of JOB is the chief of a cluster of JOBS, which have one chief or two tasks each. */
static bool is_chief(const char *const *jobs, int num_jobs, const char *job, int index) {
    mst_cluster_job list[4];
    mst_cluster *cluster;
    for (int i = 0; i < num_jobs; i++) list[i] = *job_of(jobs[i], strcmp(jobs[i], "chief") == 0 ? 1 : 2, NULL);
    EXPECT_OK(mst_cluster_create(
        &(mst_cluster_options){.jobs = list, .num_jobs = num_jobs, .job_name = job, .task_index = index}, &cluster));
    const bool chief = mst_cluster_is_chief(cluster);
    mst_cluster_release(cluster);
    return chief;
}

static void one_task_is_the_chief(void **state) {
    (void)state;
    static const char *const all[] = {"worker", "chief", "ps"};
    assert_true(is_chief(all, 3, "chief", 0));
    assert_false(is_chief(all, 3, "worker", 0));
    assert_false(is_chief(all, 3, "ps", 0));
    assert_false(is_chief(all, 3, "evaluator", 0));
    static const char *const no_chief[] = {"worker", "ps"};
    assert_true(is_chief(no_chief, 2, "worker", 0));
    assert_false(is_chief(no_chief, 2, "worker", 1));
    assert_false(is_chief(no_chief, 2, "ps", 0));
    static const char *const only_ps[] = {"ps"};
    assert_false(is_chief(only_ps, 1, "ps", 0));
    static const char *const other[] = {"local"};
    assert_true(is_chief(other, 1, "local", 0));
    assert_false(is_chief(other, 1, "local", 1));
}

static void jobs_of_any_name_can_lack_addresses(void **state) {
    (void)state;
    static const char *const addresses[] = {"localhost:2222", NULL};
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_create(
        &(mst_cluster_options){
            .jobs = job_of("local", 2, addresses), .num_jobs = 1, .job_name = "local", .task_index = 1},
        &cluster));
    assert_string_equal(printed(cluster), "local 1 of 2, with local 0 at localhost:2222");
    assert_int_equal(mst_cluster_num_workers(cluster), 2);
    assert_int_equal(mst_cluster_leader(cluster), 0);
    assert_string_equal(mst_cluster_task(cluster, 0).address, "localhost:2222");
    assert_null(mst_cluster_task(cluster, 1).address);
    assert_ptr_equal(mst_cluster_retain(cluster), cluster);
    mst_cluster_release(cluster);
    mst_cluster_release(cluster);
}

static void sparse_jobs_keep_their_indices(void **state) {
    (void)state;
    static const char *const addresses[] = {"b:1", "a:1"};
    static const int32_t index[] = {7, 3};
    const mst_cluster_job job = {.name = "worker", .num_tasks = 2, .address = addresses, .index = index};
    mst_cluster_options options = {.jobs = &job, .num_jobs = 1, .job_name = "worker", .task_index = 7};
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_create(&options, &cluster));
    assert_true(mst_cluster_is_sparse(cluster));
    assert_true(mst_cluster_hash(cluster) == 0);
    assert_int_equal(mst_cluster_self(cluster), 1);
    assert_int_equal(mst_cluster_leader(cluster), -1);
    assert_false(mst_cluster_is_chief(cluster));
    assert_string_equal(printed(cluster), "worker 7 at b:1, with worker 3 at a:1");
    mst_cluster_release(cluster);
    options.task_index = 4;
    EXPECT_ERROR(mst_cluster_create(&options, &cluster), MST_INVALID,
                 "task 4 of job 'worker', whose address is missing");
    const mst_cluster_job twice = {.name = "worker", .num_tasks = 2, .index = (const int32_t[]){1, 1}};
    options.jobs = &twice;
    EXPECT_ERROR(mst_cluster_create(&options, &cluster), MST_INVALID, "cluster: worker 1 is described twice");
}

static void wrong_jobs_are_named(void **state) {
    (void)state;
    static const int32_t too_far[] = {1000001};
    static const struct {
        mst_cluster_job jobs[2];
        int num_jobs;
        const char *message;
    } wrong[] = {
        {{{.name = "worker", .num_tasks = 0}}, 1, "job 'worker' has no tasks: leave it out"},
        {{{.name = "a/b", .num_tasks = 1}}, 1, "job 'a/b': a name has"},
        {{{.name = "chief", .num_tasks = 2}}, 1, "2 tasks of jobs 'chief' and 'master'"},
        {{{.name = "chief", .num_tasks = 1}, {.name = "master", .num_tasks = 1}}, 2, "at most one chief"},
        {{{.name = "evaluator", .num_tasks = 2}}, 1, "at most one evaluator"},
        {{{.name = "worker", .num_tasks = 1}, {.name = "worker", .num_tasks = 1}}, 2, "worker 0 is described twice"},
        {{{.name = "worker", .num_tasks = 1, .index = too_far}}, 1, "at most 1000000"},
        {{{.name = "evaluator", .num_tasks = 1}}, 1, "the cluster has only evaluator"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_cluster *cluster;
        const mst_cluster_options options = {
            .jobs = wrong[i].jobs, .num_jobs = wrong[i].num_jobs, .job_name = "worker"};
        EXPECT_ERROR(mst_cluster_create(&options, &cluster), MST_INVALID, wrong[i].message);
    }
    mst_cluster *cluster;
    const mst_cluster_job unnamed = {.num_tasks = 1};
    EXPECT_ERROR(mst_cluster_create(&(mst_cluster_options){.jobs = &unnamed, .num_jobs = 1, .job_name = "a"}, &cluster),
                 MST_INVALID, "mst_cluster_create");
    EXPECT_ERROR(mst_cluster_create(&(mst_cluster_options){.num_jobs = 1, .job_name = "a"}, &cluster), MST_INVALID,
                 "mst_cluster_create");
}

static void port_0_is_taken_where_it_is_allowed(void **state) {
    (void)state;
    static const char *const addresses[] = {"localhost:0", "localhost:0"};
    mst_cluster_options options = {
        .jobs = job_of("worker", 2, addresses), .num_jobs = 1, .job_name = "worker", .allow_any_port = true};
    mst_cluster *cluster;
    EXPECT_OK(mst_cluster_create(&options, &cluster));
    mst_cluster_release(cluster);
    options.allow_any_port = false;
    EXPECT_ERROR(mst_cluster_create(&options, &cluster), MST_INVALID, "'localhost:0': the port must be");
}

static void hash_is_that_of_the_description_and_not_of_the_task(void **state) {
    (void)state;
    mst_cluster *a = cluster_of("p:1", "a:1,b:1", "worker", 0), *b = cluster_of("P:1", " a:1, grpc://b:1", "ps", 0);
    mst_cluster *other = cluster_of("p:1", "a:1,b:2", "worker", 0), *fewer = cluster_of("p:1", "a:1", "worker", 0);
    mst_cluster *evaluator = cluster_of("p:1", "a:1,b:1", "evaluator", 0);
    assert_true(mst_cluster_hash(a) == mst_cluster_hash(b));
    assert_true(mst_cluster_hash(a) == mst_cluster_hash(evaluator));
    assert_true(mst_cluster_hash(a) != mst_cluster_hash(other));
    assert_true(mst_cluster_hash(a) != mst_cluster_hash(fewer));
    mst_cluster *const all[] = {a, b, other, fewer, evaluator};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mst_cluster_release(all[i]);
}

static void line_is_cut_where_its_text_is_short(void **state) {
    (void)state;
    char text[40], tiny[3];
    mst_cluster *cluster = cluster_of("p:1", "a:1,b:1", "worker", 0);
    assert_string_equal(mst_cluster_print(cluster, text, sizeof text), "worker 0 of 2 at a:1, with worker 1 ...");
    assert_string_equal(mst_cluster_print(cluster, tiny, sizeof tiny), "wo");
    mst_cluster_release(cluster);
}

static void missing_arguments_are_named(void **state) {
    (void)state;
    mst_cluster *cluster;
    EXPECT_ERROR(mst_cluster_create(NULL, &cluster), MST_INVALID, "mst_cluster_create: options is NULL");
    EXPECT_ERROR(mst_cluster_create(&(mst_cluster_options){0}, &cluster), MST_INVALID, "job_name is NULL");
    EXPECT_ERROR(mst_cluster_from_hosts(NULL, "a:1", NULL, 0, &cluster), MST_INVALID, "job_name is NULL");
    assert_int_equal(mst_cluster_num_tasks(NULL), 0);
    assert_int_equal(mst_cluster_leader(NULL), -1);
    mst_cluster_release(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_one_form),
        cmocka_unit_test(wrong_addresses_are_refused_with_the_right_form),
        cmocka_unit_test(loopback_addresses_are_known),
        cmocka_unit_test(flags_make_a_cluster),
        cmocka_unit_test(wrong_flags_are_named),
        cmocka_unit_test(tasks_are_numbered_by_job_whatever_the_order),
        cmocka_unit_test(one_task_is_the_chief),
        cmocka_unit_test(jobs_of_any_name_can_lack_addresses),
        cmocka_unit_test(sparse_jobs_keep_their_indices),
        cmocka_unit_test(wrong_jobs_are_named),
        cmocka_unit_test(port_0_is_taken_where_it_is_allowed),
        cmocka_unit_test(hash_is_that_of_the_description_and_not_of_the_task),
        cmocka_unit_test(line_is_cut_where_its_text_is_short),
        cmocka_unit_test(missing_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
