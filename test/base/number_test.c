/* Numbers as text: the fewest digits that read back as the same number, and text that is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "support/test.h"

static void fewest_digits_are_printed(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *f32, *f64;
    } rows[] = {
        {0, "0", "0"},
        {-0.0, "-0", "-0"},
        {1, "1", "1"},
        {-2.5, "-2.5", "-2.5"},
        {100, "100", "100"},
        {120000, "120000", "120000"},
        {1e6, "1e+06", "1e+06"},
        {1234567, "1234567", "1234567"},
        {16777217, "16777216", "16777217"},
        {0.1, "0.1", "0.1"},
        {1.0 / 3, "0.33333334", "0.3333333333333333"},
        {0.0001, "0.0001", "0.0001"},
        {0.00001, "1e-05", "1e-05"},
        {1e-45, "1e-45", "1e-45"},
        {3e10, "3e+10", "3e+10"},
        {INFINITY, "inf", "inf"},
        {-INFINITY, "-inf", "-inf"},
        {1e22, "1e+22", "1e+22"},
        {1.7976931348623157e308, "inf", "1.7976931348623157e+308"},
        {5e-324, "0", "5e-324"},
        {-1.2345678901234567e-4, "-0.00012345679", "-0.00012345678901234567"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[MST_NUMBER_TEXT];
        assert_string_equal(mst_number_print_f32((float)rows[i].value, text), rows[i].f32);
        assert_string_equal(mst_number_print_f64(rows[i].value, text), rows[i].f64);
    }
}

/* Numbers of all exponents. */
static void every_bit_pattern_reads_back(void **state) {
    (void)state;
    enum { TIMES = 20000 };
    const mst_rng rng = mst_rng_make(1, 2, 3);
    for (uint64_t i = 0; i < TIMES; i++) {
        uint32_t word[4];
        float single, single_back;
        double value, back;
        char text[MST_NUMBER_TEXT];
        mst_rng_blocks(&rng, i, 1, 0, word);
        memcpy(&single, word, sizeof single);
        memcpy(&value, word + 2, sizeof value);
        assert_true(mst_number_parse_f32(mst_number_print_f32(single, text), &single_back));
        if (!isnan(single)) assert_memory_equal(&single, &single_back, sizeof single);
        assert_true(isnan(single) == isnan(single_back) && !signbit(single) == !signbit(single_back));
        assert_true(mst_number_parse_f64(mst_number_print_f64(value, text), &back));
        if (!isnan(value)) assert_memory_equal(&value, &back, sizeof value);
        assert_true(isnan(value) == isnan(back) && !signbit(value) == !signbit(back));
    }
}

/* Decimals of 1 to 22 digits with a point anywhere or none; their last digits decide how they are rounded. */
static void decimals_are_what_strtod_makes_of_them(void **state) {
    (void)state;
    enum { TIMES = 200000, DIGITS = 22 };
    const mst_rng rng = mst_rng_make(4, 5, 6);
    for (uint64_t i = 0; i < TIMES; i++) {
        uint32_t word[4];
        char text[DIGITS + 3], *to = text;
        double value;
        mst_rng_blocks(&rng, i, 1, 0, word);
        const int digits = 1 + (int)(word[0] % DIGITS), point = (int)(word[0] / DIGITS % (DIGITS + 2));
        uint64_t random = (uint64_t)word[2] << 32 | word[3];
        if (word[1] % 3) *to++ = word[1] % 3 == 1 ? '-' : '+';
        for (int d = 0; d <= digits; d++) {
            if (d == point) *to++ = '.';
            if (d < digits) *to++ = (char)('0' + random % 10);
            random = random / 10 + (uint64_t)word[1] * 1000003 * (uint64_t)d;
        }
        *to = '\0';
        assert_true(mst_number_parse_f64(text, &value));
        const double wanted = strtod(text, NULL);
        const bool same = value == wanted && signbit(value) == signbit(wanted);
        if (!same) fail_msg("%s is %.17g, not %.17g", text, wanted, value);
    }
    double value;
    assert_true(mst_number_parse_f64("9007199254740993", &value) && value == 9007199254740992.0);
    assert_true(mst_number_parse_f64("-0.0", &value) && value == 0 && signbit(value));
    assert_true(mst_number_parse_f64(".5", &value) && value == 0.5);
    assert_true(mst_number_parse_f64("5.", &value) && value == 5);
}

static void text_that_is_no_number_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {"",   " 1",    "1 ", "1,5", "one", "1e", "--1", "1e999", "-1e999",
                                        "0x", "1.5.2", ".",  "-",   "+",   "-.", "+-1", "1-",    "1.2-"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        float single;
        double value;
        assert_false(mst_number_parse_f32(words[i], &single));
        assert_false(mst_number_parse_f64(words[i], &value));
    }
    float single;
    assert_false(mst_number_parse_f32("1e39", &single));
    assert_true(mst_number_parse_f32("1e-60", &single) && single == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_digits_are_printed),
        cmocka_unit_test(every_bit_pattern_reads_back),
        cmocka_unit_test(decimals_are_what_strtod_makes_of_them),
        cmocka_unit_test(text_that_is_no_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
