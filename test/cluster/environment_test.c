/* The environment variables by which launchers describe a cluster to the processes that they start. */
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "cluster/node_list.h"
#include "muster/cluster.h"

static const char *const variables[] = {"TF_CONFIG",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "TORCHELASTIC_USE_AGENT_STORE",
                                        "LOCAL_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "PMIX_NAMESPACE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "SLURM_NODEID",
                                        "SLURM_JOB_ID",
                                        "SLURM_STEP_ID",
                                        "SLURM_STEP_NODELIST",
                                        "SLURM_STEP_TASKS_PER_NODE"};

static int clear_environment(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    return 0;
}

/* SETTINGS: "NAME=value NAME=value". */
static void set_environment(const char *settings) {
    char copy[512], *rest = NULL;
    clear_environment(NULL);
    assert_true((size_t)snprintf(copy, sizeof copy, "%s", settings) < sizeof copy);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(name, '=');
        *value++ = '\0';
        assert_int_equal(setenv(name, value, 1), 0);
    }
}

static const char *printed_with(const char *settings, const mst_launcher_options *options) {
    static char text[512];
    mst_cluster *cluster;
    set_environment(settings);
    EXPECT_OK(mst_cluster_from_environment(options, &cluster));
    mst_cluster_print(cluster, text, sizeof text);
    mst_cluster_release(cluster);
    return text;
}

static const char *printed(const char *settings) {
    return printed_with(settings, NULL);
}

