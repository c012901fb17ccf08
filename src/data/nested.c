/* A mistake becomes a dataset of its own that keeps the error. Calls nested around it do nothing and pass it on. All
 * other functions that take a dataset call mst_dataset_check first, which returns the error. */
#include "data/nested.h"

#include <stdlib.h>

#include "base/argument.h"
#include "base/failure.h"
#include "data/dataset.h"

typedef struct failed {
    mst_dataset base;
    mst_failure failure;
} failed;

static mst_status failed_check(const mst_dataset *dataset) {
    return mst_failure_restore(&((const failed *)dataset)->failure);
}

static const mst_dataset_type failed_type = {.name = "failed", .check = failed_check};

/* Makes a dataset that keeps the calling thread's error; NULL if there is no memory for it. */
static mst_dataset *keep_failure(mst_status status) {
    failed *f;
    mst_failure failure;
    mst_failure_keep(&failure, status);
    if (mst_dataset_alloc(&failed_type, sizeof *f, 1, &f)) return NULL;
    f->base.num_components = 0;
    f->failure = failure;
    return &f->base;
}

mst_dataset *mst_dataset_made(mst_dataset *source, mst_status status, mst_dataset **out) {
    mst_dataset *dataset = status ? keep_failure(status) : *out;
    mst_dataset_release(source);
    return dataset;
}

mst_status mst_dataset_check_all(mst_dataset *const *sources, int n) {
    if (MST_IS_NULL(sources)) return MST_INVALID;
    for (int i = 0; i < n; i++) MST_TRY(mst_dataset_check(sources[i]));
    return MST_OK;
}

mst_dataset *mst_dataset_made_of_all(mst_dataset *const *sources, int n, mst_status status, mst_dataset **out) {
    for (int i = 0; sources && i < n; i++) mst_dataset_release(sources[i]);
    return mst_dataset_made(NULL, status, out);
}
