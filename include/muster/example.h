/** Reading and writing of tf.train.Example and SequenceExample: named lists of integers, floats or bytes, usually the
 *  records of TFRecord files.
 *
 *      const mst_feature features[] = {
 *          {.name = "image_raw", .dtype = MST_U8, .shape = MST_SHAPE(28, 28)},
 *          {.name = "label", .dtype = MST_I64},
 *          {.name = "tokens", .dtype = MST_I64, .shape = MST_SHAPE(100), .variable = true},
 *          {.name = "weight", .dtype = MST_F32, .has_default = true, .default_value = 1},
 *      };
 *      MST_TRY(mst_dataset_parse_example(records, features, 4, &rows));
 *
 *  The values of a feature become the elements of a row. An int64_list gives i64, i32, u8 or bool, and a float_list
 *  gives f32 or f64. The bytes of a bytes_list are the elements themselves, little-endian, as for TensorFlow's
 *  decode_raw. With dtype MST_STRING each value of a bytes_list is a string.
 */
#ifndef MUSTER_EXAMPLE_H
#define MUSTER_EXAMPLE_H

#include "muster/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_feature {
    const char *name;
    mst_dtype dtype;
    mst_shape shape;  /**< of a row; [0] if a row has no value. For a variable or sequence feature, dimension 0 is the
                          greatest length. If it is -1, each row has a length of its own
                          (mst_dataset_padded_batch) */
    bool variable;    /**< dimension 0 of an Example is padded to the greatest length; a second component, i64 [], has
                          the number of values before the padding */
    bool sequence;    /**< a SequenceExample's feature_list: dimension 0 counts its steps, and is padded too */
    bool has_default; /**< the feature may be missing; false: that is an error */
    double default_value; /**< value of all elements of a missing feature, and of the padding. For strings it is 0,
                               which stands for empty strings. A missing feature with a length of its own has no
                               elements */
} mst_feature;

/** Number of components of FEATURE: 2 if it is variable or a sequence (values and length), else 1. */
MST_API int mst_feature_components(const mst_feature *feature);

typedef struct mst_example_parser mst_example_parser;
/** Copies FEATURES. Fails with MST_INVALID if there are none, or if one has no name, the name of another, or an
 *  impossible shape. */
MST_API MST_CHECKED mst_status mst_example_parser_create(const mst_feature *features, int num_features,
                                                         mst_example_parser **out);
/** NULL is allowed. */
MST_API void mst_example_parser_destroy(mst_example_parser *parser);
MST_API int mst_example_parser_components(const mst_example_parser *parser);
/** Dtype and shape of component I. */
MST_API mst_spec mst_example_parser_spec(const mst_example_parser *parser, int i);
/** Writes the components of the Example or SequenceExample in SIZE bytes at DATA to DST, one pointer for each; NULL:
 *  that component is skipped. Strings refer to DATA. If each row of a feature has a length of its own, get only the
 *  length in a first call, and the values in a second call, with memory for that many. Several threads may call at
 *  once. Fails with MST_CORRUPT if the bytes are not such a message; MST_NOT_FOUND if a feature is missing and has no
 *  default; MST_INVALID if its values are of another kind or number. The message names the feature. */
MST_API MST_CHECKED mst_status mst_example_parse(const mst_example_parser *parser, const void *data, size_t size,
                                                 void *const *dst);

typedef enum mst_feature_kind {
    MST_FEATURE_MISSING = 0,
    MST_FEATURE_BYTES,
    MST_FEATURE_FLOATS,
    MST_FEATURE_INTEGERS
} mst_feature_kind;

typedef struct mst_feature_value {
    const char *name;
    size_t name_size;
    mst_feature_kind kind;
    bool sequence;     /**< it is one of the feature_lists */
    int64_t count;     /**< number of values; for a sequence: of steps */
    int64_t num_bytes; /**< total bytes of the values of a bytes_list */
} mst_feature_value;

/** Lists the features of the Example or SequenceExample in SIZE bytes at DATA. Writes at most MOST of them to VALUES;
 *  the names point into DATA. *COUNT becomes their number. MST_CORRUPT if DATA is not such a message. */
MST_API MST_CHECKED mst_status mst_example_describe(const void *data, size_t size, mst_feature_value *values, int most,
                                                    int *count);

/** A feature to be written: COUNT elements at DATA. All u8 elements together become one value of a bytes_list; each
 *  string becomes one value of it. f32 becomes a float_list; i64, i32 and bool become an int64_list. */
typedef struct mst_feature_data {
    const char *name;
    mst_dtype dtype;
    const void *data;
    int64_t count;
} mst_feature_data;

/** Bytes of the Example with these features; 0 if a dtype cannot be written. */
MST_API size_t mst_example_size(const mst_feature_data *features, int num_features);
/** Writes that Example to DST, which has room for mst_example_size bytes. To get the bytes that TensorFlow writes, give
 *  the features sorted by name. */
MST_API void mst_example_encode(const mst_feature_data *features, int num_features, void *dst);

#ifdef __cplusplus
}
#endif
#endif
