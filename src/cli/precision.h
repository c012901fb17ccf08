/** --precision of `muster train`, `evaluate` and `predict`. */
#ifndef MUSTER_CLI_PRECISION_H
#define MUSTER_CLI_PRECISION_H

#include "muster/tensor.h"

/** The name of the I-th precision, for an option; NULL past the last. precision_help gives a remark about it for
 *  --help; NULL: none. */
const char *precision_name(int i);
const char *precision_help(int i);
/** The precision with this name. MST_INVALID if there is none; the message tells those that exist. */
MST_CHECKED mst_status precision_read(const char *name, mst_precision *out);
/** The precision in which DEVICE, the full name of one of the devices, computes if WANTED is asked for: on CPUs
 *  mst_precision_here, on accelerators WANTED. */
mst_precision precision_on(mst_precision wanted, const char *device);
/** Prints a line if WANTED is another precision and DEVICE computes in f32 instead. */
void precision_note(mst_precision wanted, const char *device);

#endif
