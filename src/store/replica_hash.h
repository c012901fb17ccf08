/** Hashes of the copies of an entry. The copies of a variable that each device keeps must have equal hashes. */
#ifndef MUSTER_STORE_REPLICA_HASH_H
#define MUSTER_STORE_REPLICA_HASH_H

#include "muster/store.h"

typedef struct mst_replica_hash {
    uint64_t hash;   /**< hash of the first copy that holds the value */
    int num_copies;  /**< number of copies that hold the value */
    bool differs;    /**< the bytes of one of them differ from those of the first */
    char place[256]; /**< if `differs`: the device of that copy */
    char first[256]; /**< if `differs`: the device of the first copy. "": a copy belongs to no device */
} mst_replica_hash;

/** Reads all copies of an entry that hold its value, in a turn of its own. It waits as mst_store_get does.
 *  MST_NOT_FOUND if there is no entry or no value, MST_CORRUPT if the entry is torn. */
MST_CHECKED mst_status mst_store_hash_replicas(mst_store *store, const char *container, const char *name,
                                               mst_replica_hash *out);

#endif
