/** A table from row numbers to records that can only be read forward and are still needed. It copies the records, and
 *  counts references to each. */
#ifndef MUSTER_DATA_SOURCES_RECORD_POOL_H
#define MUSTER_DATA_SOURCES_RECORD_POOL_H

#include "muster/tfrecord.h"

typedef struct mst_pooled {
    int64_t row;
    int64_t count; /**< references: how often it was given out and not yet forgotten; 0: an empty place */
    int64_t file;
    mst_record record;
} mst_pooled;

/** A hash table with linear probing. Zero-initialised is empty. */
typedef struct mst_record_pool {
    mst_pooled *place;
    int64_t capacity, used; /**< capacity is 0 or a power of 2 */
} mst_record_pool;

/** The entry of ROW; NULL if there is none. */
mst_pooled *mst_record_pool_find(const mst_record_pool *pool, int64_t row);
/** Adds a copy of RECORD with one reference. If ROW is there already, adds a reference. */
MST_CHECKED mst_status mst_record_pool_add(mst_record_pool *pool, int64_t row, int64_t file, const mst_record *record);
/** Drops one reference to ROW; the last one frees the record. */
void mst_record_pool_drop(mst_record_pool *pool, int64_t row);
void mst_record_pool_free(mst_record_pool *pool);

#endif
