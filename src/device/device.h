/** Devices of this process: their names, the memory in which they compute, their threads, and the ops that they can
 *  run.
 *
 *  A specification is a list, separated by commas, of "TYPE[:COUNT[xLOGICAL]][/THREADS]":
 *
 *      cpu        the CPU as one device with all cores
 *      cpu:4      four logical devices that divide the cores evenly; with fewer than 4 cores each has one thread
 *      cpu:2/3    two devices with three threads each
 *      gpu        all GPUs; also for other types that have a number of physical devices
 *      gpu:2      the first two GPUs
 *      gpu:2x3    six logical devices, three on each of the first two GPUs
 *
 *  For an unknown type, a module of its name is loaded (module/module.h).
 *
 *  A device that compiles programs cannot run all ops. A list with such a device and without a CPU therefore gets the
 *  CPU as its last device. That CPU has a name, but does not count as listed by the user. */
#ifndef MUSTER_DEVICE_DEVICE_H
#define MUSTER_DEVICE_DEVICE_H

#include <stdint.h>

#include "device/domain.h"
#include "graph/device_name.h"
#include "graph/names.h"
#include "muster/device.h"
#include "muster/op.h"

struct mst_backend;
struct mst_backend_services;

/** The physical devices of a type. No pointer may be NULL, except `see`. */
typedef struct mst_physical_devices {
    /** Sets *OUT to the number of devices, at least 1. MST_UNAVAILABLE if there is none. */
    mst_status (*count)(int *out);
    /** Restricts this process to the COUNT devices with the numbers PLACE (from 0, each once) of this host, so that it
     *  leaves the other devices alone. On success *SEEN becomes true, and these devices are all that exist for the
     *  process, in ascending order. Otherwise *SEEN stays false, and the process sees all devices. MST_INVALID if the
     *  process is already restricted to other devices. NULL: the process always sees all devices. */
    mst_status (*see)(const int *place, int count, bool *seen);
} mst_physical_devices;

/** A type of device. Its backend turns a device's part of a plan into an executable (run/backend.h). No pointer may be
 *  NULL, except `services`, `identity`, `physical` and `describe`. */
typedef struct mst_device_type {
    uint32_t size;    /**< size of this struct in the header with which the type was compiled */
    const char *name; /**< "CPU" */
    /** Whether the backend compiles programs (plan/compiled.h) and has no kernels. Each device of such a type is a
     *  domain of its own. A list of devices with such a type has a CPU too (mst_device_host_device). */
    bool compiles;
    /** Engines whose kernels run on this type: "cpu", "onednn". The list ends with NULL. Reference kernels run on every
     *  type that lists an engine "reference". */
    const char *const *engines;
    /** Whether a node of this op can run here; the specs are those of the node's sources. */
    bool (*supports)(const mst_op *op, int num_src, const mst_spec *src);
    /** The memory domain of device INDEX of this type. If the type has N physical devices, the device is on physical
     *  device INDEX modulo N: indices from N on are further logical devices. */
    mst_status (*domain)(int index, mst_domain **out);
    const struct mst_backend *backend;
    const struct mst_backend_services *services; /**< CPU: the services that backends of modules use; others: NULL */
    /** A text that says which devices these are, and which compiler they have. It must be the same on all synchronous
     *  workers, since other devices or compilers give other bits. Called after a device was made; the text is valid
     *  forever. NULL: all devices of this type compute the same bits. */
    const char *(*identity)(void);
    /** NULL, or behind the end of the struct (`size`): any number of devices of this type can be made. */
    const mst_physical_devices *physical;
    /** Fills the members of OUT that describe an accelerator, which are empty before, for the device with DOMAIN. NULL,
     *  or behind the end of the struct (`size`): there is nothing to fill in. */
    mst_status (*describe)(const mst_domain *domain, mst_device_info *out);
} mst_device_type;

typedef struct mst_device {
    const mst_device_type *type;
    mst_domain *domain;
    mst_device_name name;
    char text[MST_DEVICE_TEXT]; /**< full name */
    int num_threads;
    int first_core;       /**< index of the first core among those that this process may use; -1: there are more devices
                               than cores */
    int64_t memory_limit; /**< in bytes; 0: no limit */
    int32_t task;         /**< number of its task in mst_devices_join; 0 if this process is alone */
    bool added;           /**< not listed by the user: the CPU beside devices that compile */
    int physical; /**< number of the physical device on which it is; -1: its type has none, or another task has it */
} mst_device;

/** A list of devices: those of this process, or those of several tasks (mst_devices_join). */
typedef struct mst_devices {
    mst_device *device;
    int count;
    mst_names index;         /**< full name -> index in `device` */
    int32_t num_tasks, self; /**< number of tasks, and the number of this process among them: 1 and 0 if it is alone */
    mst_domain *other_domains; /**< stand-ins for domains of other tasks: only for comparing, they have no memory */
    mst_domain **host;         /**< [num_tasks]: the domain of each task's host memory; NULL: this process is alone */
} mst_devices;

/** The description of a device that tasks send each other. */
typedef struct mst_device_description {
    char name[MST_DEVICE_TEXT]; /**< full name */
    int32_t domain;             /**< number of its memory domain in its task; 0: the host's memory */
    bool added;                 /**< as in mst_device */
} mst_device_description;

