/* The cache of executables of this process. A call uses the cache that was chosen when the call began, even if another
 * cache is chosen meanwhile. */
#include "muster/compile_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "run/executable_cache.h"

typedef struct chosen_cache {
    mst_executable_cache *cache;
    int64_t uses; /* number of calls under way, plus 1 while this is the chosen cache; under the lock */
} chosen_cache;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static chosen_cache *chosen; /* NULL: none was chosen yet */

static mst_status make_chosen(const char *folder, int64_t limit, FILE *log, chosen_cache **out) {
    chosen_cache *x = calloc(1, sizeof *x);
    if (!x) return MST_NO_MEMORY("for the cache of executables");
    x->uses = 1;
    const mst_status status = mst_executable_cache_open(folder, limit, log, &x->cache);
    if (status)
        free(x);
    else
        *out = x;
    return status;
}

static void leave_chosen(chosen_cache *x) {
    if (!x) return;
    pthread_mutex_lock(&lock);
    const bool is_last = --x->uses == 0;
    pthread_mutex_unlock(&lock);
    if (!is_last) return;
    mst_executable_cache_close(x->cache);
    free(x);
}

mst_status mst_compile_cache_set(const char *folder, int64_t limit, FILE *log) {
    chosen_cache *x;
    MST_TRY(make_chosen(folder, limit, log, &x));
    pthread_mutex_lock(&lock);
    chosen_cache *before = chosen;
    chosen = x;
    pthread_mutex_unlock(&lock);
    leave_chosen(before);
    return MST_OK;
}

/* The cache for a call: the chosen one, or the default one if none was chosen. NULL: out of memory. Leave it after the
 * call. */
static chosen_cache *use_chosen(void) {
    pthread_mutex_lock(&lock);
    if (!chosen && make_chosen(NULL, 0, NULL, &chosen)) chosen = NULL;
    chosen_cache *x = chosen;
    if (x) x->uses++;
    pthread_mutex_unlock(&lock);
    return x;
}

mst_status mst_compile_cache_describe(mst_compile_cache_info *out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    chosen_cache *x = use_chosen();
    *out = (mst_compile_cache_info){.is_made = false};
    const mst_status status =
        x ? mst_executable_cache_describe(x->cache, out) : MST_NO_MEMORY("for the cache of executables");
    leave_chosen(x);
    return status;
}

bool mst_executable_find(const mst_executable_key *key, void **data, size_t *size) {
    chosen_cache *x = use_chosen();
    *data = NULL;
    *size = 0;
    const bool found = x && mst_executable_cache_find(x->cache, key, data, size);
    leave_chosen(x);
    return found;
}

void mst_executable_keep(const mst_executable_key *key, const void *data, size_t size) {
    chosen_cache *x = use_chosen();
    if (x) mst_executable_cache_keep(x->cache, key, data, size);
    leave_chosen(x);
}

void mst_executable_refuse(const mst_executable_key *key) {
    chosen_cache *x = use_chosen();
    if (x) mst_executable_cache_refuse(x->cache, key);
    leave_chosen(x);
}
