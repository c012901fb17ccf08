/** A hash table from pairs of numbers to a number, for passes that would otherwise need a table of devices times
 *  values. */
#ifndef MUSTER_PLAN_PAIR_MAP_H
#define MUSTER_PLAN_PAIR_MAP_H

#include <stdint.h>

#include "muster/status.h"

/** An empty map is all zeros. */
typedef struct mst_pair_map {
    struct mst_pair_map_slot {
        uint64_t key; /**< pair + 1; 0: free */
        int32_t value;
    } * slot;
    int64_t count, capacity;
} mst_pair_map;

/** Returns a pointer to the number of the pair (A, B). A and B are at least 0. A new pair gets the number INITIAL. The
 *  pointer is valid until the next new pair. Returns NULL with an error set if memory runs out. */
int32_t *mst_pair_map_at(mst_pair_map *map, int32_t a, int32_t b, int32_t initial);
void mst_pair_map_free(mst_pair_map *map);

#endif
