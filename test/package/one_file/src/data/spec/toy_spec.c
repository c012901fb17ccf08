/* toy:ROWS: rows of four zeros, with the label 1. */
#include <stdlib.h>

#include "data/spec/data_spec.h"

static mst_status open_part(const char *rows, bool test, mst_dataset **out) {
    (void)test;
    mst_tensor *part[2] = {NULL, NULL};
    const int64_t n = strtoll(rows, NULL, 10);
    mst_status status = mst_tensor_create(MST_F32, MST_SHAPE(n, 4), &part[0]);
    if (!status) status = mst_tensor_create(MST_I64, MST_SHAPE(n), &part[1]);
    for (int64_t i = 0; i < n && !status; i++) ((int64_t *)mst_tensor_data(part[1]))[i] = 1;
    for (int64_t i = 0; i < 4 * n && !status; i++) ((float *)mst_tensor_data(part[0]))[i] = 0;
    if (!status) status = mst_dataset_from_tensors(part, 2, out);
    for (int i = 0; i < 2; i++) mst_tensor_release(part[i]);
    return status;
}

const mst_data_spec mst_data_spec_toy = {
    .form = "toy:ROWS",
    .help = "zeros, labelled 1",
    .open = open_part,
};
