/* Tests are written for the CPU. With MUSTER_TEST_DEVICE=island in the environment they run on devices of that type:
 * the linker puts the functions here in the place of the library's (--wrap, see test/CMakeLists.txt), and they write
 * the type's name for "cpu" in specifications and names of devices. With MUSTER_TEST_SOFT_PLACEMENT sessions place
 * softly. With MUSTER_TEST_PLAN=PASS all plans are printed after that pass. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device/device.h"
#include "module/module.h"
#include "run/session.h"
#include "support/engine.h"
#include "support/test.h"

mst_status __real_mst_session_create(mst_graph *graph, const mst_session_options *options, mst_session **out);
mst_status __wrap_mst_session_create(mst_graph *graph, const mst_session_options *options, mst_session **out);
mst_status __real_mst_task_server_start_with(const mst_task_server_options *options, mst_task_server **out);
mst_status __wrap_mst_task_server_start_with(const mst_task_server_options *options, mst_task_server **out);
int __real_mst_device_push(mst_graph *graph, const char *device);
int __wrap_mst_device_push(mst_graph *graph, const char *device);
char *__real_mst_device_default_name(int i, char *text, size_t size);
char *__wrap_mst_device_default_name(int i, char *text, size_t size);

const char *engine_here(const char *text) {
    static _Thread_local char buffers[4][4096];
    static _Thread_local unsigned next;
    const char *type = getenv("MUSTER_TEST_DEVICE");
    size_t used = 0;
    if (!type || !text) return text;
    char *buffer = buffers[next++ % 4];
    while (*text && used + strlen(type) + 1 < sizeof buffers[0]) {
        if (strncasecmp(text, "cpu", 3) == 0) {
            for (const char *c = type; *c; c++)
                buffer[used++] = isupper((unsigned char)*text) ? (char)toupper((unsigned char)*c) : *c;
            text += 3;
        } else {
            buffer[used++] = *text++;
        }
    }
    buffer[used] = '\0';
    return buffer;
}

bool engine_compiles(void) {
    const char *name = engine_here("cpu");
    const mst_device_type *type = mst_device_type_find(name, strlen(name));
    if (!type) EXPECT_OK(mst_module_for_device_type(name, strlen(name), &type));
    return type->compiles;
}

int engine_kernels_push(mst_graph *graph, const char *device) {
    return engine_compiles() ? __real_mst_device_push(graph, "/device:CPU:0") : mst_device_push(graph, device);
}

const char *engine_kernels_device(mst_session *session, int i) {
    const mst_devices *devices = &session->devices;
    return engine_compiles() ? devices->device[mst_device_host_device(devices, i)].text : devices->device[i].text;
}

bool engine_has_other_bits(const char *spec) {
    mst_devices here, devices;
    bool types_differ = false, compiles = false;
    EXPECT_OK(mst_devices_create(engine_here("cpu"), NULL, 0, NULL, &here));
    EXPECT_OK(mst_devices_create(engine_here(spec), NULL, 0, NULL, &devices));
    for (int i = 0; i < devices.count; i++) {
        if (devices.device[i].added) continue;
        types_differ |= devices.device[i].type != here.device[0].type;
        compiles |= devices.device[i].type->compiles;
    }
    compiles |= here.device[0].type->compiles;
    mst_devices_free(&here);
    mst_devices_free(&devices);
    return types_differ && compiles;
}

mst_status __wrap_mst_session_create(mst_graph *graph, const mst_session_options *options, mst_session **out) {
    mst_session_options own = options ? *options : (mst_session_options){0};
    if (!own.target) own.devices = engine_here(own.devices && *own.devices ? own.devices : "cpu");
    if (getenv("MUSTER_TEST_SOFT_PLACEMENT")) own.allow_soft_placement = true;
    if (getenv("MUSTER_TEST_PLAN")) {
        own.plan_log = stderr;
        own.plan_pass = getenv("MUSTER_TEST_PLAN");
    }
    return __real_mst_session_create(graph, &own, out);
}

mst_status __wrap_mst_task_server_start_with(const mst_task_server_options *options, mst_task_server **out) {
    mst_task_server_options own = *options;
    own.devices = engine_here(own.devices && *own.devices ? own.devices : "cpu");
    return __real_mst_task_server_start_with(&own, out);
}

int __wrap_mst_device_push(mst_graph *graph, const char *device) {
    return __real_mst_device_push(graph, engine_here(device));
}

char *__wrap_mst_device_default_name(int i, char *text, size_t size) {
    char name[64];
    __real_mst_device_default_name(i, name, sizeof name);
    snprintf(text, size, "%s", engine_here(name));
    return text;
}