/* Whether printed() has TEXT, in a process with a session of its own, as MPICH starts each process. */
static bool prints_in_a_session_of_its_own(const char *settings, const char *text) {
    int status = 1;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(setsid() < 0 || !strstr(printed(settings), text));
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

#define SRUN                                                                                          \
    "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_STEP_NODELIST=n[08-10] SLURM_STEP_TASKS_PER_NODE=2(x2),1 " \
    "SLURM_NTASKS=5 "

static void each_launcher_is_understood(void **state) {
    (void)state;
    assert_string_equal(printed(""), "localhost 0 of 1");
    assert_string_equal(
        printed("TF_CONFIG={\"cluster\":{\"worker\":[\"a:1\"]},\"task\":{\"type\":\"worker\",\"index\":0}} RANK=7"),
        "worker 0 of 1 at a:1");
    assert_string_equal(printed("RANK=0 WORLD_SIZE=1 MASTER_ADDR=node0 MASTER_PORT=29500"),
                        "worker 0 of 1 at node0:29500");
    assert_string_equal(printed("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2"), "worker 1 of 2");
    assert_string_equal(printed("PMI_RANK=0 PMI_SIZE=2"), "worker 0 of 2");
    assert_string_equal(printed(SRUN "SLURM_PROCID=4 SLURM_NODEID=2"),
                        "worker 4 of 5 at n10:15568, with worker 0 at n08:15568, worker 1 at n08:15569, "
                        "worker 2 at n09:15568, worker 3 at n09:15569");
}

static void workers_of_one_host_have_the_ports_after_that_of_worker_0(void **state) {
    (void)state;
    const char *open_mpi = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=796393473 ";
    char settings[256], wanted[256];
    int port = 0;
    snprintf(settings, sizeof settings, "%s OMPI_COMM_WORLD_RANK=0", open_mpi);
    assert_int_equal(sscanf(printed(settings), "worker 0 of 2 at localhost:%d", &port), 1);
    snprintf(wanted, sizeof wanted, "worker 0 of 2 at localhost:%d, with worker 1 at localhost:%d", port, port + 1);
    assert_string_equal(printed(settings), wanted);
    snprintf(settings, sizeof settings, "%s OMPI_COMM_WORLD_RANK=1", open_mpi);
    snprintf(wanted, sizeof wanted, "worker 1 of 2 at localhost:%d, with worker 0 at localhost:%d", port + 1, port);
    assert_string_equal(printed(settings), wanted);
    assert_true(
        prints_in_a_session_of_its_own("PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=2", ", with worker 0 at localhost:"));
    assert_string_equal(printed("PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=1"), "worker 1 of 2");
    assert_string_equal(
        printed_with("PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=2", &(mst_launcher_options){.leader = "head:2222"}),
        "worker 1 of 2 at head:2223, with worker 0 at head:2222");
    assert_string_equal(printed("RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=::1 MASTER_PORT=29500"),
                        "worker 1 of 2 at [::1]:29501, with worker 0 at [::1]:29500");
}

static void torchrun_keeps_its_own_port(void **state) {
    (void)state;
    assert_string_equal(
        printed("RANK=0 WORLD_SIZE=1 MASTER_ADDR=::1 MASTER_PORT=29500 TORCHELASTIC_USE_AGENT_STORE=True"),
        "worker 0 of 1 at [::1]:29501");
    assert_string_equal(
        printed("RANK=0 WORLD_SIZE=1 MASTER_ADDR=[::1] MASTER_PORT=65535 TORCHELASTIC_USE_AGENT_STORE=True"),
        "worker 0 of 1 at [::1]:65534");
    assert_string_equal(
        printed("RANK=0 WORLD_SIZE=1 MASTER_ADDR=a MASTER_PORT=29500 TORCHELASTIC_USE_AGENT_STORE=False"),
        "worker 0 of 1 at a:29500");
}

static void addresses_can_be_given(void **state) {
    (void)state;
    const mst_launcher_options options = {.leader = "head:2222", .port = 3000};
    assert_string_equal(
        printed_with("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2", &options),
        "worker 1 of 2 at head:2223, with worker 0 at head:2222");
    assert_string_equal(printed_with("RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1", &options),
                        "worker 1 of 2 at head:2223, with worker 0 at head:2222");
    assert_string_equal(printed_with("SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_NODEID=0 SLURM_STEP_NODELIST=host "
                                     "SLURM_STEP_TASKS_PER_NODE=2",
                                     &options),
                        "worker 0 of 2 at host:3000, with worker 1 at host:3001");
}

static void jobs_that_follow_each_other_have_ports_of_their_own(void **state) {
    (void)state;
    const char *line = printed(
        "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_NODEID=0 SLURM_STEP_NODELIST=h "
        "SLURM_STEP_TASKS_PER_NODE=1 SLURM_JOB_ID=2147483647");
    assert_string_equal(line, "worker 0 of 1 at h:25936");
    line = printed(
        "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_NODEID=0 SLURM_STEP_NODELIST=h "
        "SLURM_STEP_TASKS_PER_NODE=1 SLURM_JOB_ID=2147483646");
    assert_string_equal(line, "worker 0 of 1 at h:25488");
}

static void launchers_inside_slurm_are_told_from_srun(void **state) {
    (void)state;
    /* srun --mpi=pmi2 */
    assert_string_equal(printed(SRUN "SLURM_PROCID=0 SLURM_NODEID=0 PMI_RANK=0 PMI_SIZE=5"),
                        "worker 0 of 5 at n08:15568, with worker 1 at n08:15569, worker 2 at n09:15568, "
                        "worker 3 at n09:15569, worker 4 at n10:15568");
    /* mpiexec, whose helpers srun has started */
    assert_string_equal(printed(SRUN "SLURM_PROCID=0 SLURM_NODEID=0 PMI_RANK=3 PMI_SIZE=8"), "worker 3 of 8");
    assert_string_equal(printed(SRUN "SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8"), "worker 3 of 8");
    /* the script of sbatch itself */
    assert_string_equal(printed("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=12"), "localhost 0 of 1");
}

/* What each launcher sets, and which of these variables it may leave out. */
static const struct {
    const char *name, *settings, *optional;
} launchers[] = {
    {"torchrun",
     "RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29500 "
     "TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=a TORCHELASTIC_RESTART_COUNT=0",
     "TORCHELASTIC_USE_AGENT_STORE TORCHELASTIC_RUN_ID TORCHELASTIC_RESTART_COUNT"},
    {"mpiexec", "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=7",
     "OMPI_COMM_WORLD_LOCAL_SIZE PMIX_NAMESPACE"},
    {"mpiexec", "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=2", "MPI_LOCALNRANKS"},
    {"srun", SRUN "SLURM_PROCID=4 SLURM_NODEID=2", "SLURM_STEP_ID"},
};

/* Whether WORD is one of the words of LIST. */
static bool is_word_of(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

/* If one variable of a launcher is missing, the error names it. The process is never taken for a single one: without
 * LOCAL_WORLD_SIZE, for example, it may be one of several hosts, and the others wait for it. */
static void environment_that_lacks_a_variable_names_it(void **state) {
    (void)state;
    char wanted[160], copy[512];
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *settings = launchers[i].settings;
        assert_null(strstr(printed(settings), "localhost 0 of 1"));
        snprintf(copy, sizeof copy, "%s", settings);
        char *rest = NULL;
        for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            mst_cluster *cluster;
            *strchr(name, '=') = '\0';
            if (strcmp(name, "LOCAL_WORLD_SIZE") == 0) continue;
            set_environment(settings);
            unsetenv(name);
            if (is_word_of(launchers[i].optional, name)) {
                EXPECT_OK(mst_cluster_from_environment(NULL, &cluster));
                assert_string_equal(mst_cluster_task(cluster, 0).job, "worker");
                mst_cluster_release(cluster);
                continue;
            }
            snprintf(wanted, sizeof wanted, "environment of %s: %s is not set", launchers[i].name, name);
            if (strcmp(name, "SLURM_STEP_NODELIST") == 0) snprintf(wanted, sizeof wanted, "SLURM_STEP_NODELIST");
            if (strcmp(name, "SLURM_STEP_TASKS_PER_NODE") == 0) snprintf(wanted, sizeof wanted, "%s is", name);
            EXPECT_ERROR(mst_cluster_from_environment(NULL, &cluster), MST_INVALID, wanted);
        }
    }
}

