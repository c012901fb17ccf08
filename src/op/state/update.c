#include "op/state/update.h"

int64_t mst_gradient_rows(int64_t rows, int64_t columns) {
    enum { GROUP = 8 }; /* rows that the loops of oneDNN process at once */
    const int64_t most = columns < MST_UNIT_ELEMENTS / GROUP ? MST_UNIT_ELEMENTS / columns / GROUP * GROUP : GROUP;
    const int64_t parts = (rows + most - 1) / most; /* of about the same size */
    const int64_t even = (rows + parts - 1) / parts;
    return (even + GROUP - 1) / GROUP * GROUP;
}

int64_t mst_unit_elements(mst_shape shape) {
    if (shape.ndim < 2 || mst_shape_count(shape) == 0) return MST_UNIT_ELEMENTS;
    const int64_t columns = shape.dim[shape.ndim - 1], rows = mst_shape_count(shape) / columns;
    return mst_gradient_rows(rows, columns) * columns;
}

int64_t mst_num_units(mst_shape shape) {
    const int64_t each = mst_unit_elements(shape);
    return (mst_shape_count(shape) + each - 1) / each;
}
