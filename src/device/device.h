/** Devices of this process: what they are called, in which memory they compute, how many threads they have, what runs
 *  on them.
 *
 *  A specification is a list "TYPE[:COUNT][/THREADS]": "cpu" is the CPU as one device of all cores, "cpu:4" four
 *  logical devices that share the cores evenly (one thread each where there are fewer cores), "cpu:2/3" two of three
 *  threads. A type that is not known is looked for in a module of its name (module/module.h). */
#ifndef MUSTER_DEVICE_DEVICE_H
#define MUSTER_DEVICE_DEVICE_H

#include <stdint.h>

#include "device/domain.h"
#include "graph/device_name.h"
#include "graph/names.h"
#include "muster/device.h"
#include "muster/op.h"

struct mst_backend;

/** A kind of device. A backend says how a plan's part becomes something that runs (run/backend.h). No pointer may be
 *  NULL. */
typedef struct mst_device_type {
    uint32_t size;    /**< of this struct, as its author knew it */
    const char *name; /**< "CPU" */
    /** Engines whose kernels run here, ended by NULL: "cpu", "onednn". Reference kernels run on every device that lists
     *  an engine "reference". */
    const char *const *engines;
    /** Whether a node of this op can run here; the specs are those of the node's sources. */
    bool (*supports)(const mst_op *op, int num_src, const mst_spec *src);
    /** The domain of device INDEX of this type. */
    mst_status (*domain)(int index, mst_domain **out);
    const struct mst_backend *backend;
} mst_device_type;

typedef struct mst_device {
    const mst_device_type *type;
    mst_domain *domain;
    mst_device_name name;
    char text[MST_DEVICE_TEXT]; /**< name in full */
    int num_threads;
    int first_core;       /**< index among the cores this process may use; -1 where more devices than cores */
    int64_t memory_limit; /**< bytes, 0: none */
    int32_t task;         /**< number among the tasks of the list that it belongs to */
} mst_device;

/** A list of devices: those of this process, or those of several tasks (mst_devices_join). */
typedef struct mst_devices {
    mst_device *device;
    int count;
    mst_names index;           /**< full name -> place */
    int32_t num_tasks, self;   /**< tasks, and which of them this process is: 1 and 0 where it is alone */
    mst_domain *other_domains; /**< domains of other tasks, for comparing only: no memory can be had there */
    mst_domain **host;         /**< by task: the domain of the host's memory there; NULL: this process is alone */
} mst_devices;

/** A device, as tasks describe theirs to each other. */
typedef struct mst_device_description {
    char name[MST_DEVICE_TEXT]; /**< in full */
    int32_t domain;             /**< number of its memory domain among those of its task; 0: the host's memory */
} mst_device_description;

/** The devices of a task. */
typedef struct mst_task_devices {
    int32_t count;
    const mst_device_description *device;
} mst_task_devices;

/** Makes the devices of SPEC (NULL or "": "cpu"). VISIBLE ("0,2"; NULL or "": all) chooses some of them by their places
 *  in that list; they are numbered anew from 0, in its order, as TensorFlow's visible devices are. Each gets
 *  MEMORY_LIMIT, and the name of TASK before its own (NULL: "/job:localhost/replica:0/task:0"). The caller frees *OUT
 *  with mst_devices_free. */
MST_CHECKED mst_status mst_devices_create(const char *spec, const char *visible, int64_t memory_limit,
                                          const mst_device_name *task, mst_devices *out);
void mst_devices_free(mst_devices *devices);
/** Describes device I of a process to other tasks. */
mst_device_description mst_device_describe(const mst_devices *devices, int i);
/** Extends OWN, the devices of this process, to those of all tasks, task by task; TASK[SELF] describes OWN. Devices of
 *  other tasks have a type and a name, and nothing can be done with them here. MST_INVALID, and OWN does not change,
 *  where a description is wrong or its type is not known here. */
MST_CHECKED mst_status mst_devices_join(mst_devices *own, const mst_task_devices *task, int32_t num_tasks,
                                        int32_t self);
/** Whether device I belongs to this process. */
bool mst_device_is_here(const mst_devices *devices, int i);
/** The domain of the host's memory in the task of device I. */
mst_domain *mst_device_host(const mst_devices *devices, int i);
/** Index of the device of a full name, -1 where there is none. */
int mst_devices_find(const mst_devices *devices, const mst_device_name *name);
/** Whether there are devices of the task of a full name. */
bool mst_devices_have_task(const mst_devices *devices, const mst_device_name *name);
/** The names of all devices in full, "..., ...", for messages; writes at most SIZE bytes, and returns TEXT. */
const char *mst_devices_list(const mst_devices *devices, char *text, size_t size);
/** The device for a node that cannot run where it was put, in the task of the full name NAME. It is the first that can
 *  run the node and has the host's memory, else the first that can run it; -1: none can. */
int mst_devices_fallback(const mst_devices *devices, const mst_device_name *name, const mst_op *op, int num_src,
                         const mst_spec *src);
/** The short name of device I of the first type, "/device:CPU:1", into TEXT; returns TEXT. */
char *mst_device_default_name(int i, char *text, size_t size);

/** The library's own types, ended by NULL: made by the build from src/run. */
extern const mst_device_type *const mst_device_type_table[];
/** Adds a type of device, for specifications that are read later. TYPE must stay valid for ever. MST_EXISTS where there
 *  is one of its name. */
MST_CHECKED mst_status mst_device_type_register(const mst_device_type *type);
/** The type of a name in any case of letters, or NULL. */
const mst_device_type *mst_device_type_find(const char *name, size_t length);

/** Finds the cores and caches of this machine, once. The functions below and mst_num_cores call it if needed; if it
 *  fails, they know one core and no binding. After MST_OUT_OF_MEMORY the next call tries again. */
MST_CHECKED mst_status mst_machine_load(void);
/** Bytes that this process may use at most: the memory of the machine or of its container, plus the swap space; 0 if
 *  not known. */
int64_t mst_host_memory(void);
/** Bytes in memory of this process now, without pages of files, which the system can read again; 0 if not known. */
int64_t mst_process_memory(void);
/** To be called before MORE bytes are taken for WHAT ("the predictions"): MST_OUT_OF_MEMORY if these, and what the
 *  process has, are together more than mst_host_memory. ADVICE ends the message: what to do. */
MST_CHECKED mst_status mst_host_check(int64_t more, const char *what, const char *advice);
/** What the calling thread is bound to now, to be given back with mst_restore_binding; NULL where it is not known. */
void *mst_save_binding(void);
/** Frees BINDING (NULL is allowed) and, with RESTORE, binds the calling thread to it again. */
void mst_restore_binding(void *binding, bool restore);
/** Binds the calling thread to COUNT cores from FIRST (both count physical cores that this process may use). */
MST_CHECKED mst_status mst_bind_thread(int first, int count);
/** For a thread that does not work for a device: lets it run on all cores of this process, even if the thread that
 *  started it was bound with mst_bind_thread. */
void mst_unbind_thread(void);

#endif
