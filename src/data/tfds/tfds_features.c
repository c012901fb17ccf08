#include "data/tfds/tfds_features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { LIST_SIZE = 400, MOST_FEATURES = 10000 };

/* Reads an integer. In the JSON of protocol buffers, 64-bit integers are strings. */
static bool read_integer(const json_t *json, int64_t *out) {
    const char *text = json_string_value(json);
    char *end = NULL;
    if (json_is_integer(json)) *out = json_integer_value(json);
    if (text) *out = strtoll(text, &end, 10);
    return json_is_integer(json) || (text && *text && !*end);
}

/* Reads {"dimensions": ["-1", "3"]}; {} is a scalar. */
static bool tfds_read_shape(const json_t *json, mst_shape *out) {
    const json_t *list = json_object_get(json, "dimensions");
    const size_t ndim = json_array_size(list);
    int64_t count = 1;
    if (ndim > MST_MAX_NDIM) return false;
    *out = (mst_shape){.ndim = (int32_t)ndim};
    for (size_t i = 0; i < ndim; i++) {
        int64_t *dim = &out->dim[i];
        if (!read_integer(json_array_get(list, i), dim) || *dim < -1) return false;
        if (*dim > 0 && __builtin_mul_overflow(count, *dim, &count)) return false;
    }
    return count <= INT32_MAX;
}

/* The dtype in which elements of a NumPy dtype are read. RAW: the elements are stored as bytes. MST_NO_DTYPE (0 in the
 * table) if Muster cannot read them. */
static mst_dtype dtype_of(const char *name, bool raw) {
    static const struct {
        const char *name;
        mst_dtype dtype, raw;
    } known[] = {{"uint8", MST_U8, MST_U8},   {"bool", MST_BOOL, MST_BOOL},  {"int32", MST_I32, MST_I32},
                 {"int64", MST_I64, MST_I64}, {"float32", MST_F32, MST_F32}, {"float64", MST_F64, MST_F64},
                 {"int8", MST_I32, 0},        {"int16", MST_I32, 0},         {"uint16", MST_I32, 0},
                 {"uint32", MST_I64, 0},      {"float16", MST_F32, 0},       {"bfloat16", MST_F32, 0}};
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return raw ? known[i].raw : known[i].dtype;
    return MST_NO_DTYPE;
}

static mst_status wrong_shape(const char *name) {
    return MST_FAIL(MST_CORRUPT, "the shape of feature '%.100s' is none", name);
}

static mst_status read_tensor(const json_t *json, mst_tfds_feature *f) {
    const char *encoding = json_string_value(json_object_get(json, "encoding"));
    const bool raw = encoding && strcmp(encoding, "bytes") == 0;
    if (!tfds_read_shape(json_object_get(json, "shape"), &f->spec.shape)) return wrong_shape(f->name);
    f->spec.dtype = dtype_of(json_string_value(json_object_get(json, "dtype")), raw);
    const bool plain = !encoding || raw || strcmp(encoding, "none") == 0;
    if (plain && f->spec.dtype && mst_shape_count(f->spec.shape) > 0) f->kind = MST_TFDS_TENSOR;
    return MST_OK;
}

/* Reads a feature. The name of its Python class is the last part of, for example,
 * "tensorflow_datasets.core.features.image_feature.Image". */
static mst_status tfds_read_feature(const char *name, const json_t *json, mst_arena *arena, mst_tfds_feature *f) {
    const char *python = json_string_value(json_object_get(json, "pythonClassName"));
    const char *dot = python ? strrchr(python, '.') : NULL;
    const json_t *image = json_object_get(json, "image"), *class = json_object_get(json, "classLabel");
    const json_t *tensor = json_object_get(json, "tensor");
    *f = (mst_tfds_feature){.name = mst_arena_string(arena, name)};
    f->class_name = mst_arena_string(arena, dot ? dot + 1 : python ? python : "unknown");
    if (!f->name || !f->class_name) return MST_NO_MEMORY("for a feature");
    if (image) {
        if (!tfds_read_shape(json_object_get(image, "shape"), &f->spec.shape)) return wrong_shape(f->name);
        const mst_dtype dtype = dtype_of(json_string_value(json_object_get(image, "dtype")), false);
        if (f->spec.shape.ndim == 3 && (!dtype || dtype == MST_U8)) f->kind = MST_TFDS_IMAGE;
    } else if (class) {
        f->kind = MST_TFDS_CLASS;
        f->spec.dtype = MST_I64;
        if (!read_integer(json_object_get(class, "numClasses"), &f->num_classes)) f->num_classes = 0;
    } else if (tensor && strcmp(f->class_name, "Text") != 0) {
        return read_tensor(tensor, f);
    }
    return MST_OK;
}

