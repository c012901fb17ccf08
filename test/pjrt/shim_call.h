/** What the plugin `shim` knows of the arguments of calls: which objects a call gives and frees, from which buffers it
 *  reads, and with which devices it works. ARGS are the arguments of the function at PLACE in the list. */
#ifndef MUSTER_TEST_PJRT_SHIM_CALL_H
#define MUSTER_TEST_PJRT_SHIM_CALL_H

#include "pjrt/shim_fault.h"

enum { SHIM_MOST_DEVICES_OF_CALL = 2 };

typedef enum shim_object {
    SHIM_OBJECT_CLIENT,
    SHIM_OBJECT_EXECUTABLE,
    SHIM_OBJECT_LOADED_EXECUTABLE,
    SHIM_OBJECT_BUFFER,
    SHIM_OBJECT_EVENT,
    SHIM_NUM_OBJECTS
} shim_object;

/** Their names: PJRT_Client. */
extern const char *const shim_object_names[SHIM_NUM_OBJECTS];

/** Arguments V for a call of the real plugin. */
#define SHIM_MAKE_ARGS(name, v) PJRT_##name##_Args v = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}

/** Comes first. PLUGIN is the real one. */
void shim_call_begin(const PJRT_Api *plugin);
/** Destroys an error of the real plugin; NULL is allowed. */
void shim_destroy_real(PJRT_Error *error);
/** The number that PJRT_DeviceDescription_Id gives; -1: none. */
int shim_device_identity(PJRT_Device *device);

/** How many objects of that type are alive. */
int64_t shim_objects_alive(shim_object type);

/** After a call that has succeeded: its new objects are counted. Events and buffers among them get the outcome of FAULT
 *  (shim_late.h), unless it is NULL. */
void shim_call_gave(int place, const void *args, const shim_fault *fault);
/** Before the call: the object that it destroys is alive no more, and has no outcome. */
void shim_call_destroys(int place, const void *args);
/** Whether the call frees an object or what it holds. */
bool shim_call_frees(int place);
/** Whether one of the buffers from which the call reads has an outcome, to which OUT is set. One that fails comes
 *  first. */
bool shim_call_source_outcome(int place, const void *args, shim_fault *out);
/** Sets ID to the identities of the devices that the call works with, SHIM_MOST_DEVICES_OF_CALL at most, and returns
 *  their number. */
int shim_call_devices(int place, const void *args, int *id);

#endif
