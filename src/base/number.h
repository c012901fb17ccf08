/** Numbers as text, in the same form in all locales of the program. */
#ifndef MUSTER_BASE_NUMBER_H
#define MUSTER_BASE_NUMBER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Bytes enough for any number printed here. */
enum { MST_NUMBER_TEXT = 32 };

/** Writes VALUE with the fewest digits that read back as VALUE. Uses an exponent where printf's %g does: "0.1", "100",
 *  "1e-06", "-0", "inf", "nan". Writes at most MST_NUMBER_TEXT bytes and returns TEXT. */
char *mst_number_print_f32(float value, char *text);
char *mst_number_print_f64(double value, char *text);

/** True if the whole TEXT is one number, as strtod reads it in the C locale. Then *OUT is the nearest value of its
 *  type. False also if this value would be infinite although TEXT does not say "inf". */
bool mst_number_parse_f32(const char *text, float *out);
bool mst_number_parse_f64(const char *text, double *out);

/** The number at the beginning of TEXT, as strtod reads it in the C locale. *END is the place after it; END may be
 *  NULL. */
double mst_number_start(const char *text, char **end);
/** snprintf and vsnprintf in the C locale, because the program's locale may write commas in numbers. */
int mst_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int mst_format_list(char *text, size_t size, const char *format, va_list list) __attribute__((format(printf, 3, 0)));

#endif
