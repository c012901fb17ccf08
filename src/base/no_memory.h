/** The error of an allocation that failed. */
#ifndef MUSTER_BASE_NO_MEMORY_H
#define MUSTER_BASE_NO_MEMORY_H

#include "muster/status.h"

/** Records MST_OUT_OF_MEMORY, "cannot get memory for a plan", and gives its code. Takes what the memory is for, with
 *  the arguments of its format:
 *
 *      if (!plan) return MST_NO_MEMORY("for a plan");
 *      if (!list) return MST_NO_MEMORY("for %d devices", count);
 */
#define MST_NO_MEMORY(...) MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory " __VA_ARGS__)

#endif
