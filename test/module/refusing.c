/* The module `refusing` is found and has the right version. When it is loaded, it reports that something is missing. */
#include "module/module.h"

static mst_status load(const mst_registrar *registrar) {
    return registrar->error_set(MST_UNAVAILABLE, __FILE__, __LINE__, "there is no driver: install it");
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "refusing", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
