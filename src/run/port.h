/** Kernels of the nodes where a plan meets its surroundings: feeds, fetches, and both ends of a crossing. */
#ifndef MUSTER_RUN_PORT_H
#define MUSTER_RUN_PORT_H

#include "muster/session.h"
#include "run/rendezvous.h"

/** What the ports of one plan work with in a run. */
typedef struct mst_ports {
    const mst_feed *feeds; /**< of this run, in the plan's order */
    mst_tensor **outputs;  /**< of this run, by fetch; NULL entries and NULL: not wanted */
    mst_rendezvous *rendezvous;
} mst_ports;

mst_status mst_port_feed(const mst_kernel_args *a);
mst_status mst_port_fetch(const mst_kernel_args *a);
mst_status mst_port_send(const mst_kernel_args *a);
mst_status mst_port_receive(const mst_kernel_args *a);

#endif
