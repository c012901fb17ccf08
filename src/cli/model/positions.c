#include "cli/model/positions.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS = 50, MOST_CLASSES = 1000, WHITE = 255 };

/* The name of the file of ROW for a message; "" if it has none. */
static const char *file_of(const mst_dataset *data, int64_t row) {
    int64_t n;
    const char *const *paths = mst_dataset_file_paths(data, &n);
    return paths && row < n ? paths[row] : "";
}

static mst_status fail_label(const mst_dataset *data, double label, int64_t row) {
    const char *file = file_of(data, row);
    return MST_FAIL(MST_INVALID,
                    "label %.6g of row %" PRId64
                    "%s%s%s: masks have class numbers from 0 on, at most %d: give their "
                    "number by --classes, and what does not count by --ignore-class",
                    label, row, *file ? ", the mask of '" : "", file, *file ? "'" : "", MOST_CLASSES - 1);
}

/* The labels so far, without those that are ignored. */
typedef struct found_labels {
    double most;    /* the largest */
    bool has_other; /* one is neither 0 nor WHITE */
} found_labels;

/* Adds the labels of BATCH to FOUND. FIRST is the row of its first example. */
static mst_status count_batch(const mst_dataset *data, const mst_batch *batch, double ignored, int64_t first,
                              found_labels *found) {
    mst_tensor *labels;
    MST_TRY(mst_batch_tensor(batch, 1, &labels));
    const int64_t count = mst_tensor_count(labels), width = count / mst_batch_size(batch);
    const bool ignores = ignored != 0 || signbit(ignored); /* MST_ZERO is -0.0 */
    mst_status status = MST_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        const double label = mst_tensor_get(labels, i);
        if (ignores && label == ignored) continue;
        if (!(label >= 0 && label < MOST_CLASSES && label == floor(label)))
            status = fail_label(data, label, first + i / width);
        else
            found->most = fmax(found->most, label), found->has_other |= label != 0 && label != WHITE;
    }
    mst_tensor_release(labels);
    return status;
}

mst_status positions_count(const char *ignore_class, mst_dataset *data, int64_t *out) {
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    double ignored;
    found_labels found = {.most = 1};
    MST_TRY(objective_read_ignored(ignore_class, &ignored));
    if (mst_dataset_num_components(data) < 2 || mst_dataset_spec(data, 1).dtype == MST_STRING)
        return MST_FAIL(MST_INVALID, "the data has no masks: take masks:IMAGES,MASKS");
    MST_TRY(mst_dataset_batch(data, ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    for (int64_t first = 0; !status && !(status = mst_iterator_next(iterator, &batch)) && batch;) {
        status = count_batch(data, batch, ignored, first, &found);
        first += mst_batch_size(batch);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    *out = (int64_t)found.most + 1;
    if (!status && found.most == WHITE && !found.has_other)
        return MST_FAIL(
            MST_INVALID,
            "the masks have the values 0 and 255 alone, as black and white, and not class numbers from 0 on: "
            "save them as gray PNG files of 1 bit, in which white is 1, such as by 'mogrify -depth 1 -define "
            "png:color-type=0 *.png'");
    return status;
}

mst_status positions_choose(mst_loss loss, int64_t classes, bool with_classes, mst_dataset *data, objective *out) {
    const double ignore_class = out->ignore_class;
    if (mst_dataset_num_components(data) < 2)
        return MST_FAIL(MST_INVALID, "the data has no masks: take masks:IMAGES,MASKS");
    const mst_shape picture = mst_dataset_spec(data, 0).shape, label = mst_dataset_spec(data, 1).shape;
    if (picture.ndim < 2) return MST_FAIL(MST_INVALID, "the data has no pictures: take masks:IMAGES,MASKS");
    const int64_t width = loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ? classes
                          : label.ndim == 3                                ? label.dim[2]
                                                                           : 1;
    *out = objective_of(loss, picture.dim[0] * picture.dim[1] * width);
    out->row = MST_SHAPE(picture.dim[0], picture.dim[1], width);
    MST_TRY(objective_set_ignored(ignore_class, out, 1));
    MST_TRY(objective_check_shape(out, data));
    return with_classes ? objective_check_classes(out, data) : MST_OK;
}

mst_status positions_choose_tokens(mst_loss loss, int64_t vocabulary, mst_dataset *data, objective *out) {
    const double ignore_class = out->ignore_class;
    const int64_t positions = mst_dataset_spec(data, 0).shape.dim[0];
    if (loss != MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY)
        return MST_FAIL(MST_INVALID,
                        "--loss %s: a model that predicts tokens is trained by sparse_categorical_crossentropy: leave "
                        "it out",
                        mst_loss_name(loss));
    *out = objective_of(loss, positions * vocabulary);
    out->row = MST_SHAPE(positions, vocabulary);
    out->metric[0] = MST_METRIC_PERPLEXITY;
    MST_TRY(objective_set_ignored(ignore_class, out, 1));
    return objective_check_classes(out, data);
}
