#include "cli/accelerators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

const char *accelerators_short_name(const mst_device_info *device) {
    const char *colon = strrchr(device->name, ':'), *text = colon;
    while (text && text > device->name && text[-1] != ':') text--;
    return text ? text : "";
}

bool accelerators_same_type(const mst_device_info *a, const mst_device_info *b) {
    const char *one = accelerators_short_name(a), *other = accelerators_short_name(b);
    const size_t length = strcspn(one, ":");
    return length == strcspn(other, ":") && strncmp(one, other, length) == 0;
}

bool accelerators_is_first(const mst_device_info *device, int i) {
    for (int k = 0; k < i; k++)
        if (device[k].physical == device[i].physical && accelerators_same_type(&device[k], &device[i])) return false;
    return device[i].physical >= 0;
}

/* libtpu is only tried as what it is, because it waits for TPUs elsewhere. */
void accelerators_find(accelerators_scope scope, const char *visible, accelerators *out) {
    static const struct {
        const char *type, *title;
        accelerators_scope scope;
    } kind[] = {{"gpu", "GPUs", ACCELERATORS_FASTER},
                {"xla", "XLA devices", ACCELERATORS_ALL},
                {"tpu", "TPUs", ACCELERATORS_FASTER}};
    enum { NUM_KINDS = sizeof kind / sizeof *kind };
    const char *plugin = secure_getenv("MUSTER_PJRT_PLUGIN");
    mst_status status = MST_NOT_FOUND;
    *out = (accelerators){0};
    if (!plugin || !*plugin) return;
    for (int i = strstr(plugin, "libtpu") ? NUM_KINDS - 1 : 0; i < NUM_KINDS && status == MST_NOT_FOUND; i++) {
        if (kind[i].scope > scope) continue;
        status = mst_devices_describe(kind[i].type, visible, &out->first, 1, &out->count);
        if (!status) {
            out->type = kind[i].type;
            out->title = kind[i].title;
        } else if (status != MST_NOT_FOUND || !*out->problem) {
            snprintf(out->problem, sizeof out->problem, "%s", mst_error()->message);
        }
    }
    out->is_other = status == MST_NOT_FOUND;
    if (!status) *out->problem = '\0';
}

void accelerators_default(char spec[32], char **problem) {
    accelerators found;
    accelerators_find(ACCELERATORS_FASTER, NULL, &found);
    if (*found.problem && !found.is_other) {
        command_tell("note: %s; the CPU is used", found.problem);
        *problem = strdup(found.problem); /* for JSON */
    }
    snprintf(spec, 32, "%s%s", found.type ? found.type : "cpu", found.type ? ":1" : "");
}

const char *accelerators_untested(const char *name) {
    if (strstr(name, "/device:GPU:")) return "gpu";
    return strstr(name, "/device:TPU:") ? "tpu" : NULL;
}

void accelerators_print_untested(const char *type) {
    if (type) printf("note: devices of the type %s are untested on hardware: please report what you see\n", type);
}
