#include "device/device.h"

extern mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out);

mst_status mst_module_for_device_type(const char *name, size_t length, const mst_device_type **out) {
    (void)name, (void)length;
    *out = NULL;
    return MST_FAIL(MST_NOT_FOUND, "there is no module of that name");
}
