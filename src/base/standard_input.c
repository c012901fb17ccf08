#include "base/standard_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"

enum { LEAST = 1 << 20 };

bool mst_standard_input_is(const char *path) {
    return strcmp(path, "-") == 0;
}

const char *mst_standard_input_name(const char *path) {
    return mst_standard_input_is(path) ? MST_STANDARD_INPUT : path;
}

/* Makes room for at least LEAST bytes and one more behind the SIZE bytes of *DATA. */
static mst_status standard_input_grow(char **data, size_t size, size_t *capacity) {
    if (*capacity - size > LEAST) return MST_OK;
    const size_t more = 2 * *capacity + 2 * LEAST;
    char *grown = realloc(*data, more);
    if (!grown) return MST_NO_MEMORY("to read " MST_STANDARD_INPUT);
    *data = grown;
    *capacity = more;
    return MST_OK;
}

mst_status mst_standard_input_read(void **data, size_t *size) {
    char *text = NULL;
    size_t used = 0, capacity = 0;
    mst_status status = standard_input_grow(&text, 0, &capacity);
    for (ssize_t got = 1; !status && got;) {
        got = read(STDIN_FILENO, text + used, LEAST);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = MST_FAIL(MST_IO, "'" MST_STANDARD_INPUT "' cannot be read: %s", strerror(errno));
        if (!status) used += (size_t)got;
        if (!status) status = standard_input_grow(&text, used, &capacity);
    }
    if (status) {
        free(text);
        return status;
    }
    *data = text;
    *size = used;
    return MST_OK;
}
