/* JSON with the same key twice in an object is refused at any depth, by each reading function. Lines of JSON contain
 * no control characters for the terminal, and reading them back gives the same values. */
#include "base/json_text.h"

#include <stdlib.h>

#include "support/obeyed.h"
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

/* Every character of at most three bytes, in a key and in a value. */
static void lines_are_plain_and_read_the_same(void **state) {
    (void)state;
    for (unsigned c = 1; c < 0x10000; c++) {
        char text[5] = "";
        if (c >= 0xd800 && c < 0xe000) continue; /* no characters */
        if (c < 0x80)
            text[0] = (char)c;
        else if (c < 0x800)
            text[0] = (char)(0xc0 | c >> 6), text[1] = (char)(0x80 | (c & 0x3f));
        else
            text[0] = (char)(0xe0 | c >> 12), text[1] = (char)(0x80 | (c >> 6 & 0x3f)),
            text[2] = (char)(0x80 | (c & 0x3f));
        json_t *object = json_pack("{s:[s,s]}", text, text, "\U0001f600");
        char *line = mst_json_line(object, JSON_COMPACT);
        assert_non_null(line);
        if (has_obeyed(line, strlen(line), false)) fail_msg("U+%04X is in %s", c, line);
        json_t *again = mst_json_read_string(line, NULL);
        assert_true(json_equal(object, again));
        json_decref(again);
        json_decref(object);
        free(line);
    }
    assert_null(mst_json_line(NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_that_stands_twice_is_refused),
        cmocka_unit_test(what_is_no_object_or_list_is_a_value),
        cmocka_unit_test(lines_are_plain_and_read_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
