/* Suggestions for misspelled names: which name is nearest, and when there is none. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/did_you_mean.h"

static const char *const names[] = {"batch_size", "epochs", "steps", "optimizer", "learning_rate", "adam", "sgd", NULL};

static void one_slip_of_each_kind_finds_the_name(void **state) {
    (void)state;
    assert_string_equal(mst_nearest("epoch", names), "epochs");
    assert_string_equal(mst_nearest("eepochs", names), "epochs");
    assert_string_equal(mst_nearest("apochs", names), "epochs");
    assert_string_equal(mst_nearest("peochs", names), "epochs");
    assert_string_equal(mst_nearest("sdg", names), "sgd");
}

static void case_and_dashes_do_not_count(void **state) {
    (void)state;
    assert_string_equal(mst_nearest("Batch-Size", names), "batch_size");
    assert_string_equal(mst_nearest("learnin-rat", names), "learning_rate");
}

static void prefix_of_a_name_finds_it(void **state) {
    (void)state;
    assert_string_equal(mst_nearest("opt", names), "optimizer");
    assert_null(mst_nearest("op", names));
}

static void another_word_has_no_nearest(void **state) {
    (void)state;
    assert_null(mst_nearest("checkpoint", names));
    assert_null(mst_nearest("", names));
    assert_null(mst_nearest("a_word_that_is_longer_than_any_name_a_reasonable_person_would_ever_give", names));
    assert_null(mst_nearest("adam", (const char *const[]){NULL}));
}

static void of_equally_near_names_the_first_is_taken(void **state) {
    (void)state;
    assert_string_equal(mst_nearest("cat", (const char *const[]){"bat", "rat", NULL}), "bat");
}

static void a_message_ends_in_the_nearest_name_or_in_nothing(void **state) {
    (void)state;
    char text[MST_DID_YOU_MEAN_TEXT];
    assert_string_equal(mst_did_you_mean("epoch", names, text, sizeof text), ": did you mean 'epochs'?");
    assert_string_equal(mst_did_you_mean("checkpoint", names, text, sizeof text), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slip_of_each_kind_finds_the_name),
        cmocka_unit_test(case_and_dashes_do_not_count),
        cmocka_unit_test(prefix_of_a_name_finds_it),
        cmocka_unit_test(another_word_has_no_nearest),
        cmocka_unit_test(of_equally_near_names_the_first_is_taken),
        cmocka_unit_test(a_message_ends_in_the_nearest_name_or_in_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
