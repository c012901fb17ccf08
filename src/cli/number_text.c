#include "cli/number_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *number_text(int64_t number, char text[NUMBER_TEXT]) {
    char digits[NUMBER_TEXT];
    const int count = snprintf(digits, sizeof digits, "%" PRIu64, number < 0 ? -(uint64_t)number : (uint64_t)number);
    char *out = text;
    if (number < 0) *out++ = '-';
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}
