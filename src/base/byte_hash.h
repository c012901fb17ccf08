/** A fast hash of bytes, to see whether two runs of bytes are equal. It does not protect against forged bytes. */
#ifndef MUSTER_BASE_BYTE_HASH_H
#define MUSTER_BASE_BYTE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** The hash of BYTES bytes at DATA. It depends on every byte, on their order and on their number. If two runs of bytes
 *  differ only within one aligned group of 8, their hashes always differ. Otherwise different runs have the same hash
 *  with a probability of about 2^-64. The hash is the same on all machines of one byte order. Exported for the
 *  command. */
MST_API uint64_t mst_byte_hash(const void *data, size_t bytes);

#endif
