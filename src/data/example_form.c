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

/* Names of the features in which an Example stores the size of its picture. */
static const struct {
    const char *height, *width, *depth;
} sizes[] = {{"height", "width", "depth"},    {"height", "width", "channels"},
             {"rows", "cols", "depth"},       {"rows", "cols", "channels"},
             {"rows", "columns", "channels"}, {"image/height", "image/width", "image/channels"}};
enum { NUM_SIZES = sizeof sizes / sizeof *sizes };

static int64_t num_elements(const mst_feature_value *value) {
    return value->kind == MST_FEATURE_BYTES ? value->num_bytes : value->count;
}

/* Reads the integers of feature NAME. False unless there are exactly COUNT of them. */
static bool read_integers(const found *f, const char *name, int64_t count, int64_t *integers) {
    mst_example_parser *parser;
    const mst_feature feature = {.name = name, .dtype = MST_I64, .shape = mst_shape_make(1, &count)};
    if (mst_example_parser_create(&feature, 1, &parser)) return false;
    const bool good = mst_example_parse(parser, f->data, f->size, (void *const[]){integers}) == MST_OK;
    mst_example_parser_destroy(parser);
    return good;
}

/* Reads height and width, and the channels if they are stored, to DIM. Returns the number of dimensions; 0 if there is
 * no size. */
static int told_size(const found *f, int64_t dim[MST_MAX_NDIM]) {
    for (int i = 0; i < NUM_SIZES; i++) {
        int64_t depth;
        if (!read_integers(f, sizes[i].height, 1, &dim[0]) || !read_integers(f, sizes[i].width, 1, &dim[1])) continue;
        dim[2] = 0;
        for (int k = i; k < NUM_SIZES && strcmp(sizes[k].height, sizes[i].height) == 0; k++)
            if (read_integers(f, sizes[k].depth, 1, &depth) && depth > dim[2]) dim[2] = depth;
        return dim[2] > 0 ? 3 : 2;
    }
    return 0;
}

static bool is_shape(int ndim, const int64_t *dim) {
    int64_t product = 1;
    for (int i = 0; i < ndim; i++)
        if (dim[i] < 1 || __builtin_mul_overflow(product, dim[i], &product)) return false;
    return true;
}

/* What an Example says about the shape of its input. */
typedef struct told_shape {
    mst_shape shape; /* ndim 0: it says nothing */
    bool is_whole;   /* from the feature "shape"; else from the size of the picture or from "pixels" */
} told_shape;

/* SHAPE as the shape of COUNT elements. If only height and width are given, and COUNT is three times their product, the
 * picture has three channels. */
static told_shape told_size_of(mst_shape shape, int64_t count) {
    int64_t pixels;
    if (shape.ndim == 2 && !__builtin_mul_overflow(mst_shape_count(shape), 3, &pixels) && pixels == count)
        shape = MST_SHAPE(shape.dim[0], shape.dim[1], 3);
    return (told_shape){.shape = shape};
}

/* Whether SHAPE is the feature "shape" of INPUT. If the input is not bytes, a single number named "shape" may mean
 * anything and is not taken. */
static bool is_whole_shape(const mst_feature_value *shape, const mst_feature_value *input) {
    return is_named(shape, "shape") && shape->kind == MST_FEATURE_INTEGERS &&
           (shape->count > 1 || (shape->count == 1 && input->kind == MST_FEATURE_BYTES));
}

/* Reads the feature "shape". A first dimension of -1 is the batch dimension and is dropped. MST_INVALID if the numbers
 * are not a shape. */
