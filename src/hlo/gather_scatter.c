/* Gather and scatter. */
#include "hlo/hlo_writer.h"

/* Checks the axes in *INDEXING, and makes negative ones count from the beginning. `offset` has axes of the parts, which
 * have PART dimensions; `collapsed` and `map` have axes of the value, which has NDIM. */
static bool are_lists(mst_lower *l, mst_hlo_indexing *indexing, int part, int ndim) {
    return mst_hlo_are_axes(l, part, &indexing->offset) && mst_hlo_are_axes(l, ndim, &indexing->collapsed) &&
           mst_hlo_are_axes(l, ndim, &indexing->map);
}

mst_hlo mst_hlo_gather(mst_lower *l, mst_hlo x, mst_hlo indices, const mst_hlo_indexing *indexing, mst_shape size,
                       mst_shape dst) {
    char text[3][MST_HLO_AXES];
    mst_hlo_attributes t = {.size = 0};
    mst_hlo_indexing lists = *indexing;
    if (mst_hlo_lacks(l, x) || !mst_hlo_is_shape(l, &size) || !mst_hlo_is_shape(l, &dst) ||
        !are_lists(l, &lists, dst.ndim, mst_hlo_spec(l, x).shape.ndim))
        return MST_NO_HLO;
    mst_hlo_attribute(&t,
                      "dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = %s, "
                      "start_index_map = %s, index_vector_dim = %d>",
                      mst_hlo_axes_text(&lists.offset, text[0]), mst_hlo_axes_text(&lists.collapsed, text[1]),
                      mst_hlo_axes_text(&lists.map, text[2]), indexing->vector_axis);
    mst_hlo_attribute(&t, "indices_are_sorted = %s", indexing->sorted ? "true" : "false");
    mst_hlo_attribute_array(&t, "slice_sizes", size.ndim, size.dim);
    const mst_spec spec = {.dtype = mst_hlo_spec(l, x).dtype, .shape = dst};
    mst_hlo result;
    mst_hlo_call(l, "gather", mst_hlo_attributes_end(&t), 2, (const mst_hlo[]){x, indices}, 1, &spec, &result);
    return result;
}

static void take_update(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    (void)l;
    (void)context;
    result[0] = argument[1];
}

mst_hlo mst_hlo_scatter(mst_lower *l, const char *operation, mst_hlo x, mst_hlo indices, mst_hlo updates,
                        const mst_hlo_indexing *indexing) {
    char text[3][MST_HLO_AXES];
    mst_hlo_attributes t = {.size = 0};
    mst_hlo_indexing lists = *indexing;
    if (mst_hlo_lacks(l, x) || mst_hlo_lacks(l, updates) || (operation && !mst_hlo_combines(l, operation)) ||
        !are_lists(l, &lists, mst_hlo_spec(l, updates).shape.ndim, mst_hlo_spec(l, x).shape.ndim))
        return MST_NO_HLO;
    mst_hlo_attribute(&t, "indices_are_sorted = %s", indexing->sorted ? "true" : "false");
    mst_hlo_attribute(&t,
                      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, "
                      "inserted_window_dims = %s, scatter_dims_to_operand_dims = %s, index_vector_dim = %d>",
                      mst_hlo_axes_text(&lists.offset, text[0]), mst_hlo_axes_text(&lists.collapsed, text[1]),
                      mst_hlo_axes_text(&lists.map, text[2]), indexing->vector_axis);
    mst_hlo_attribute(&t, "unique_indices = %s", indexing->unique ? "true" : "false");
    const mst_hlo src[] = {x, indices, updates};
    const mst_spec spec = mst_hlo_spec(l, x);
    const mst_spec scalar = {.dtype = spec.dtype, .shape = MST_SCALAR};
    mst_hlo result;
    mst_hlo_call_region(l, "scatter", mst_hlo_attributes_end(&t), 3, src,
                        &(mst_hlo_region){.num_arguments = 2,
                                          .argument = (const mst_spec[]){scalar, scalar},
                                          .num_results = 1,
                                          .result = &scalar,
                                          .function = operation ? mst_hlo_apply : take_update,
                                          .context = &operation},
                        1, &spec, &result);
    return result;
}
