/* Reads those operators of the domain ai.onnx.ml that compute with numbers: scalers, encoders of numbers and linear
 * models, as scikit-learn's converter writes them. Inputs cannot be texts. An output that is a text, the name of a
 * class, becomes the number of the class. Formulas: onnx/docs/Operators-ml.md of https://github.com/onnx/onnx. */
#include <math.h>
#include <string.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

/* ---- attributes ---- */

/* The numbers of the attribute NAME; *COUNT is 0 if it is missing. The numbers belong to the file. */
static const float *floats_of(mst_onnx_call *c, const char *name, int64_t *count) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_FLOATS);
    *count = a ? (int64_t)a->n_floats : 0;
    return a ? a->floats : NULL;
}

static const int64_t *ints_of(mst_onnx_call *c, const char *name, int64_t *count) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_INTS);
    *count = a ? (int64_t)a->n_ints : 0;
    return a ? a->ints : NULL;
}

static bool has_texts(mst_onnx_call *c, const char *name) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_STRINGS);
    return a && a->n_strings;
}

/* Input I as f32, with at least one dimension. */
static mst_status numbers_of(const mst_onnx_call *c, size_t i, mst_value *out) {
    MST_TRY(mst_onnx_plain(c, i, out));
    if (mst_value_spec(*out).shape.ndim < 1)
        return MST_FAIL(MST_INVALID, "its input %zu is one number: it must have a dimension for the features", i);
    *out = mst_cast(*out, MST_F32);
    return mst_graph_check(c->reader->graph);
}

/* The numbers LIST, one for all features of X or one for each, as a value. */
static mst_status per_feature(const mst_onnx_call *c, mst_value x, const char *name, const float *list, int64_t count,
                              mst_value *out) {
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t features = shape.dim[shape.ndim - 1];
    mst_tensor *tensor;
    if (count != 1 && features >= 0 && count != features)
        return MST_FAIL(MST_INVALID, "its attribute %s has %lld numbers, and its input has %lld features", name,
                        (long long)count, (long long)features);
    MST_TRY(mst_tensor_copy(MST_F32, count == 1 ? MST_SCALAR : MST_SHAPE(count), list, &tensor));
    *out = mst_constant(c->reader->graph, tensor);
    mst_tensor_release(tensor);
    return mst_graph_check(c->reader->graph);
}

/* ---- features ---- */

/* (x - offset) * scale */
static mst_status read_scaler(mst_onnx_call *c) {
    mst_value x, number;
    int64_t offsets, scales;
    const float *offset = floats_of(c, "offset", &offsets), *scale = floats_of(c, "scale", &scales);
    MST_TRY(numbers_of(c, 0, &x));
    mst_value y = x;
    if (offsets) {
        MST_TRY(per_feature(c, x, "offset", offset, offsets, &number));
        y = mst_sub(y, number);
    }
    if (scales) {
        MST_TRY(per_feature(c, x, "scale", scale, scales, &number));
        y = mst_mul(y, number);
    }
    return mst_onnx_put(c, 0, y);
}

/* x / norm of the row, where the norm is not 0 */
static mst_status read_normalizer(mst_onnx_call *c) {
    mst_value x, norm;
    const bool max = mst_onnx_is(c, "norm", "MAX", "MAX"), l1 = mst_onnx_is(c, "norm", "L1", "MAX"),
               l2 = mst_onnx_is(c, "norm", "L2", "MAX");
    if (!max && !l1 && !l2) return MST_FAIL(MST_INVALID, "its attribute norm must be MAX, L1 or L2");
    MST_TRY(numbers_of(c, 0, &x));
    const mst_axes last = MST_AXES(-1);
    if (l2)
        norm = mst_sqrt(mst_reduce_sum(mst_square(x), last, .keep_dims = true));
    else
        norm = l1 ? mst_reduce_sum(mst_abs(x), last, .keep_dims = true)
                  : mst_reduce_max(mst_abs(x), last, .keep_dims = true);
    const mst_value none = mst_equal(norm, mst_zeros_like(norm));
    return mst_onnx_put(c, 0, mst_div(x, mst_select(none, mst_ones_like(norm), norm)));
}

/* 1 where x > threshold, else 0 */
static mst_status read_binarizer(mst_onnx_call *c) {
    mst_value x;
    const double threshold = (double)mst_onnx_float(c, "threshold", 0);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_dtype dtype = mst_value_spec(x).dtype;
    if (!mst_dtype_is_float(dtype))
        return MST_FAIL(MST_UNIMPLEMENTED, "its input is of %s: only inputs of floats are supported",
                        mst_dtype_name(dtype));
    const mst_value limit = mst_scalar(c->reader->graph, dtype, threshold);
    return mst_onnx_put(c, 0, mst_cast(mst_greater(x, limit), dtype));
}