static mst_status read_whole_shape(const found *f, const mst_feature_value *shape, told_shape *told) {
    enum { MOST = MST_MAX_NDIM };
    int64_t dim[MOST];
    const bool good = shape->count <= MOST && read_integers(f, "shape", shape->count, dim);
    const int batch = good && dim[0] == -1, ndim = (int)shape->count - batch;
    if (!good || ndim >= MOST || !is_shape(ndim, dim + batch))
        return MST_FAIL(MST_INVALID,
                        "the feature 'shape' has %lld numbers that are no dimensions: these are from 1 on, and at most "
                        "%d; where it is not the shape of the input, give it another name",
                        (long long)shape->count, MOST - 1);
    if (ndim) *told = (told_shape){mst_shape_make(ndim, dim + batch), true};
    return MST_OK;
}

/* Reads what the Example says about the shape of INPUT. MST_INVALID if its feature "shape" is not a shape. */
static mst_status read_told_shape(const found *f, const mst_feature_value *input, told_shape *told) {
    int64_t dim[MST_MAX_NDIM];
    *told = (told_shape){.is_whole = false};
    for (int i = 0; i < f->count && !told->is_whole; i++)
        if (is_whole_shape(&f->value[i], input)) MST_TRY(read_whole_shape(f, &f->value[i], told));
    if (told->is_whole) return MST_OK;
    int ndim = told_size(f, dim);
    if (!ndim && read_integers(f, "pixels", 1, dim)) ndim = 1;
    if (ndim && is_shape(ndim, dim)) *told = told_size_of(mst_shape_make(ndim, dim), num_elements(input));
    return MST_OK;
}

/* The shape that the Example gives for COUNT elements, without a single channel; [COUNT] if it gives no shape of so
 * many elements. */
static mst_shape shape_of(const told_shape *told, int64_t count) {
    const mst_shape shape = told->shape;
    if (shape.ndim < 1 || mst_shape_count(shape) != count) return mst_shape_make(1, &count);
    return !told->is_whole && shape.ndim == 3 && shape.dim[2] == 1 ? MST_SHAPE(shape.dim[0], shape.dim[1]) : shape;
}

/* Whether VALUE is one of the features that store the size of a picture. */
static bool is_size(const found *f, const mst_feature_value *value) {
    int64_t height, width;
    for (int i = 0; i < NUM_SIZES; i++)
        if ((is_named(value, sizes[i].height) || is_named(value, sizes[i].width) || is_named(value, sizes[i].depth)) &&
            read_integers(f, sizes[i].height, 1, &height) && read_integers(f, sizes[i].width, 1, &width))
            return value->kind == MST_FEATURE_INTEGERS && value->count == 1;
    return false;
}

static bool is_about_input(const found *f, const mst_feature_value *value) {
    const bool is_integer = value->kind == MST_FEATURE_INTEGERS && value->count == 1;
    return (is_named(value, "shape") && value->kind == MST_FEATURE_INTEGERS) ||
           (is_named(value, "pixels") && is_integer) || is_size(f, value);
}

/* Whether VALUE, which has the name of a feature about the input, does describe INPUT. It does if INPUT is bytes, or
 * several numbers, exactly as many as VALUE says. A whole shape is checked further where it is read. */
static bool tells_of(const found *f, const mst_feature_value *value, const mst_feature_value *input) {
    int64_t dim[MST_MAX_NDIM];
    if (input->kind == MST_FEATURE_BYTES || is_whole_shape(value, input)) return true;
    if (!is_size(f, value)) {
        const char *name = is_named(value, "shape") ? "shape" : "pixels";
        return input->count > 1 && read_integers(f, name, 1, dim) && dim[0] == input->count;
    }
    const int ndim = told_size(f, dim);
    return input->count > 1 && is_shape(ndim, dim) &&
           mst_shape_count(told_size_of(mst_shape_make(ndim, dim), input->count).shape) == input->count;
}

/* The only feature apart from the label and from those that describe it; NULL if there are several. */
static const mst_feature_value *only_other(const found *f, const mst_feature_value *label) {
    const mst_feature_value *other = NULL;
    for (int i = 0; i < f->count; i++) {
        if (&f->value[i] == label || is_about_input(f, &f->value[i]) || f->value[i].sequence) continue;
        if (other) return NULL;
        other = &f->value[i];
    }
    for (int i = 0; i < f->count && other; i++)
        if (&f->value[i] != label && is_about_input(f, &f->value[i]) && !tells_of(f, &f->value[i], other)) return NULL;
    return other;
}

