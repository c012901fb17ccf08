/** How to tell a number that was given as 0 from one that was not given. A member of an options struct that is 0 was
 *  not given, and takes its default. A 0 that was given is kept as -0 (MST_ZERO), which computes like 0. */
#ifndef MUSTER_GRAPH_FIELD_H
#define MUSTER_GRAPH_FIELD_H

#include <math.h>

#include "muster/op.h"

/** Whether a member of this value was given. */
static inline bool mst_number_given(double value) {
    return value != 0 || signbit(value);
}

/** Call it when a text, a file or a command line has set the member at AT. If the number is 0 and the default is not,
 *  it becomes MST_ZERO; MST_INVALID if it is a whole number, which cannot be -0. */
MST_CHECKED mst_status mst_field_given(const mst_field *field, void *at);

#endif