/* Replaces the elements of x that equal replaced_value_float by the numbers imputed_value_floats. If
 * replaced_value_float is NaN, the elements that are NaN are replaced. */
static mst_status read_imputer(mst_onnx_call *c) {
    mst_value x, number;
    int64_t count, integers;
    const float *list = floats_of(c, "imputed_value_floats", &count);
    const double replaced = (double)mst_onnx_float(c, "replaced_value_float", 0);
    (void)ints_of(c, "imputed_value_int64s", &integers);
    (void)mst_onnx_int(c, "replaced_value_int64", 0);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    const mst_spec spec = mst_value_spec(x);
    if (integers || spec.dtype != MST_F32 || spec.shape.ndim < 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "only inputs of float32 and imputed_value_floats are supported");
    if (!count) return MST_FAIL(MST_INVALID, "its attribute imputed_value_floats is missing: export the model again");
    MST_TRY(per_feature(c, x, "imputed_value_floats", list, count, &number));
    const mst_value where =
        isnan(replaced) ? mst_is_nan(x) : mst_equal(x, mst_scalar(c->reader->graph, MST_F32, replaced));
    return mst_onnx_put(c, 0, mst_select(where, number, x));
}

/* Concatenates the features of all inputs. The attribute inputdimensions has the number of features of each input. An
 * input with one dimension has one feature. */
static mst_status read_feature_vectorizer(mst_onnx_call *c) {
    enum { MOST = 64 };
    mst_value x[MOST];
    int64_t dims[MST_ONNX_MOST_LIST];
    int num_dims;
    const size_t count = c->node->n_input;
    MST_TRY(mst_onnx_ints(c, "inputdimensions", dims, &num_dims));
    if (count < 1 || count > MOST)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and 1 to %d are supported", count, MOST);
    if (num_dims && (size_t)num_dims != count)
        return MST_FAIL(MST_INVALID, "its attribute inputdimensions has %d numbers, and there are %zu inputs", num_dims,
                        count);
    for (size_t i = 0; i < count; i++) {
        MST_TRY(numbers_of(c, i, &x[i]));
        if (mst_value_spec(x[i]).shape.ndim == 1) x[i] = mst_expand_dims(x[i], 1);
        const mst_shape shape = mst_value_spec(x[i]).shape;
        if (shape.ndim != 2 || (num_dims && shape.dim[1] >= 0 && shape.dim[1] != dims[i]))
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its input %zu must be [n, features], with as many features as inputdimensions says", i);
    }
    return mst_onnx_put(c, 0, mst_concat(x, (int)count, 1));
}

/* The columns INDICES of the last axis. A vector is taken for one row. */
static mst_status read_array_feature_extractor(mst_onnx_call *c) {
    mst_value x, index;
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(mst_onnx_plain(c, 1, &index));
    const mst_spec spec = mst_value_spec(x), indices = mst_value_spec(index);
    if (spec.shape.ndim < 1 || (indices.dtype != MST_I64 && indices.dtype != MST_I32))
        return MST_FAIL(MST_INVALID, "its input 0 must have a dimension, and its input 1 must be of integers");
    index = mst_reshape(index, MST_SHAPE(-1));
    const mst_value y = mst_gather(x, index, spec.shape.ndim - 1);
    return mst_onnx_put(c, 0, spec.shape.ndim == 1 ? mst_expand_dims(y, 0) : y);
}

/* ---- numbers as categories ---- */

/* The numbers LIST of i64 or f32. */
static mst_status constant_list(const mst_onnx_call *c, mst_dtype dtype, const void *list, int64_t count,
                                mst_value *out) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(dtype, MST_SHAPE(count), list, &tensor));
    *out = mst_constant(c->reader->graph, tensor);
    mst_tensor_release(tensor);
    return mst_graph_check(c->reader->graph);
}

/* Whether each element of X, cast to the dtype of KEYS, equals each of the KEYS: [..., keys]. */
static mst_value matches(mst_value x, mst_value keys) {
    return mst_equal(mst_expand_dims(mst_cast(x, mst_value_spec(keys).dtype), -1), keys);
}

