/* The share of the processor and of the memory that a container has. The test writes the files that the kernel would
 * show. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "device/quota.h"

typedef struct machine {
    char folder[64], groups[128], membership[128];
} machine;

static void write_file(const machine *m, const char *name, const char *text) {
    char path[512], command[600];
    snprintf(path, sizeof path, "%s/%s", m->folder, name);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static machine begin(const char *membership) {
    machine m = {"/tmp/muster-quota-XXXXXX", "", ""};
    assert_non_null(mkdtemp(m.folder));
    snprintf(m.groups, sizeof m.groups, "%s/groups", m.folder);
    snprintf(m.membership, sizeof m.membership, "%s/membership", m.folder);
    write_file(&m, "membership", membership);
    return m;
}

static void clear(const machine *m) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", m->folder);
    assert_int_equal(system(command), 0);
}

static double end(const machine *m) {
    const double quota = mst_cpu_quota(m->groups, m->membership);
    clear(m);
    return quota;
}

static int64_t end_memory(const machine *m) {
    const int64_t quota = mst_memory_quota(m->groups, m->membership);
    clear(m);
    return quota;
}

static void no_quota_without_limits(void **state) {
    (void)state;
    machine m = begin("0::/user.slice/session\n");
    assert_true(end(&m) == 0);
    m = begin("0::/user.slice/session\n");
    write_file(&m, "groups/user.slice/session/cpu.max", "max 100000\n");
    assert_true(end(&m) == 0);
    m = begin("");
    unlink(m.membership);
    assert_true(end(&m) == 0);
}

static void limit_of_the_group_or_of_one_around_it_counts(void **state) {
    (void)state;
    machine m = begin("0::/kubepods/pod\n");
    write_file(&m, "groups/kubepods/pod/cpu.max", "50000 100000\n");
    assert_true(end(&m) == 0.5);
    m = begin("0::/kubepods/pod\n");
    write_file(&m, "groups/kubepods/cpu.max", "150000 100000\n");
    write_file(&m, "groups/kubepods/pod/cpu.max", "400000 100000\n");
    assert_true(end(&m) == 1.5);
    /* as a container sees it that has a tree of its own */
    m = begin("0::/\n");
    write_file(&m, "groups/cpu.max", "300000 100000\n");
    assert_true(end(&m) == 3);
    m = begin("0::/../../elsewhere\n");
    write_file(&m, "groups/cpu.max", "200000 100000\n");
    assert_true(end(&m) == 2);
}

static void limits_of_version_1_count(void **state) {
    (void)state;
    machine m = begin("11:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/\n");
    write_file(&m, "groups/cpu/docker/1/cpu.cfs_quota_us", "25000\n");
    write_file(&m, "groups/cpu/docker/1/cpu.cfs_period_us", "100000\n");
    assert_true(end(&m) == 0.25);
    m = begin("4:cpuacct,cpu:/docker/1\n");
    write_file(&m, "groups/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
    write_file(&m, "groups/cpu/docker/1/cpu.cfs_period_us", "100000\n");
    assert_true(end(&m) == 0);
}

static void malformed_lines_are_ignored(void **state) {
    (void)state;
    machine m = begin("nothing\n::\n0:\n4:cpu\n");
    write_file(&m, "groups/cpu.max", "many 5\n");
    assert_true(end(&m) == 0);
}

static void limits_of_memory_count(void **state) {
    (void)state;
    const char *none_of_version_1 = "9223372036854771712\n";
    machine m = begin("0::/kubepods/pod\n");
    write_file(&m, "groups/memory.max", "1000000000\n");
    write_file(&m, "groups/kubepods/pod/memory.max", "100663296\n");
    assert_int_equal(end_memory(&m), 100663296);
    m = begin("0::/kubepods/pod\n");
    write_file(&m, "groups/kubepods/memory.max", "100663296\n");
    write_file(&m, "groups/kubepods/pod/memory.max", "max\n");
    write_file(&m, "groups/kubepods/pod/cpu.max", "50000 100000\n");
    assert_int_equal(end_memory(&m), 100663296);
    m = begin("11:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/\n");
    write_file(&m, "groups/memory/memory.limit_in_bytes", none_of_version_1);
    write_file(&m, "groups/memory/docker/1/memory.limit_in_bytes", "100663296\n");
    assert_int_equal(end_memory(&m), 100663296);
    m = begin("11:memory:/docker/1\n");
    write_file(&m, "groups/memory/docker/1/memory.limit_in_bytes", none_of_version_1);
    assert_int_equal(end_memory(&m), 0);
    m = begin("0::/\n");
    assert_int_equal(end_memory(&m), 0);
    m = begin("0::/\n");
    write_file(&m, "groups/memory.max", "much\n");
    assert_int_equal(end_memory(&m), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_quota_without_limits),   cmocka_unit_test(limit_of_the_group_or_of_one_around_it_counts),
        cmocka_unit_test(limits_of_version_1_count), cmocka_unit_test(malformed_lines_are_ignored),
        cmocka_unit_test(limits_of_memory_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
