/** A fast hash of bytes, to see whether two runs of bytes are equal. Not for bytes that somebody may have forged. */
#ifndef MUSTER_BASE_BYTE_HASH_H
#define MUSTER_BASE_BYTE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Depends on every byte, on their order and number. Bytes that differ within 8 neighbouring ones only, from a multiple
 *  of 8 on, always have another hash; others have the same one with probability 2^-64 or so. The same on machines of
 *  one byte order. */
uint64_t mst_byte_hash(const void *data, size_t bytes);

#endif
