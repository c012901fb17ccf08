/** muster devices: the devices of this machine, and how a specification splits them. Accelerators are asked by their
 *  plugin; where none is configured, nothing is loaded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "cli/accelerators.h"
#include "cli/command.h"
#include "cli/json_events.h"
#include "muster/device.h"
#include "muster/version.h"

typedef struct devices_options {
    const char *devices, *visible_devices;
    bool json;
} devices_options;

static const option options[] = {
    {"devices", OPTION_TEXT, offsetof(devices_options, devices), "SPEC",
     .help =
         "the devices that this would make, such as cpu:2, cpu:2/4 or gpu:1x2 (default: one for each physical core)"},
    {"visible-devices", OPTION_TEXT, offsetof(devices_options, visible_devices), "N,N,...",
     .help = "places in that list that are used, numbered anew from 0, as training has them"},
    {"json", OPTION_FLAG, offsetof(devices_options, json), .help = "as one line of JSON"},
    {0}};

static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

/* Writes the name of the library that computes the matrix products of CPUs to TEXT. */
static const char *engine(char *text, size_t size) {
    const mst_library *libraries;
    int count = mst_libraries(&libraries);
    snprintf(text, size, "reference kernels");
    for (int i = 0; i < count; i++)
        if (strcmp(libraries[i].name, "oneDNN") == 0) snprintf(text, size, "oneDNN %s", libraries[i].version);
    return text;
}

/* Prints nothing if BYTES are not known. */
static void print_bytes(const char *before, int64_t bytes, const char *after) {
    char text[MST_BYTES_TEXT];
    if (bytes > 0) printf("%s%s%s", before, mst_bytes_print(bytes, text, sizeof text), after);
}

/* ---- accelerators ---- */

static const char ADVICE[] =
    "none configured: pip install jax[cuda13] into a virtual environment (2.5 GB), then export "
    "MUSTER_PJRT_PLUGIN=ENVIRONMENT; docs/accelerators.md";

/* Writes "NVIDIA H200, 140.6 GB, 976.6 KB in use" to standard output, as far as it is known. */
static void print_accelerator(const mst_device_info *device) {
    printf("%s", *device->kind ? device->kind : device->platform);
    print_bytes(", ", device->memory, "");
    print_bytes(", ", device->memory_in_use, " in use");
}

static void print_accelerators(const accelerators *x) {
    if (!x->type) {
        printf("%s: %s\n\n", *x->problem ? "accelerators" : "GPUs", *x->problem ? x->problem : ADVICE);
        return;
    }
    printf("%s: %d x %s\n", x->title, x->first.num_here, *x->first.kind ? x->first.kind : x->first.platform);
    print_bytes("  memory   ", x->first.memory, " each");
    print_bytes(x->first.memory > 0 ? ", " : "  memory   ", x->first.memory_in_use, " of the first in use");
    if (x->first.memory > 0 || x->first.memory_in_use > 0) putchar('\n');
    printf("  plugin   %s: %s\n", x->first.platform, x->first.versions);
    printf("  use      --devices %s:%d\n\n", x->type, x->first.num_here);
}

static bool has_accelerator(const mst_device_info *device, int count) {
    for (int i = 0; i < count; i++)
        if (device[i].num_here > 0) return true;
    return false;
}

/* ---- the list ---- */

static void print_table(const mst_machine *machine, const accelerators *others, const mst_device_info *device,
                        int count) {
    char text[64];
    printf("%s\n", machine->cpu);
    printf("  cores    %d physical, %d hardware threads, %d NUMA node%s\n", machine->num_cores,
           machine->num_hardware_threads, machine->num_numa_nodes, machine->num_numa_nodes == 1 ? "" : "s");
    print_bytes("  caches   L2 ", machine->l2_cache, " a core");
    print_bytes(machine->l2_cache > 0 ? ", L3 " : "  caches   L3 ", machine->l3_cache, "");
    if (machine->l2_cache > 0 || machine->l3_cache > 0) putchar('\n');
    print_bytes("  memory   ", machine->memory, "\n");
    printf("  kernels  %s, %s\n\n", machine->isa, engine(text, sizeof text));
    print_accelerators(others);
    printf("%-50s %7s  %s\n", "device", "threads",
           has_accelerator(device, count) ? "cores, or kind and memory" : "cores");
    for (int i = 0; i < count; i++) {
        printf("%-50s %7d  ", device[i].name, device[i].num_threads);
        if (device[i].num_here > 0) {
            print_accelerator(&device[i]);
            putchar('\n');
        } else if (device[i].first_core < 0)
            printf("shared\n");
        else if (device[i].num_threads == 1)
            printf("%d\n", device[i].first_core);
        else
            printf("%d-%d\n", device[i].first_core, device[i].first_core + device[i].num_threads - 1);
    }
}

