#include "data/spec/spec_list.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/no_memory.h"
#include "base/path_list.h"

static const char special[] = "*?[";

typedef struct names {
    char *text;
    int64_t size, capacity;
} names;

static mst_status names_add(names *n, const char *name) {
    const int64_t size = (int64_t)strlen(name), at = n->size;
    if (strchr(name, MST_PATH_LIST_END))
        return MST_FAIL(MST_INVALID, "data: '%s': a name in a list has a line end", name);
    MST_TRY(mst_grow(&n->text, 1, at + size + 2, &n->capacity));
    if (at) n->text[n->size++] = MST_PATH_LIST_END;
    memcpy(n->text + n->size, name, (size_t)size + 1);
    n->size += size;
    return MST_OK;
}

static bool names_data(const mst_data_spec *kind, const char *argument) {
    return kind->has ? kind->has(argument) : access(argument, F_OK) == 0;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static mst_status add_pattern(names *n, const char *pattern) {
    glob_t found;
    const int failed = glob(pattern, 0, NULL, &found);
    if (failed == GLOB_NOSPACE) return MST_NO_MEMORY("for the names of files");
    if (failed) return MST_FAIL(MST_NOT_FOUND, "data: '%s': no file has such a name: check the pattern", pattern);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_bytes); /* glob follows the locale */
    mst_status status = MST_OK;
    for (size_t i = 0; i < found.gl_pathc && !status; i++) status = names_add(n, found.gl_pathv[i]);
    globfree(&found);
    return status;
}

/* Whether NAME has a character of patterns that no backslash precedes. */
static bool is_pattern(const char *name) {
    for (; *name; name++) {
        if (*name == '\\' && name[1])
            name++;
        else if (strchr(special, *name))
            return true;
    }
    return false;
}

/* Removes the backslashes before commas, or if ALL before the characters of patterns too. */
static void unescape(char *name, bool all) {
    char *to = name;
    for (const char *from = name; *from; from++) {
        if (*from == '\\' && (from[1] == ',' || (all && from[1] && strchr("*?[\\", from[1])))) from++;
        *to++ = *from;
    }
    *to = '\0';
}

static mst_status add_item(names *n, const mst_data_spec *kind, char *item) {
    if (names_data(kind, item)) return names_add(n, item);
    const bool pattern = is_pattern(item);
    unescape(item, !pattern);
    return pattern ? add_pattern(n, item) : names_add(n, item);
}

/* The end of the name that begins at TEXT: a comma without a backslash, or the end. */
static char *item_end(char *text) {
    while (*text && *text != ',') text += *text == '\\' && text[1] ? 2 : 1;
    return text;
}

mst_status mst_spec_list_read(const mst_data_spec *kind, const char *argument, char **out) {
    names n = {.text = NULL};
    *out = NULL;
    if (!strpbrk(argument, ",*?[") || names_data(kind, argument)) return MST_OK;
    char *text = strdup(argument);
    if (!text) return MST_NO_MEMORY("for the names of files");
    mst_status status = MST_OK;
    for (char *item = text; item && !status;) {
        char *end = item_end(item), *next = *end ? end + 1 : NULL;
        *end = '\0';
        status = *item ? add_item(&n, kind, item)
                       : MST_FAIL(MST_INVALID, "data: '%s': a name is empty between commas", argument);
        item = next;
    }
    free(text);
    if (status)
        free(n.text);
    else
        *out = n.text;
    return status;
}
