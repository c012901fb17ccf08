#include "base/path_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"

bool mst_path_list_is(const char *text) {
    return strchr(text, MST_PATH_LIST_END) && access(text, F_OK) != 0;
}

mst_status mst_path_list_next(const char **rest, char **path) {
    const char *end = strchr(*rest, MST_PATH_LIST_END);
    const size_t size = end ? (size_t)(end - *rest) : strlen(*rest);
    char *grown = realloc(*path, size + 1);
    if (!grown) return MST_NO_MEMORY("for the name of a file");
    memcpy(grown, *rest, size);
    grown[size] = '\0';
    *path = grown;
    *rest = end ? end + 1 : NULL;
    return MST_OK;
}
