/* The error record. */
#include "muster/status.h"
#include "support/test.h"

static void message_is_one_line_without_terminal_controls(void **state) {
    (void)state;
    assert_int_equal(MST_FAIL(MST_CORRUPT, "'%s': is damaged", "a\n\x1b[31m\x7f\xc3\xa4"), MST_CORRUPT);
    assert_string_equal(mst_error()->message, "'a??[31m?\xc3\xa4': is damaged");
    assert_int_equal(mst_error_prefix("reading '%s'", "b\tc"), MST_CORRUPT);
    assert_string_equal(mst_error()->message, "reading 'b?c': 'a??[31m?\xc3\xa4': is damaged");
}

static void long_message_is_cut_off(void **state) {
    (void)state;
    char name[3000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(MST_FAIL(MST_INVALID, "%s", name), MST_INVALID);
    assert_true(strlen(mst_error()->message) > 1000 && strlen(mst_error()->message) < sizeof name - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_is_one_line_without_terminal_controls),
        cmocka_unit_test(long_message_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