static mst_status read_one_hot_encoder(mst_onnx_call *c) {
    mst_value x, keys;
    int64_t count;
    const int64_t *list = ints_of(c, "cats_int64s", &count);
    (void)mst_onnx_int(c, "zeros", 1); /* 0: unknown categories are errors in ONNX; here they are zeros */
    if (has_texts(c, "cats_strings"))
        return MST_FAIL(MST_UNIMPLEMENTED, "its categories are texts: only numbers are supported");
    if (!count) return MST_FAIL(MST_INVALID, "its attribute cats_int64s is missing: export the model again");
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(constant_list(c, MST_I64, list, count, &keys));
    return mst_onnx_put(c, 0, mst_cast(matches(x, keys), MST_F32));
}

static mst_status read_label_encoder(mst_onnx_call *c) {
    mst_value x, keys, values;
    int64_t ints, floats, to_ints, to_floats;
    const int64_t *key_int = ints_of(c, "keys_int64s", &ints), *int_value = ints_of(c, "values_int64s", &to_ints);
    const float *key_float = floats_of(c, "keys_floats", &floats),
                *float_value = floats_of(c, "values_floats", &to_floats);
    const int64_t other_int = mst_onnx_int(c, "default_int64", -1);
    const double other_float = (double)mst_onnx_float(c, "default_float", -0.0F);
    const int64_t count = ints ? ints : floats, to = to_ints ? to_ints : to_floats;
    (void)mst_onnx_is(c, "default_string", "", "");
    if (has_texts(c, "keys_strings") || has_texts(c, "values_strings"))
        return MST_FAIL(MST_UNIMPLEMENTED, "its keys or values are texts: only numbers are supported");
    if (!count || count != to || (ints && floats) || (to_ints && to_floats))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it has %lld keys and %lld values: it must have keys_int64s or keys_floats, and as many "
                        "values_int64s or values_floats",
                        (long long)(ints + floats), (long long)(to_ints + to_floats));
    MST_TRY(mst_onnx_plain(c, 0, &x));
    MST_TRY(constant_list(c, ints ? MST_I64 : MST_F32, ints ? (const void *)key_int : key_float, count, &keys));
    MST_TRY(
        constant_list(c, to_ints ? MST_I64 : MST_F32, to_ints ? (const void *)int_value : float_value, to, &values));
    const mst_value found = mst_cast(matches(x, keys), MST_F32);
    const mst_value y = mst_gather(values, mst_argmax(found, .axis = -1), 0);
    const mst_value none = mst_equal(mst_reduce_max(found, MST_AXES(-1)), mst_scalar(c->reader->graph, MST_F32, 0));
    const mst_value other = to_ints ? mst_scalar(c->reader->graph, MST_I64, (double)other_int)
                                    : mst_scalar(c->reader->graph, MST_F32, other_float);
    return mst_onnx_put(c, 0, mst_select(none, other, y));
}

/* ---- linear models ---- */

/* x coefficients^T + intercepts, [n, rows]. The attributes are coefficients, [rows, features], and intercepts, [rows],
 * which may be missing. If ROWS is 0, it is the number of intercepts; without these, coefficients / features. */
static mst_status linear(mst_onnx_call *c, int64_t rows, mst_value *out) {
    mst_value x, matrix, shift;
    int64_t count, shifts;
    const float *list = floats_of(c, "coefficients", &count), *intercept = floats_of(c, "intercepts", &shifts);
    MST_TRY(numbers_of(c, 0, &x));
    if (mst_value_spec(x).shape.ndim == 1) x = mst_expand_dims(x, 0);
    const mst_shape shape = mst_value_spec(x).shape;
    const int64_t features = shape.dim[shape.ndim - 1];
    if (!rows) rows = shifts ? shifts : features > 0 ? count / features : 0;
    if (shape.ndim != 2 || rows < 1 || count < 1 || count % rows || (features >= 0 && count / rows != features) ||
        (shifts && shifts != rows))
        return MST_FAIL(MST_INVALID,
                        "its attributes coefficients and intercepts have %lld and %lld numbers, and its input has %d "
                        "dimensions and %lld features: it must be [n, features], with a coefficient for each feature "
                        "of each of %lld rows",
                        (long long)count, (long long)shifts, shape.ndim, (long long)features, (long long)rows);
    MST_TRY(mst_onnx_weight(c, "coefficients", MST_SHAPE(rows, count / rows), list, &matrix));
    *out = mst_matmul(x, matrix, .transpose_b = true);
    if (!shifts) return mst_graph_check(c->reader->graph);
    MST_TRY(mst_onnx_weight(c, "intercepts", MST_SHAPE(rows), intercept, &shift));
    *out = mst_add(*out, shift);
    return mst_graph_check(c->reader->graph);
}