/** The descriptions of a task's devices. */
typedef struct mst_task_devices {
    int32_t count;
    const mst_device_description *device;
} mst_task_devices;

/** Makes the devices of SPEC (NULL or "": "cpu"). VISIBLE ("0,2"; NULL or "": all) chooses some of them by their
 *  numbers in the list, from 0. They are numbered again from 0, in the order of VISIBLE, as TensorFlow's visible
 *  devices are. Each gets MEMORY_LIMIT (bytes; 0: none), and its name begins with the name of TASK (NULL:
 *  "/job:localhost/replica:0/task:0"). If one of them compiles and none is a CPU, the CPU is added, with all cores and
 *  without a limit. MST_INVALID if the memory of a physical device is known, and smaller than the sum of the limits of
 *  the devices on it. The caller frees *OUT with mst_devices_free. */
MST_CHECKED mst_status mst_devices_create(const char *spec, const char *visible, int64_t memory_limit,
                                          const mst_device_name *task, mst_devices *out);
void mst_devices_free(mst_devices *devices);
/** Describes device I of a process to other tasks. */
mst_device_description mst_device_describe(const mst_devices *devices, int i);
/** Extends OWN, the devices of this process, to the devices of all tasks, task by task. TASK[SELF] describes OWN.
 *  Devices of other tasks have a type and a name, but cannot be used in this process. MST_INVALID if a description is
 *  wrong or its type is not known; then OWN does not change. */
MST_CHECKED mst_status mst_devices_join(mst_devices *own, const mst_task_devices *task, int32_t num_tasks,
                                        int32_t self);
/** Whether device I belongs to this process. */
bool mst_device_is_here(const mst_devices *devices, int i);
/** The domain of the host's memory in the task of device I. */
mst_domain *mst_device_host(const mst_devices *devices, int i);
/** The index of the first CPU in the task of device I; -1: the task has none. */
int mst_device_host_device(const mst_devices *devices, int i);
/** The number of devices that users have listed. */
int mst_devices_num_listed(const mst_devices *devices);
/** The index in the list of the I-th device that users have listed; -1: there are fewer. */
int mst_devices_listed(const mst_devices *devices, int i);
/** The index of the device with this full name; -1: there is none. */
int mst_devices_find(const mst_devices *devices, const mst_device_name *name);
/** Whether the task named in this full name has any devices. */
bool mst_devices_have_task(const mst_devices *devices, const mst_device_name *name);
/** The full names of all devices, "..., ...", for messages. Writes at most SIZE bytes, and returns TEXT. */
const char *mst_devices_list(const mst_devices *devices, char *text, size_t size);
/** The index of the device for a node that cannot run on the device NAME. The device is of the same task: the first one
 *  that can run the node and has the host's memory, else the first one that can run it; -1: none can. */
int mst_devices_fallback(const mst_devices *devices, const mst_device_name *name, const mst_op *op, int num_src,
                         const mst_spec *src);
/** Writes the short name of device I of the first type, "/device:CPU:1", to TEXT; returns TEXT. */
char *mst_device_default_name(int i, char *text, size_t size);

/** The library's own types; the list ends with NULL. The build makes it from src/run. */
extern const mst_device_type *const mst_device_type_table[];
/** Adds a type of device for specifications that are read later. TYPE must stay valid forever. MST_EXISTS if there is
 *  a type of its name. */
MST_CHECKED mst_status mst_device_type_register(const mst_device_type *type);
/** The type with this name, in upper or lower case; NULL: there is none. */
const mst_device_type *mst_device_type_find(const char *name, size_t length);
/** Describes DEVICE (muster/device.h); its type's `describe` fills in the members for accelerators. */
MST_CHECKED mst_status mst_device_inform(const mst_device *device, mst_device_info *out);
/** The physical devices of TYPE; NULL: any number of devices can be made. */
const mst_physical_devices *mst_device_type_physical(const mst_device_type *type);

/** Finds the cores and caches of this machine, once. The functions below and mst_num_cores call it when needed; if it
 *  fails, they assume one core, and bind no thread. After MST_OUT_OF_MEMORY the next call tries again. */
MST_CHECKED mst_status mst_machine_load(void);
/** The most bytes that this process may use: the memory of the machine or of its container, plus the swap space; 0 if
 *  not known. */
int64_t mst_host_memory(void);
/** Bytes of this process that are in memory now, except pages of files, which the system can read again; 0 if not
 *  known. */
int64_t mst_process_memory(void);
/** Call it before MORE bytes are allocated for WHAT ("the predictions"). MST_OUT_OF_MEMORY if MORE + mst_process_memory
 *  is larger than mst_host_memory. ADVICE, a text that says what the user can do, ends the message. */
MST_API MST_CHECKED mst_status mst_host_check(int64_t more, const char *what, const char *advice);
/** The cores to which the calling thread is bound now, for mst_restore_binding; NULL: not known. */
void *mst_save_binding(void);
/** Frees BINDING (NULL is allowed) and, with RESTORE, binds the calling thread to it again. */
void mst_restore_binding(void *binding, bool restore);
/** Binds the calling thread to COUNT cores from FIRST on. Both count physical cores that this process may use. */
MST_CHECKED mst_status mst_bind_thread(int first, int count);
/** For a thread that does not work for a device: lets it run on all cores of this process. The thread that started it
 *  may have been bound by mst_bind_thread. */
void mst_unbind_thread(void);

#endif
