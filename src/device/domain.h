/** Memory domains: the memory to which an address belongs.
 *
 *  A device computes in one domain, and can use every address of that domain. A value is therefore copied only when
 *  another device needs it that is in another domain. The host's memory is a domain that always exists: feeds, fetches
 *  and snapshots are in it.
 */
#ifndef MUSTER_DEVICE_DOMAIN_H
#define MUSTER_DEVICE_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/team.h"
#include "muster/op.h"

typedef struct mst_domain mst_domain;

/** A type of memory. No pointer may be NULL, except one of `copy` and `copy_array`.
 *
 *  A type with `copy` has memory with bytes at addresses. In a type with `copy_array` an address is only a name for an
 *  array, which is written and read as a whole, by its first address. */
typedef struct mst_domain_type {
    uint32_t size; /**< size of this struct in the header with which the type was compiled */
    const char *name;
    bool host; /**< whether this process may read and write the memory at any time */
    /** Allocates BYTES of zeros, aligned to 64 bytes. No page is touched, so that a page is placed on the NUMA node of
     *  the first thread that writes to it. */
    mst_status (*alloc)(mst_domain *domain, size_t bytes, void **out);
    /** Frees memory that `alloc` gave. */
    void (*free)(mst_domain *domain, void *data, size_t bytes);
    /** Copies between this domain and host memory, or another domain of this type. TO or FROM is this domain. Returns
     *  when the bytes have arrived. */
    mst_status (*copy)(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);
    /** Copies SRC to DST, which have the same dtype and shape, between this domain and host memory, or another domain
     *  of this type. SRC may be the result of a program that still runs. A copy to the host waits for the program, and
     *  fails if the program fails; MST_DEADLINE if it is not done by DEADLINE. Any other copy may return before it is
     *  done. If SRC is in host memory, the caller may overwrite it after the return. */
    mst_status (*copy_array)(mst_domain *to, const mst_array *dst, mst_domain *from, const mst_array *src,
                             int64_t deadline);
} mst_domain_type;

/** A domain lives as long as the process. */
struct mst_domain {
    const mst_domain_type *type;
    int index; /**< number among the domains of its type */
};

extern mst_domain mst_domain_host;

/** Copies BYTES from one domain to another, or inside one. Both are of types with `copy`. */
MST_CHECKED mst_status mst_domain_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);

/** Copies SRC to DST, two arrays of the same dtype and shape, from one domain of any type to another, or inside one.
 *  DEADLINE is only used by types with `copy_array`. */
MST_CHECKED mst_status mst_domain_copy_array(mst_domain *to, const mst_array *dst, mst_domain *from,
                                             const mst_array *src, int64_t deadline);

/** Bytes to reserve in DOMAIN for an array of BYTES: a multiple of 64. If addresses are only names (`copy_array`), it
 *  is not 0 even for an array without elements, so that no other array has the same address. */
size_t mst_domain_room(const mst_domain *domain, size_t bytes);

/** Calls BODY for items 0 to N - 1, one by one. All items together copy or read BYTES: if these are enough to make up
 *  for starting threads, several threads share the items. Otherwise as mst_team_run. */
MST_CHECKED mst_status mst_copy_parallel(int64_t bytes, int64_t n, mst_team_body body, void *context);

#endif
