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

/* Where a module is, or which of the folders could not be looked into. */
typedef struct search {
    char path[4096];
    int error; /* errno of the first folder that could not be read */
    char unreadable[4096];
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

/* The path of the library, or of the program that has it in it, whose name alone would not say where it is. */
static bool find_self(char *path, size_t size) {
    Dl_info info;
    struct link_map *map;
    if (!dladdr1((const void *)&registrar, &info, (void **)&map, RTLD_DL_LINKMAP)) return false;
    if (map->l_name[0]) return (size_t)snprintf(path, size, "%s", map->l_name) < size;
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) path[length] = '\0';
    return length > 0;
}

static bool find_beside(search *s, const char *name) {
    char self[2048], folder[4096];
    if (!find_self(self, sizeof self)) return false;
    const char *slash = strrchr(self, '/');
    const int length = slash ? (int)(slash - self) : 1;
    snprintf(folder, sizeof folder, "%.*s/muster", length, slash ? self : ".");
    return is_in(s, folder, strlen(folder), name);
}

static mst_status find(const char *name, search *s) {
    const char *folders = getenv("MUSTER_MODULE_PATH");
    *s = (search){.error = 0};
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        if (is_in(s, at, length, name)) return MST_OK;
        at += length + (at[length] == ':');
    }
    if (find_beside(s, name)) return MST_OK;
    if (s->error)
        return MST_FAIL(MST_UNAVAILABLE,
                        "cannot look for module '%s': '%s': %s: make its folder readable, or take it out of "
                        "MUSTER_MODULE_PATH",
                        name, s->unreadable, strerror(s->error));
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

static mst_status need(const char *name) {
    for (int64_t i = 0; i < num_modules; i++)
        if (strcmp(modules[i].name, name) == 0) return mst_failure_restore(&modules[i].failure);
    search where;
    MST_TRY(find(name, &where)); /* it may be there next time */
    mst_status status = open_module(where.path);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    MST_TRY(mst_grow(&modules, sizeof *modules, num_modules + 1, &capacity));
    loaded *added = &modules[num_modules];
    if (!(added->name = strdup(name))) return MST_NO_MEMORY("for a module");
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