/* ---- input and label ---- */

static const char *list_features(const mst_tfds_features *all, char text[LIST_SIZE]) {
    *text = '\0';
    for (int i = 0; i < all->num_features; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, LIST_SIZE - used, "%s%.60s", i ? ", " : "", all->feature[i].name);
    }
    return text;
}

/* Finds the feature that KEY names. Fails if it is of a kind that is not read. */
static mst_status find_named(const mst_tfds_features *all, const json_t *key, const mst_tfds_feature **out) {
    char list[LIST_SIZE];
    const char *name = json_string_value(json_object_get(key, "featureKey"));
    if (!name)
        return MST_FAIL(MST_UNIMPLEMENTED, "its supervised keys are not one input and one label, as they must be here");
    for (int i = 0; i < all->num_features && !*out; i++)
        if (strcmp(all->feature[i].name, name) == 0) *out = &all->feature[i];
    if (*out) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "there is no feature '%.100s', which is one of the supervised keys: there are %s",
                    name, list_features(all, list));
}

/* The only feature of KIND, not counting OTHER; NULL if there are none or several. */
static const mst_tfds_feature *only_one(const mst_tfds_features *all, mst_tfds_kind kind,
                                        const mst_tfds_feature *other) {
    const mst_tfds_feature *found = NULL;
    for (int i = 0; i < all->num_features; i++) {
        if (all->feature[i].kind != kind || &all->feature[i] == other) continue;
        if (found) return NULL;
        found = &all->feature[i];
    }
    return found;
}

/* Chooses input and label where the folder has no supervised keys. The label is the only class, else a tensor "label".
 * The input is the only image, else the only other tensor. */
static mst_status choose_by_kind(mst_tfds_features *all) {
    char list[LIST_SIZE];
    all->label = only_one(all, MST_TFDS_CLASS, NULL);
    for (int i = 0; i < all->num_features && !all->label; i++)
        if (all->feature[i].kind == MST_TFDS_TENSOR && strcmp(all->feature[i].name, "label") == 0)
            all->label = &all->feature[i];
    all->input = only_one(all, MST_TFDS_IMAGE, NULL);
    if (!all->input) all->input = only_one(all, MST_TFDS_TENSOR, all->label);
    if (all->input) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "which feature is the input? There are %s: the folder must have been made with supervised_keys",
                    list_features(all, list));
}

static mst_status tfds_check_kinds(const mst_tfds_features *all) {
    const mst_tfds_feature *chosen[] = {all->input, all->label};
    for (int i = 0; i < 2; i++)
        if (chosen[i] && (chosen[i]->kind == MST_TFDS_OTHER || (i && chosen[i]->kind == MST_TFDS_IMAGE)))
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "%s '%.100s' is a feature %.50s that is not read: inputs are images, or tensors and "
                            "scalars of a known shape, labels classes, tensors or scalars",
                            i ? "label" : "input", chosen[i]->name, chosen[i]->class_name);
    return MST_OK;
}

mst_status mst_tfds_features_read(const json_t *features, const json_t *keys, mst_arena *arena,
                                  mst_tfds_features *out) {
    json_t *dict = json_object_get(json_object_get(features, "featuresDict"), "features"), *value;
    const json_t *items = json_object_get(json_object_get(keys, "tuple"), "items");
    const char *name;
    if (!json_object_size(dict) || json_object_size(dict) > MOST_FEATURES)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "there is no featuresDict in it: older versions of TensorFlow Datasets wrote "
                        "another form: make the folder with a newer one");
    out->feature = mst_arena_alloc(arena, json_object_size(dict) * sizeof *out->feature);
    if (!out->feature) return MST_NO_MEMORY("for features");
    json_object_foreach(dict, name, value)
        MST_TRY(tfds_read_feature(name, value, arena, &out->feature[out->num_features++]));
    if (keys) {
        MST_TRY(find_named(out, json_array_size(items) == 2 ? json_array_get(items, 0) : NULL, &out->input));
        MST_TRY(find_named(out, json_array_get(items, 1), &out->label));
    } else {
        MST_TRY(choose_by_kind(out));
    }
    return tfds_check_kinds(out);
}
