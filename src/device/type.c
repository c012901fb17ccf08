/* The types of devices: the library's own, and those that modules have registered. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "device/device.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const mst_device_type **registered;
static int64_t num_registered, capacity;

static bool is_named(const mst_device_type *type, const char *name, size_t length) {
    return strlen(type->name) == length && strncasecmp(type->name, name, length) == 0;
}

static const mst_device_type *device_type_find(const char *name, size_t length) {
    for (int i = 0; mst_device_type_table[i]; i++)
        if (is_named(mst_device_type_table[i], name, length)) return mst_device_type_table[i];
    for (int64_t i = 0; i < num_registered; i++)
        if (is_named(registered[i], name, length)) return registered[i];
    return NULL;
}

const mst_device_type *mst_device_type_find(const char *name, size_t length) {
    pthread_mutex_lock(&lock);
    const mst_device_type *type = device_type_find(name, length);
    pthread_mutex_unlock(&lock);
    return type;
}

/* Sizes of mst_device_type: a type may have been compiled with a header in which the struct ended before `physical`. */
enum { LEAST_SIZE = offsetof(mst_device_type, physical), SIZE_WITH_PHYSICAL = LEAST_SIZE + sizeof(void *) };

const mst_physical_devices *mst_device_type_physical(const mst_device_type *type) {
    return type->size >= SIZE_WITH_PHYSICAL ? type->physical : NULL;
}

mst_status mst_device_type_register(const mst_device_type *type) {
    if (type->size < LEAST_SIZE || !type->name || !type->engines || !type->supports || !type->domain || !type->backend)
        return MST_FAIL(MST_INVALID, "device type %s: its table is not complete: build it for this version",
                        type->name ? type->name : "without a name");
    pthread_mutex_lock(&lock);
    mst_status status = MST_OK;
    if (device_type_find(type->name, strlen(type->name)))
        status = MST_FAIL(MST_EXISTS, "devices: there is a type %s already", type->name);
    if (!status) status = mst_grow(&registered, sizeof type, num_registered + 1, &capacity);
    if (!status) registered[num_registered++] = type;
    pthread_mutex_unlock(&lock);
    return status;
}
