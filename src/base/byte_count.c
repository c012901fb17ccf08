#include "base/byte_count.h"

#include <stdio.h>

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
