/** How processes that a launcher has started on several hosts learn where the others are, where all that it tells them
 *  is where worker 0 is.
 *
 *      worker i                                                    worker 0
 *      "muster-rendezvous-1 TAG RANK SIZE PORT"     ------------>  as many as there are; the host is the one from which
 *                                                                  the connection comes
 *      "address of worker 0", "address of worker 1" <------------  when all are there
 *      "!again"                                     <------------  another process of that host has the port
 *      "!why"                                       <------------  an error, the same on all
 *
 *  The connection is of no use for anything else; what anybody sends who is no worker is dropped. Nobody waits longer
 *  than the timeout. */
#ifndef MUSTER_CLUSTER_RENDEZVOUS_H
#define MUSTER_CLUSTER_RENDEZVOUS_H

#include <stdio.h>

#include "cluster/address.h"

typedef struct mst_rendezvous {
    int64_t rank, size;
    uint64_t tag;                      /**< the same for all processes of a job */
    double timeout;                    /**< seconds */
    FILE *log;                         /**< gets a line every two seconds with who is missing; NULL: no lines */
    char (*address)[MST_ADDRESS_TEXT]; /**< [size]; what is found */
} mst_rendezvous;

/** Listens for worker 0 at ADDRESS, or where other hosts know it by another address than this one does (loopback, or no
 *  address of this host), at all addresses. "": at all, with a free port. *PORT is that of the socket *OUT. */
MST_CHECKED mst_status mst_rendezvous_listen(const char *address, int *out, int *port);
/** Worker 0: waits for the others at LISTENER, which is closed. ADDRESS: by which they know this host; "", or one that
 *  is loopback: that at which the first of another host comes. MST_DEADLINE names who has not come. */
MST_CHECKED mst_status mst_rendezvous_lead(mst_rendezvous *r, int listener, int port, const char *address);
/** Another worker: worker 0 listens at one of the N addresses. MST_DEADLINE, and the error that worker 0 tells. */
MST_CHECKED mst_status mst_rendezvous_join(mst_rendezvous *r, const char *const *address, int n);
/** Writes the addresses at which other hosts may reach this one, with PORT, behind each other with ',' between, as far
 *  as there is place in TEXT of SIZE bytes. */
void mst_rendezvous_own_addresses(int port, char *text, size_t size);

#endif
