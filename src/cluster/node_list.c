#include "cluster/node_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

/* A name in the list, cut at its brackets: "node[01-03,7]-ib" has the prefix "node" and the suffix "-ib". */
typedef struct pattern {
    const char *text;
    size_t prefix, length;
    const char *suffix;
} pattern;

static mst_status add_name(mst_node_list *list, int64_t most, char *name) {
    if (!name) return MST_NO_MEMORY("for a list of hosts");
    if (list->count == most) return MST_FAIL(MST_INVALID, "it has more than %lld hosts", (long long)most);
    MST_TRY(mst_grow(&list->name, sizeof *list->name, list->count + 1, &list->capacity));
    list->name[list->count++] = name;
    return MST_OK;
}

/* Reads a number of up to 9 digits, and the number of its digits. */
static bool read_digits(const char **text, long *number, int *width) {
    const size_t most_digits = 9, digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > most_digits) return false;
    *number = strtol(*text, NULL, 10);
    *width = (int)digits;
    *text += digits;
    return true;
}

static mst_status add_range(mst_node_list *list, int64_t most, const pattern *pattern, long first, long last,
                            int width) {
    const int suffix = (int)(pattern->text + pattern->length - pattern->suffix);
    for (long i = first; i <= last; i++) {
        char *name = mst_arena_print(&list->arena, "%.*s%0*ld%.*s", (int)pattern->prefix, pattern->text, width, i,
                                     suffix, pattern->suffix);
        MST_TRY(add_name(list, most, name));
    }
    return MST_OK;
}

/* Adds a host for each number of RANGES, "01-03,7]". */
static mst_status add_ranges(mst_node_list *list, int64_t most, const pattern *pattern, const char *ranges) {
    for (;;) {
        long first = 0, last;
        int width, width_of_last;
        bool good = read_digits(&ranges, &first, &width);
        last = first;
        if (good && *ranges == '-') {
            ranges++;
            good = read_digits(&ranges, &last, &width_of_last) && last >= first;
        }
        if (!good || (*ranges != ',' && *ranges != ']'))
            return MST_FAIL(MST_INVALID,
                            "'%.*s' is not understood: write numbers and ranges in brackets, as in "
                            "node[01-03,7]",
                            (int)pattern->length, pattern->text);
        MST_TRY(add_range(list, most, pattern, first, last, width));
        if (*ranges++ == ']') return MST_OK;
    }
}

static mst_status add_pattern(mst_node_list *list, int64_t most, const char *text, size_t length) {
    const char *open = memchr(text, '[', length), *close = memchr(text, ']', length);
    if (!open && !close && length) {
        char *name = mst_arena_print(&list->arena, "%.*s", (int)length, text);
        return add_name(list, most, name);
    }
    const size_t behind = close ? (size_t)(text + length - close - 1) : 0;
    if (!open || !close || close < open || memchr(close + 1, '[', behind) || memchr(close + 1, ']', behind))
        return MST_FAIL(MST_INVALID, "'%.*s' is not understood: write names like node7 or node[01-03,7]", (int)length,
                        text);
    const pattern pattern = {.text = text, .prefix = (size_t)(open - text), .length = length, .suffix = close + 1};
    return add_ranges(list, most, &pattern, open + 1);
}

/* The length of the first name of TEXT: up to a comma that is not inside brackets. */
static size_t name_length(const char *text) {
    size_t length = 0;
    for (bool inside = false; text[length] && (inside || text[length] != ','); length++) {
        if (text[length] == '[') inside = true;
        if (text[length] == ']') inside = false;
    }
    return length;
}

mst_status mst_node_list_read(const char *text, int64_t most, mst_node_list *list) {
    for (;;) {
        const size_t length = name_length(text);
        MST_TRY(add_pattern(list, most, text, length));
        text += length;
        if (!*text++) return MST_OK;
    }
}

void mst_node_list_free(mst_node_list *list) {
    mst_arena_free(&list->arena);
    free(list->name);
    *list = (mst_node_list){0};
}
