/* Printed text contains no control characters for the terminal, whatever bytes it was made from. */
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "support/obeyed.h"
#include "support/test.h"

static void characters_that_are_obeyed_are_not_printed(void **state) {
    (void)state;
    for (int i = 0; obeyed_names[i]; i++) {
        char text[200], line[200];
        snprintf(text, sizeof text, "%s", obeyed_names[i]);
        assert_true(has_obeyed(text, strlen(text), false));
        mst_escape_line(text, strlen(text), line, sizeof line);
        assert_false(has_obeyed(line, strlen(line), false));
        mst_make_plain(text);
        assert_false(has_obeyed(text, strlen(text), false));
        assert_non_null(strchr(text, '?'));
    }
}

static void other_characters_stay(void **state) {
    static const char text[] = "caf\u00e9 \u65e5\u672c\u8a9e \u05e9\u05dc\u05d5\u05dd \U0001f600 \u00a0\u200d \\ '";
    (void)state;
    char plain[sizeof text], line[5 * sizeof text];
    snprintf(plain, sizeof plain, "%s", text);
    mst_make_plain(plain);
    assert_string_equal(plain, text);
    assert_string_equal(mst_escape_line(text, sizeof text - 1, line, sizeof line), text);
}

/* Protobuf's empty strings are constants. */
static void plain_text_is_not_written_to(void **state) {
    static const char constant[] = "plain \u00e9", empty[] = "";
    (void)state;
    mst_make_plain((char *)(uintptr_t)constant);
    mst_make_plain((char *)(uintptr_t)empty);
    assert_string_equal(constant, "plain \u00e9");
}

static void one_question_mark_stands_for_a_character_or_a_byte(void **state) {
    (void)state;
    char text[] = "a\u202eb\302\233c\xffz\xe2\x80"; /* NOLINT(misc-misleading-bidirectional) */
    mst_make_plain(text);
    assert_string_equal(text, "a?b?c?z??");
    char escaped[100];
    assert_string_equal(mst_escape_line("\302\233\u202e\n", 6, escaped, sizeof escaped),
                        "\\xc2\\x9b\\xe2\\x80\\xae\\n");
}

/* The message of an error, whichever function records it. */
static void errors_are_plain(void **state) {
    (void)state;
    for (int i = 0; obeyed_names[i]; i++) {
        (void)MST_FAIL(MST_IO, "'%s' cannot be read", obeyed_names[i]);
        assert_false(has_obeyed(mst_error()->message, strlen(mst_error()->message), false));
        (void)mst_error_prefix("'%s'", obeyed_names[i]);
        assert_false(has_obeyed(mst_error()->message, strlen(mst_error()->message), false));
        (void)mst_error_at(obeyed_names[i], obeyed_names[i]);
        assert_false(has_obeyed(mst_error()->node, strlen(mst_error()->node), false));
        assert_false(has_obeyed(mst_error()->device, strlen(mst_error()->device), false));
        assert_false(has_obeyed(mst_error()->task, strlen(mst_error()->task), false));
    }
}

/* A message that is too long is cut off, also within a character. */
static void long_errors_are_plain(void **state) {
    (void)state;
    char text[3000] = "";
    for (size_t i = 0; i + 4 < sizeof text; i += 3) memcpy(text + i, "\u65e5", 4);
    for (int shift = 0; shift < 3; shift++) {
        (void)MST_FAIL(MST_IO, "%.*s%s", shift, "xyz", text);
        assert_false(has_obeyed(mst_error()->message, strlen(mst_error()->message), false));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_that_are_obeyed_are_not_printed),
        cmocka_unit_test(other_characters_stay),
        cmocka_unit_test(plain_text_is_not_written_to),
        cmocka_unit_test(one_question_mark_stands_for_a_character_or_a_byte),
        cmocka_unit_test(errors_are_plain),
        cmocka_unit_test(long_errors_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
