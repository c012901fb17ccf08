#include "cli/scale_inputs.h"

bool scale_inputs_divides(bool raw_pixels, mst_dtype dtype, const mst_network_input *input) {
    return dtype == MST_U8 && !raw_pixels && !(input && input->is_rescaled);
}

mst_status scale_inputs(bool raw_pixels, int component, const mst_network_input *input, mst_dataset **dataset) {
    const mst_spec inputs = mst_dataset_spec(*dataset, component);
    const bool is_count = input && (input->is_tokens || (input->dtype && !mst_dtype_is_float(input->dtype)));
    if (inputs.dtype == MST_F32 || mst_dataset_num_classes(*dataset, component)) return MST_OK; /* or tokens */
    if (is_count && !mst_dtype_is_float(inputs.dtype)) return MST_OK; /* the model's input casts it */
    mst_dataset *scaled;
    const double factor = scale_inputs_divides(raw_pixels, inputs.dtype, input) ? 1.0 / 255 : 1;
    MST_TRY(mst_dataset_scale(*dataset, component, MST_F32, factor, &scaled));
    mst_dataset_release(*dataset);
    *dataset = scaled;
    return MST_OK;
}
