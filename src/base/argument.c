#include "base/argument.h"

#include <string.h>

mst_status mst_argument_null(const char *function, const char *argument, const char *file, int line) {
    static const char behind_macro[] = "_with";
    size_t length = strlen(function), suffix = sizeof behind_macro - 1;
    if (length > suffix && strcmp(function + length - suffix, behind_macro) == 0) length -= suffix;
    return mst_error_set(MST_INVALID, file, line, "%.*s: %s is NULL", (int)length, function, argument);
}
