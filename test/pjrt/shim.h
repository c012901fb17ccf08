/** What a test that has loaded the plugin `shim` (shim.c) can ask of it in its own process. These are symbols of the
 *  plugin, which dlsym finds. Any thread may call them at any time. */
#ifndef MUSTER_TEST_PJRT_SHIM_H
#define MUSTER_TEST_PJRT_SHIM_H

#include <stdint.h>

/** `shim_set_faults`: FAULTS, in the notation of MUSTER_SHIM_FAULTS, replace those that were set. The numbers of calls
 *  begin at 1 again, and calls and events that are stuck go on. Returns NULL, or what is wrong with FAULTS; then there
 *  are no faults. The text is valid until the next call. */
typedef const char *shim_set_faults_function(const char *faults);

/** `shim_count`: how often the function NAME (with its prefix `PJRT_`) was called, or how many objects of the type NAME
 *  are alive, such as PJRT_Buffer; -1: there is neither. */
typedef int64_t shim_count_function(const char *name);

#endif
