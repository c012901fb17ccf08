/** Options of layers over three axes: lists with one number for all axes, or one for each axis. */
#ifndef MUSTER_LAYER_THREE_AXES_H
#define MUSTER_LAYER_THREE_AXES_H

#include "muster/op.h"

/** An error unless LIST, the option WHAT of a layer, has one or three numbers, each at least 1. If OPTIONAL, it may
 *  also be empty. */
MST_CHECKED mst_status mst_three_axes_check(const mst_axes *list, const char *layer, const char *name, const char *what,
                                            bool optional);

#endif
