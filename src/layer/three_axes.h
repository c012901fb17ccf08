/** Options of layers over three axes that are lists: one number for all axes, or one for each. */
#ifndef MUSTER_LAYER_THREE_AXES_H
#define MUSTER_LAYER_THREE_AXES_H

#include "muster/op.h"

/** An error unless LIST, the option WHAT of a layer, is one number or three, each at least 1; none if it is
 *  OPTIONAL. */
MST_CHECKED mst_status mst_three_axes_check(const mst_axes *list, const char *layer, const char *name, const char *what,
                                            bool optional);

#endif
