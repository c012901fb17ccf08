/* Whether other programs keep the cores busy. The test writes the files that the kernel would show. */
#include "base/busy_cores.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static int others_of(const char *text) {
    char path[] = "/tmp/muster-loadavg-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    const int others = mst_others_running(path);
    unlink(path);
    return others;
}

static void others_are_all_that_run_but_the_caller(void **state) {
    (void)state;
    assert_int_equal(others_of("5.32 5.75 5.38 6/117 29591\n"), 5);
    assert_int_equal(others_of("0.00 0.01 0.05 1/98 1234\n"), 0);
    assert_int_equal(others_of("0.00 0.01 0.05 0/98 1234\n"), 0); /* a sandbox that counts no caller */
    assert_int_equal(others_of("63.99 64.10 60.00 129/2048 99\n"), 128);
}

static void a_file_that_is_missing_or_another_says_nothing(void **state) {
    (void)state;
    assert_int_equal(mst_others_running("/nowhere/loadavg"), 0);
    assert_int_equal(others_of(""), 0);
    assert_int_equal(others_of("0.1 0.2 0.3\n"), 0);
    assert_int_equal(others_of("cpu 1 2 many/3 4\n"), 0);
}

static void this_machine_counts_a_program_that_spins(void **state) {
    (void)state;
    if (access("/proc/loadavg", R_OK)) skip();
    const pid_t spinning = fork();
    if (spinning == 0)
        for (volatile int i = 0;; i++) {
        }
    assert_true(spinning > 0);
    int least = 1000;
    for (int i = 0; i < 20; i++, usleep(1000)) {
        const int others = mst_others_running("/proc/loadavg");
        if (i >= 5 && others < least) least = others;
    }
    kill(spinning, SIGKILL);
    assert_int_equal(waitpid(spinning, NULL, 0), spinning);
    assert_true(least >= 1);
}

static void cores_are_taken_where_each_has_a_program(void **state) {
    (void)state;
    assert_false(mst_cores_are_taken(0, 2));
    assert_false(mst_cores_are_taken(1, 2));
    assert_true(mst_cores_are_taken(2, 2));
    assert_true(mst_cores_are_taken(9, 2));
    assert_false(mst_cores_are_taken(15, 16));
    assert_false(mst_cores_are_taken(3, 0)); /* not known */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_all_that_run_but_the_caller),
        cmocka_unit_test(a_file_that_is_missing_or_another_says_nothing),
        cmocka_unit_test(this_machine_counts_a_program_that_spins),
        cmocka_unit_test(cores_are_taken_where_each_has_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
