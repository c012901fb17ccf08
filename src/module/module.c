/* Finds and loads modules. A name is first searched for among the modules linked into the library, then as a file in
 * the folders that module.h lists. The result of loading, a module or an error, is kept for later calls. A missing file
 * is not remembered, because it may exist at the next call. One lock serializes all of this, because a module registers
 * types while it is loaded. */
#include "module/module.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/rng.h"

/* Made by the build: the modules that are linked into this library (ends with NULL), and all modules of Muster. */
extern const mst_module *const mst_module_table[];
extern const mst_module_info mst_module_info_table[];

/* A module that was found, loaded or not. */
typedef struct known {
    char *name;
    const mst_module *module;
    mst_failure failure; /* why it could not be loaded; MST_OK: it is loaded */
} known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known *modules;
static int64_t num_modules, capacity;

static void find_key(uint64_t seed, uint64_t stream, uint32_t key[2]) {
    const mst_rng rng = mst_rng_make(seed, stream, 0);
    key[0] = rng.key[0];
    key[1] = rng.key[1];
}

static mst_registrar registrar = {.size = sizeof(mst_registrar),
                                  .device_type = mst_device_type_register,
                                  .error_set = mst_error_set,
                                  .unbind_thread = mst_unbind_thread,
                                  .random_key = find_key};

/* ---- finding ---- */

enum { PATH_SIZE = 4096 };

/* The path of a module that was found, or the folder that could not be read. */
typedef struct search {
    char path[PATH_SIZE];
    int error; /* errno of the first folder that could not be read */
    char unreadable[PATH_SIZE];
} search;

static bool is_in(search *s, const char *folder, size_t length, const char *name) {
    const int used = snprintf(s->path, sizeof s->path, "%.*s/libmuster-%s.so", (int)length, folder, name);
    if (length == 0 || used <= 0 || (size_t)used >= sizeof s->path) return false;
    if (access(s->path, R_OK) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR && !s->error) {
        s->error = errno;
        memcpy(s->unreadable, s->path, sizeof s->unreadable);
    }
    return false;
}

/* Finds the path of the library, or of the program that contains it. For a program, the linker's map has no path, so it
 * is read from /proc. */
static bool find_self(char *path, size_t size) {
    Dl_info info;
    struct link_map *map;
    if (!dladdr1((const void *)&registrar, &info, (void **)&map, RTLD_DL_LINKMAP)) return false;
    if (map->l_name[0]) return (size_t)snprintf(path, size, "%s", map->l_name) < size;
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) path[length] = '\0';
    return length > 0;
}

/* The folder of the library; "." if it is not known. */
static void find_own_folder(char *folder, size_t size) {
    char *slash = find_self(folder, size) ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    else
        snprintf(folder, size, ".");
}

static bool find_beside(search *s, const char *name) {
    char own[PATH_SIZE / 2], folder[PATH_SIZE];
    find_own_folder(own, sizeof own);
    snprintf(folder, sizeof folder, "%s/muster", own);
    return is_in(s, folder, strlen(folder), name) || is_in(s, own, strlen(own), name);
}

/* Looks for the file of module NAME. secure_getenv is used because the environment of a setuid program is not
 * trusted. */
static bool find_file(const char *name, search *s) {
    const char *folders = secure_getenv("MUSTER_MODULE_PATH");
    *s = (search){.error = 0};
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        if (is_in(s, at, length, name)) return true;
        at += length + (at[length] == ':');
    }
    return find_beside(s, name);
}

static const mst_module_info *info_of(const char *name) {
    for (const mst_module_info *info = mst_module_info_table; info->name; info++)
        if (strcmp(info->name, name) == 0) return info;
    return NULL;
}

/* The error for a missing module. It names the folders that were searched, and the package to install. */
static mst_status missing(const char *name) {
    const mst_module_info *info = info_of(name);
    char own[PATH_SIZE / 2], places[2 * PATH_SIZE];
    find_own_folder(own, sizeof own);
    snprintf(places, sizeof places, "libmuster-%s.so is neither in MUSTER_MODULE_PATH nor in '%s/muster' or '%s'", name,
             own, own);
    if (!info) return MST_FAIL(MST_NOT_FOUND, "there is no module '%s': %s", name, places);
    if (info->version[0])
        return MST_FAIL(MST_UNAVAILABLE,
                        "no %s without the module '%s': %s: install Muster with it, or say where it is", info->used_for,
                        name, places);
    return MST_FAIL(MST_UNAVAILABLE,
                    "no %s: this Muster was built without the module '%s', and %s: install %s, then build and install "
                    "Muster again",
                    info->used_for, name, places, info->package);
}

static mst_status module_find(const char *name, search *s) {
    if (find_file(name, s)) return MST_OK;
    if (!s->error) return missing(name);
    return MST_FAIL(MST_UNAVAILABLE,
                    "cannot look for module '%s': '%s': %s: make its folder readable, or take it out of "
                    "MUSTER_MODULE_PATH",
                    name, s->unreadable, strerror(s->error));
}

static const mst_module *find_linked(const char *name) {
    for (const mst_module *const *module = mst_module_table; *module; module++)
        if (strcmp((*module)->name, name) == 0) return *module;
    return NULL;
}

bool mst_module_is_here(const char *name) {
    search s;
    return find_linked(name) || find_file(name, &s);
}

const mst_module_info *mst_module_infos(void) {
    return mst_module_info_table;
}