static void what_scripts_set_for_torch_is_no_launcher_alone(void **state) {
    (void)state;
    assert_string_equal(printed("MASTER_ADDR=a MASTER_PORT=1"), "localhost 0 of 1");
    assert_string_equal(printed("RANK=3"), "localhost 0 of 1");
    assert_string_equal(printed("WORLD_SIZE=3"), "localhost 0 of 1");
    assert_non_null(strstr(printed("WORLD_SIZE=5 MASTER_ADDR=a MASTER_PORT=1 " SRUN "SLURM_PROCID=4 SLURM_NODEID=2"),
                           "worker 4 of 5 at n10"));
}

static void contradictions_are_named(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"RANK=2 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1",
         "environment of torchrun: RANK is '2', must be a whole number from 0 to 1"},
        {"RANK=0 WORLD_SIZE=x MASTER_ADDR=a MASTER_PORT=1", "WORLD_SIZE is 'x', must be a whole number"},
        {"RANK=0 WORLD_SIZE=2000000 MASTER_ADDR=a MASTER_PORT=1", "WORLD_SIZE is '2000000'"},
        {"RANK=0 WORLD_SIZE=1 MASTER_ADDR=a MASTER_PORT=99999", "MASTER_PORT is '99999'"},
        {"RANK=0 WORLD_SIZE=1 MASTER_ADDR=/ MASTER_PORT=1", "worker 0: '/' is not a host's name or address"},
        {"OMPI_COMM_WORLD_RANK=0", "environment of mpiexec: OMPI_COMM_WORLD_SIZE is not set"},
        {"PMI_RANK=0 PMI_SIZE=0", "PMI_SIZE is '0', must be a whole number from 1"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=1", "environment of srun: tasks are not numbered host by host"},
        {SRUN "SLURM_PROCID=4", "SLURM_NODEID is not set"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=2 SLURM_NTASKS=6", "do not add up to SLURM_NTASKS, which is 6"},
        {SRUN "SLURM_PROCID=3 SLURM_NODEID=1 SLURM_NTASKS=4", "do not add up to SLURM_NTASKS, which is 4"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=2 SLURM_STEP_NODELIST=n[1-9]", "has more than 5 hosts"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=2 SLURM_STEP_NODELIST=n[1-4]", "must be a list like 2(x3),1"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=2 SLURM_STEP_TASKS_PER_NODE=2(x)", "must be a list like 2(x3),1"},
        {SRUN "SLURM_PROCID=4 SLURM_NODEID=2 SLURM_STEP_NODELIST=n[1", "SLURM_STEP_NODELIST: 'n[1' is not understood"},
    };
    mst_cluster *cluster;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_environment(wrong[i][0]);
        EXPECT_ERROR(mst_cluster_from_environment(NULL, &cluster), MST_INVALID, wrong[i][1]);
    }
    set_environment("");
    EXPECT_ERROR(mst_cluster_from_environment(&(mst_launcher_options){.port = 65536}, &cluster), MST_INVALID,
                 "port 65536");
}

static void node_lists_are_expanded(void **state) {
    (void)state;
    static const char *const lists[][2] = {
        {"host", "host"},       {"a,b.c,d-1", "a b.c d-1"},
        {"n[1-3]", "n1 n2 n3"}, {"n[08-11,3],m[7]-ib,z", "n08 n09 n10 n11 n3 m7-ib z"},
        {"[1-2]", "1 2"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        mst_node_list list = {0};
        char text[256] = "";
        size_t used = 0;
        EXPECT_OK(mst_node_list_read(lists[i][0], 100, &list));
        for (int64_t k = 0; k < list.count; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? " " : "", list.name[k]);
        assert_string_equal(text, lists[i][1]);
        mst_node_list_free(&list);
    }
}

static void wrong_node_lists_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"",      ",",      "a,",        "a[",      "a]",           "a[]",
                                        "a[x]",  "a[1-]",  "a[2-1]",    "a[1,]",   "a[1]b[2]",     "a][",
                                        "a[1]]", "a[1;2]", "n[0-9999]", "n[-1-2]", "n[9999999999]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mst_node_list list = {0};
        assert_int_equal(mst_node_list_read(wrong[i], 100, &list), MST_INVALID);
        mst_node_list_free(&list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launcher_is_understood),
        cmocka_unit_test(workers_of_one_host_have_the_ports_after_that_of_worker_0),
        cmocka_unit_test(torchrun_keeps_its_own_port),
        cmocka_unit_test(addresses_can_be_given),
        cmocka_unit_test(jobs_that_follow_each_other_have_ports_of_their_own),
        cmocka_unit_test(launchers_inside_slurm_are_told_from_srun),
        cmocka_unit_test(environment_that_lacks_a_variable_names_it),
        cmocka_unit_test(what_scripts_set_for_torch_is_no_launcher_alone),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(node_lists_are_expanded),
        cmocka_unit_test(wrong_node_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, clear_environment, clear_environment);
}
