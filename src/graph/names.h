/** A table from names to numbers: node names to ids, base names to the last suffix given, variables to entries. */
#ifndef MUSTER_GRAPH_NAMES_H
#define MUSTER_GRAPH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** A hash table with open addressing. Keys are not copied. All zeros: empty. */
typedef struct mst_names {
    struct mst_name_slot {
        const char *name;
        int64_t value;
    } * slot;
    int64_t count, capacity;
} mst_names;

/** The number of NAME; -1: not in the table. */
int64_t mst_names_get(const mst_names *names, const char *name);
/** The number of the name that is the first LENGTH characters of NAME; -1: not in the table. */
int64_t mst_names_get_part(const mst_names *names, const char *name, size_t length);
/** Gives NAME the number VALUE; adds it if it is new. NAME is not copied, and must stay where it is. */
MST_CHECKED mst_status mst_names_set(mst_names *names, const char *name, int64_t value);
void mst_names_free(mst_names *names);

#endif
