/** Describes a device for the user: its kind and memory, and the versions of its plugin. */
#ifndef MUSTER_PJRT_DEVICE_INFO_H
#define MUSTER_PJRT_DEVICE_INFO_H

#include "device/device.h"

/** `describe` of mst_device_type (device/device.h) for devices of plugins. */
MST_CHECKED mst_status mst_pjrt_describe(const mst_domain *domain, mst_device_info *out);

#endif
