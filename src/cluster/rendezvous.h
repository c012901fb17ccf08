/** Rendezvous: processes that a launcher has started on several hosts learn the addresses of all the others. It is used
 *  if the launcher only tells them the address of worker 0.
 *
 *      worker i                                                    worker 0
 *      "muster-rendezvous-1 TAG RANK SIZE PORT"     ------------>  one from each worker; the connection shows the host
 *      "address of worker 0", "address of worker 1" <------------  when all are there
 *      "!again"                                     <------------  another process of that host has the port
 *      "!why"                                       <------------  an error, the same for all
 *
 *  The connection is used for nothing else. Bytes from programs that are not workers are dropped. Nobody waits longer
 *  than the timeout. */
#ifndef MUSTER_CLUSTER_RENDEZVOUS_H
#define MUSTER_CLUSTER_RENDEZVOUS_H

#include <stdio.h>

#include "cluster/address.h"

typedef struct mst_rendezvous {
    int64_t rank, size;
    uint64_t tag;                      /**< the same for all processes of a job */
    double timeout;                    /**< seconds */
    FILE *log;                         /**< gets a line every two seconds that names the missing; NULL: no lines */
    char (*address)[MST_ADDRESS_TEXT]; /**< [size]; result */
} mst_rendezvous;

/** Listens for worker 0 at ADDRESS. If other hosts reach this host at another address (ADDRESS is loopback, or not an
 *  address of this host), listens at all addresses. "": listens at all addresses, with a free port. *OUT is the socket,
 *  *PORT its port. */
MST_CHECKED mst_status mst_rendezvous_listen(const char *address, int *out, int *port);
/** Worker 0: waits for the others at LISTENER, and closes it. ADDRESS: the one by which they know this host. If it is
 *  "" or loopback: the address at which the first worker of another host connects. MST_DEADLINE names who has not
 *  come. */
MST_CHECKED mst_status mst_rendezvous_lead(mst_rendezvous *r, int listener, int port, const char *address);
/** Any other worker: worker 0 listens at one of the N addresses. MST_DEADLINE; or the error that worker 0 sends. */
MST_CHECKED mst_status mst_rendezvous_join(mst_rendezvous *r, const char *const *address, int n);
/** Writes the addresses at which other hosts may reach this one, with PORT, separated by ','. Those that do not fit
 *  into TEXT of SIZE bytes are left out. */
void mst_rendezvous_own_addresses(int port, char *text, size_t size);

#endif
