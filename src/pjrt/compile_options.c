/* The message has few fields, so it is encoded by hand, without a protobuf library:
 *
 *     executable_build_options = 3: { num_replicas = 4: 1, num_partitions = 5: 1 }
 *     compile_portable_executable = 4: true
 *     env_option_overrides = 7: { key = 1: name, value = 2: { bool_field = 2: value } }    for each flag */
#include "pjrt/compile_options.h"

#include <string.h>

/* The byte before a field of the message: the field's number, and its wire type. NUMBER is a varint; BYTES is a length
 * and so many bytes. */
enum { NUMBER = 0, BYTES = 2 };
#define MEMBER(number, what) (char)((number) << 3 | (what))

static size_t add_flag(const mst_pjrt_flag *flag, char *out, size_t room) {
    enum { MOST_NAME = 100 }; /* so every length is below 128, and takes one byte */
    const size_t name = strlen(flag->name);
    const char value[] = {MEMBER(2, BYTES), 2, MEMBER(2, NUMBER), (char)flag->value};
    const size_t inside = 2 + name + sizeof value;
    if (name > MOST_NAME || room < inside + 2) return 0;
    const char begin[] = {MEMBER(7, BYTES), (char)inside, MEMBER(1, BYTES), (char)name};
    memcpy(out, begin, sizeof begin);
    memcpy(out + sizeof begin, flag->name, name);
    memcpy(out + sizeof begin + name, value, sizeof value);
    return inside + 2;
}

size_t mst_pjrt_compile_options(const mst_pjrt_flag *flags, char out[MST_PJRT_OPTIONS]) {
    static const char begin[] = {MEMBER(3, BYTES), 4, MEMBER(4, NUMBER), 1, MEMBER(5, NUMBER), 1, MEMBER(4, NUMBER), 1};
    size_t used = sizeof begin;
    memcpy(out, begin, sizeof begin);
    for (; flags->name; flags++) {
        const size_t size = add_flag(flags, out + used, MST_PJRT_OPTIONS - used);
        if (!size) return 0;
        used += size;
    }
    return used;
}
