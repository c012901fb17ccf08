/** Values of a graph without placeholders. */
#ifndef MUSTER_TEST_SUPPORT_COMPUTE_H
#define MUSTER_TEST_SUPPORT_COMPUTE_H

#include "muster/ops.h"
#include "muster/session.h"

/** A constant of DTYPE and SHAPE with these elements, in row-major order. */
mst_value compute_constant(mst_graph *graph, mst_dtype dtype, mst_shape shape, const double *elements);
/** VALUE, computed on one CPU device; the test fails where that fails. The caller releases the tensor. */
mst_tensor *compute(mst_value value);
/** The status of computing VALUE. */
mst_status compute_status(mst_value value);

#endif
