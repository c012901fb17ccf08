/** Clients: what a process has of a plugin. There is one for each type of device, made when the first device is.
 *
 *  Loading a plugin and making a client may take long or never end, and the threads that they start run where the
 *  thread that makes them may: so an errand (run/errand.h) does it, on a thread of its own that is not bound to cores.
 *  A client stays as long as the process, because nothing can end what its devices may still do. */
#ifndef MUSTER_PJRT_CLIENT_H
#define MUSTER_PJRT_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "module/module.h"
#include "pjrt/api.h"

/** The library's functions, set when the module is loaded. */
extern const mst_registrar *mst_pjrt_host;

/** An option of each compilation, as the plugin's flags have them. */
typedef struct mst_pjrt_flag {
    const char *name; /**< NULL ends a list */
    bool value;
} mst_pjrt_flag;

/** What is known of a type of device before there is a plugin. */
typedef struct mst_pjrt_kind {
    const char *name;             /**< "xla" */
    const char *const *platforms; /**< of the plugins that fit it: "cuda", "rocm", NULL */
    const char *const *places;    /**< of its plugins (pjrt/find_plugin.h) */
    const PJRT_NamedValue option; /**< for the client; no name: none */
    const char *visible_option;   /**< for the client: the list of devices that it has; NULL: there is none */
    const char *advice;           /**< what to do where a plugin finds no device */
    const mst_pjrt_flag *flags;
    bool is_processor; /**< the processor of this machine is the device, as many logical ones as are asked for */
} mst_pjrt_kind;

enum { MST_PJRT_TEXT = 128, MST_PJRT_MOST_VISIBLE = 64 };

typedef struct mst_pjrt_client {
    const mst_pjrt_kind *kind;
    /* written by the errand, and by nobody once the client is made */
    PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *const *device;
    int num_devices;                                        /**< at least 1 */
    char plugin[MST_PJRT_TEXT], device_kind[MST_PJRT_TEXT]; /**< what an executable was compiled by, and for */
    char identity[2 * MST_PJRT_TEXT];                       /**< both: "NVIDIA H200, gpu 0.116 89abcdef01234567" */

    mst_domain_type memory;                 /**< of all its devices; set with the first (pjrt/buffers.h) */
    bool is_made;                           /**< the errand has succeeded */
    int64_t visible[MST_PJRT_MOST_VISIBLE]; /**< the devices that it is to have, in order of their numbers */
    int num_visible;                        /**< 0: all */
    pid_t process;                          /**< that began to make the client; 0: none */
    struct mst_errand *errand;              /**< that is making the client; NULL: none */
    pthread_mutex_t lock;                   /**< of the last five */
} mst_pjrt_client;

#define MST_PJRT_CLIENT(own_kind) \
    { .kind = (own_kind), .lock = PTHREAD_MUTEX_INITIALIZER }

/** Makes CLIENT, of which only the kind and the lock are set, unless it is there. MST_DEADLINE if it takes minutes.
 *  MST_NOT_FOUND: what MUSTER_PJRT_PLUGIN names is for other types of devices.
 *  What has failed is tried again by the next call. */
MST_CHECKED mst_status mst_pjrt_client_need(mst_pjrt_client *client);
/** Sets OUT to the number of the plugin's devices, at least 1. Makes the client if necessary. */
MST_CHECKED mst_status mst_pjrt_client_count(mst_pjrt_client *client, int *out);
/** Asks for a client that has only the COUNT devices at PLACE, and makes it if necessary (`see` of
 *  mst_physical_devices). */
MST_CHECKED mst_status mst_pjrt_client_see(mst_pjrt_client *client, const int *place, int count, bool *seen);
/** The device of the plugin for device INDEX of CLIENT's type, which is logical: INDEX modulo their number. */
PJRT_Device *mst_pjrt_client_device(const mst_pjrt_client *client, int index);

#endif
