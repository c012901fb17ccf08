/* The module `newer` knows only later versions of the interface. It says so as a module must, by returning NULL. */
#include "module/module.h"

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    static const mst_module module = {.abi = MST_MODULE_ABI + 1, .size = sizeof(mst_module), .name = "newer"};
    return host_abi > MST_MODULE_ABI ? &module : NULL;
}
