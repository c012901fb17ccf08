/* Cores, caches and binding of threads, by hwloc. */
#include <hwloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "device/device.h"
#include "device/onednn_isa.h"
#include "device/quota.h"
#include "tensor/buffer.h"

/* Bytes that must be available before hwloc is called. hwloc does not check its allocations, and may hang or crash
 * without memory. */
enum { MOST_OF_A_TOPOLOGY = 8 << 20, MOST_OF_A_BINDING = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_loaded;
static hwloc_topology_t topology; /* NULL: hwloc does not know this machine */
static hwloc_cpuset_t allowed;    /* cores to which this process is bound (taskset), or all */
static atomic_bool has_bound;     /* a thread was bound to cores, so topology and allowed are set */
static double quota;              /* limit of a container on processor time, in cores; 0: no limit */
static int64_t memory_quota;      /* limit of a container in bytes; 0: no limit */

/* Whether Linux' files about processors are there. Without them, as in some sandboxes, hwloc prints an error when it
 * looks for cores. */
static bool has_cpu_files(void) {
    return access("/sys/devices/system/cpu/cpu0/topology", R_OK | X_OK) == 0 ||
           access("/sys/bus/cpu/devices/cpu0/topology", R_OK | X_OK) == 0;
}

static void load(void) {
    static const char *const groups = "/sys/fs/cgroup", *const membership = "/proc/self/cgroup";
    quota = mst_cpu_quota(groups, membership);
    memory_quota = mst_memory_quota(groups, membership);
    if (hwloc_topology_init(&topology)) return;
    /* finds only what is used: finding devices on buses takes most of the time of a full discovery */
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (!has_cpu_files()) hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
    if (hwloc_topology_load(topology)) {
        hwloc_topology_destroy(topology);
        topology = NULL;
        return;
    }
    allowed = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(topology));
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    if (allowed && bound && hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(allowed, bound))
        hwloc_bitmap_and(allowed, allowed, bound);
    hwloc_bitmap_free(bound);
}

mst_status mst_machine_load(void) {
    mst_status status = MST_OK;
    if (atomic_load(&is_loaded)) return MST_OK;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&is_loaded) && !(status = mst_memory_probe(MOST_OF_A_TOPOLOGY))) {
        load();
        atomic_store(&is_loaded, true);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static hwloc_topology_t get(void) {
    return mst_machine_load() ? NULL : topology;
}

int mst_num_cores(void) {
    if (!get() || !allowed) return 1;
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, allowed, HWLOC_OBJ_CORE);
    /* a container may allow single hardware threads but no whole core */
    if (cores < 1) cores = hwloc_bitmap_weight(allowed);
    if (quota > 0 && cores > (int)(quota + 0.5)) cores = (int)(quota + 0.5);
    return cores > 0 ? cores : 1;
}

mst_status mst_bind_thread(int first, int count) {
    if (!get() || !allowed || first < 0) return MST_OK;
    MST_TRY(mst_memory_probe(MOST_OF_A_BINDING));
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    if (!set) return MST_NO_MEMORY("to bind a thread");
    for (int i = first; i < first + count; i++) {
        hwloc_obj_t core = hwloc_get_obj_inside_cpuset_by_type(topology, allowed, HWLOC_OBJ_CORE, (unsigned)i);
        if (core) hwloc_bitmap_or(set, set, core->cpuset);
    }
    mst_status status = MST_OK;
    atomic_store(&has_bound, true);
    if (!hwloc_bitmap_iszero(set) && hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD))
        status = MST_FAIL(MST_UNAVAILABLE, "cannot bind a thread to cores %d to %d: run without pinning", first,
                          first + count - 1);
    hwloc_bitmap_free(set);
    return status;
}

void mst_unbind_thread(void) {
    if (atomic_load(&has_bound) && !mst_memory_probe(MOST_OF_A_BINDING))
        (void)hwloc_set_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD);
}

void *mst_save_binding(void) {
    hwloc_cpuset_t set = get() && !mst_memory_probe(MOST_OF_A_BINDING) ? hwloc_bitmap_alloc() : NULL;
    if (set && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_THREAD)) {
        hwloc_bitmap_free(set);
        set = NULL;
    }
    return set;
}

void mst_restore_binding(void *binding, bool restore) {
    if (binding && restore && !mst_memory_probe(MOST_OF_A_BINDING))
        (void)hwloc_set_cpubind(topology, binding, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(binding);
}

static int64_t cache_size(hwloc_obj_type_t type) {
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache ? (int64_t)cache->attr->cache.size : 0;
}

static const char *isa(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return "AVX-512";
    if (__builtin_cpu_supports("avx2")) return "AVX2";
#endif
    return "baseline";
}

static void read_onednn_isa(mst_machine *out) {
    out->onednn_isa_bits = mst_onednn_isa();
    mst_onednn_isa_name(out->onednn_isa_bits, out->onednn_isa, sizeof out->onednn_isa);
}

static void read_cpu_name(mst_machine *out) {
    snprintf(out->cpu, sizeof out->cpu, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(out->cpu, sizeof out->cpu, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

/* The memory of the machine, or of its container if that is less. */
static int64_t memory_here(void) {
    const int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const bool limited = get() && memory_quota > 0 && (bytes <= 0 || memory_quota < bytes);
    return limited ? memory_quota : bytes > 0 ? bytes : 0;
}

int64_t mst_host_memory(void) {
    struct sysinfo info;
    const int64_t memory = memory_here();
    if (memory <= 0 || sysinfo(&info)) return memory;
    return memory + (int64_t)info.totalswap * (int64_t)info.mem_unit;
}

int64_t mst_process_memory(void) {
    long long pages = 0, resident = 0, shared = 0; /* proc(5): `shared` are pages of files */
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file && fscanf(file, "%lld %lld %lld", &pages, &resident, &shared) == 3;
    if (file) fclose(file);
    return known && resident > shared ? (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

void mst_machine_read(mst_machine *out) {
    if (MST_IS_NULL(out)) return;
    *out = (mst_machine){.num_cores = mst_num_cores(), .num_all_cores = 1, .isa = isa()};
    out->memory = memory_here();
    read_cpu_name(out);
    read_onednn_isa(out);
    if (!get()) return;
    out->num_all_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    out->num_hardware_threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    out->num_numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    out->l2_cache = cache_size(HWLOC_OBJ_L2CACHE);
    out->l3_cache = cache_size(HWLOC_OBJ_L3CACHE);
}
