/* JSON in which a key stands twice is refused, at any depth, by each of the functions. */
#include "base/json_text.h"
#include "support/test.h"

static void key_that_stands_twice_is_refused(void **state) {
    static const char *const texts[] = {"{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"a\":3}", "{\"x\":{\"a\":1,\"a\":2}}",
                                        "[{\"a\":[{\"b\":1,\"b\":2}]}]", "{\"a\":1,\"\\u0061\":2}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_error_t error;
        assert_null(mst_json_read(texts[i], strlen(texts[i]), &error));
        assert_int_equal(json_error_code(&error), json_error_duplicate_key);
        assert_null(mst_json_read_string(texts[i], &error));
        assert_null(mst_json_read_value(texts[i], &error));
    }
}

static void what_is_no_object_or_list_is_a_value(void **state) {
    (void)state;
    assert_null(mst_json_read_string("1", NULL));
    assert_null(mst_json_read_string(NULL, NULL));
    json_t *value = mst_json_read_value("1", NULL);
    assert_int_equal(json_integer_value(value), 1);
    json_decref(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_that_stands_twice_is_refused),
        cmocka_unit_test(what_is_no_object_or_list_is_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
