/* The module `offering` offers an interface, which here is a number. */
#include "module/module.h"

static const int number = 42;

static const mst_module module = {.abi = MST_MODULE_ABI,
                                  .size = sizeof(mst_module),
                                  .name = "offering",
                                  .version = MST_VERSION,
                                  .interface = &number};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
