/** A type of device that compiles, ACCEL, on which nothing can run: for tests of what is decided before anything runs.
 *  It takes all ops with text, and each device has a memory domain of its own. */
#ifndef MUSTER_TEST_SUPPORT_COMPILING_H
#define MUSTER_TEST_SUPPORT_COMPILING_H

#include "device/device.h"
#include "muster/muster.h"

/** Registers the type; a set-up function of a group of tests. */
int compiling_register(void **state);
/** The table of the type, for tests that register others like it. */
mst_device_type compiling_type(void);
/** Sets *LOG to the placement log of FETCH on DEVICES ("accel:2") with FEED (NULL: none); the caller frees it. Lines
 *  "NAME is on DEVICES" follow for mirrored variables. Only the passes up to `place` run. If they fail, *LOG is
 *  NULL. */
mst_status compiling_place(mst_graph *graph, const char *devices, bool soft, const mst_feed *feed, mst_value fetch,
                           char **log);
/** LOG has the node NAME on DEVICE, such as "/device:CPU:0", of this task. */
void compiling_expect(const char *log, const char *name, const char *device);

#endif
