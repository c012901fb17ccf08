#include "cli/model/class_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/utf8.h"
#include "tensor/tokens.h"

enum { MOST_BYTES = 1 << 24 };

mst_status class_names_copy(const char *const *names, int64_t n, class_names *out) {
    size_t bytes = (size_t)(n + 1) * sizeof *names;
    for (int64_t i = 0; i < n; i++) bytes += strlen(names[i]) + 1;
    char **copy = *out = malloc(bytes);
    if (!copy) return MST_NO_MEMORY("for the names of %lld classes", (long long)n);
    char *text = (char *)(copy + n + 1);
    for (int64_t i = 0; i < n; i++) {
        const size_t size = strlen(names[i]) + 1;
        copy[i] = memcpy(text, names[i], size);
        text += size;
    }
    copy[n] = NULL;
    return MST_OK;
}

mst_status class_names_of(const mst_dataset *data, int component, class_names *out) {
    const int64_t n = mst_dataset_num_classes(data, component);
    *out = NULL;
    if (!n) return MST_OK;
    const char **names = malloc((size_t)n * sizeof *names);
    if (!names) return MST_NO_MEMORY("for the names of %lld classes", (long long)n);
    for (int64_t i = 0; i < n; i++) names[i] = mst_dataset_class_name(data, component, i);
    const mst_status status = class_names_copy(names, n, out);
    free(names);
    return status;
}

/* Ends each line of TEXT with a 0 byte and stores their beginnings in LINE, which has room for all. Returns the number
 * of lines. */
static int64_t split(char *text, const char **line) {
    int64_t n = 0;
    for (char *next; text && *text; text = next) {
        next = strchr(text, '\n');
        if (next) *next++ = '\0';
        const size_t size = strlen(text);
        if (size && text[size - 1] == '\r') text[size - 1] = '\0';
        line[n++] = text;
    }
    return n;
}

static mst_status class_names_check(const char *path, const char *const *line, int64_t n) {
    if (!n) return MST_FAIL(MST_INVALID, "'%s': is empty: write the name of a class in each line", path);
    for (int64_t i = 0; i < n; i++) {
        if (!*line[i])
            return MST_FAIL(MST_INVALID, "'%s', line %lld: is empty: write the name of class %lld", path,
                            (long long)i + 1, (long long)i);
        if (mst_text_check((mst_string){line[i], strlen(line[i])}))
            return mst_error_prefix("'%s', line %lld", path, (long long)i + 1);
    }
    return MST_OK;
}

mst_status class_names_read(const char *path, class_names *out) {
    void *data;
    size_t size;
    *out = NULL;
    MST_TRY(mst_file_read(path, MOST_BYTES, &data, &size));
    const size_t mark = mst_utf8_mark_size(data, size);
    char *text = strndup((const char *)data + mark, size - mark);
    const char **line = malloc((size + 1) * sizeof *line);
    mst_status status = text && line ? MST_OK : MST_NO_MEMORY("for the names of '%s'", path);
    if (!status && memchr(data, 0, size)) status = MST_FAIL(MST_INVALID, "'%s': is no text: it has a byte 0", path);
    const int64_t n = status ? 0 : split(text, line);
    if (!status) status = class_names_check(path, line, n);
    if (!status) status = class_names_copy(line, n, out);
    free(line);
    free(text);
    free(data);
    return status;
}

int64_t class_names_count(const char *const *names) {
    int64_t n = 0;
    while (names && names[n]) n++;
    return n;
}

const char *class_names_at(const char *const *names, int64_t i) {
    return i < class_names_count(names) ? names[i] : NULL;
}

const char *class_name_shown(const char *name, char text[CLASS_NAME_TEXT]) {
    return mst_escape_line(name, strlen(name), text, CLASS_NAME_TEXT);
}

int class_names_width(const char *const *names) {
    char text[CLASS_NAME_TEXT];
    int width = 0;
    for (; names && *names; names++) {
        const int length = (int)strlen(class_name_shown(*names, text));
        if (length > width) width = length;
    }
    return width;
}

bool class_names_agree(const char *const *a, const char *const *b) {
    if (!a || !b) return true;
    for (; *a && *b && strcmp(*a, *b) == 0; a++, b++) {
    }
    return !*a && !*b;
}
