#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_F32 = 9, DIGITS_F64 = 17 }; /* digits with which every value reads back exactly */

static pthread_once_t made = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Gives the calling thread the C locale, and returns its former locale. If there is no memory for the C locale (glibc
 * needs none), the thread keeps its own. */
static locale_t enter_c_locale(void) {
    pthread_once(&made, make_locale);
    return c_locale ? uselocale(c_locale) : uselocale((locale_t)0);
}

static bool reads_back(const char *text, double value, int most) {
    if (most == DIGITS_F64) return strtod(text, NULL) == value;
    return strtof(text, NULL) == (float)value;
}

/* Prints VALUE with the fewest digits, at most MOST, that read back as the same value. */
static char *number_print(double value, int most, char *text) {
    if (!isfinite(value) || value == 0) {
        snprintf(text, MST_NUMBER_TEXT, "%g", value);
        return text;
    }
    locale_t before = enter_c_locale();
    int digits = 0;
    do snprintf(text, MST_NUMBER_TEXT, "%.*e", digits, value);
    while (++digits < most && !reads_back(text, value, most));
    const int exponent = atoi(strchr(text, 'e') + 1);
    /* the rule by which %g chooses between its two forms */
    if (exponent >= -4 && (exponent < 6 || exponent < digits))
        snprintf(text, MST_NUMBER_TEXT, "%.*f", digits > exponent ? digits - 1 - exponent : 0, value);
    uselocale(before);
    return text;
}

char *mst_number_print_f32(float value, char *text) {
    return number_print((double)value, DIGITS_F32, text);
}

char *mst_number_print_f64(double value, char *text) {
    return number_print(value, DIGITS_F64, text);
}

/* Whether the number read from TEXT ends at END, with nothing before or after it. */
static bool is_all_read(const char *text, const char *end) {
    return end != text && !*end && !isspace((unsigned char)*text);
}

bool mst_number_parse_f32(const char *text, float *out) {
    char *end;
    locale_t before = enter_c_locale();
    errno = 0;
    float value = strtof(text, &end);
    bool too_large = errno == ERANGE && isinf(value);
    uselocale(before);
    if (!is_all_read(text, end) || too_large) return false;
    *out = value;
    return true;
}

/* Parses digits with an optional sign and point, in a tenth of strtod's time. False if TEXT is anything else, or if the
 * result might differ from strtod's. The result is exact if the digits as a whole number are at most 2^53, and f64
 * holds the power of ten by which it is divided. Then only the division rounds, as in strtod. W. D. Clinger, How to
 * read floating point numbers accurately, 1990. */
static bool parse_plain(const char *text, double *out) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_DIGITS = 19 /* a number of so many digits is below 2^64 */ };
    const uint64_t exact = (uint64_t)1 << DBL_MANT_DIG;
    const char *at = text + (*text == '-' || *text == '+');
    uint64_t whole = 0;
    int digits = 0, decimals = 0;
    bool point = false;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++digits > MOST_DIGITS) return false;
        whole = 10 * whole + (uint64_t)(*at - '0');
        decimals += point;
    }
    if (FLT_EVAL_METHOD != 0 || *at || !digits || whole > exact) return false;
    const double value = (double)whole / power[decimals];
    *out = *text == '-' ? -value : value;
    return true;
}

bool mst_number_parse_f64(const char *text, double *out) {
    if (parse_plain(text, out)) return true;
    char *end;
    locale_t before = enter_c_locale();
    errno = 0;
    double value = strtod(text, &end);
    bool too_large = errno == ERANGE && isinf(value);
    uselocale(before);
    if (!is_all_read(text, end) || too_large) return false;
    *out = value;
    return true;
}

double mst_number_start(const char *text, char **end) {
    locale_t before = enter_c_locale();
    const double value = strtod(text, end);
    uselocale(before);
    return value;
}

int mst_format_list(char *text, size_t size, const char *format, va_list list) {
    locale_t before = enter_c_locale();
    /* the caller has started LIST; the analyzer does not see that */
    const int length = vsnprintf(text, size, format, list); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    uselocale(before);
    return length;
}

int mst_format(char *text, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int length = mst_format_list(text, size, format, list);
    va_end(list);
    return length;
}
