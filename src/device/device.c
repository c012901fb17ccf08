/* Parses a specification of devices, "cpu:2/3,gpu:0", into a table of devices. Visible devices are chosen from the
 * whole list, and numbered again from 0. The cores of a device are a range of the cores that this process may use. If
 * the specification gives a count of devices, each gets an equal share of the cores. If there are more devices than
 * cores, no device is bound to cores. The CPU beside devices that compile is added last. */
#include "device/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "module/module.h"

enum { MOST_DEVICES = 4096, MOST_THREADS = 4096 }; /* more devices or threads than that are a typing error */

static mst_status parse_count(const char *spec, char **rest, int most, int *out) {
    const char *text = *rest;
    const long value = isdigit((unsigned char)*text) ? strtol(text, rest, 10) : 0;
    if (value < 1 || value > most)
        return MST_FAIL(MST_INVALID, "devices '%s': a count must be a number from 1 to %d, as in cpu:2", spec, most);
    *out = (int)value;
    return MST_OK;
}

static mst_status add_devices(const mst_device_type *type, int count, int threads, int64_t memory_limit,
                              mst_devices *out) {
    int before = 0;
    const int cores = mst_num_cores();
    for (int i = 0; i < out->count; i++) before += out->device[i].type == type;
    if (out->count + count > MOST_DEVICES) return MST_FAIL(MST_INVALID, "devices: more than %d", MOST_DEVICES);
    mst_device *grown = realloc(out->device, (size_t)(out->count + count) * sizeof *grown);
    if (!grown) return MST_NO_MEMORY("for %d devices", count);
    out->device = grown;
    const bool shares = !type->compiles; /* what compiles needs one thread, on any core, that starts its programs */
    const int share = shares && cores / count > 0 ? cores / count : 1;
    for (int i = 0; i < count; i++) {
        mst_device *device = &out->device[out->count];
        *device = (mst_device){.type = type,
                               .name = {.index = before + i},
                               .num_threads = threads ? threads : share,
                               .first_core = shares && count <= cores ? i * share : -1,
                               .memory_limit = memory_limit};
        snprintf(device->name.type, sizeof device->name.type, "%s", type->name);
        MST_TRY(type->domain(before + i, &device->domain));
        out->count++;
    }
    return MST_OK;
}

static mst_status parse_one(const char *spec, char **rest, int64_t memory_limit, mst_devices *out) {
    const size_t length = strcspn(*rest, ":/,");
    const mst_device_type *type = mst_device_type_find(*rest, length);
    if (!type) {
        mst_status status = mst_module_for_device_type(*rest, length, &type);
        if (status == MST_NOT_FOUND)
            return MST_FAIL(MST_INVALID,
                            "devices '%s': no device type '%.*s' here; there is CPU: use cpu or cpu:2, or put its "
                            "module into a folder of MUSTER_MODULE_PATH",
                            spec, (int)length, *rest);
        if (status) return mst_error_prefix("devices '%s'", spec);
    }
    int count = 1, threads = 0;
    *rest += length;
    if (**rest == ':') {
        ++*rest;
        MST_TRY(parse_count(spec, rest, MOST_DEVICES, &count));
    }
    if (**rest == '/') {
        ++*rest;
        MST_TRY(parse_count(spec, rest, MOST_THREADS, &threads));
    }
    if (**rest && **rest != ',')
        return MST_FAIL(MST_INVALID, "devices '%s': '%s' is not understood: write cpu:2 or cpu:2/4", spec, *rest);
    return add_devices(type, count, threads, memory_limit, out);
}

static mst_status device_parse(const char *spec, int64_t memory_limit, mst_devices *out) {
    if (!spec || !*spec) spec = "cpu";
    char *copy = strdup(spec), *rest = copy;
    if (!copy) return MST_NO_MEMORY("for a device specification");
    mst_status status;
    do {
        status = parse_one(spec, &rest, memory_limit, out);
    } while (!status && *rest++ == ',');
    free(copy);
    return status;
}

/* Keeps only the devices at the places that VISIBLE names, in its order. */
static mst_status keep_visible(mst_devices *devices, const char *visible, bool *taken) {
    mst_device *kept = calloc((size_t)devices->count + 1, sizeof *kept);
    if (!kept) return MST_NO_MEMORY("for %d devices", devices->count);
    int count = 0;
    const char *text = visible;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        const long place = strtol(text, &end, 10);
        const bool good = end != text && (*end == ',' || !*end) && place >= 0 && place < devices->count;
        if (!good || taken[place]) {
            free(kept);
            return MST_FAIL(MST_INVALID, "visible devices '%s': name places from 0 to %d, each once, as in 0,2",
                            visible, devices->count - 1);
        }
        taken[place] = true;
        kept[count++] = devices->device[place];
    }
    memcpy(devices->device, kept, (size_t)count * sizeof *kept);
    free(kept);
    devices->count = count;
    return MST_OK;
}

static mst_status select_visible(mst_devices *devices, const char *visible) {
    if (!visible || !*visible) return MST_OK;
    bool *taken = calloc((size_t)devices->count + 1, sizeof *taken);
    if (!taken) return MST_NO_MEMORY("for %d devices", devices->count);
    mst_status status = keep_visible(devices, visible, taken);
    free(taken);
    return status;
}

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
    MST_TRY(add_devices(cpu_type(), 1, 0, 0, devices));
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

mst_status mst_devices_create(const char *spec, const char *visible, int64_t memory_limit, const mst_device_name *task,
                              mst_devices *out) {
    static const mst_device_name localhost = {.job = "localhost"};
    *out = (mst_devices){.num_tasks = 1};
    mst_status status = mst_machine_load();
    if (!status) status = device_parse(spec, memory_limit, out);
    if (!status) status = select_visible(out, visible);
    if (!status) status = add_host(out);
    if (!status) status = name_devices(out, task ? task : &localhost);
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

mst_status mst_devices_describe(const char *spec, const char *visible, mst_device_info *out, int max, int *count) {
    if ((max > 0 && MST_IS_NULL(out)) || MST_IS_NULL(count)) return MST_INVALID;
    mst_devices devices;
    *count = 0;
    MST_TRY(mst_devices_create(spec, visible, 0, NULL, &devices));
    *count = mst_devices_num_listed(&devices);
    mst_status status = MST_OK;
    for (int i = 0; i < *count && i < max; i++) {
        const mst_device *device = &devices.device[mst_devices_listed(&devices, i)];
        out[i] = (mst_device_info){
            .num_threads = device->num_threads, .first_core = device->first_core, .compiles = device->type->compiles};
        memcpy(out[i].name, device->text, sizeof device->text);
        if (device->type->describe && !status) status = device->type->describe(device->domain, &out[i]);
    }
    mst_devices_free(&devices);
    return status;
}
