/* The module `older` has the interface of another version of Muster. */
#include "module/module.h"

static const int number = 41;

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "older", .version = "0.0.1", .interface = &number};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
