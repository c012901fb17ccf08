#include "model_file/keras/sorted_keys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **mst_sorted_keys(const json_t *object) {
    const char **keys = calloc(json_object_size(object) + 1, sizeof *keys), *key;
    json_t *member;
    size_t n = 0;
    if (!keys) return NULL;
    json_object_foreach((json_t *)(uintptr_t)object, key, member) keys[n++] = key;
    qsort((void *)keys, n, sizeof *keys, compare_keys);
    return keys;
}

void mst_sorted_keys_free(const char **keys) {
    free((void *)keys);
}
