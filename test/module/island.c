/* The module `island`: CPU devices, each with memory that nobody else may touch.
 *
 * The pages of an island have no access rights except while its own executable runs or a copy to or from it is made. So
 * what works on islands makes no assumption of shared memory, and can be trusted with devices that really have memory
 * of their own. Protection is a matter of the whole process: a lock lets one device or copy at a time have its islands
 * open, and is not held while a device waits for another. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module/module.h"
#include "run/backend.h"

typedef struct block {
    void *data;
    size_t bytes;
    struct block *next;
} block;

typedef struct island {
    mst_domain domain; /* first: an island is its domain */
    block *blocks;
    struct island *next;
} island;

static const mst_registrar *host;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while an island is open */
static island *islands;

#define FAIL(...) host->error_set(MST_INTERNAL, __FILE__, __LINE__, __VA_ARGS__)

/* ---- memory ---- */

static size_t whole_pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes ? (bytes + page - 1) / page * page : page;
}

static mst_status protect(const island *x, int rights) {
    for (const block *b = x->blocks; b; b = b->next)
        if (mprotect(b->data, b->bytes, rights)) return FAIL("island %d: mprotect failed", x->domain.index);
    return MST_OK;
}

static mst_status open_island(const island *x) {
    return protect(x, PROT_READ | PROT_WRITE);
}

static mst_status island_alloc(mst_domain *domain, size_t bytes, void **out) {
    island *x = (island *)domain;
    *out = NULL;
    block *b = malloc(sizeof *b);
    if (!b) return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get memory");
    b->bytes = whole_pages(bytes);
    b->data = mmap(NULL, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->data == MAP_FAILED) {
        free(b);
        return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get %zu bytes of memory", bytes);
    }
    pthread_mutex_lock(&lock);
    b->next = x->blocks;
    x->blocks = b;
    pthread_mutex_unlock(&lock);
    *out = b->data;
    return MST_OK;
}

static void island_free(mst_domain *domain, void *data, size_t bytes) {
    island *x = (island *)domain;
    (void)bytes;
    pthread_mutex_lock(&lock);
    for (block **at = &x->blocks; *at; at = &(*at)->next) {
        block *b = *at;
        if (b->data != data) continue;
        *at = b->next;
        munmap(b->data, b->bytes);
        free(b);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static mst_status island_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&lock);
    if (!to->type->host) status = open_island((island *)to);
    if (!status && !from->type->host) status = open_island((island *)from);
    if (!status) memcpy(dst, src, bytes);
    if (!to->type->host && protect((island *)to, PROT_NONE)) status = MST_INTERNAL;
    if (!from->type->host && protect((island *)from, PROT_NONE)) status = MST_INTERNAL;
    pthread_mutex_unlock(&lock);
    return status;
}

static const mst_domain_type domain_type = {
    .size = sizeof(mst_domain_type), .name = "island", .alloc = island_alloc, .free = island_free, .copy = island_copy};

/* ---- running: as the CPU does, with the island open ---- */

typedef struct executable {
    island *island;
    void *inner;
} executable;

static mst_status compile(const mst_plan *plan, int device, void **out) {
    executable *e = calloc(1, sizeof *e);
    if (!e) return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get memory");
    e->island = (island *)plan->host->devices->device[device].domain;
    mst_status status = host->cpu->compile(plan, device, &e->inner);
    if (status)
        free(e);
    else
        *out = e;
    return status;
}

static void destroy(void *context) {
    executable *e = context;
    host->cpu->destroy(e->inner);
    free(e);
}

static mst_status bind(void *context, const mst_binding *binding, void **out) {
    const executable *e = context;
    executable *bound = calloc(1, sizeof *bound);
    if (!bound) return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get memory");
    bound->island = e->island;
    mst_status status = host->cpu->bind(e->inner, binding, &bound->inner);
    if (status)
        free(bound);
    else
        *out = bound;
    return status;
}

static void unbind(void *context) {
    executable *bound = context;
    host->cpu->unbind(bound->inner);
    free(bound);
}

static mst_status execute(void *context, int32_t first, int32_t end, struct mst_frame *frame) {
    const executable *bound = context;
    pthread_mutex_lock(&lock);
    mst_status status = open_island(bound->island);
    if (!status) status = host->cpu->execute(bound->inner, first, end, frame);
    const mst_status closed = protect(bound->island, PROT_NONE);
    pthread_mutex_unlock(&lock);
    return status ? status : closed;
}

static const mst_backend backend = {.size = sizeof(mst_backend),
                                    .compile = compile,
                                    .destroy = destroy,
                                    .bind = bind,
                                    .unbind = unbind,
                                    .execute = execute};

/* ---- the device type ---- */

static bool supports(const mst_op *op, int num_src, const mst_spec *src) {
    (void)num_src, (void)src;
    return op->reference != NULL;
}

static mst_status find_domain(int index, mst_domain **out) {
    pthread_mutex_lock(&lock);
    island *x = islands;
    while (x && x->domain.index != index) x = x->next;
    if (!x && (x = calloc(1, sizeof *x))) {
        x->domain = (mst_domain){.type = &domain_type, .index = index};
        x->next = islands;
        islands = x;
    }
    pthread_mutex_unlock(&lock);
    *out = x ? &x->domain : NULL;
    return x ? MST_OK : host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get memory");
}

static const char *const engines[] = {"cpu", "onednn", "reference", NULL};

static const mst_device_type device_type = {.size = sizeof(mst_device_type),
                                            .name = "ISLAND",
                                            .engines = engines,
                                            .supports = supports,
                                            .domain = find_domain,
                                            .backend = &backend};

static mst_status load(const mst_registrar *registrar) {
    host = registrar;
    return registrar->device_type(&device_type);
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "island", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
