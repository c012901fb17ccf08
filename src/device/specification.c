/* Reads a specification of devices, "cpu:2/3,gpu:1x2", into a list of devices. Visible devices are chosen from the
 * whole list. The cores of a device are a range of the cores that this process may use. If the specification gives a
 * count of devices, each gets an equal share of the cores. If there are more devices than cores, no device is bound to
 * cores. */
#include "device/specification.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/did_you_mean.h"
#include "base/no_memory.h"
#include "module/module.h"

/* Larger numbers are taken to be typing errors. MOST_LOGICAL: on one physical device. */
enum { MOST_DEVICES = 4096, MOST_LOGICAL = 64, MOST_THREADS = 4096 };

/* One entry of a list: "gpu:2x3" is COUNT 2 and LOGICAL 3. Numbers that are not given are 0. */
typedef struct entry {
    const mst_device_type *type;
    const char *name; /* name of the type as the user wrote it, NAME_LENGTH bytes */
    int name_length, count, logical, threads;
    int64_t memory_limit;
} entry;

/* ---- adding ---- */

/* Adds COUNT devices of E. If the type has THERE physical devices (0: it has none), the new devices are on the physical
 * devices from FIRST on, LOGICAL on each. */
static mst_status add_devices(const entry *e, int count, int logical, int first, int there, mst_devices *out) {
    const int cores = mst_num_cores();
    mst_device *grown = realloc(out->device, (size_t)(out->count + count) * sizeof *grown);
    if (!grown) return MST_NO_MEMORY("for %d devices", count);
    out->device = grown;
    const bool shares = !e->type->compiles; /* a device that compiles needs only a thread that starts its programs */
    const int share = shares && cores / count > 0 ? cores / count : 1;
    for (int i = 0; i < count; i++) {
        mst_device *device = &out->device[out->count];
        const int physical = first + i / logical, index = there ? physical + i % logical * there : first + i;
        *device = (mst_device){.type = e->type,
                               .num_threads = e->threads ? e->threads : share,
                               .first_core = shares && count <= cores ? i * share : -1,
                               .memory_limit = e->memory_limit,
                               .physical = there ? physical : -1};
        memcpy(device->name.type, e->type->name, strnlen(e->type->name, sizeof device->name.type - 1));
        MST_TRY(e->type->domain(index, &device->domain));
        out->count++;
    }
    return MST_OK;
}

/* The number of devices of E's type in LIST; if IS_PHYSICAL, the number of physical devices that they are on. */
static int count_before(const entry *e, bool is_physical, const mst_devices *list) {
    int before = 0;
    for (int i = 0; i < list->count; i++)
        if (list->device[i].type == e->type) before = is_physical ? list->device[i].physical + 1 : before + 1;
    return before;
}

mst_status mst_devices_add(const mst_device_type *type, mst_devices *out) {
    const entry e = {.type = type};
    return add_devices(&e, 1, 1, count_before(&e, false, out), 0, out);
}

/* Checks that the list has room for MORE devices. The CPU that is added later (device.c) does not count. */
static mst_status check_count(const char *spec, int more, const mst_devices *out) {
    if (more <= MOST_DEVICES - out->count) return MST_OK;
    return MST_FAIL(MST_INVALID, "devices '%s': these are more than %d", spec, MOST_DEVICES);
}

/* Adds the devices of E, whose type has physical devices. */
static mst_status add_physical(const char *spec, const entry *e, const mst_physical_devices *physical,
                               mst_devices *out) {
    const int before = count_before(e, true, out), logical = e->logical ? e->logical : 1;
    int there;
    MST_TRY(physical->count(&there));
    const int count = e->count ? e->count : there;
    if (count > there - before)
        return MST_FAIL(MST_INVALID, "devices '%s': there %s %d %s%s here, not %d: use %.*s:%d", spec,
                        there == 1 ? "is" : "are", there, e->type->name, there == 1 ? "" : "s", before + count,
                        e->name_length, e->name, there);
    MST_TRY(check_count(spec, logical <= MOST_DEVICES / count ? count * logical : INT_MAX, out));
    return add_devices(e, count * logical, logical, before, there, out);
}

/* ---- reading ---- */

static mst_status read_count(const char *spec, const char **rest, int most, const char *example, int *out) {
    const char *text = *rest;
    const long value = isdigit((unsigned char)*text) ? strtol(text, (char **)rest, 10) : 0;
    if (value < 1 || value > most)
        return MST_FAIL(MST_INVALID, "devices '%s': a count must be a number from 1 to %d, as in %s", spec, most,
                        example);
    *out = (int)value;
    return MST_OK;
}