/* Adds what is known of an accelerator to TO; what is not known is null. */
static void add_accelerator(json_t *to, const mst_device_info *device) {
    json_object_set_new(to, "kind", *device->kind ? json_text(device->kind) : json_null());
    json_object_set_new(to, "memory", device->memory > 0 ? json_integer(device->memory) : json_null());
    json_object_set_new(to, "memory_in_use",
                        device->memory_in_use > 0 ? json_integer(device->memory_in_use) : json_null());
}

static json_t *make_accelerators(const accelerators *x) {
    json_t *out = x->type ? json_object() : json_null();
    if (!x->type) return out;
    json_object_set_new(out, "type", json_string(x->type));
    json_object_set_new(out, "count", json_integer(x->first.num_here));
    json_object_set_new(out, "platform", json_text(x->first.platform));
    json_object_set_new(out, "versions", json_text(x->first.versions));
    json_object_set_new(out, "use", json_sprintf("%s:%d", x->type, x->first.num_here));
    add_accelerator(out, &x->first);
    return out;
}

static mst_status print_json(const mst_machine *machine, const accelerators *others, const mst_device_info *device,
                             int count) {
    char text[64];
    int physical = 0, logical = 0; /* 1 and 2 of "gpu:1x2" */
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *one = json_pack("{s:s, s:i, s:i}", "name", device[i].name, "threads", device[i].num_threads,
                                "first_core", device[i].first_core);
        json_object_set_new(one, "physical", device[i].physical >= 0 ? json_integer(device[i].physical) : json_null());
        if (device[i].num_here > 0) add_accelerator(one, &device[i]);
        logical += device[i].physical >= 0;
        physical += accelerators_is_first(device, i);
        json_array_append_new(list, one);
    }
    json_t *event = json_event("devices");
    json_add(&event, "", "cpu", json_string(machine->cpu));
    json_add(&event, "", "cores", json_integer(machine->num_cores));
    json_add(&event, "", "hardware_threads", json_integer(machine->num_hardware_threads));
    json_add(&event, "", "numa_nodes", json_integer(machine->num_numa_nodes));
    json_add(&event, "", "memory", json_integer(machine->memory));
    json_add(&event, "", "l2_cache", json_integer(machine->l2_cache));
    json_add(&event, "", "l3_cache", json_integer(machine->l3_cache));
    json_add(&event, "", "isa", json_string(machine->isa));
    json_add(&event, "", "engine", json_string(engine(text, sizeof text)));
    json_add(&event, "", "accelerators", make_accelerators(others));
    if (*others->problem)
        json_add(&event, "", "accelerators_error", json_text(others->problem));
    else if (!others->type)
        json_add(&event, "", "accelerators_advice", json_string(ADVICE));
    json_add(&event, "", "physical_devices", json_integer(physical));
    json_add(&event, "", "logical_devices", json_integer(logical));
    json_add(&event, "", "devices", list);
    return json_write(event);
}

static int show(const devices_options *o, const char *spec, mst_device_info *device, int most) {
    mst_machine machine;
    accelerators others;
    int count;
    if (mst_devices_describe(spec, o->visible_devices, device, most, &count)) return command_fail_usage("devices");
    mst_machine_read(&machine);
    accelerators_find(ACCELERATORS_ALL, NULL, &others);
    if (!o->json)
        print_table(&machine, &others, device, count);
    else if (print_json(&machine, &others, device, count))
        return command_fail_library(EXIT_FAILED, NULL);
    return EXIT_DONE;
}

static int devices_run(const command_call *call) {
    const devices_options *o = call->options;
    char every_core[32];
    int most;
    snprintf(every_core, sizeof every_core, "cpu:%d", mst_num_cores());
    const char *spec = o->devices ? o->devices : every_core;
    if (mst_devices_describe(spec, o->visible_devices, NULL, 0, &most)) return command_fail_usage("devices");
    mst_device_info *device = calloc((size_t)most + 1, sizeof *device);
    if (!device) return command_fail(EXIT_FAILED, "cannot get memory for %d devices", most);
    int status = show(o, spec, device, most);
    free(device);
    return status;
}

const command command_devices = {
    .name = "devices",
    .summary = "lists the devices of this machine: cores, caches, memory, kernels, accelerators",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(devices_options),
    .run = devices_run,
};