static mst_status post_transform(mst_onnx_call *c, mst_value *y) {
    if (mst_onnx_is(c, "post_transform", "NONE", "NONE")) return MST_OK;
    if (mst_onnx_is(c, "post_transform", "LOGISTIC", "NONE"))
        *y = mst_sigmoid(*y);
    else if (mst_onnx_is(c, "post_transform", "SOFTMAX", "NONE"))
        *y = mst_softmax(*y);
    else
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute post_transform must be NONE, LOGISTIC or SOFTMAX");
    return mst_graph_check(c->reader->graph);
}

static mst_status read_linear_regressor(mst_onnx_call *c) {
    mst_value y;
    const int64_t targets = mst_onnx_int(c, "targets", 1);
    if (targets < 1)
        return MST_FAIL(MST_INVALID, "its attribute targets is %lld: it must be at least 1", (long long)targets);
    MST_TRY(linear(c, targets, &y));
    MST_TRY(post_transform(c, &y));
    return mst_onnx_put(c, 0, y);
}

/* The label of each row: the number of the largest score, or the whole number that the file has for that class. */
static mst_status put_labels(mst_onnx_call *c, mst_value scores, const int64_t *label, int64_t count) {
    mst_value number = mst_argmax(scores, .axis = -1), labels;
    bool in_order = true;
    for (int64_t i = 0; i < count; i++) in_order &= label[i] == i;
    if (!in_order) {
        MST_TRY(constant_list(c, MST_I64, label, count, &labels));
        number = mst_gather(labels, number, 0);
    }
    return mst_onnx_put(c, 0, number);
}

/* One row of coefficients with two classes has the scores [-s, s]. */
static mst_status read_linear_classifier(mst_onnx_call *c) {
    mst_value y;
    int64_t count;
    const int64_t *label = ints_of(c, "classlabels_ints", &count);
    const Muster__OnnxAttribute *texts = mst_onnx_attribute(c, "classlabels_strings", MST_ONNX_STRINGS);
    const int64_t classes = texts && texts->n_strings ? (int64_t)texts->n_strings : count;
    (void)mst_onnx_int(c, "multi_class", 0);
    MST_TRY(linear(c, 0, &y));
    const int64_t rows = mst_value_spec(y).shape.dim[1];
    if (rows == 1 && classes == 2)
        y = mst_concat((mst_value[]){mst_neg(y), y}, 2, 1);
    else if (rows != classes || rows < 2)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it has coefficients for %lld rows, and %lld classes: as many rows as classes are supported, "
                        "and one row for two classes",
                        (long long)rows, (long long)classes);
    MST_TRY(put_labels(c, y, label, count));
    MST_TRY(post_transform(c, &y));
    return mst_onnx_put(c, 1, y);
}

/* In ONNX, a map from the names of classes to scores for each row. Here the scores, [n, classes]. */
static mst_status read_zip_map(mst_onnx_call *c) {
    mst_value x;
    (void)has_texts(c, "classlabels_strings");
    (void)mst_onnx_attribute(c, "classlabels_int64s", MST_ONNX_INTS);
    MST_TRY(mst_onnx_plain(c, 0, &x));
    return mst_onnx_put(c, 0, x);
}

const mst_onnx_op mst_onnx_ml_ops[] = {
    {"ArrayFeatureExtractor", .read = read_array_feature_extractor},
    {"Binarizer", .read = read_binarizer},
    {"FeatureVectorizer", .read = read_feature_vectorizer},
    {"Imputer", .read = read_imputer},
    {"LabelEncoder", .read = read_label_encoder},
    {"LinearClassifier", .read = read_linear_classifier},
    {"LinearRegressor", .read = read_linear_regressor},
    {"Normalizer", .read = read_normalizer},
    {"OneHotEncoder", .read = read_one_hot_encoder},
    {"Scaler", .read = read_scaler},
    {"ZipMap", .read = read_zip_map},
    {0},
};

/* Operators of ai.onnx.ml that are not supported, and the reasons. */
static const struct {
    const char *name, *why;
} refused[] = {
    {"CategoryMapper", "it maps texts, and only numbers are supported"},
    {"DictVectorizer", "its input is a map, and only tensors are supported"},
    {"SVMClassifier",
     "it is a support vector machine, whose kernels are no layers of a network: LinearSVC is supported"},
    {"SVMRegressor",
     "it is a support vector machine, whose kernels are no layers of a network: LinearSVR is supported"},
    {"TreeEnsemble", "it is of decision trees, which are no network"},
    {"TreeEnsembleClassifier", "it is of decision trees, which are no network"},
    {"TreeEnsembleRegressor", "it is of decision trees, which are no network"},
};

const char *mst_onnx_ml_reason(const char *name) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, name) == 0) return refused[i].why;
    return NULL;
}
