/* The CPU of this machine as a type of device: its logical devices share cores and memory. */
#include "device/device.h"
#include "run/backend.h"

static bool supports(const mst_op *op, int num_src, const mst_spec *src) {
    (void)num_src, (void)src;
    return op->reference != NULL;
}

static mst_status domain(int index, mst_domain **out) {
    (void)index;
    *out = &mst_domain_host;
    return MST_OK;
}

static const char *const engines[] = {"cpu", "onednn", "reference", NULL};

const mst_device_type mst_device_type_cpu = {
    .size = sizeof(mst_device_type),
    .name = "CPU",
    .engines = engines,
    .supports = supports,
    .domain = domain,
    .backend = &mst_backend_cpu,
    .services = &mst_backend_services_here,
};
