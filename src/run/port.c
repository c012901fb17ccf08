#include "run/port.h"

#include <string.h>

#include "plan/plan.h"

mst_status mst_port_feed(const mst_kernel_args *a) {
    const mst_plan_port *port = a->state;
    const mst_ports *ports = port->run;
    const mst_feed *feed = &ports->feeds[port->index];
    mst_spec spec = {.dtype = a->dst[0].dtype, .shape = a->dst[0].shape};
    mst_status status = feed->fill(feed->context, &spec, a->dst[0].data);
    if (status) mst_error_prefix("feeding '%s'", a->name);
    return status;
}

mst_status mst_port_fetch(const mst_kernel_args *a) {
    const mst_plan_port *port = a->state;
    const mst_ports *ports = port->run;
    if (a->num_src == 0 || !ports->outputs || !ports->outputs[port->index]) return MST_OK;
    mst_tensor *output = ports->outputs[port->index];
    if (mst_tensor_bytes(output)) memcpy(mst_tensor_data(output), a->src[0].data, mst_tensor_bytes(output));
    return MST_OK;
}

mst_status mst_port_send(const mst_kernel_args *a) {
    const mst_plan_port *port = a->state;
    mst_rendezvous *rendezvous = ((const mst_ports *)port->run)->rendezvous;
    return rendezvous->type->send(rendezvous, port->index, a->num_src ? &a->src[0] : NULL);
}

mst_status mst_port_receive(const mst_kernel_args *a) {
    const mst_plan_port *port = a->state;
    mst_rendezvous *rendezvous = ((const mst_ports *)port->run)->rendezvous;
    return rendezvous->type->receive(rendezvous, port->index, a->num_dst ? &a->dst[0] : NULL);
}
