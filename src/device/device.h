/** Devices of this process: what they are called, how many threads they have, what runs on them.
 *
 *  A specification is a list "TYPE[:COUNT][/THREADS]": "cpu" is the CPU as one device of all cores, "cpu:4" four
 * logical devices that share the cores evenly (one thread each where there are fewer cores), "cpu:2/3" two of three
 * threads.
 */
#ifndef MUSTER_DEVICE_DEVICE_H
#define MUSTER_DEVICE_DEVICE_H

#include <stdint.h>

#include "graph/device_name.h"
#include "muster/device.h"
#include "muster/op.h"

typedef struct mst_device_type {
    const char *name; /**< "CPU" */
    /** Whether a node of this op can run here; the specs are of the node. */
    bool (*supports)(const mst_op *op, int num_src, const mst_spec *src);
} mst_device_type;

typedef struct mst_device {
    const mst_device_type *type;
    mst_device_name name;
    char text[MST_DEVICE_TEXT]; /**< name in full */
    int num_threads;
    int first_core;       /**< index among the cores this process may use; -1 where more devices than cores */
    int64_t memory_limit; /**< bytes, 0: none */
} mst_device;

typedef struct mst_devices {
    mst_device *device;
    int count;
} mst_devices;

enum { MST_MAX_DEVICES = 256 };

extern const mst_device_type mst_device_type_cpu;

/** The devices of a specification (NULL or "": "cpu"); each gets MEMORY_LIMIT. The caller frees with
 *  mst_devices_free. */
MST_CHECKED mst_status mst_devices_parse(const char *spec, int64_t memory_limit, mst_devices *out);
/** Keeps only those whose places in the list VISIBLE names ("0,2"; NULL or "": all), numbered anew from 0 in its order,
 * as TensorFlow's visible devices are. */
MST_CHECKED mst_status mst_devices_show(mst_devices *devices, const char *visible);
void mst_devices_free(mst_devices *devices);
/** Index of the device of a full name, -1 where there is none. */
int mst_devices_find(const mst_devices *devices, const mst_device_name *name);
/** "/device:CPU:0, /device:CPU:1" for messages. */
const char *mst_devices_list(const mst_devices *devices, char *text, size_t size);

/** Another type of device beside CPU, for specifications read after. TYPE must stay. */
MST_CHECKED mst_status mst_device_type_register(const mst_device_type *type);

/** What the calling thread is bound to now, to be given back with mst_restore_binding; NULL where it is not known. */
void *mst_save_binding(void);
/** Frees BINDING (NULL is allowed) and, with RESTORE, binds the calling thread to it again. */
void mst_restore_binding(void *binding, bool restore);
/** Binds the calling thread to COUNT cores from FIRST (both count physical cores that this process may use). */
MST_CHECKED mst_status mst_bind_thread(int first, int count);

#endif
