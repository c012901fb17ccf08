/** Addresses of tasks: "host:port", "[::1]:port". Names are resolved on a separate thread, since that may take long if
 *  a name server does not answer. */
#ifndef MUSTER_TRANSPORT_ENDPOINT_H
#define MUSTER_TRANSPORT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

enum { MST_NUMERIC_SIZE = 80 }; /**< room for "[" IPv6 address "]:" port */

/** MST_INVALID if ADDRESS is not "host:port" or "[host]:port" with a port from 1 to 65535. */
MST_CHECKED mst_status mst_endpoint_check(const char *address);
/** Writes the first address that ADDRESS resolves to, in numbers. May take seconds. MST_INVALID if there is none. */
MST_CHECKED mst_status mst_endpoint_resolve(const char *address, char out[MST_NUMERIC_SIZE]);

/** Whether NUMERIC, an address in numbers, is a loopback address (127.0.0.0/8, ::1): other machines cannot reach it. */
bool mst_endpoint_is_loopback(const char *numeric);

typedef struct mst_resolving mst_resolving;

/** Begins to resolve ADDRESS. At the end, 1 is written to the eventfd WAKE; the caller may close WAKE before that.
 *  NULL: there is no memory or thread for it. */
mst_resolving *mst_resolve_start(const char *address, int wake);
/** False: not resolved yet. Otherwise OUT is one of the N addresses found, in numbers: the one with index CHOICE mod N.
 *  OUT is "" if none was found. */
bool mst_resolve_result(mst_resolving *resolving, unsigned choice, char out[MST_NUMERIC_SIZE]);
/** After the resolving has ended: the system's reason why no address was found; "": some were found. */
const char *mst_resolve_why(const mst_resolving *resolving);
/** Frees RESOLVING, which may still be under way. NULL is allowed. */
void mst_resolve_end(mst_resolving *resolving);

#endif
