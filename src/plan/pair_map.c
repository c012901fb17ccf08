#include "plan/pair_map.h"

#include <stdlib.h>

#include "base/no_memory.h"

static struct mst_pair_map_slot *pair_map_find(const mst_pair_map *map, uint64_t key) {
    const uint64_t mask = (uint64_t)map->capacity - 1;
    uint64_t h = key * 0x9e3779b97f4a7c15u;
    for (uint64_t i = (h ^ h >> 32) & mask;; i = (i + 1) & mask)
        if (map->slot[i].key == 0 || map->slot[i].key == key) return &map->slot[i];
}

static mst_status pair_map_grow(mst_pair_map *map) {
    mst_pair_map larger = {.count = map->count, .capacity = map->capacity ? 2 * map->capacity : 64};
    larger.slot = calloc((size_t)larger.capacity, sizeof *larger.slot);
    if (!larger.slot) return MST_NO_MEMORY("for a plan");
    for (int64_t i = 0; i < map->capacity; i++)
        if (map->slot[i].key) *pair_map_find(&larger, map->slot[i].key) = map->slot[i];
    free(map->slot);
    *map = larger;
    return MST_OK;
}

int32_t *mst_pair_map_at(mst_pair_map *map, int32_t a, int32_t b, int32_t initial) {
    if (!map->capacity && pair_map_grow(map)) return NULL;
    const uint64_t key = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) + 1;
    struct mst_pair_map_slot *slot = pair_map_find(map, key);
    if (slot->key) return &slot->value;
    if (2 * map->count >= map->capacity) {
        if (pair_map_grow(map)) return NULL;
        slot = pair_map_find(map, key);
    }
    *slot = (struct mst_pair_map_slot){key, initial};
    map->count++;
    return &slot->value;
}

void mst_pair_map_free(mst_pair_map *map) {
    free(map->slot);
    *map = (mst_pair_map){0};
}
