/** tf.train.Example and SequenceExample: named lists of integers, floats or bytes, as records of TFRecord files.
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
 *  gives f32 or f64. The bytes of a bytes_list are the elements themselves, little-endian (TensorFlow's decode_raw).
 *  With dtype MST_STRING each value of a bytes_list is a string.
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
    mst_shape shape;  /**< of a row, [0] of one that has none; of a variable or sequence feature, where none is 0,
                          dimension 0 is the most that there can be, or -1:
                          rows have lengths of their own (mst_dataset_padded_batch) */
    bool variable;    /**< dimension 0 is what the Example has, padded to the most there can be: then comes a second
                          component, i64 [], with it */
    bool sequence;    /**< of a SequenceExample's feature_lists: a step for each of dimension 0, padded as variable */
    bool has_default; /**< the feature may be missing; else that is an error */
    double default_value; /**< of all elements where it is missing, and what pads; of strings 0, which stands for empty
                               ones. A missing feature of a length of its own has none */
} mst_feature;

/** Components that FEATURE makes: 2 where it is variable or a sequence, values and length; else 1. */
MST_API int mst_feature_components(const mst_feature *feature);

typedef struct mst_example_parser mst_example_parser;
/** Copies FEATURES. Fails with MST_INVALID if they are none, have no name, two of one name, or no possible shape. */
MST_API MST_CHECKED mst_status mst_example_parser_create(const mst_feature *features, int num_features,
                                                         mst_example_parser **out);
/** NULL is allowed. */
MST_API void mst_example_parser_destroy(mst_example_parser *parser);
MST_API int mst_example_parser_components(const mst_example_parser *parser);
/** Dtype and shape of component I. */
MST_API mst_spec mst_example_parser_spec(const mst_example_parser *parser, int i);
/** Writes the components of the Example or SequenceExample in SIZE bytes at DATA to DST, one pointer for each; NULL
 *  leaves it out. Strings refer to DATA. If a feature has a length of its own, ask for the length alone first, and
 *  then for its values with memory for as many. Several threads may call at once. Fails with MST_CORRUPT if the
 *  bytes are no such message, MST_NOT_FOUND if a feature is missing and has no default, MST_INVALID if its values
 *  are of another kind or number; the message names the feature. */
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
    bool sequence;     /**< of feature_lists */
    int64_t count;     /**< values; steps of a sequence */
    int64_t num_bytes; /**< of all values of a bytes_list */
} mst_feature_value;

/** What features the Example or SequenceExample in SIZE bytes at DATA has: at most MOST of them to VALUES, whose names
 *  are in DATA, and their number to *COUNT. Fails with MST_CORRUPT. */
MST_API MST_CHECKED mst_status mst_example_describe(const void *data, size_t size, mst_feature_value *values, int most,
                                                    int *count);

/** A feature to be written: COUNT elements at DATA. u8 is one value of a bytes_list, of strings each is a value;
 *  f32 is a float_list; i64, i32 and bool an int64_list. */
typedef struct mst_feature_data {
    const char *name;
    mst_dtype dtype;
    const void *data;
    int64_t count;
} mst_feature_data;

/** Bytes of the Example with these features; 0 if a dtype cannot be written. */
MST_API size_t mst_example_size(const mst_feature_data *features, int num_features);
/** Writes it to DST, which has room for mst_example_size bytes. Give the features sorted by name where the bytes should
 *  be those that TensorFlow writes. */
MST_API void mst_example_encode(const mst_feature_data *features, int num_features, void *dst);

#ifdef __cplusplus
}
#endif
#endif
