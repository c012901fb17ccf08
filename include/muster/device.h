/** Facts about this machine, and about the devices that a specification makes on it. */
#ifndef MUSTER_DEVICE_H
#define MUSTER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_machine {
    char cpu[128]; /**< its name, "" if not known */
    int num_cores; /**< cores that this process may use (mst_num_cores) */
    int num_all_cores, num_hardware_threads, num_numa_nodes;
    /** In bytes; 0 if not known. `memory`: of the machine, or the limit of its container if that is lower. */
    int64_t memory, l2_cache, l3_cache;
    const char *isa; /**< "AVX-512", "AVX2" or "baseline": the instructions that Muster's kernels use */
    /** The instructions that oneDNN uses, such as "AVX512_CORE": all of the machine, or fewer if the environment
     *  variable DNNL_MAX_CPU_ISA (which takes these names) says so. */
    char onednn_isa[32];
    uint64_t onednn_isa_bits; /**< one bit for each part of these instructions, the same on all machines */
} mst_machine;
/** Fills OUT for this machine. */
MST_API void mst_machine_read(mst_machine *out);

/** Physical cores that this process may use (affinity and quota of its container counted), at least 1. */
MST_API int mst_num_cores(void);

/** A device. The members after `physical` are for accelerators. They are "" or 0 for a CPU, and where the plugin of an
 *  accelerator does not give the value. */
typedef struct mst_device_info {
    char name[192];
    int num_threads;
    int first_core;        /**< among the cores this process may use; -1 if there are more devices than cores */
    bool compiles;         /**< programs are compiled for it, as for GPUs; it has no kernels */
    int physical;          /**< of a GPU or TPU: the number of its physical device; -1 of others */
    char kind[128];        /**< "NVIDIA H200" */
    char platform[64];     /**< "cuda" */
    char versions[192];    /**< versions of platform, PJRT API and StableHLO: "cuda 13000, PJRT API 0.116" */
    int num_here;          /**< number of accelerators of its type that its plugin finds here */
    int64_t memory;        /**< bytes that its plugin may use, which may be fewer than the device has */
    int64_t memory_in_use; /**< bytes of `memory` that this process uses now */
} mst_device_info;
/** Describes the devices that a specification ("cpu:2") makes. SPEC and VISIBLE ("1,0"; NULL: all) are as in
 *  mst_session_options. Writes up to MAX, and sets *COUNT to the number of devices. The CPU that is added to a list of
 *  accelerators is left out. The plugin of the accelerators is loaded for this. MST_NOT_FOUND: the configured plugin
 *  (MUSTER_PJRT_PLUGIN) is for another type of accelerator. */
MST_API MST_CHECKED mst_status mst_devices_describe(const char *spec, const char *visible, mst_device_info *out,
                                                    int max, int *count);

#ifdef __cplusplus
}
#endif
#endif
