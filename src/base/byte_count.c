#include "base/byte_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

const char *mst_bytes_print(int64_t bytes, char *text, size_t size) {
    static const char *const unit[] = {"KB", "MB", "GB", "TB"};
    if (bytes < 1024) {
        snprintf(text, size, "%d bytes", (int)bytes);
        return text;
    }
    double value = (double)bytes / 1024;
    int i = 0;
    for (; value >= 1024 && i < 3; i++) value /= 1024;
    mst_format(text, size, "%.1f %s", value, unit[i]);
    return text;
}

void mst_bytes_print_two(int64_t a, int64_t b, char text_a[MST_BYTES_TEXT], char text_b[MST_BYTES_TEXT]) {
    mst_bytes_print(a, text_a, MST_BYTES_TEXT);
    mst_bytes_print(b, text_b, MST_BYTES_TEXT);
    if (a == b || strcmp(text_a, text_b) != 0) return;
    snprintf(text_a, MST_BYTES_TEXT, "%" PRId64 " bytes", a);
    snprintf(text_b, MST_BYTES_TEXT, "%" PRId64 " bytes", b);
}
