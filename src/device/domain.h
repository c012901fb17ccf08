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
#include "muster/status.h"

typedef struct mst_domain mst_domain;

/** A type of memory. No pointer may be NULL. */
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
} mst_domain_type;

/** A domain lives as long as the process. */
struct mst_domain {
    const mst_domain_type *type;
    int index; /**< number among the domains of its type */
};

extern mst_domain mst_domain_host;

/** Copies BYTES from one domain to another, or inside one. */
MST_CHECKED mst_status mst_domain_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);

/** Calls BODY for items 0 to N - 1, one by one. Together they copy or read BYTES. Several threads share the items if
 *  there are so many bytes that starting threads pays. Otherwise like mst_team_run. */
MST_CHECKED mst_status mst_copy_parallel(int64_t bytes, int64_t n, mst_team_body body, void *context);

#endif