/* Whether E has the name of a GPU platform, "cuda" or "rocm", instead of the name of a device type. */
static bool is_platform(const entry *e) {
    return e->name_length == 4 && (strncasecmp(e->name, "cuda", 4) == 0 || strncasecmp(e->name, "rocm", 4) == 0);
}

static mst_status unknown_type(const char *spec, const entry *e) {
    static const char *const known[] = {"cpu", "gpu", "tpu", "xla", NULL};
    char word[32], guess[MST_DID_YOU_MEAN_TEXT];
    if (is_platform(e))
        return MST_FAIL(MST_INVALID, "devices '%s': GPUs are called gpu: use gpu for all, gpu:2 for two", spec);
    snprintf(word, sizeof word, "%.*s", e->name_length, e->name);
    return MST_FAIL(MST_INVALID,
                    "devices '%s': no device type '%.*s' here; there is CPU: use cpu or cpu:2, or put its module into "
                    "a folder of MUSTER_MODULE_PATH%s",
                    spec, e->name_length, e->name, mst_did_you_mean(word, known, guess, sizeof guess));
}

static mst_status read_type(const char *spec, const char **rest, entry *e) {
    e->name = *rest;
    e->name_length = (int)strcspn(*rest, ":/,");
    *rest += e->name_length;
    e->type = mst_device_type_find(e->name, (size_t)e->name_length);
    if (e->type) return MST_OK;
    if (!e->name_length && *e->name == '/')
        return MST_FAIL(
            MST_INVALID,
            "devices '%s': names of devices begin with '/'; this is a list of types and counts, as in cpu:2", spec);
    const mst_status status = mst_module_for_device_type(e->name, (size_t)e->name_length, &e->type);
    if (status == MST_NOT_FOUND) return unknown_type(spec, e);
    return status ? mst_error_prefix("devices '%s'", spec) : MST_OK;
}

/* Whether TEXT is the number 0: the user may have meant the name of a device, "gpu:0". */
static bool is_zero(const char *text) {
    const size_t zeros = strspn(text, "0");
    return zeros && (!text[zeros] || strchr(",/", text[zeros]));
}

/* Reads "2" or "2x3". */
static mst_status read_counts(const char *spec, const char **rest, entry *e) {
    if (is_zero(*rest))
        return MST_FAIL(MST_INVALID, "devices '%s': counts begin at 1: %.*s:1 is one %s; /%.*s:0 is a device's name",
                        spec, e->name_length, e->name, e->type->name, e->name_length, e->name);
    MST_TRY(read_count(spec, rest, MOST_DEVICES, mst_device_type_physical(e->type) ? "gpu:2" : "cpu:2", &e->count));
    if (**rest != 'x' || !mst_device_type_physical(e->type)) return MST_OK;
    ++*rest;
    return read_count(spec, rest, MOST_LOGICAL, "gpu:1x2", &e->logical);
}

static mst_status read_entry(const char *spec, const char **rest, entry *e) {
    MST_TRY(read_type(spec, rest, e));
    if (**rest == ':') {
        ++*rest;
        MST_TRY(read_counts(spec, rest, e));
    }
    if (**rest == '/') {
        ++*rest;
        MST_TRY(read_count(spec, rest, MOST_THREADS, "cpu:2/4", &e->threads));
    }
    if (!**rest || **rest == ',') return MST_OK;
    if (**rest == 'x' && !mst_device_type_physical(e->type))
        return MST_FAIL(MST_INVALID, "devices '%s': 'x' is for logical devices of a GPU: write %.*s:2 or %.*s:2/4",
                        spec, e->name_length, e->name, e->name_length, e->name);
    return MST_FAIL(MST_INVALID, "devices '%s': '%s' is not understood: write cpu:2 or cpu:2/4", spec, *rest);
}

static mst_status add_entry(const char *spec, const entry *e, mst_devices *out) {
    const mst_physical_devices *physical = mst_device_type_physical(e->type);
    const int count = e->count ? e->count : 1;
    if (physical) return add_physical(spec, e, physical, out);
    MST_TRY(check_count(spec, count, out));
    return add_devices(e, count, 1, count_before(e, false, out), 0, out);
}

/* ---- visible devices ---- */

/* The error of a wrong list of numbers VISIBLE, for THERE devices; 0: it is not known how many there are. */
static mst_status wrong_places(const char *visible, int there) {
    if (there == 1)
        return MST_FAIL(MST_INVALID, "visible devices '%s': there is one device, at place 0: use 0", visible);
    if (!there)
        return MST_FAIL(MST_INVALID, "visible devices '%s': name places, which begin at 0, each once, as in 0,1",
                        visible);
    return MST_FAIL(MST_INVALID, "visible devices '%s': name places from 0 to %d, each once, as in 0,1", visible,
                    there - 1);
}

