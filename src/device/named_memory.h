/** Memory whose addresses are only names (device/domain.h), for modules of devices: reserved addresses, which nobody
 *  can touch, and a table of the values that are at them.
 *
 *  A value takes a range of addresses. Putting a value takes away all other values with an address in that range. At
 *  most one thread at a time may use a table. */
#ifndef MUSTER_DEVICE_NAMED_MEMORY_H
#define MUSTER_DEVICE_NAMED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A value and its addresses. */
typedef struct mst_named_value {
    char *data;
    size_t bytes; /**< at least 1: a value without elements has an address too */
    void *value;
} mst_named_value;

/** The values of a domain. All zeros but for `release`: none. */
typedef struct mst_named_memory {
    mst_named_value *value; /**< sorted by address */
    int64_t count, capacity;
    void (*release)(void *value); /**< for each value that is taken away */
} mst_named_memory;

/** Reserves BYTES of addresses without access, and sets *OUT to the first. False: so many are not free. */
bool mst_named_memory_reserve(size_t bytes, void **out);
/** Gives back what mst_named_memory_reserve has reserved, and takes away the values there. */
void mst_named_memory_free(mst_named_memory *memory, void *data, size_t bytes);
/** Puts VALUE at the BYTES from DATA on. False: there is no memory, and nothing has changed. */
bool mst_named_memory_put(mst_named_memory *memory, void *data, size_t bytes, void *value);
/** The value that was put at DATA; NULL: there is none. */
void *mst_named_memory_at(const mst_named_memory *memory, const void *data);
/** Takes away the value that was put at DATA, without releasing it, and gives it to the caller; NULL: there is none. */
void *mst_named_memory_take(mst_named_memory *memory, const void *data);

#endif
