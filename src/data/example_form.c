#include "data/example_form.h"

#include <stdio.h>
#include <string.h>

#include "data/example_bytes.h"
#include "format/image.h"

enum { MOST_FEATURES = 64, LIST_SIZE = 512 };

typedef struct found {
    mst_feature_value value[MOST_FEATURES];
    int count;
    const void *data;
    size_t size;
} found;

static const char *const label_names[] = {"label", "y", "labels", "class", "image/class/label", NULL};
static const char *const input_names[] = {"image_raw", "x", "image", "inputs", "features", "image/encoded", NULL};

static bool is_named(const mst_feature_value *value, const char *name) {
    return !value->sequence && value->name_size == strlen(name) && memcmp(value->name, name, value->name_size) == 0;
}

static const mst_feature_value *example_form_find(const found *f, const char *const *names) {
    for (; *names; names++)
        for (int i = 0; i < f->count; i++)
            if (is_named(&f->value[i], *names)) return &f->value[i];
    return NULL;
}

/* What an Example tells of its input. */
static bool is_about_input(const mst_feature_value *value) {
    return is_named(value, "shape") || is_named(value, "pixels");
}

/* The only feature that is not the label; NULL where there are more. */
static const mst_feature_value *only_other(const found *f, const mst_feature_value *label) {
    const mst_feature_value *other = NULL;
    for (int i = 0; i < f->count; i++) {
        if (&f->value[i] == label || is_about_input(&f->value[i]) || f->value[i].sequence) continue;
        if (other) return NULL;
        other = &f->value[i];
    }
    return other;
}

static int64_t num_elements(const mst_feature_value *value) {
    return value->kind == MST_FEATURE_BYTES ? value->num_bytes : value->count;
}

/* The integers of feature NAME, if there are COUNT of them. */
static bool read_integers(const found *f, const char *name, int64_t count, int64_t *integers) {
    mst_example_parser *parser;
    const mst_feature feature = {.name = name, .dtype = MST_I64, .shape = mst_shape_make(1, &count)};
    if (mst_example_parser_create(&feature, 1, &parser)) return false;
    const bool good = mst_example_parse(parser, f->data, f->size, (void *const[]){integers}) == MST_OK;
    mst_example_parser_destroy(parser);
    return good;
}

/* The shape that the Example gives; ndim 0 if it gives none, or one that is impossible. */
static mst_shape told_shape(const found *f) {
    int64_t dim[MST_MAX_NDIM], product = 1;
    int ndim = 0;
    for (int i = 0; i < f->count; i++)
        if (is_named(&f->value[i], "shape") && f->value[i].kind == MST_FEATURE_INTEGERS && f->value[i].count > 0 &&
            f->value[i].count < MST_MAX_NDIM && read_integers(f, "shape", f->value[i].count, dim))
            ndim = (int)f->value[i].count;
    if (ndim == 0 && read_integers(f, "height", 1, &dim[0]) && read_integers(f, "width", 1, &dim[1]))
        ndim = dim[0] > 0 && dim[1] > 0 && read_integers(f, "depth", 1, &dim[2]) && dim[2] > 1 ? 3 : 2;
    for (int i = 0; i < ndim; i++)
        if (dim[i] < 1 || __builtin_mul_overflow(product, dim[i], &product)) return (mst_shape){.ndim = 0};
    return mst_shape_make(ndim, dim);
}

/* The shape that the Example gives, if it has COUNT elements; else [COUNT]. */
static mst_shape shape_of(const found *f, int64_t count) {
    const mst_shape told = told_shape(f);
    return told.ndim > 0 && mst_shape_count(told) == count ? told : mst_shape_make(1, &count);
}

/* Bytes in VALUE, the feature NAME, must be elements of u8 or a picture file. */
static mst_status check_bytes(const found *f, const mst_feature_value *value, const char *name, bool label,
                              mst_shape told) {
    const mst_feature feature = {.name = name, .dtype = MST_STRING};
    mst_example_parser *parser;
    mst_string string = {0};
    if (value->kind != MST_FEATURE_BYTES || value->count != 1) return MST_OK;
    MST_TRY(mst_example_parser_create(&feature, 1, &parser));
    mst_status status = mst_example_parse(parser, f->data, f->size, (void *const[]){&string});
    mst_example_parser_destroy(parser);
    if (!status && !label && mst_image_begins(string.data, string.length)) return MST_OK;
    return status ? status : mst_example_bytes_check(name, string.data, string.length, told, label);
}

