/** The accelerators of the plugin that MUSTER_PJRT_PLUGIN names. */
#ifndef MUSTER_CLI_ACCELERATORS_H
#define MUSTER_CLI_ACCELERATORS_H

#include "muster/device.h"

typedef struct accelerators {
    const char *type, *title; /**< "gpu", "GPUs"; NULL: no plugin is configured, or it cannot be used */
    mst_device_info first;    /**< the first of them */
    int count;                /**< of those that are visible */
    char problem[512];        /**< why the plugin cannot be used; "": it can, or none is configured */
    bool is_other;            /**< the problem is that the plugin has no devices of these types */
} accelerators;

typedef enum accelerators_scope {
    ACCELERATORS_FASTER, /**< GPUs and TPUs */
    ACCELERATORS_ALL     /**< these and xla, whose device is the processor */
} accelerators_scope;

/** The type and the number in the full name of DEVICE: "GPU:0". */
const char *accelerators_short_name(const mst_device_info *device);
bool accelerators_same_type(const mst_device_info *a, const mst_device_info *b);
/** Whether DEVICE[I] is on a physical device on which none before it is. */
bool accelerators_is_first(const mst_device_info *device, int i);

/** Finds the accelerators of SCOPE. VISIBLE: of `--visible-devices`; NULL: all. */
void accelerators_find(accelerators_scope scope, const char *visible, accelerators *out);

/** Writes the devices that a command has without `--devices` where one device is enough to SPEC: "gpu:1", "tpu:1" or
 *  "cpu". If there is a plugin that cannot be used, says so on standard error, and sets *PROBLEM to the reason, which
 *  the caller frees. */
void accelerators_default(char spec[32], char **problem);

/** The type of the device NAME (its full name) if no test has run on such a device: "gpu"; else NULL. */
const char *accelerators_untested(const char *name);
/** Prints a note that devices of TYPE, which may be NULL, are untested. */
void accelerators_print_untested(const char *type);

#endif
