/* A process of mpiexec gets an error after mpiexec has ended. It gets no SIGPIPE, which would kill the program. */
#include "cluster/pmi.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test.h"

static void launcher_that_is_gone_is_an_error(void **state) {
    (void)state;
    char value[MST_PMI_VALUE] = "host:2222";
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    EXPECT_ERROR(mst_pmi_share(ends[0], 0, 5, true, value), MST_UNAVAILABLE, "to mpiexec: it may have ended");
    close(ends[0]);
}

static void launcher_that_leaves_before_it_answers_is_an_error(void **state) {
    (void)state;
    char value[MST_PMI_VALUE] = "host:2222";
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    shutdown(ends[1], SHUT_WR);
    EXPECT_ERROR(mst_pmi_share(ends[0], 0, 5, true, value), MST_UNAVAILABLE, "mpiexec has closed");
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launcher_that_is_gone_is_an_error),
        cmocka_unit_test(launcher_that_leaves_before_it_answers_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