static const mst_dtype dtypes[] = {MST_NO_DTYPE, MST_U8, MST_F32, MST_I64}; /* by mst_feature_kind */

static mst_status use(const found *f, const mst_feature_value *value, bool label, char text[MST_FORM_TEXT],
                      mst_feature *out) {
    const int64_t count = num_elements(value);
    const int size = value->name_size < MST_FORM_TEXT ? (int)value->name_size : MST_FORM_TEXT - 1;
    snprintf(text, MST_FORM_TEXT, "%.*s", size, value->name);
    if (count < 1) return MST_FAIL(MST_INVALID, "feature '%s' of the first Example is empty", text);
    MST_TRY(check_bytes(f, value, text, label, label ? (mst_shape){.ndim = 0} : told_shape(f)));
    *out = (mst_feature){.name = text, .dtype = dtypes[value->kind]};
    if (!(label && count == 1)) out->shape = label ? mst_shape_make(1, &count) : shape_of(f, count);
    return MST_OK;
}

static const char *list_features(const found *f, char list[LIST_SIZE]) {
    *list = '\0';
    for (int i = 0; i < f->count; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, LIST_SIZE - used, "%s%.*s", i ? ", " : "",
                 f->value[i].name_size < 100 ? (int)f->value[i].name_size : 100, f->value[i].name);
    }
    return f->count ? list : "none";
}

static mst_status cannot_tell(const found *f) {
    char list[LIST_SIZE];
    return MST_FAIL(MST_INVALID,
                    "which feature is the input? Examples have %s: name it image_raw or x, and the label label or y",
                    list_features(f, list));
}

static mst_status read_features(const void *data, size_t size, found *f) {
    *f = (found){.data = data, .size = size};
    MST_TRY(mst_example_describe(data, size, f->value, MOST_FEATURES, &f->count));
    if (f->count > MOST_FEATURES) f->count = MOST_FEATURES;
    return MST_OK;
}

mst_status mst_example_form_find(const void *data, size_t size, mst_feature features[2], char text[2][MST_FORM_TEXT],
                                 int *count) {
    found f;
    *count = 0;
    MST_TRY(read_features(data, size, &f));
    const mst_feature_value *label = example_form_find(&f, label_names), *input = example_form_find(&f, input_names);
    if (!input) input = only_other(&f, label);
    if (!input) return cannot_tell(&f);
    MST_TRY(use(&f, input, false, text[0], &features[0]));
    if (label) MST_TRY(use(&f, label, true, text[1], &features[1]));
    *count = label ? 2 : 1;
    return MST_OK;
}

mst_status mst_example_form_named(const void *data, size_t size, const char *const *names, int num_inputs, int n,
                                  mst_feature *features, int *count) {
    found f;
    int labels = 0, missing = -1;
    char list[LIST_SIZE];
    *count = 0;
    MST_TRY(read_features(data, size, &f));
    for (int i = 0; i < n; i++) {
        const mst_feature_value *value = example_form_find(&f, (const char *const[]){names[i], NULL});
        const int64_t elements = value ? num_elements(value) : 0;
        if (!value && missing < 0) missing = i; /* inputs come first */
        if (!value) continue;
        if (elements < 1) return MST_FAIL(MST_INVALID, "feature '%s' of the first Example is empty", names[i]);
        MST_TRY(check_bytes(&f, value, names[i], i >= num_inputs, (mst_shape){.ndim = 0}));
        features[i] = (mst_feature){.name = names[i], .dtype = dtypes[value->kind]};
        if (i < num_inputs || elements > 1) features[i].shape = mst_shape_make(1, &elements);
        labels += i >= num_inputs;
    }
    if (missing >= 0 && (missing < num_inputs || labels))
        return MST_FAIL(MST_NOT_FOUND, "Examples have no feature '%s', %s of the model: they have %s", names[missing],
                        missing < num_inputs ? "an input" : "an output", list_features(&f, list));
    *count = labels ? n : num_inputs;
    return MST_OK;
}
