/** Errors, events and values of the plugin `shim` itself, beside those of the real plugin.
 *
 *  An event of the real plugin, or a buffer, can have an outcome: when it is ready, and which error it has then. The
 *  functions below stand for those of the plugin, and look at the outcome. What is computed of a buffer has its outcome
 *  too. */
#ifndef MUSTER_TEST_PJRT_SHIM_LATE_H
#define MUSTER_TEST_PJRT_SHIM_LATE_H

#include "pjrt/shim_fault.h"

/** Comes first. PLUGIN is the real one. */
void shim_late_begin(const PJRT_Api *plugin);

/** An error of this plugin. */
PJRT_Error *shim_error_make(PJRT_Error_Code code, const char *message);

/** Gives the event or buffer OBJECT an outcome: that of FAULT, whose effect is SHIM_EVENT. */
void shim_outcome_put(const void *object, const shim_fault *fault);
/** Whether OBJECT has an outcome, which is put into OUT. */
bool shim_outcome_get(const void *object, shim_fault *out);
/** Before OBJECT is destroyed. */
void shim_outcome_drop(const void *object);

/** PJRT_Buffer_ToHostBuffer whose event has the outcome of FAULT: the bytes come only when it is ready, and a bit of
 *  them may be wrong. */
PJRT_Error *shim_late_to_host(PJRT_Buffer_ToHostBuffer_Args *args, const shim_fault *fault);

PJRT_Error *shim_late_Error_Destroy(void *args); /* returns NULL, as the next does */
PJRT_Error *shim_late_Error_Message(void *args);
PJRT_Error *shim_late_Error_GetCode(void *args);
PJRT_Error *shim_late_Event_IsReady(void *args);
PJRT_Error *shim_late_Event_Error(void *args);
PJRT_Error *shim_late_Event_Await(void *args);
PJRT_Error *shim_late_Event_OnReady(void *args);

#endif
