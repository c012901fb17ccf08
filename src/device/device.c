#include "device/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool cpu_supports(const mst_op *op, int num_src, const mst_spec *src) {
    (void)num_src, (void)src;
    return op->reference != NULL;
}

const mst_device_type mst_device_type_cpu = {.name = "CPU", .supports = cpu_supports};

enum { MAX_TYPES = 8 };
static const mst_device_type *types[MAX_TYPES] = {&mst_device_type_cpu};

mst_status mst_device_type_register(const mst_device_type *type) {
    for (int i = 0; i < MAX_TYPES; i++) {
        if (types[i] && strcasecmp(types[i]->name, type->name) == 0)
            return MST_FAIL(MST_EXISTS, "devices: there is a type %s already", type->name);
        if (!types[i]) {
            types[i] = type;
            return MST_OK;
        }
    }
    return MST_FAIL(MST_INVALID, "devices: no more than %d types", MAX_TYPES);
}

static const mst_device_type *find_type(const char *name, size_t length) {
    for (int i = 0; i < MAX_TYPES && types[i]; i++)
        if (strlen(types[i]->name) == length && strncasecmp(types[i]->name, name, length) == 0) return types[i];
    return NULL;
}

static mst_status parse_count(const char *spec, char **rest, int *out) {
    const char *text = *rest;
    long value = isdigit((unsigned char)*text) ? strtol(text, rest, 10) : 0;
    if (value < 1 || value > MST_MAX_DEVICES)
        return MST_FAIL(MST_INVALID, "devices '%s': a count must be a number from 1 to %d, as in cpu:2", spec,
                        MST_MAX_DEVICES);
    *out = (int)value;
    return MST_OK;
}

static mst_status add_devices(const mst_device_type *type, int count, int threads, int64_t memory_limit,
                              mst_devices *out) {
    int before = 0, cores = mst_num_cores();
    for (int i = 0; i < out->count; i++) before += out->device[i].type == type;
    if (out->count + count > MST_MAX_DEVICES) return MST_FAIL(MST_INVALID, "devices: more than %d", MST_MAX_DEVICES);
    mst_device *grown = realloc(out->device, (size_t)(out->count + count) * sizeof *grown);
    if (!grown) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for %d devices", count);
    out->device = grown;
    int share = cores / count > 0 ? cores / count : 1;
    for (int i = 0; i < count; i++) {
        mst_device *device = &out->device[out->count++];
        *device = (mst_device){.type = type,
                               .name = {.job = "localhost", .replica = 0, .task = 0, .index = before + i},
                               .num_threads = threads ? threads : share,
                               .first_core = count <= cores ? i * share : -1,
                               .memory_limit = memory_limit};
        snprintf(device->name.type, sizeof device->name.type, "%s", type->name);
        mst_device_name_print(&device->name, device->text);
    }
    return MST_OK;
}

static mst_status parse_one(const char *spec, char **rest, int64_t memory_limit, mst_devices *out) {
    size_t length = strcspn(*rest, ":/,");
    const mst_device_type *type = find_type(*rest, length);
    if (!type)
        return MST_FAIL(MST_INVALID, "devices '%s': no device type '%.*s' here; there is CPU: use cpu or cpu:2", spec,
                        (int)length, *rest);
    int count = 1, threads = 0;
    *rest += length;
    if (**rest == ':') {
        ++*rest;
        MST_TRY(parse_count(spec, rest, &count));
    }
    if (**rest == '/') {
        ++*rest;
        MST_TRY(parse_count(spec, rest, &threads));
    }
    if (**rest && **rest != ',')
        return MST_FAIL(MST_INVALID, "devices '%s': '%s' is not understood: write cpu:2 or cpu:2/4", spec, *rest);
    return add_devices(type, count, threads, memory_limit, out);
}

mst_status mst_devices_parse(const char *spec, int64_t memory_limit, mst_devices *out) {
    *out = (mst_devices){0};
    if (!spec || !*spec) spec = "cpu";
    char *copy = strdup(spec), *rest = copy;
    if (!copy) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a device specification");
    mst_status status;
    do {
        status = parse_one(spec, &rest, memory_limit, out);
    } while (!status && *rest++ == ',');
    free(copy);
    if (status) mst_devices_free(out);
    return status;
}

mst_status mst_devices_show(mst_devices *devices, const char *visible) {
    if (!visible || !*visible) return MST_OK;
    mst_device *shown = calloc((size_t)devices->count, sizeof *shown);
    bool taken[MST_MAX_DEVICES] = {false};
    if (!shown) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for %d devices", devices->count);
    int count = 0;
    const char *text = visible;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        long place = strtol(text, &end, 10);
        bool good = end != text && (*end == ',' || !*end) && place >= 0 && place < devices->count;
        if (!good || taken[place]) {
            free(shown);
            return MST_FAIL(MST_INVALID, "visible devices '%s': name places from 0 to %d, each once, as in 0,2",
                            visible, devices->count - 1);
        }
        taken[place] = true;
        shown[count++] = devices->device[place];
    }
    for (int i = 0; i < count; i++) {
        shown[i].name.index = 0;
        for (int k = 0; k < i; k++) shown[i].name.index += shown[k].type == shown[i].type;
        mst_device_name_print(&shown[i].name, shown[i].text);
    }
    free(devices->device);
    devices->device = shown;
    devices->count = count;
    return MST_OK;
}

void mst_devices_free(mst_devices *devices) {
    free(devices->device);
    *devices = (mst_devices){0};
}

int mst_devices_find(const mst_devices *devices, const mst_device_name *name) {
    for (int i = 0; i < devices->count; i++)
        if (mst_device_name_equal(&devices->device[i].name, name)) return i;
    return -1;
}

const char *mst_devices_list(const mst_devices *devices, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < devices->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", devices->device[i].text);
    return text;
}

mst_status mst_devices_describe(const char *spec, const char *visible, mst_device_info *out, int max, int *count) {
    mst_devices devices;
    *count = 0;
    MST_TRY(mst_devices_parse(spec, 0, &devices));
    mst_status status = mst_devices_show(&devices, visible);
    if (!status) *count = devices.count;
    for (int i = 0; i < *count && i < max; i++) {
        const mst_device *device = &devices.device[i];
        out[i] = (mst_device_info){.num_threads = device->num_threads, .first_core = device->first_core};
        memcpy(out[i].name, device->text, sizeof device->text);
    }
    mst_devices_free(&devices);
    return status;
}
