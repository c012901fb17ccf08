#include "cli/spec_kind.h"

#include <string.h>

bool spec_is_of_kind(const char *spec, const char *kind) {
    return strncmp(spec, kind, strlen(kind)) == 0;
}

bool spec_is_table(const char *spec) {
    return spec_is_of_kind(spec, "csv:");
}

bool spec_is_long_text(const char *spec) {
    return spec_is_of_kind(spec, "lines:") || spec_is_of_kind(spec, "tokens:");
}

bool spec_same_kind(const char *a, const char *b) {
    const size_t size = strcspn(a, ":");
    return size == strcspn(b, ":") && strncmp(a, b, size) == 0;
}
