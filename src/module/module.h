/** Modules: shared libraries libmuster-<name>.so with parts that not every program needs, such as types of devices or
 *  picture codecs, with the libraries that these use. A module is loaded when it is first needed.
 *
 *  A module is looked for in these places, in this order:
 *
 *  - the folders of the environment variable MUSTER_MODULE_PATH, separated by ':';
 *  - the folder "muster" beside the library, where `cmake --install` puts Muster's own;
 *  - the folder of the library, where the build puts them.
 *
 *  If a program is linked with the library statically, "the library" is the program itself. A static library contains
 *  Muster's own codecs (mst_module_table), and loads no files for them.
 *
 *  The only symbol of a module is mst_module_query. A module gets the functions that it needs from the library in a
 *  table. So it loads into any program that contains the library, statically linked or not. To write a module, define a
 *  `mst_module` in read-only memory, mst_module_query that returns it, and `load`, which registers its contents
 *  (test/module/island.c is an example, test/module/lagoon.c one of devices that compile). To add a module to Muster
 *  itself, add a line to CMakeLists.txt. Its code is written like any other code of Muster (module/entry.c). */
#ifndef MUSTER_MODULE_MODULE_H
#define MUSTER_MODULE_MODULE_H

#include "device/device.h"

/** Version of the interface between library and modules. It changes whenever one of the tables changes, except where a
 *  member is added at the end of mst_device_type, which its `size` may leave out. */
enum { MST_MODULE_ABI = 10 };

/** The functions that the library gives to a module. No pointer is NULL. */
typedef struct mst_registrar {
    uint32_t size; /**< size of this struct */
    mst_status (*device_type)(const mst_device_type *type);
    /** As mst_error_set: `return registrar->error_set(MST_IO, __FILE__, __LINE__, "...")`. */
    mst_status (*error_set)(mst_status code, const char *file, int line, const char *format, ...);
    void (*unbind_thread)(void);   /**< as mst_unbind_thread */
    const struct mst_backend *cpu; /**< the CPU's backend (run/backend.h), to build upon */
    /** The key of mst_rng_make for SEED and STREAM. */
    void (*random_key)(uint64_t seed, uint64_t stream, uint32_t key[2]);
    const struct mst_backend_services *services; /**< what backends need (run/backend.h) */
} mst_registrar;

typedef struct mst_module {
    uint32_t abi, size;         /**< abi: MST_MODULE_ABI; size: that of this struct */
    const char *name, *version; /**< version: for a module with an interface, the version of Muster */
    mst_status (*load)(
        const mst_registrar *registrar); /**< REGISTRAR stays valid. NULL: there is nothing to register. */
    /** Functions for the part of Muster that asks for the module by its name: an mst_codec (format/image.h), a
     *  plot_painter (cli/plot/plot.h). NULL: none. */
    const void *interface;
} mst_module;

/** The function that a module defines. Returns the module's description; NULL: it does not know this ABI. */
typedef const mst_module *(*mst_module_query_function)(uint32_t host_abi);

/** Loads the module of a name, once. MST_NOT_FOUND if there is none. MST_UNAVAILABLE if there is none and a folder
 *  could not be read, or if it could not be loaded, now or in an earlier call. */
MST_CHECKED mst_status mst_module_need(const char *name);

/** Sets OUT to the type of device of a name. Loads the module that gives it if necessary: one of Muster's own that says
 *  so (mst_module_info), else the module of this name. */
MST_CHECKED mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out);

/** Loads one of Muster's own modules and gives its interface. MST_UNAVAILABLE if it is missing (the error says what to
 *  install), cannot be loaded, is another module, or belongs to another version of Muster. Exported for the command. */
MST_API MST_CHECKED mst_status mst_module_interface(const char *name, const void **out);

/** One of Muster's own modules, as known when the library was built. */
typedef struct mst_module_info {
    const char *name, *used_for;
    const char *library, *package; /**< the library that it needs, and the Debian package with this library */
    const char *version;           /**< version of the library with which the module was built; "": it was not built */
    const char *types;             /**< types of devices that it gives, "xla gpu tpu"; "": none */
} mst_module_info;

/** Muster's own modules; the list ends with one without a name. Exported for the command. */
MST_API const mst_module_info *mst_module_infos(void);
/** Whether a module of this name is linked in or can be found. Loads nothing. Exported for the command. */
MST_API bool mst_module_is_here(const char *name);

#endif
