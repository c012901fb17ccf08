#include "graph/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

static uint64_t hash(const char *name, size_t length) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static struct mst_name_slot *names_find(const mst_names *names, const char *name, size_t length) {
    uint64_t mask = (uint64_t)names->capacity - 1;
    for (uint64_t i = hash(name, length) & mask;; i = (i + 1) & mask) {
        struct mst_name_slot *slot = &names->slot[i];
        if (!slot->name || (strncmp(slot->name, name, length) == 0 && !slot->name[length])) return slot;
    }
}

int64_t mst_names_get_part(const mst_names *names, const char *name, size_t length) {
    if (!names->capacity) return -1;
    const struct mst_name_slot *slot = names_find(names, name, length);
    return slot->name ? slot->value : -1;
}

int64_t mst_names_get(const mst_names *names, const char *name) {
    return mst_names_get_part(names, name, strlen(name));
}

static mst_status rehash(mst_names *names) {
    mst_names larger = {.capacity = names->capacity ? names->capacity * 2 : 64};
    larger.slot = calloc((size_t)larger.capacity, sizeof *larger.slot);
    if (!larger.slot) return MST_NO_MEMORY("for a table of names");
    for (int64_t i = 0; i < names->capacity; i++)
        if (names->slot[i].name)
            *names_find(&larger, names->slot[i].name, strlen(names->slot[i].name)) = names->slot[i];
    larger.count = names->count;
    free(names->slot);
    *names = larger;
    return MST_OK;
}

mst_status mst_names_set(mst_names *names, const char *name, int64_t value) {
    if (names->count * 2 >= names->capacity) MST_TRY(rehash(names));
    struct mst_name_slot *slot = names_find(names, name, strlen(name));
    if (!slot->name) {
        slot->name = name;
        names->count++;
    }
    slot->value = value;
    return MST_OK;
}

void mst_names_free(mst_names *names) {
    free(names->slot);
    *names = (mst_names){0};
}
