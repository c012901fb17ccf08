/** TCP ports that no process of this machine listens on. */
#ifndef MUSTER_CLI_LAUNCH_FREE_PORTS_H
#define MUSTER_CLI_LAUNCH_FREE_PORTS_H

#include "muster/status.h"

/** Finds COUNT different ones. They are below those that the kernel gives to outgoing connections, so a task that is
 *  started again finds its port free. MST_UNAVAILABLE where there are too few. */
MST_CHECKED mst_status find_free_ports(int count, int *port);

#endif
