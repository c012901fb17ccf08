/** Modules: shared libraries libmuster-<name>.so that bring device types, loaded when first asked for.
 *
 *  A module is looked for in the folders of the environment variable MUSTER_MODULE_PATH, separated by ':', and then in
 *  the folder "muster" beside the library, or beside the program that is linked with it statically. Its only symbol is
 *  mst_module_query; what it needs of the library it gets in a table, so that it loads into any program that has the
 *  library in it, statically linked or not. To write one: a `mst_module` in read-only memory, mst_module_query that
 *  returns it, and `load`, which registers what there is (test/module/island.c is an example). */
#ifndef MUSTER_MODULE_MODULE_H
#define MUSTER_MODULE_MODULE_H

#include "device/device.h"

/** Version of the interface between library and modules: changes with any of the tables. */
enum { MST_MODULE_ABI = 1 };

/** What the library gives to a module. No pointer is NULL. */
typedef struct mst_registrar {
    uint32_t size; /**< of this struct */
    mst_status (*device_type)(const mst_device_type *type);
    /** As mst_error_set: `return registrar->error_set(MST_IO, __FILE__, __LINE__, "...")`. */
    mst_status (*error_set)(mst_status code, const char *file, int line, const char *format, ...);
    const struct mst_backend *cpu; /**< the CPU's backend (run/backend.h), to build upon */
} mst_registrar;

/** No pointer may be NULL. */
typedef struct mst_module {
    uint32_t abi, size; /**< MST_MODULE_ABI, and of this struct */
    const char *name, *version;
    mst_status (*load)(const mst_registrar *registrar); /**< REGISTRAR stays valid */
} mst_module;

/** What a module defines: its description, or NULL where it does not know this ABI. */
typedef const mst_module *(*mst_module_query_function)(uint32_t host_abi);

/** Loads the module of a name, once. MST_NOT_FOUND where there is none; MST_UNAVAILABLE where there is none and a
 * folder could not be read, or, also when asked again, where it could not be loaded. */
MST_CHECKED mst_status mst_module_need(const char *name);

#endif
