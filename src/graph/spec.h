/** Dtype and shape taken together: comparing and printing them. */
#ifndef MUSTER_GRAPH_SPEC_H
#define MUSTER_GRAPH_SPEC_H

#include "muster/graph.h"

#define MST_SPEC_TEXT (MST_SHAPE_TEXT + 8) /**< bytes enough for any printed spec */

mst_spec mst_spec_of(const mst_tensor *tensor);
bool mst_spec_equal(const mst_spec *a, const mst_spec *b);
/** True if A and B can be the same: they have one dtype and number of dimensions, and no two known dimensions
 *  differ. */
bool mst_spec_agrees(const mst_spec *a, const mst_spec *b);
/** True if among the first NDIM dimensions of A and B no two known ones differ. */
bool mst_dims_agree(const mst_shape *a, const mst_shape *b, int ndim);
/** Writes a spec such as "f32[100, 784]" to TEXT, at most SIZE bytes; unknown dimensions are "?". Returns TEXT. */
char *mst_spec_print(const mst_spec *spec, char *text, size_t size);

#endif
