#include "cli/scale_inputs.h"

mst_status scale_inputs(bool raw_pixels, mst_dataset **dataset) {
    mst_spec inputs = mst_dataset_spec(*dataset, 0);
    if (inputs.dtype == MST_F32 || mst_dataset_num_classes(*dataset, 0)) return MST_OK; /* or numbers of tokens */
    mst_dataset *scaled;
    double factor = inputs.dtype == MST_U8 && !raw_pixels ? 1.0 / 255 : 1;
    MST_TRY(mst_dataset_scale(*dataset, 0, MST_F32, factor, &scaled));
    mst_dataset_release(*dataset);
    *dataset = scaled;
    return MST_OK;
}
