/** Addresses of tasks: "host:port", "[::1]:port". Names are resolved on a thread of their own, since that may take long
 *  where a server of names does not answer. */
#ifndef MUSTER_TRANSPORT_ENDPOINT_H
#define MUSTER_TRANSPORT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

enum { MST_NUMERIC_SIZE = 80 }; /**< room for "[" IPv6 address "]:" port */

/** MST_INVALID where ADDRESS is not of that form, with a port of 1 to 65535. */
MST_CHECKED mst_status mst_endpoint_check(const char *address);
/** The first address that ADDRESS stands for, in numbers. May take seconds. MST_INVALID where there is none. */
MST_CHECKED mst_status mst_endpoint_resolve(const char *address, char out[MST_NUMERIC_SIZE]);

/** Whether other machines cannot reach NUMERIC, an address in numbers: 127.0.0.0/8, ::1. */
bool mst_endpoint_is_loopback(const char *numeric);

typedef struct mst_resolving mst_resolving;

/** Begins to resolve ADDRESS. When it has ended, 1 is written to the eventfd WAKE, which may have been closed. NULL:
 *  there is no memory or thread for it. */
mst_resolving *mst_resolve_start(const char *address, int wake);
/** False: not yet. Else OUT is address number CHOICE, from 0 round and round, of those that were found, in numbers; ""
 *  where there is none. */
bool mst_resolve_result(mst_resolving *resolving, unsigned choice, char out[MST_NUMERIC_SIZE]);
/** Why none was found, once that is known: as the system says it; "": some were. */
const char *mst_resolve_why(const mst_resolving *resolving);
/** Gives up RESOLVING, which may be under way. NULL is allowed. */
void mst_resolve_end(mst_resolving *resolving);

#endif
