/* The module `empty` has only what every module must have, and registers nothing. */
#include "module/module.h"

static mst_status load(const mst_registrar *registrar) {
    (void)registrar;
    return MST_OK;
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "empty", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
