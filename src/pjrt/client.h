/** Clients: a client is PJRT's object for the use of a plugin and its devices by this process. There is one for each
 *  type of device, made together with the first device of that type.
 *
 *  Loading a plugin and making a client may take long, or never end. So an errand does it: a function that runs on its
 *  own thread (run/errand.h). That thread is not bound to cores, because the threads that the plugin starts inherit its
 *  binding. A client is never freed, because its devices may still be working. */
#ifndef MUSTER_PJRT_CLIENT_H
#define MUSTER_PJRT_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "module/module.h"
#include "pjrt/api.h"

/** The functions that the Muster library gives to modules; set when this module is loaded. */
extern const mst_registrar *mst_pjrt_host;

/** An option of the plugin's compiler, used in each compilation. */
typedef struct mst_pjrt_flag {
    const char *name; /**< NULL ends a list */
    bool value;
} mst_pjrt_flag;

/** A type of device: what is fixed before a plugin is loaded. */
typedef struct mst_pjrt_kind {
    const char *name;             /**< "xla" */
    const char *const *platforms; /**< names of the platforms of suitable plugins: "cuda", "rocm", NULL */
    const char *const *places;    /**< where its plugins may be in a folder (pjrt/find_plugin.h) */
    const PJRT_NamedValue option; /**< an option with which the client is made; without a name: none */
    const char *visible_option;   /**< name of the client's option that lists the devices to use; NULL: none */
    const char *advice;           /**< for the user, if no client can be made or it has no device */
    const mst_pjrt_flag *flags;   /**< options of the compiler */
    bool is_processor;            /**< the device is this machine's processor */
} mst_pjrt_kind;

enum { MST_PJRT_TEXT = 128, MST_PJRT_MOST_VISIBLE = 64 };

typedef struct mst_pjrt_client {
    const mst_pjrt_kind *kind;
    /* the following members are written by the errand that makes the client, and are constant afterwards */
    PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *const *device;
    int num_devices;                                        /**< at least 1 */
    char plugin[MST_PJRT_TEXT], device_kind[MST_PJRT_TEXT]; /**< texts that identify both (pjrt/identity.h) */
    char identity[2 * MST_PJRT_TEXT];                       /**< both: "NVIDIA H200, gpu 0.116 89abcdef01234567" */

    mst_domain_type memory;                 /**< of all devices; set with the first one (pjrt/buffers.h) */
    bool is_made;                           /**< the errand has succeeded */
    int64_t visible[MST_PJRT_MOST_VISIBLE]; /**< numbers of the devices to use, in ascending order */
    int num_visible;                        /**< 0: all */
    pid_t process;                          /**< process that began to make the client; 0: none */
    struct mst_errand *errand;              /**< errand that is making the client; NULL: none */
    pthread_mutex_t lock;                   /**< guards the five members above */
} mst_pjrt_client;

#define MST_PJRT_CLIENT(own_kind) \
    { .kind = (own_kind), .lock = PTHREAD_MUTEX_INITIALIZER }

/** Makes the client if that has not been done: initially only kind and lock of CLIENT are set. MST_DEADLINE after three
 *  minutes. MST_NOT_FOUND if the plugin that MUSTER_PJRT_PLUGIN names is for other types of devices. MST_INVALID in a
 *  child of fork() if the parent has made the client. After a failure, the next call tries again. */
MST_CHECKED mst_status mst_pjrt_client_need(mst_pjrt_client *client);
/** Sets OUT to the number of the plugin's devices, at least 1. Makes the client if necessary. */
MST_CHECKED mst_status mst_pjrt_client_count(mst_pjrt_client *client, int *out);
/** Makes the client with only the COUNT devices at PLACE, if it is not made yet. PLACE, SEEN and errors are those of
 *  `see` in mst_physical_devices (device/device.h). The type must have a visible_option. */
MST_CHECKED mst_status mst_pjrt_client_see(mst_pjrt_client *client, const int *place, int count, bool *seen);
/** The plugin's device for logical device INDEX of CLIENT's type: INDEX modulo the number of the plugin's devices. */
PJRT_Device *mst_pjrt_client_device(const mst_pjrt_client *client, int index);

#endif
