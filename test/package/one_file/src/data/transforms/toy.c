/** The same elements. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_toy(mst_dataset *dataset, mst_dataset **out);
#endif
#include "data/dataset.h"

static const mst_dataset_type type = {.name = "toy"};

mst_status mst_dataset_toy(mst_dataset *dataset, mst_dataset **out) {
    return mst_dataset_derive(&type, sizeof **out, dataset, out);
}
