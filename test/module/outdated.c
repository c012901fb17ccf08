/* The module `outdated` returns the previous version of the interface, whichever version it is asked for. */
#include "module/module.h"

static mst_status load(const mst_registrar *registrar) {
    return registrar->error_set(MST_INTERNAL, __FILE__, __LINE__, "a module of another version was loaded");
}

static const mst_module module = {
    .abi = MST_MODULE_ABI - 1, .size = sizeof(mst_module), .name = "outdated", .version = "0", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    (void)host_abi;
    return &module;
}
