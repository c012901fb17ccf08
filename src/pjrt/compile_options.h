/** The options of a compilation as XLA's protobuf message CompileOptionsProto, the form in which plugins take them. */
#ifndef MUSTER_PJRT_COMPILE_OPTIONS_H
#define MUSTER_PJRT_COMPILE_OPTIONS_H

#include <stddef.h>

#include "pjrt/client.h"

enum { MST_PJRT_OPTIONS = 512 };

/** Writes the message for a program that runs on any one device, compiled with FLAGS. Returns its size; 0: there are
 *  too many flags. */
size_t mst_pjrt_compile_options(const mst_pjrt_flag *flags, char out[MST_PJRT_OPTIONS]);

#endif
