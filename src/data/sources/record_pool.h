/** Copies of records that can only be read forward and are still needed, by their number, each with a count of
 *  references. */
#ifndef MUSTER_DATA_SOURCES_RECORD_POOL_H
#define MUSTER_DATA_SOURCES_RECORD_POOL_H

#include "muster/tfrecord.h"

typedef struct mst_pooled {
    int64_t row;
    int64_t count; /**< how often it was given out and not forgotten; 0: an empty place */
    int64_t file;
    mst_record record;
} mst_pooled;

/** A hash table with linear probing. Zero-initialised is empty. */
typedef struct mst_record_pool {
    mst_pooled *place;
    int64_t capacity, used; /**< capacity: 0 or a power of 2 */
} mst_record_pool;

/** NULL if ROW is not there. */
mst_pooled *mst_record_pool_find(const mst_record_pool *pool, int64_t row);
/** Adds a copy of RECORD, or only counts if ROW is there. */
MST_CHECKED mst_status mst_record_pool_add(mst_record_pool *pool, int64_t row, int64_t file, const mst_record *record);
/** Drops one reference; the record is freed with the last. */
void mst_record_pool_drop(mst_record_pool *pool, int64_t row);
void mst_record_pool_free(mst_record_pool *pool);

#endif