/* Reads the numbers of devices in VISIBLE, each below MOST, into PLACE, which has room for MOST. TAKEN has MOST zeros.
 * Returns whether VISIBLE is valid. */
static bool read_places(const char *visible, int most, bool *taken, int *place, int *count) {
    const char *text = visible;
    *count = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        const long read = strtol(text, &end, 10);
        const bool good = end != text && (*end == ',' || !*end) && read >= 0 && read < most;
        if (!good || taken[read]) return false;
        taken[read] = true;
        place[(*count)++] = (int)read;
    }
    return true;
}

/* Sets *PLACE, which the caller frees, to the numbers in VISIBLE. THERE: how many devices there are; 0: not known. */
static mst_status find_places(const char *visible, int there, int **place, int *count) {
    const int most = there ? there : MOST_DEVICES;
    bool *taken = calloc((size_t)most + 1, sizeof *taken);
    *place = calloc((size_t)most + 1, sizeof **place);
    mst_status status = taken && *place ? MST_OK : MST_NO_MEMORY("for %d devices", most);
    if (!status && !read_places(visible, most, taken, *place, count)) status = wrong_places(visible, there);
    free(taken);
    if (!status) return MST_OK;
    free(*place);
    *place = NULL;
    return status;
}

/* Keeps only the COUNT devices at PLACE, in this order. */
static mst_status keep_places(mst_devices *devices, const int *place, int count) {
    mst_device *kept = calloc((size_t)count + 1, sizeof *kept);
    if (!kept) return MST_NO_MEMORY("for %d devices", count);
    for (int i = 0; i < count; i++) kept[i] = devices->device[place[i]];
    memcpy(devices->device, kept, (size_t)count * sizeof *kept);
    free(kept);
    devices->count = count;
    return MST_OK;
}

static mst_status select_visible(mst_devices *devices, const char *visible) {
    int *place, count;
    MST_TRY(find_places(visible, devices->count, &place, &count));
    const mst_status status = keep_places(devices, place, count);
    free(place);
    return status;
}

/* Replaces each number in PLACE by how many of them are smaller: {5, 2, 7} becomes {1, 0, 2}. */
static mst_status rank(int *place, int count) {
    int *rank = calloc((size_t)count + 1, sizeof *rank);
    if (!rank) return MST_NO_MEMORY("for %d devices", count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) rank[i] += place[k] < place[i];
    memcpy(place, rank, (size_t)count * sizeof *rank);
    free(rank);
    return MST_OK;
}

/* Adds the devices with the numbers PLACE, which are all devices of E's type that this process sees, in that order. */
static mst_status add_seen(const entry *e, int *place, int count, mst_devices *out) {
    MST_TRY(add_devices(e, count, 1, 0, count, out));
    MST_TRY(rank(place, count));
    return keep_places(out, place, count);
}

/* If E's type can restrict this process to the devices that VISIBLE names (`see`), adds these, and sets *SEEN. */
static mst_status see_visible(const entry *e, const char *visible, mst_devices *out, bool *seen) {
    const mst_physical_devices *physical = mst_device_type_physical(e->type);
    int *place, count;
    if (!physical || !physical->see || e->logical) return MST_OK;
    MST_TRY(find_places(visible, e->count, &place, &count));
    mst_status status = count ? physical->see(place, count, seen) : MST_OK;
    if (status) status = mst_error_prefix("visible devices '%s'", visible);
    if (!status && *seen) status = add_seen(e, place, count, out);
    free(place);
    return status;
}

/* ---- lists ---- */

mst_status mst_devices_read(const char *spec, const char *visible, int64_t memory_limit, mst_devices *out) {
    if (!spec || !*spec) spec = "cpu";
    if (strstr(spec, "://"))
        return MST_FAIL(MST_INVALID,
                        "devices '%s': this is an address, as of a TPU, and Muster drives the TPUs of its own host "
                        "only: run it on that host with tpu:8",
                        spec);
    const char *rest = spec;
    const bool has_visible = visible && *visible;
    do {
        entry e = {.memory_limit = memory_limit};
        bool seen = false;
        MST_TRY(read_entry(spec, &rest, &e));
        if (has_visible && e.name == spec && !*rest) MST_TRY(see_visible(&e, visible, out, &seen));
        if (seen) return MST_OK;
        MST_TRY(add_entry(spec, &e, out));
    } while (*rest++ == ',');
    return has_visible ? select_visible(out, visible) : MST_OK;
}
