/** Memory domains: the memory to which an address belongs.
 *
 *  A device computes in one domain. Every device of a domain can use every address in it. So a value that goes from one
 *  device of a domain to another is not copied. A value that goes to another domain is copied. The host's own memory is
 *  a domain too, and always there: feeds, fetches and snapshots are in it.
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
 *  Memory of a type with `copy` has bytes at addresses. With `copy_array` an address is only a name: arrays are put
 *  there and read from there as a whole, by their first address. */
typedef struct mst_domain_type {
    uint32_t size; /**< size of this struct in the header with which the type was compiled */
    const char *name;
    bool host; /**< whether this process may read and write the memory at any time */
    /** Allocates BYTES of zeros, aligned to 64 and not touched yet: the first thread that writes to a page decides
     *  where it lies. */
    mst_status (*alloc)(mst_domain *domain, size_t bytes, void **out);
    /** Frees memory that `alloc` gave. */
    void (*free)(mst_domain *domain, void *data, size_t bytes);
    /** Copies between this domain and host memory, or another domain of this type. TO or FROM is this domain. Returns
     *  when the bytes have arrived. */
    mst_status (*copy)(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);
    /** Copies SRC to DST, which have the same dtype and shape, between this domain and host memory, or another domain
     *  of this type. SRC may be the result of a program that still runs. A copy to the host waits for it, and fails as
     *  that program does; MST_DEADLINE if it takes longer than until DEADLINE. Any other copy may return before it is
     *  made. Memory of the host may change as soon as it has returned. */
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
 *  DEADLINE counts where a type has `copy_array`. */
MST_CHECKED mst_status mst_domain_copy_array(mst_domain *to, const mst_array *dst, mst_domain *from,
                                             const mst_array *src, int64_t deadline);

/** Bytes that an array of BYTES takes in DOMAIN: a multiple of 64. Where addresses are names an array without elements
 *  takes some too, so that no other array has its address. */
size_t mst_domain_room(const mst_domain *domain, size_t bytes);

/** Calls BODY for items 0 to N - 1, one by one. Together they copy or read BYTES. Several threads share the items if
 *  there are so many bytes that starting threads pays. Otherwise like mst_team_run. */
MST_CHECKED mst_status mst_copy_parallel(int64_t bytes, int64_t n, mst_team_body body, void *context);

#endif
