/** A hash of bytes that never changes between versions, so the numbers that it gives to strings may be kept in
 *  files. */
#ifndef MUSTER_BASE_FARM_HASH_H
#define MUSTER_BASE_FARM_HASH_H

#include <stddef.h>
#include <stdint.h>

/** FarmHash's Fingerprint64 of SIZE bytes (G. Pike, https://github.com/google/farmhash), which TensorFlow's
 *  StringToHashBucketFast and Keras' StringLookup use. */
uint64_t mst_farm_hash(const void *data, size_t size);

#endif
