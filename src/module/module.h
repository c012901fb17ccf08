/** Modules: shared libraries libmuster-<name>.so that bring what not every program needs, such as types of devices or
 *  codecs of pictures with the libraries that they use. They are loaded when first asked for.
 *
 *  A module is looked for in these places, in this order:
 *
 *  - the folders of the environment variable MUSTER_MODULE_PATH, separated by ':';
 *  - the folder "muster" beside the library, where `cmake --install` puts Muster's own;
 *  - the folder of the library, where the build puts them.
 *
 *  "The library" is the program itself where that is linked with it statically. A static library has Muster's own
 *  codecs in it (mst_module_table), and loads no file for them.
 *
 *  The only symbol of a module is mst_module_query; what it needs of the library it gets in a table, so that it loads
 *  into any program that has the library in it, statically linked or not. To write one: a `mst_module` in read-only
 *  memory, mst_module_query that returns it, and `load`, which registers what there is (test/module/island.c is an
 *  example). A module of this tree is a line in CMakeLists.txt and code that is written as any other
 *  (module/entry.c). */
#ifndef MUSTER_MODULE_MODULE_H
#define MUSTER_MODULE_MODULE_H

#include "device/device.h"

/** Version of the interface between library and modules: changes with any of the tables. */
enum { MST_MODULE_ABI = 5 };

/** What the library gives to a module. No pointer is NULL. */
typedef struct mst_registrar {
    uint32_t size; /**< of this struct */
    mst_status (*device_type)(const mst_device_type *type);
    /** As mst_error_set: `return registrar->error_set(MST_IO, __FILE__, __LINE__, "...")`. */
    mst_status (*error_set)(mst_status code, const char *file, int line, const char *format, ...);
    void (*unbind_thread)(void);   /**< as mst_unbind_thread */
    const struct mst_backend *cpu; /**< the CPU's backend (run/backend.h), to build upon */
} mst_registrar;

typedef struct mst_module {
    uint32_t abi, size;         /**< MST_MODULE_ABI, and of this struct */
    const char *name, *version; /**< version: of a module with an interface, that of Muster */
    mst_status (*load)(
        const mst_registrar *registrar); /**< REGISTRAR stays valid. NULL: there is nothing to register */
    /** Functions for the part of Muster that asks for the module by its name: an mst_codec (format/image.h), a
     *  plot_painter (cli/plot/plot.h). NULL: none. */
    const void *interface;
} mst_module;

/** What a module defines: its description, or NULL where it does not know this ABI. */
typedef const mst_module *(*mst_module_query_function)(uint32_t host_abi);

/** Loads the module of a name, once. MST_NOT_FOUND where there is none; MST_UNAVAILABLE where there is none and a
 * folder could not be read, or, also when asked again, where it could not be loaded. */
MST_CHECKED mst_status mst_module_need(const char *name);

/** The type of device of a name, from the module of that name, which is loaded if it has not been. */
MST_CHECKED mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out);

/** Loads one of Muster's own modules and gives its interface. MST_UNAVAILABLE where it is not there, with what to
 *  install, or where it cannot be loaded, is another module, or is of another version of Muster. Exported for the
 *  command. */
MST_API MST_CHECKED mst_status mst_module_interface(const char *name, const void **out);

/** One of Muster's own modules, as this build knows it. */
typedef struct mst_module_info {
    const char *name, *used_for;
    const char *library, *package; /**< what it needs, and the package of Debian that has it */
    const char *version;           /**< of the library that it was built with; "": the module was not built */
} mst_module_info;

/** Muster's own modules, ended by one without a name. Exported for the command. */
MST_API const mst_module_info *mst_module_infos(void);
/** Whether a module of this name is linked in or can be found; loads nothing. Exported for the command. */
MST_API bool mst_module_is_here(const char *name);

#endif
