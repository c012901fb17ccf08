/* The module `island`: CPU devices, each with memory that nobody else may access.
 *
 * The pages of an island have no access rights except while its own executable runs or a copy to or from it is made. So
 * what works on islands makes no assumption of shared memory, and can be trusted with devices that really have memory
 * of their own. */
#include <stdlib.h>

#include "run/backend.h"
#include "support/closed_memory.h"

static const mst_registrar *host;

/* ---- running: as the CPU does, with the island open ---- */

typedef struct executable {
    mst_domain *island;
    void *inner;
} executable;

static mst_status compile(const mst_plan *plan, int device, void **out) {
    executable *e = calloc(1, sizeof *e);
    if (!e) return host->error_set(MST_OUT_OF_MEMORY, __FILE__, __LINE__, "island: cannot get memory");
    e->island = plan->host->devices->device[device].domain;
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
    MST_TRY(closed_memory_open(bound->island));
    const mst_status status = host->cpu->execute(bound->inner, first, end, frame);
    const mst_status closed = closed_memory_close(bound->island);
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

static const char *const engines[] = {"cpu", "onednn", "reference", NULL};

static const mst_device_type device_type = {.size = sizeof(mst_device_type),
                                            .name = "ISLAND",
                                            .engines = engines,
                                            .supports = supports,
                                            .domain = closed_memory_find,
                                            .backend = &backend};

static mst_status load(const mst_registrar *registrar) {
    host = registrar;
    closed_memory_begin("island", registrar);
    return registrar->device_type(&device_type);
}

static const mst_module module = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "island", .version = "1", .load = load};

extern __attribute__((visibility("default"))) const mst_module *mst_module_query(uint32_t host_abi);

const mst_module *mst_module_query(uint32_t host_abi) {
    return host_abi == MST_MODULE_ABI ? &module : NULL;
}
