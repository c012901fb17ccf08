/** Hashes of the copies of an entry: of a variable that each device keeps, they must be the same. */
#ifndef MUSTER_STORE_REPLICA_HASH_H
#define MUSTER_STORE_REPLICA_HASH_H

#include "muster/store.h"

typedef struct mst_replica_hash {
    uint64_t hash;   /**< of the first copy that holds the value */
    int num_copies;  /**< that hold it */
    bool differs;    /**< one of them has other bytes than the first */
    char place[256]; /**< where DIFFERS: the device of that one */
    char first[256]; /**< ... and that of the first; "" where a copy belongs to no device */
} mst_replica_hash;

/** Reads all copies of an entry that hold its value, in a turn of its own; waits as mst_store_get does. MST_NOT_FOUND
 *  where there is no entry or no value, MST_CORRUPT where it is torn. */
MST_CHECKED mst_status mst_store_hash_replicas(mst_store *store, const char *container, const char *name,
                                               mst_replica_hash *out);

#endif