/* ---- loading ---- */

/* Opens a module. This fails if a library that the module needs is missing. */
static mst_status open_library(const char *name, const char *path, void **out) {
    const mst_module_info *info = info_of(name);
    if ((*out = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return MST_OK;
    if (!info) return MST_FAIL(MST_UNAVAILABLE, "module %s: %s", path, dlerror());
    return MST_FAIL(MST_UNAVAILABLE, "module %s: %s: install %s (package %s), or build and install Muster again", path,
                    dlerror(), info->library, info->package);
}

static mst_status query_module(const char *path, void *library, const mst_module **out) {
    void *symbol = dlsym(library, "mst_module_query");
    mst_module_query_function query = NULL;
    if (!symbol)
        return MST_FAIL(MST_UNAVAILABLE, "module %s: is no module of Muster: it has no mst_module_query", path);
    memcpy(&query, &symbol, sizeof query);
    const mst_module *module = query(MST_MODULE_ABI);
    if (!module || module->abi != MST_MODULE_ABI || module->size < sizeof *module)
        return MST_FAIL(MST_UNAVAILABLE, "module %s: was built for another version: build it for this one", path);
    *out = module;
    return MST_OK;
}

/* Loads a module from a file. A library whose `load` was called stays open even if `load` failed: one of its tables may
 * be in use, and the error refers to a file name in its memory. */
static mst_status load_file(const char *name, const char *path, const mst_module **out) {
    void *library;
    MST_TRY(open_library(name, path, &library));
    const mst_status status = query_module(path, library, out);
    if (status) {
        dlclose(library);
        return status;
    }
    if ((*out)->load && (*out)->load(&registrar)) return mst_error_prefix("module %s", path);
    return MST_OK;
}

/* Loads the module of a name. Keeps it, or the reason why it could not be loaded, for later calls. */
static mst_status load(const char *name, const char *path, known *entry) {
    entry->module = find_linked(name);
    mst_status status = MST_OK;
    const mst_device_type *cpu = mst_device_type_find("cpu", 3);
    registrar.cpu = cpu->backend;
    registrar.services = cpu->services;
    if (!entry->module)
        status = load_file(name, path, &entry->module);
    else if (entry->module->load)
        status = entry->module->load(&registrar);
    mst_failure_keep(&entry->failure, status);
    return status;
}

static mst_status need(const char *name, const mst_module **out) {
    search where = {.error = 0};
    for (int64_t i = 0; i < num_modules; i++)
        if (strcmp(modules[i].name, name) == 0) {
            *out = modules[i].module;
            return mst_failure_restore(&modules[i].failure);
        }
    if (!find_linked(name)) MST_TRY(module_find(name, &where)); /* not remembered: the file may exist next time */
    MST_TRY(mst_grow(&modules, sizeof *modules, num_modules + 1, &capacity));
    known *added = &modules[num_modules];
    if (!(added->name = strdup(name))) return MST_NO_MEMORY("for a module");
    num_modules++;
    const mst_status status = load(name, where.path, added);
    *out = added->module;
    return status;
}

static mst_status need_alone(const char *name, const mst_module **out) {
    pthread_mutex_lock(&lock);
    const mst_status status = need(name, out);
    pthread_mutex_unlock(&lock);
    return status;
}

mst_status mst_module_need(const char *name) {
    const mst_module *module;
    return need_alone(name, &module);
}

/* Also checks the module's version of Muster, because the tables to which an interface points may change with every
 * version. */
mst_status mst_module_interface(const char *name, const void **out) {
    const mst_module *module;
    MST_TRY(need_alone(name, &module));
    if (strcmp(module->name, name) != 0 || !module->interface)
        return MST_FAIL(MST_UNAVAILABLE,
                        "module '%s': what is there is another module, '%s': see to the folders of MUSTER_MODULE_PATH",
                        name, module->name);
    if (strcmp(module->version, MST_VERSION) != 0)
        return MST_FAIL(MST_UNAVAILABLE,
                        "module '%s': is of Muster %s, and this is Muster %s: install the module of this version", name,
                        module->version, MST_VERSION);
    *out = module->interface;
    return MST_OK;
}

/* Whether NAME is one of TYPES, "xla gpu tpu". */
static bool gives_type(const char *types, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = types; *at; at += *at == ' ') {
        const size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, name, size) == 0) return true;
        at += size;
    }
    return false;
}

/* The name of the module that provides devices of the type NAME, which is in lower case. */
static const char *module_of_type(const char *name) {
    for (const mst_module_info *info = mst_module_info_table; info->name; info++)
        if (gives_type(info->types, name)) return info->name;
    return name;
}

mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out) {
    char module[64];
    *out = NULL;
    bool plain = length > 0 && length < sizeof module;
    for (size_t i = 0; i < length && plain; i++) {
        plain = isalnum((unsigned char)name[i]) || name[i] == '_';
        module[i] = (char)tolower((unsigned char)name[i]);
    }
    if (!plain) return MST_FAIL(MST_NOT_FOUND, "'%.*s' is no name of a module", (int)length, name);
    module[length] = '\0';
    MST_TRY(mst_module_need(module_of_type(module)));
    *out = mst_device_type_find(name, length);
    return *out ? MST_OK
                : MST_FAIL(MST_NOT_FOUND, "module '%s' has no device type of that name", module_of_type(module));
}
