/* The list of all transports, which the build generates. */
#include <string.h>

#include "support/test.h"
#include "transport/transport_row.h"

/* What is not there on this machine, or not for this process, says so. */
static void each_transport_is_found_by_its_name(void **state) {
    (void)state;
    int found = 0;
    for (const mst_transport_row *const *row = mst_transport_row_table; *row; row++) {
        const mst_transport_type *type;
        const mst_status status = mst_transport_find((*row)->name, &type);
        if (status)
            assert_true(status == MST_UNAVAILABLE || status == MST_INVALID);
        else
            assert_string_equal(type->name, (*row)->name);
        found += !status;
    }
    assert_true(found >= 2); /* those that need no module */
}

static void unknown_name_is_refused_with_the_names_there_are(void **state) {
    (void)state;
    const mst_transport_type *type;
    assert_int_equal(mst_transport_find("tcp", &type), MST_NOT_FOUND);
    assert_string_equal(mst_error()->message, "there is no transport 'tcp': take shm, zmq or mpi");
    const mst_status status = mst_transport_in_module("zmq", "mpi", &type);
    assert_true(status == MST_NOT_FOUND || status == MST_UNAVAILABLE);
}

static void names_are_those_that_tasks_may_choose(void **state) {
    (void)state;
    const char *const names[] = {"shm", "zmq", "mpi"};
    for (int i = 0; i < 3; i++) assert_string_equal(mst_transport_worker_name(i), names[i]);
    for (int i = 0; i < 2; i++) assert_string_equal(mst_transport_name(i), names[i]);
    assert_null(mst_transport_worker_name(3));
    assert_null(mst_transport_name(2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_transport_is_found_by_its_name),
        cmocka_unit_test(names_are_those_that_tasks_may_choose),
        cmocka_unit_test(unknown_name_is_refused_with_the_names_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
