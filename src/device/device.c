/* Makes the list of devices from a specification (device/specification.h), names the devices, and adds the CPU beside
 * devices that compile. Visible devices are numbered again from 0. */
#include "device/device.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/byte_count.h"
#include "device/specification.h"

static const mst_device_type *cpu_type(void) {
    return mst_device_type_find("CPU", 3);
}

/* Adds the CPU if a device compiles and none is a CPU. */
static mst_status add_host(mst_devices *devices) {
    bool compiles = false, has_cpu = false;
    for (int i = 0; i < devices->count; i++) {
        compiles |= devices->device[i].type->compiles;
        has_cpu |= devices->device[i].type == cpu_type();
    }
    if (!compiles || has_cpu) return MST_OK;
    MST_TRY(mst_devices_add(cpu_type(), devices));
    devices->device[devices->count - 1].added = true;
    return MST_OK;
}

/* Numbers the devices of each type from 0, and makes their names. */
static mst_status name_devices(mst_devices *devices, const mst_device_name *task) {
    for (int i = 0; i < devices->count; i++) {
        mst_device *device = &devices->device[i];
        memcpy(device->name.job, task->job, sizeof task->job);
        device->name.replica = task->replica;
        device->name.task = task->task;
        device->name.index = 0;
        for (int k = i - 1; k >= 0; k--)
            if (devices->device[k].type == device->type) {
                device->name.index = devices->device[k].name.index + 1;
                break;
            }
        mst_device_name_print(&device->name, device->text);
        MST_TRY(mst_names_set(&devices->index, device->text, i));
    }
    return MST_OK;
}

/* Calls `describe`, unless the type was compiled with a header in which the struct ended before that member. */
static mst_status describe_type(const mst_device *device, mst_device_info *out) {
    enum { SIZE_WITH_DESCRIBE = offsetof(mst_device_type, describe) + sizeof(void *) };
    const mst_device_type *type = device->type;
    return type->size >= SIZE_WITH_DESCRIBE && type->describe ? type->describe(device->domain, out) : MST_OK;
}

/* The number of devices on the physical device of device I. */
static int num_logical(const mst_devices *devices, int i) {
    const mst_device *device = &devices->device[i];
    int count = 0;
    for (int k = 0; k < devices->count; k++)
        count += k == i || (device->physical >= 0 && devices->device[k].type == device->type &&
                            devices->device[k].physical == device->physical);
    return count;
}

/* Checks that the limits of all devices on the physical device of device I are together at most its memory, if its type
 * says how much that is. */
static mst_status check_limit(const char *spec, const mst_devices *devices, int i) {
    const mst_device *device = &devices->device[i];
    char limit[MST_BYTES_TEXT], there[MST_BYTES_TEXT];
    mst_device_info info = {.memory = 0};
    MST_TRY(describe_type(device, &info));
    const int logical = num_logical(devices, i);
    if (info.memory <= 0 || device->memory_limit <= info.memory / logical) return MST_OK;
    mst_bytes_print_two(device->memory_limit, info.memory, limit, there);
    if (logical == 1)
        return MST_FAIL(MST_INVALID,
                        "devices '%s': the memory limit of %s is more than %s:%d has, which is %s: take a lower one",
                        spec, limit, device->name.type, device->name.index, there);
    return MST_FAIL(
        MST_INVALID,
        "devices '%s': %d logical devices with a memory limit of %s each need more than their %s has, which "
        "is %s: take a lower one",
        spec, logical, limit, device->name.type, there);
}

static mst_status check_limits(const char *spec, const mst_devices *devices) {
    for (int i = 0; i < devices->count; i++)
        if (devices->device[i].memory_limit > 0) MST_TRY(check_limit(spec, devices, i));
    return MST_OK;
}

mst_status mst_devices_create(const char *spec, const char *visible, int64_t memory_limit, const mst_device_name *task,
                              mst_devices *out) {
    static const mst_device_name localhost = {.job = "localhost"};
    *out = (mst_devices){.num_tasks = 1};
    mst_status status = mst_machine_load();
    if (!status) status = mst_devices_read(spec, visible, memory_limit, out);
    if (!status) status = add_host(out);
    if (!status) status = name_devices(out, task ? task : &localhost);
    if (!status) status = check_limits(spec && *spec ? spec : "cpu", out);
    if (status) mst_devices_free(out);
    return status;
}

void mst_devices_free(mst_devices *devices) {
    mst_names_free(&devices->index);
    free(devices->device);
    free(devices->other_domains);
    free(devices->host);
    *devices = (mst_devices){0};
}

int mst_devices_find(const mst_devices *devices, const mst_device_name *name) {
    char text[MST_DEVICE_TEXT];
    return (int)mst_names_get(&devices->index, mst_device_name_print(name, text));
}

bool mst_devices_have_task(const mst_devices *devices, const mst_device_name *name) {
    for (int i = 0; i < devices->count; i++)
        if (mst_device_name_same_task(&devices->device[i].name, name)) return true;
    return false;
}

int mst_device_host_device(const mst_devices *devices, int i) {
    const mst_device_type *cpu = cpu_type();
    for (int k = 0; k < devices->count; k++)
        if (devices->device[k].task == devices->device[i].task && devices->device[k].type == cpu) return k;
    return -1;
}

int mst_devices_num_listed(const mst_devices *devices) {
    int count = 0;
    for (int k = 0; k < devices->count; k++) count += !devices->device[k].added;
    return count;
}

int mst_devices_listed(const mst_devices *devices, int i) {
    for (int k = 0; k < devices->count && i >= 0; k++)
        if (!devices->device[k].added && i-- == 0) return k;
    return -1;
}

const char *mst_devices_list(const mst_devices *devices, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < devices->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", devices->device[i].text);
    return text;
}

int mst_devices_fallback(const mst_devices *devices, const mst_device_name *name, const mst_op *op, int num_src,
                         const mst_spec *src) {
    int other = -1;
    for (int i = 0; i < devices->count; i++) {
        const mst_device *device = &devices->device[i];
        if (!mst_device_name_same_task(&device->name, name)) continue;
        if (!device->type->supports(op, num_src, src)) continue;
        if (device->domain->type->host) return i;
        if (other < 0) other = i;
    }
    return other;
}

char *mst_device_default_name(int i, char *text, size_t size) {
    snprintf(text, size, "/device:CPU:%d", i);
    return text;
}

mst_status mst_device_inform(const mst_device *device, mst_device_info *out) {
    *out = (mst_device_info){.num_threads = device->num_threads,
                             .first_core = device->first_core,
                             .compiles = device->type->compiles,
                             .physical = device->physical};
    memcpy(out->name, device->text, sizeof device->text);
    return describe_type(device, out);
}

mst_status mst_devices_describe(const char *spec, const char *visible, mst_device_info *out, int max, int *count) {
    if ((max > 0 && MST_IS_NULL(out)) || MST_IS_NULL(count)) return MST_INVALID;
    mst_devices devices;
    *count = 0;
    MST_TRY(mst_devices_create(spec, visible, 0, NULL, &devices));
    *count = mst_devices_num_listed(&devices);
    mst_status status = MST_OK;
    for (int i = 0; i < *count && i < max && !status; i++)
        status = mst_device_inform(&devices.device[mst_devices_listed(&devices, i)], &out[i]);
    mst_devices_free(&devices);
    return status;
}
