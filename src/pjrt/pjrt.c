/* The module `pjrt`: devices of the types xla (the plugin for CPUs, for tests), gpu and tpu. They are driven by plugins
 * of PJRT, the interface of XLA's runtimes. A plugin is loaded when the first device of its type is made, and not with
 * the module: a task that has no such devices needs the module too, to plan for the devices of other tasks. */
#include <stdlib.h>

#include "pjrt/buffers.h"
#include "pjrt/client.h"
#include "pjrt/device_info.h"
#include "pjrt/loaded_executable.h"
#include "pjrt/pjrt_backend.h"

/* ---- types of devices ---- */

/* The client for CPUs has max(devices, cores) threads, and programs depend on the number of threads. So its number of
 * devices is fixed: programs are then the same for any number of logical devices. It is two, so that tests copy between
 * devices. */
static const mst_pjrt_kind xla_kind = {
    .name = "xla",
    .platforms = (const char *const[]){"cpu", NULL},
    .places = (const char *const[]){"xla_plugins/xla_cpu_pjrt/*.so", NULL},
    .option = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
               .name = "cpu_device_count",
               .name_size = sizeof "cpu_device_count" - 1,
               .type = PJRT_NamedValue_kInt64,
               .int64_value = 2,
               .value_size = 1},
    .advice = "use cpu",
    /* the maximum or minimum of a NaN and a number is NaN, as on other devices */
    .flags = (const mst_pjrt_flag[]){{"xla_cpu_enable_fast_min_max", false}, {NULL, false}},
    .is_processor = true};

/* The option and the flags: the client allocates memory as it is needed; the same program gives the same bits in each
 * run; f32 -> bf16 -> f32 rounds, where XLA may otherwise leave out both conversions. */
static const mst_pjrt_kind gpu_kind = {
    .name = "gpu",
    .platforms = (const char *const[]){"cuda", "rocm", NULL},
    .places = (const char *const[]){"jax_plugins/xla_cuda*/xla_cuda_plugin.so",
                                    "jax_plugins/xla_rocm*/xla_rocm_plugin.so", NULL},
    .option = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
               .name = "preallocate",
               .name_size = sizeof "preallocate" - 1,
               .type = PJRT_NamedValue_kBool,
               .bool_value = false,
               .value_size = 1},
    .visible_option = "visible_devices",
    .advice = "see to the driver (nvidia-smi or rocm-smi lists the GPUs that it finds), or use cpu",
    .flags = (const mst_pjrt_flag[]){
        {"xla_gpu_exclude_nondeterministic_ops", true}, {"xla_allow_excess_precision", false}, {NULL, false}}};

static const mst_pjrt_kind tpu_kind = {.name = "tpu",
                                       .platforms = (const char *const[]){"tpu", NULL},
                                       .places = (const char *const[]){"libtpu/libtpu.so", NULL},
                                       .advice = "run it on a host with TPUs, or use cpu",
                                       .flags = (const mst_pjrt_flag[]){{NULL, false}}};

/* Defines the client of a type of device, and the type's functions. Each type has functions of its own, because they
 * have no context parameter that could give the client. */
#define CLIENT(own)                                                                                   \
    static mst_pjrt_client own##_client = MST_PJRT_CLIENT(&own##_kind);                               \
    static mst_status own##_domain(int index, mst_domain **out) {                                     \
        return mst_pjrt_domain(&own##_client, index, out);                                            \
    }                                                                                                 \
    static const char *own##_identity(void) {                                                         \
        return own##_client.identity;                                                                 \
    }                                                                                                 \
    static mst_status own##_compile(const mst_executable_source *source, void **data, size_t *size) { \
        return mst_pjrt_executable_compile(&own##_client, source, data, size);                        \
    }
CLIENT(xla)
CLIENT(gpu)
CLIENT(tpu)

static mst_status gpu_see(const int *place, int count, bool *seen) {
    return mst_pjrt_client_see(&gpu_client, place, count, seen);
}

/* The physical devices of a type. */
#define PHYSICAL(own, own_see)                            \
    static mst_status own##_count(int *out) {             \
        return mst_pjrt_client_count(&own##_client, out); \
    }                                                     \
    static const mst_physical_devices own##_physical = {own##_count, own_see};
PHYSICAL(gpu, gpu_see)
PHYSICAL(tpu, NULL)

static bool supports(const mst_op *op, int num_src, const mst_spec *src) {
    const unsigned silent = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT | MST_OP_NO_VALUE;
    for (int i = 0; i < num_src; i++)
        if (mst_pjrt_type(src[i].dtype) == PJRT_Buffer_Type_INVALID) return false;
    return op->hlo || op->lower || op->flags & silent;
}

static const char *const engines[] = {NULL};

enum { NUM_TYPES = 3 };
static mst_backend backends[NUM_TYPES]; /* by type: set when the module is loaded */

#define DEVICE_TYPE(i, own_name, own, own_physical)                                                        \
    {                                                                                                      \
        .size = sizeof(mst_device_type), .name = (own_name), .compiles = true, .engines = engines,         \
        .supports = supports, .domain = own##_domain, .backend = &backends[i], .identity = own##_identity, \
        .physical = (own_physical), .describe = mst_pjrt_describe                                          \
    }

static const mst_device_type device_types[NUM_TYPES] = {DEVICE_TYPE(0, "XLA", xla, NULL),
                                                        DEVICE_TYPE(1, "GPU", gpu, &gpu_physical),
                                                        DEVICE_TYPE(2, "TPU", tpu, &tpu_physical)};

static mst_status (*const compile_for[NUM_TYPES])(const mst_executable_source *source, void **data, size_t *size) = {
    xla_compile, gpu_compile, tpu_compile};

/* ---- the module ---- */

/* Plugins write many messages to the user's screen. At this level they write only fatal errors, before an abort. A
 * level that the user has set stays. It is set here, and not where a plugin is loaded, because by then other threads
 * may read the environment. */
static void silence_plugins(void) {
    setenv("TF_CPP_MIN_LOG_LEVEL", "3", false);
}

static mst_status register_types(const mst_registrar *registrar) {
    mst_pjrt_host = registrar;
    silence_plugins();
    for (int i = 0; i < NUM_TYPES; i++) {
        backends[i] = mst_pjrt_backend;
        backends[i].compile_text = compile_for[i];
        MST_TRY(registrar->device_type(&device_types[i]));
    }
    return MST_OK;
}

extern const mst_module mst_module_pjrt;
const mst_module mst_module_pjrt = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "pjrt", .version = MST_VERSION, .load = register_types};
