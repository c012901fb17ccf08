#include "cli/train/train_mix.h"

enum { BATCHES_AHEAD = 2, SHUFFLE_BUFFER = 10000 };

static const char *option_of(const train_options *o) {
    return o->mixup > 0 ? "mixup" : o->cutmix > 0 ? "cutmix" : NULL;
}

/* Replaces *DATASET by *MADE, unless STATUS is an error. */
static mst_status take_its_place(mst_dataset **dataset, mst_status status, mst_dataset *const *made) {
    if (status) return status;
    mst_dataset_release(*dataset);
    *dataset = *made;
    return MST_OK;
}

static mst_status check_data(const training *t, const char *option) {
    const objective *o = t->objective;
    const int components = mst_dataset_num_components(t->train);
    const mst_spec picture = mst_dataset_spec(t->train, 0);
    const mst_spec label = components > 1 ? mst_dataset_spec(t->train, 1) : (mst_spec){MST_NO_DTYPE, MST_SCALAR};
    const bool has_numbers = o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY && mst_shape_count(label.shape) == 1;
    const bool has_rows = o->loss == MST_LOSS_CATEGORICAL_CROSSENTROPY && label.dtype == MST_F32;
    if (components != 2 || picture.shape.ndim < 2 || picture.shape.ndim > 3)
        return MST_FAIL(
            MST_INVALID,
            "--%s: '%s' has no pictures with one label each, and only such pictures are mixed: leave it out", option,
            t->data);
    if (!has_numbers && !has_rows)
        return MST_FAIL(MST_INVALID,
                        "--%s mixes labels that are classes of whole pictures, with --loss "
                        "sparse_categorical_crossentropy or categorical_crossentropy: leave it out",
                        option);
    if (t->o->class_weight || t->o->ignore_class)
        return MST_FAIL(MST_INVALID, "--%s: a mixed label has no class of its own: leave --%s out", option,
                        t->o->class_weight ? "class-weight" : "ignore-class");
    return MST_OK;
}

static mst_status one_hot(mst_dataset **dataset, int64_t classes) {
    mst_dataset *made;
    if (!*dataset) return MST_OK;
    return take_its_place(dataset, mst_dataset_one_hot(*dataset, 1, classes, &made), &made);
}

mst_status train_mix_labels(training *t) {
    const char *option = option_of(t->o);
    if (!option) return MST_OK;
    MST_TRY(check_data(t, option));
    if (t->objective->loss != MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY) return MST_OK;
    const mst_shape label = mst_dataset_spec(t->train, 1).shape;
    if (label.ndim)
        return MST_FAIL(MST_INVALID, "--%s: labels of '%s' have a dimension of 1, and must be numbers: leave it out",
                        option, t->data);
    mst_dataset **const part[] = {&t->train, &t->validation, &t->test};
    for (int i = 0; i < 3; i++)
        if (one_hot(part[i], t->objective->outputs)) return mst_error_prefix("--%s", option);
    t->objective->loss = MST_LOSS_CATEGORICAL_CROSSENTROPY;
    t->mixes_classes = true;
    return MST_OK;
}

/* The batches are shuffled as mst_fit does it. */
static mst_status batches_of(const training *t, mst_dataset **dataset) {
    const mst_shuffle_options shuffle = {.buffer_size = mst_dataset_num_rows(*dataset) < 0 ? SHUFFLE_BUFFER : 0,
                                         .seed = t->o->seed};
    mst_dataset *made;
    if (t->o->shuffle) MST_TRY(take_its_place(dataset, mst_dataset_shuffle(*dataset, &shuffle, &made), &made));
    return take_its_place(dataset, mst_dataset_batch(*dataset, t->batch_size, false, &made), &made);
}

mst_status train_mix_batches(training *t) {
    const train_options *o = t->o;
    mst_dataset *made;
    mst_status status = MST_OK;
    if (!option_of(o)) return MST_OK;
    status = batches_of(t, &t->train);
    if (!status && o->mixup > 0)
        status = take_its_place(&t->train, mst_dataset_mix_up(t->train, o->mixup, o->seed, &made), &made);
    if (!status && o->cutmix > 0)
        status = take_its_place(&t->train, mst_dataset_cut_mix(t->train, o->cutmix, o->seed, &made), &made);
    if (!status) status = take_its_place(&t->train, mst_dataset_prefetch(t->train, BATCHES_AHEAD, &made), &made);
    return status ? mst_error_prefix("--%s", option_of(o)) : MST_OK;
}

mst_loss train_mix_saved_loss(const training *t) {
    return t->mixes_classes ? MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY : t->objective->loss;
}
