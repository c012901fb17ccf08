/** Memory domains: whose memory an address is.
 *
 *  A device computes in one domain. Inside a domain every address is good for every device of it, and a value that goes
 *  from one device to another moves no bytes. Between domains what crosses is copied. The host's own memory is a domain
 *  too, which is always there: feeds, fetches and snapshots are in it.
 */
#ifndef MUSTER_DEVICE_DOMAIN_H
#define MUSTER_DEVICE_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/team.h"
#include "muster/status.h"

typedef struct mst_domain mst_domain;

/** What memory of one kind can do. No pointer may be NULL. */
typedef struct mst_domain_type {
    uint32_t size; /**< of this struct, as its author knew it */
    const char *name;
    bool host; /**< memory that this process may read and write at any time */
    /** BYTES of zeros, aligned to 64, not touched yet: the first thread that writes a page decides where it lies. */
    mst_status (*alloc)(mst_domain *domain, size_t bytes, void **out);
    /** Frees what `alloc` gave. */
    void (*free)(mst_domain *domain, void *data, size_t bytes);
    /** Copies between this domain and host memory, or another domain of its type; TO or FROM is this domain. Returns
     *  when the bytes are there. */
    mst_status (*copy)(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);
} mst_domain_type;

/** Lives as long as the process. */
struct mst_domain {
    const mst_domain_type *type;
    int index; /**< among the domains of its type */
};

extern mst_domain mst_domain_host;

/** Copies BYTES from one domain to another, or inside one. */
MST_CHECKED mst_status mst_domain_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes);

/** BODY over items 0 to N - 1, one by one, which copy or read BYTES in all: by several threads where the bytes are so
 *  many that it is worth starting them. As mst_team_run in all else. */
MST_CHECKED mst_status mst_copy_parallel(int64_t bytes, int64_t n, mst_team_body body, void *context);

#endif
