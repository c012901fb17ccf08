#include "cli/predict/predict_rows.h"

mst_status predict_rows(mst_model *model, const objective *list, int n, const mst_dataset *data, int64_t batch_size,
                        mst_tensor **out) {
    MST_TRY(mst_predict_all(model, data, batch_size, out, n));
    for (int i = 0; i < n; i++) objective_finish(&list[i], out[i]);
    return MST_OK;
}
