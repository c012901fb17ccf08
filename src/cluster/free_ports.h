/** Free TCP ports: no process of this machine listens on them. */
#ifndef MUSTER_CLUSTER_FREE_PORTS_H
#define MUSTER_CLUSTER_FREE_PORTS_H

#include "muster/status.h"

/** Finds COUNT different free ports. They are below those that the kernel uses for outgoing connections, so a task that
 *  is started again finds its port free. MST_UNAVAILABLE if there are too few. Exported for the command. */
MST_API MST_CHECKED mst_status mst_find_free_ports(int count, int *port);

#endif