/* Reads the bytes of feature NAME, which is a single value. */
static mst_status example_form_bytes(const found *f, const char *name, mst_string *bytes) {
    const mst_feature feature = {.name = name, .dtype = MST_STRING};
    mst_example_parser *parser;
    MST_TRY(mst_example_parser_create(&feature, 1, &parser));
    const mst_status status = mst_example_parse(parser, f->data, f->size, (void *const[]){bytes});
    mst_example_parser_destroy(parser);
    return status;
}

/* Whether the bytes of VALUE, the feature NAME, are a picture file. */
static bool begins_picture(const found *f, const mst_feature_value *value, const char *name) {
    mst_string bytes;
    return value->kind == MST_FEATURE_BYTES && value->count == 1 && example_form_bytes(f, name, &bytes) == MST_OK &&
           mst_image_begins(bytes.data, bytes.length);
}

/* Numbers must be as many as the feature "shape" says. Bytes are checked by check_bytes. */
static mst_status check_told_count(const mst_feature_value *value, const char *name, const told_shape *told) {
    char text[MST_SHAPE_TEXT];
    if (value->kind == MST_FEATURE_BYTES || !told->is_whole || mst_shape_count(told->shape) == value->count)
        return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "feature '%s' has %lld numbers, and the feature 'shape' says %s, which is %lld: write the shape that "
        "the numbers have, or give what is not their shape another name",
        name, (long long)value->count, mst_shape_print(told->shape, text, sizeof text),
        (long long)mst_shape_count(told->shape));
}

/* Bytes in VALUE, the feature NAME, must be elements of u8 or a picture file. */
static mst_status check_bytes(const found *f, const mst_feature_value *value, const char *name, bool label,
                              mst_shape told) {
    mst_string bytes;
    if (value->kind != MST_FEATURE_BYTES || value->count != 1) return MST_OK;
    MST_TRY(example_form_bytes(f, name, &bytes));
    if (!label && mst_image_begins(bytes.data, bytes.length)) return MST_OK;
    return mst_example_bytes_check(name, bytes.data, bytes.length, told, label);
}

static const mst_dtype dtypes[] = {MST_NO_DTYPE, MST_U8, MST_F32, MST_I64}; /* indexed by mst_feature_kind */

static mst_status use(const found *f, const mst_feature_value *value, bool label, char text[MST_FORM_TEXT],
                      mst_feature *out) {
    const int64_t count = num_elements(value);
    const int size = value->name_size < MST_FORM_TEXT ? (int)value->name_size : MST_FORM_TEXT - 1;
    snprintf(text, MST_FORM_TEXT, "%.*s", size, value->name);
    if (count < 1) return MST_FAIL(MST_INVALID, "feature '%s' of the first Example is empty", text);
    told_shape told = {.is_whole = false};
    const mst_status status = label ? MST_OK : read_told_shape(f, value, &told);
    if (begins_picture(f, value, text)) { /* the Example may give its size in pixels */
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

bool mst_example_form_look(const void *data, size_t size, const mst_feature *input, mst_number_look *look) {
    found f;
    told_shape told;
    mst_string bytes;
    if (input->dtype != MST_U8 || read_features(data, size, &f)) return false;
    const mst_feature_value *value = example_form_find(&f, (const char *const[]){input->name, NULL});
    if (!value || value->kind != MST_FEATURE_BYTES || value->count != 1) return false;
    if (read_told_shape(&f, value, &told) || told.shape.ndim > 0 || example_form_bytes(&f, input->name, &bytes))
        return false;
    mst_number_look_at(look, bytes.data, bytes.length);
    return mst_number_look_is_open(look);
}
