/** A hash table from pairs of numbers to a number, for passes that would else need a table of devices times values. */
#ifndef MUSTER_PLAN_PAIR_MAP_H
#define MUSTER_PLAN_PAIR_MAP_H

#include <stdint.h>

#include "muster/status.h"

/** Zero-initialised is empty. */
typedef struct mst_pair_map {
    struct mst_pair_map_slot {
        uint64_t key; /**< pair + 1; 0: free */
        int32_t value;
    } * slot;
    int64_t count, capacity;
} mst_pair_map;

/** The place of the number of (A, B), both at least 0, made with INITIAL if there is none: NULL and an error
 *  set if memory runs out. Valid until the next place is made. */
int32_t *mst_pair_map_at(mst_pair_map *map, int32_t a, int32_t b, int32_t initial);
void mst_pair_map_free(mst_pair_map *map);

#endif
