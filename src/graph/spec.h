/** Dtype and shape taken together: comparing and printing them. */
#ifndef MUSTER_GRAPH_SPEC_H
#define MUSTER_GRAPH_SPEC_H

#include "muster/graph.h"

#define MST_SPEC_TEXT (MST_SHAPE_TEXT + 8) /**< bytes that hold any printed spec */

mst_spec mst_spec_of(const mst_tensor *tensor);
bool mst_spec_equal(const mst_spec *a, const mst_spec *b);
/** True where A and B can be the same: one dtype and number of dimensions, and no two known dimensions that differ. */
bool mst_spec_agrees(const mst_spec *a, const mst_spec *b);
/** True where no two of the first NDIM dimensions of A and B are known and differ. */
bool mst_dims_agree(const mst_shape *a, const mst_shape *b, int ndim);
/** "f32[100, 784]", unknown dimensions as "?". Writes at most SIZE bytes and returns TEXT. */
char *mst_spec_print(const mst_spec *spec, char *text, size_t size);

#endif
