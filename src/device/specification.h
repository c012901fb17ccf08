/** Specifications of devices (device/device.h), read into lists of devices. */
#ifndef MUSTER_DEVICE_SPECIFICATION_H
#define MUSTER_DEVICE_SPECIFICATION_H

#include "device/device.h"

/** Adds the devices of SPEC that VISIBLE chooses, each with MEMORY_LIMIT, to OUT. The arguments are as in
 *  mst_devices_create. The devices have no names yet. After an error OUT may have some of them. */
MST_CHECKED mst_status mst_devices_read(const char *spec, const char *visible, int64_t memory_limit, mst_devices *out);
/** Adds one device of TYPE, which must have no physical devices, with all cores and without a memory limit. */
MST_CHECKED mst_status mst_devices_add(const mst_device_type *type, mst_devices *out);

#endif
