/** Memory whose addresses are only names (device/domain.h), for modules of devices: reserved addresses, which cannot be
 *  read or written, and a table of the values at these addresses.
 *
 *  A value has a range of addresses. Putting a value removes all other values with an address in that range. At most
 *  one thread at a time may use a table. */
#ifndef MUSTER_DEVICE_NAMED_MEMORY_H
#define MUSTER_DEVICE_NAMED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A value and its addresses. */
typedef struct mst_named_value {
    char *data;
    size_t bytes; /**< size of its range of addresses, at least 1: a value without elements has an address too */
    void *value;
} mst_named_value;

/** The values of a domain. With zeros in all members except `release` it is empty. */
typedef struct mst_named_memory {
    mst_named_value *value; /**< sorted by address */
    int64_t count, capacity;
    void (*release)(void *value); /**< called for each value that is removed */
} mst_named_memory;

/** Reserves BYTES of addresses without access, and sets *OUT to the first. False: so many addresses are not free. */
bool mst_named_memory_reserve(size_t bytes, void **out);
/** Gives back the addresses that mst_named_memory_reserve has reserved, and removes the values there. */
void mst_named_memory_free(mst_named_memory *memory, void *data, size_t bytes);
/** Puts VALUE at the BYTES from DATA on. False: there is no memory, and nothing has changed. */
bool mst_named_memory_put(mst_named_memory *memory, void *data, size_t bytes, void *value);
/** The value that was put at DATA; NULL: there is none. */
void *mst_named_memory_at(const mst_named_memory *memory, const void *data);
/** Removes the value that was put at DATA without releasing it, and returns it to the caller; NULL: there is none. */
void *mst_named_memory_take(mst_named_memory *memory, const void *data);

#endif
