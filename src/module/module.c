#include "module/module.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/failure.h"

extern const struct mst_backend mst_backend_cpu;

typedef struct loaded {
    char *name;
    mst_failure failure; /* why it could not be loaded; MST_OK: it is loaded */
} loaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded *modules;
static int64_t num_modules, capacity;

static const mst_registrar registrar = {.size = sizeof(mst_registrar),
                                        .device_type = mst_device_type_register,
                                        .error_set = mst_error_set,
                                        .cpu = &mst_backend_cpu};

/* ---- finding ---- */

static bool is_file(const char *folder, size_t length, const char *name, char *path, size_t size) {
    const int used = snprintf(path, size, "%.*s/libmuster-%s.so", (int)length, folder, name);
    return length > 0 && used > 0 && (size_t)used < size && access(path, R_OK) == 0;
}

/* The folder "muster" beside the library, or beside the program that has it in it. */
static bool find_beside(const char *name, char *path, size_t size) {
    Dl_info info;
    char folder[4096];
    if (!dladdr((const void *)&registrar, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const int length = slash ? (int)(slash - info.dli_fname) : 1;
    snprintf(folder, sizeof folder, "%.*s/muster", length, slash ? info.dli_fname : ".");
    return is_file(folder, strlen(folder), name, path, size);
}

static mst_status find(const char *name, char *path, size_t size) {
    const char *folders = getenv("MUSTER_MODULE_PATH");
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        if (is_file(at, length, name, path, size)) return MST_OK;
        at += length + (at[length] == ':');
    }
    if (find_beside(name, path, size)) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND,
                    "there is no module '%s': libmuster-%s.so is neither in MUSTER_MODULE_PATH nor in the folder "
                    "'muster' beside the library",
                    name, name);
}

/* ---- loading ---- */

static mst_status open_module(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return MST_FAIL(MST_UNAVAILABLE, "module %s: %s", path, dlerror());
    void *symbol = dlsym(library, "mst_module_query");
    mst_module_query_function query = NULL;
    if (symbol) memcpy(&query, &symbol, sizeof query);
    const mst_module *module = query ? query(MST_MODULE_ABI) : NULL;
    mst_status status = MST_OK;
    if (!query)
        status = MST_FAIL(MST_UNAVAILABLE, "module %s: is no module of Muster: it has no mst_module_query", path);
    else if (!module || module->abi != MST_MODULE_ABI || module->size < sizeof *module)
        status = MST_FAIL(MST_UNAVAILABLE, "module %s: was built for another version: build it for this one", path);
    else if (module->load(&registrar))
        status = mst_error_prefix("module %s", path);
    if (status) dlclose(library); /* one that is loaded stays: its tables are in use */
    return status;
}

static mst_status load(const char *name) {
    char path[4096];
    MST_TRY(find(name, path, sizeof path));
    return open_module(path);
}

static mst_status need(const char *name) {
    for (int64_t i = 0; i < num_modules; i++)
        if (strcmp(modules[i].name, name) == 0) return mst_failure_restore(&modules[i].failure);
    mst_status status = load(name);
    if (status == MST_NOT_FOUND) return status; /* it may be there next time */
    mst_failure failure;
    mst_failure_keep(&failure, status);
    MST_TRY(mst_grow(&modules, sizeof *modules, num_modules + 1, &capacity));
    loaded *added = &modules[num_modules];
    if (!(added->name = strdup(name))) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a module");
    added->failure = failure;
    num_modules++;
    return mst_failure_restore(&failure);
}

mst_status mst_module_need(const char *name) {
    pthread_mutex_lock(&lock);
    mst_status status = need(name);
    pthread_mutex_unlock(&lock);
    return status;
}

extern mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out);

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
    MST_TRY(mst_module_need(module));
    *out = mst_device_type_find(name, length);
    return *out ? MST_OK : MST_FAIL(MST_NOT_FOUND, "module '%s' has no device type of that name", module);
}
