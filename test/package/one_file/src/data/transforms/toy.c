/** The same elements. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_toy(mst_dataset *dataset, mst_dataset **out);
MST_API mst_dataset *mst_data_toy(mst_dataset *dataset);
#endif
#include "data/dataset.h"
#include "data/nested.h"

static const mst_dataset_type type = {.name = "toy"};

mst_status mst_dataset_toy(mst_dataset *dataset, mst_dataset **out) {
    return mst_dataset_derive(&type, sizeof **out, dataset, out);
}

mst_dataset *mst_data_toy(mst_dataset *dataset) {
    MST_DATASET_NEST(dataset, mst_dataset_toy(dataset, &out));
}
