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

/* Names under which an Example tells the size of its picture. */
static const struct {
    const char *height, *width, *depth;
} sizes[] = {{"height", "width", "depth"},    {"height", "width", "channels"},
             {"rows", "cols", "depth"},       {"rows", "cols", "channels"},
             {"rows", "columns", "channels"}, {"image/height", "image/width", "image/channels"}};
enum { NUM_SIZES = sizeof sizes / sizeof *sizes };

static bool has_feature(const found *f, const char *name) {
    return example_form_find(f, (const char *const[]){name, NULL});
}

/* What an Example tells of its input. */
static bool is_about_input(const found *f, const mst_feature_value *value) {
    bool is_size = is_named(value, "shape") || is_named(value, "pixels");
    for (int i = 0; i < NUM_SIZES; i++)
        is_size |=
            has_feature(f, sizes[i].height) && has_feature(f, sizes[i].width) &&
            (is_named(value, sizes[i].height) || is_named(value, sizes[i].width) || is_named(value, sizes[i].depth));
    return is_size;
}

/* The only feature that is not the label; NULL if there are more. */
static const mst_feature_value *only_other(const found *f, const mst_feature_value *label) {
    const mst_feature_value *other = NULL;
    for (int i = 0; i < f->count; i++) {
        if (&f->value[i] == label || is_about_input(f, &f->value[i]) || f->value[i].sequence) continue;
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

/* What an Example tells of the shape of its input. */
typedef struct told_shape {
    mst_shape shape; /* ndim 0: nothing */
    bool is_whole;   /* the feature "shape", in place of the size of a picture, or of how many its pixels are */
} told_shape;

/* Height and width, and the channels if they are more than one. */
static int told_size(const found *f, int64_t dim[MST_MAX_NDIM]) {
    for (int i = 0; i < NUM_SIZES; i++) {
        if (!read_integers(f, sizes[i].height, 1, &dim[0]) || !read_integers(f, sizes[i].width, 1, &dim[1])) continue;
        for (int k = i; k < NUM_SIZES && strcmp(sizes[k].height, sizes[i].height) == 0; k++)
            if (read_integers(f, sizes[k].depth, 1, &dim[2]) && dim[2] > 1) return 3;
        return 2;
    }
    return read_integers(f, "pixels", 1, &dim[0]) ? 1 : 0;
}

static bool is_shape(int ndim, const int64_t *dim) {
    int64_t product = 1;
    for (int i = 0; i < ndim; i++)
        if (dim[i] < 1 || __builtin_mul_overflow(product, dim[i], &product)) return false;
    return true;
}

/* MST_INVALID if the feature "shape" is none. */
static mst_status read_told_shape(const found *f, told_shape *told) {
    int64_t dim[MST_MAX_NDIM];
    *told = (told_shape){.is_whole = false};
    for (int i = 0; i < f->count && !told->is_whole; i++) {
        const int64_t count = f->value[i].count;
        if (!is_named(&f->value[i], "shape") || f->value[i].kind != MST_FEATURE_INTEGERS || count < 1) continue;
        if (count >= MST_MAX_NDIM || !read_integers(f, "shape", count, dim) || !is_shape((int)count, dim))
            return MST_FAIL(
                MST_INVALID,
                "the feature 'shape' has %lld numbers that are no dimensions: these are from 1 on, and at most "
                "%d",
                (long long)count, MST_MAX_NDIM - 1);
        *told = (told_shape){mst_shape_make((int)count, dim), true};
    }
    const int ndim = told->is_whole ? 0 : told_size(f, dim);
    if (ndim && is_shape(ndim, dim)) told->shape = mst_shape_make(ndim, dim);
    return MST_OK;
}

/* The shape of COUNT elements as the Example tells it; [COUNT] if it tells none of so many. Height and width alone
 * may be those of a picture of three channels. */
static mst_shape shape_of(const told_shape *told, int64_t count) {
    const mst_shape shape = told->shape;
    const int64_t each = shape.ndim > 0 ? count / mst_shape_count(shape) : 0;
    if (shape.ndim > 0 && mst_shape_count(shape) == count) return shape;
    if (shape.ndim == 2 && each == 3 && mst_shape_count(shape) * each == count)
        return MST_SHAPE(shape.dim[0], shape.dim[1], each);
    return mst_shape_make(1, &count);
}

/* Whether the bytes of VALUE, the feature NAME, are a file of a picture. */
static bool begins_picture(const found *f, const mst_feature_value *value, const char *name) {
    const mst_feature feature = {.name = name, .dtype = MST_STRING};
    mst_example_parser *parser;
    mst_string string = {0};
    if (value->kind != MST_FEATURE_BYTES || value->count != 1 || mst_example_parser_create(&feature, 1, &parser))
        return false;
    const bool good = mst_example_parse(parser, f->data, f->size, (void *const[]){&string}) == MST_OK;
    mst_example_parser_destroy(parser);
    return good && mst_image_begins(string.data, string.length);
}

/* Numbers have as many elements as the feature "shape" says; of bytes, check_bytes looks. */
static mst_status check_told_count(const mst_feature_value *value, const char *name, const told_shape *told) {
    char text[MST_SHAPE_TEXT];
    if (value->kind == MST_FEATURE_BYTES || !told->is_whole || mst_shape_count(told->shape) == value->count)
        return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "feature '%s' has %lld numbers, and the feature 'shape' says %s, which is %lld: write the shape that "
        "the numbers have",
        name, (long long)value->count, mst_shape_print(told->shape, text, sizeof text),
        (long long)mst_shape_count(told->shape));
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
    told_shape told = {.is_whole = false};
    const mst_status status = label ? MST_OK : read_told_shape(f, &told);
    if (begins_picture(f, value, text)) { /* of which the Example may tell the size in pixels */
        if (status || mst_shape_count(told.shape) != count) told = (told_shape){.is_whole = false};
    } else if (status) {
        return status;
    }
    MST_TRY(check_bytes(f, value, text, label, told.shape));
    if (!label) MST_TRY(check_told_count(value, text, &told));
    *out = (mst_feature){.name = text, .dtype = dtypes[value->kind]};
    if (!(label && count == 1)) out->shape = shape_of(&told, count);
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
