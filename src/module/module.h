/** Modules: shared libraries libmuster-<name>.so with parts that not every program needs, such as types of devices or
 *  picture codecs, with the libraries that these use. A module is loaded when it is first needed.
 *
 *  A module is searched for in these places, in this order:
 *
 *  - the folders of the environment variable MUSTER_MODULE_PATH, separated by ':';
 *  - the folder "muster" beside the library, where `cmake --install` puts Muster's own;
 *  - the folder of the library, where the build puts them.
 *
 *  If a program is linked with the library statically, "the library" is the program itself. A static library contains
 *  Muster's own codecs (mst_module_table), and loads no files for them.
 *
 *  The only symbol of a module is mst_module_query. The library passes the functions that the module needs in a table.
 *  The module therefore loads into any program that contains the library, statically linked or not. To write a module,
 *  define an `mst_module` in read-only memory, the function mst_module_query that returns it, and `load`, which
 *  registers its contents. Examples: test/module/island.c, and test/module/lagoon.c for devices that compile. To add a
 *  module to Muster itself, add a line to CMakeLists.txt; its code calls the library directly (module/entry.c). */
#ifndef MUSTER_MODULE_MODULE_H
#define MUSTER_MODULE_MODULE_H

#include "device/device.h"

/** Version of the interface between library and modules. It changes whenever one of the tables changes. Exception: a
 *  member may be added at the end of mst_device_type, because `size` there says whether a module has it. */
enum { MST_MODULE_ABI = 10 };

/** The functions that the library gives to a module. No pointer is NULL. */
typedef struct mst_registrar {
    uint32_t size; /**< size of this struct */
    mst_status (*device_type)(const mst_device_type *type);
    /** As mst_error_set: `return registrar->error_set(MST_IO, __FILE__, __LINE__, "...")`. */
    mst_status (*error_set)(mst_status code, const char *file, int line, const char *format, ...);
    void (*unbind_thread)(void);   /**< as mst_unbind_thread */
    const struct mst_backend *cpu; /**< the CPU's backend (run/backend.h): a module may use its functions */
    /** The key of mst_rng_make for SEED and STREAM. */
    void (*random_key)(uint64_t seed, uint64_t stream, uint32_t key[2]);
    const struct mst_backend_services *services; /**< functions of the library for backends (run/backend.h) */
} mst_registrar;

typedef struct mst_module {
    uint32_t abi, size;         /**< abi: MST_MODULE_ABI; size: that of this struct */
    const char *name, *version; /**< version: for a module with an interface, the version of Muster */
    mst_status (*load)(
        const mst_registrar *registrar); /**< REGISTRAR stays valid. NULL: there is nothing to register. */
    /** Table of functions for the part of Muster that loads the module by its name, such as an mst_codec
     *  (format/image.h) or a plot_painter (cli/plot/plot.h). NULL: none. */
    const void *interface;
} mst_module;

/** Type of mst_module_query, which every module defines. It returns the module's description; NULL: the module does not
 *  support HOST_ABI, the library's MST_MODULE_ABI. */
typedef const mst_module *(*mst_module_query_function)(uint32_t host_abi);

/** Loads the module NAME, unless it is loaded. MST_NOT_FOUND if no file is found. MST_UNAVAILABLE if no file is found
 *  and a folder could not be read, or if the module could not be loaded, now or in an earlier call. */
MST_CHECKED mst_status mst_module_need(const char *name);

/** Sets OUT to the type of device whose name is the LENGTH characters at NAME. If it is not registered, loads a module:
 *  Muster's own module that provides the type (mst_module_info), or else the module of this name. */
MST_CHECKED mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out);

/** Loads one of Muster's own modules, and sets *OUT to its interface. MST_UNAVAILABLE if the module is missing (the
 *  error names the package to install), cannot be loaded, is another module, or belongs to another version of Muster.
 *  Exported for the command. */
MST_API MST_CHECKED mst_status mst_module_interface(const char *name, const void **out);

/** One of Muster's own modules, as known when the library was built. */
typedef struct mst_module_info {
    const char *name, *used_for;
    const char *library, *package; /**< the library that it needs, and the Debian package with this library */
    const char *version;           /**< version of the library with which the module was built; "": it was not built */
    const char *types;             /**< types of devices that it provides, "xla gpu tpu"; "": none */
} mst_module_info;

/** Muster's own modules; the list ends with one without a name. Exported for the command. */
MST_API const mst_module_info *mst_module_infos(void);
/** Whether a module of this name is linked in or can be found. Loads nothing. Exported for the command. */
MST_API bool mst_module_is_here(const char *name);

#endif
