/** The error of an allocation that failed. */
#ifndef MUSTER_BASE_NO_MEMORY_H
#define MUSTER_BASE_NO_MEMORY_H

#include "muster/status.h"

/** Records MST_OUT_OF_MEMORY, "cannot get memory for a plan", and returns its code. The argument says what the memory
 *  is for; it is a format and its arguments:
 *
 *      if (!plan) return MST_NO_MEMORY("for a plan");
 *      if (!list) return MST_NO_MEMORY("for %d devices", count);
 */
#define MST_NO_MEMORY(...) MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory " __VA_ARGS__)

#endif
