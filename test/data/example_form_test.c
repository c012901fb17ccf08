/* What an Example says about the shape of its input: features with sizes are used if they fit the input, else they
 * are reported. */
#include "data/example_form.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { MOST = 8, BYTES = 600 };

/* Features of integers beside the input; of -COUNT floats, which are 0. */
typedef struct about {
    const char *name;
    int64_t count, value[4];
} about;

static mst_status find_named(const char *name, mst_dtype dtype, int64_t count, const about *list,
                             mst_feature features[2], int *num) {
    static const uint8_t bytes[BYTES] = {200, 7};
    static const float numbers[BYTES];
    static uint8_t example[4 * BYTES + 1000];
    static char text[2][MST_FORM_TEXT];
    mst_feature_data data[MOST] = {{name, dtype, dtype == MST_U8 ? (const void *)bytes : numbers, count}};
    int n = 1;
    for (const about *a = list; a->name; a++, n++)
        data[n] = a->count < 0 ? (mst_feature_data){a->name, MST_F32, numbers, -a->count}
                               : (mst_feature_data){a->name, MST_I64, a->value, a->count};
    assert_true(mst_example_size(data, n) <= sizeof example);
    mst_example_encode(data, n, example);
    return mst_example_form_find(example, mst_example_size(data, n), features, text, num);
}

static mst_status find(mst_dtype dtype, int64_t count, const about *list, mst_feature features[2], int *num) {
    return find_named("x", dtype, count, list, features, num);
}

/* The input has COUNT elements. The error must have WHY. */
static void expect(mst_dtype dtype, int64_t count, const about *list, mst_shape shape, const char *why) {
    mst_feature features[2];
    int num;
    if (why) {
        EXPECT_ERROR(find(dtype, count, list, features, &num), MST_INVALID, why);
        return;
    }
    EXPECT_OK(find(dtype, count, list, features, &num));
    assert_string_equal(features[0].name, "x");
    assert_true(mst_shape_equal(features[0].shape, shape));
}

static const mst_shape none = {.ndim = 0};

static void sizes_of_pictures_have_several_names(void **state) {
    (void)state;
    static const char *const sizes[][3] = {
        {"height", "width", "depth"},    {"height", "width", "channels"},
        {"rows", "cols", "depth"},       {"rows", "cols", "channels"},
        {"rows", "columns", "channels"}, {"image/height", "image/width", "image/channels"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        about list[4] = {{sizes[i][0], 1, {4}}, {sizes[i][1], 1, {5}}};
        expect(MST_U8, 20, list, MST_SHAPE(4, 5), NULL);
        expect(MST_U8, 60, list, MST_SHAPE(4, 5, 3), NULL); /* in color */
        expect(MST_U8, 21, list, none, "has 21 bytes, and the Example gives it the shape [4, 5], of 20 elements");
        expect(MST_U8, 80, list, none, "which is 4 bytes for each element");
        expect(MST_F32, 20, list, MST_SHAPE(4, 5), NULL);
        expect(MST_F32, 21, list, MST_SHAPE(21), NULL); /* they need not be about numbers */
        list[2] = (about){sizes[i][2], 1, {2}};
        expect(MST_U8, 40, list, MST_SHAPE(4, 5, 2), NULL);
        expect(MST_U8, 60, list, none, "the shape [4, 5, 2], of 40 elements");
        list[2].value[0] = 1;
        expect(MST_U8, 20, list, MST_SHAPE(4, 5), NULL);
        expect(MST_U8, 60, list, none, "has 60 bytes, and the Example gives it the shape [4, 5, 1], of 20 elements");
        expect(MST_F32, 20, list, MST_SHAPE(4, 5), NULL);
        expect(MST_F32, 60, list, MST_SHAPE(60), NULL);
    }
}

static void a_shape_is_that_of_the_input(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_U8, MST_F32};
    for (int i = 0; i < 2; i++) {
        about list[4] = {{"shape", 2, {4, 5}}, {"height", 1, {7}}, {"width", 1, {7}}};
        expect(dtypes[i], 20, list, MST_SHAPE(4, 5), NULL);
        expect(dtypes[i], 21, list, none,
               i ? "feature 'x' has 21 numbers, and the feature 'shape' says [4, 5]" : "[4, 5]");
        list[0].value[1] = 0;
        expect(dtypes[i], 20, list, none, "the feature 'shape' has 2 numbers that are no dimensions");
        list[0].value[1] = -1;
        expect(dtypes[i], 20, list, none, "the feature 'shape' has 2 numbers that are no dimensions");
        expect(dtypes[i], 20, list, none, "where it is not the shape of the input, give it another name");
        list[0] = (about){"shape", 3, {-1, 4, 5}}; /* of a batch */
        expect(dtypes[i], 20, list, MST_SHAPE(4, 5), NULL);
        expect(dtypes[i], 21, list, none, "the shape that the");
        expect(dtypes[i], 21, list, none, "another name");
        list[0] = (about){"shape", 3, {0, 4, 5}};
        expect(dtypes[i], 20, list, none, "give it another name");
        list[0] = (about){"shape", 2, {4, 5}};
        expect(dtypes[i], 60, list, none, "[4, 5]"); /* it has no channels */
    }
    expect(MST_U8, 20, (const about[]){{"shape", 1, {20}}, {0}}, MST_SHAPE(20), NULL);
    expect(MST_U8, 20, (const about[]){{"shape", 1, {-1}}, {0}}, MST_SHAPE(20), NULL);
    expect(MST_U8, 20, (const about[]){{"shape", 1, {3}}, {0}}, none, "the shape [3], of 3 elements");
    expect(MST_U8, 20, (const about[]){{"shape", 1, {3}}, {0}}, none, "needs another name");
    for (int one = -1; one < 4; one++) /* one number may be of any meaning */
        expect(MST_F32, 20, (const about[]){{"shape", 1, {one}}, {0}}, MST_SHAPE(20), NULL);
    expect(MST_U8, 64, (const about[]){{"height", 1, {480}}, {"width", 1, {640}}, {0}}, none,
           "a size that is not theirs, as of a picture before it was resized, needs another name");
    expect(MST_U8, 20, (const about[]){{"pixels", 1, {20}}, {0}}, MST_SHAPE(20), NULL);
    expect(MST_U8, 20, (const about[]){{"pixels", 1, {21}}, {0}}, none, "the shape [21]");
}

/* Sizes do not apply to the label, and a single number with one of these names is not taken for a size. */
static void other_features_are_not_about_the_input(void **state) {
    (void)state;
    mst_feature features[2];
    int num;
    EXPECT_OK(find(MST_U8, 20, (const about[]){{"label", 1, {3}}, {"shape", 2, {4, 5}}, {0}}, features, &num));
    assert_int_equal(num, 2);
    assert_int_equal(features[1].shape.ndim, 0);
    expect(MST_U8, 20, (const about[]){{"rows", 1, {3}}, {"depth", 1, {3}}, {0}}, MST_SHAPE(20), NULL);
}

/* A feature with the name of a size is left out only if it is a size. Otherwise it may be an input. */
static void sizes_of_nothing_are_features(void **state) {
    (void)state;
    static const about lists[][4] = {
        {{"height", 1, {2}}, {"width", 1, {3}}, {"label", 1, {1}}},
        {{"rows", 1, {2}}, {"cols", 1, {3}}, {"label", 1, {1}}},
        {{"height", 1, {1}}, {"width", 1, {1}}, {"label", 1, {1}}},
        {{"height", -1, {0}}, {"width", -1, {0}}, {"label", 1, {1}}},
        {{"height", 1, {4}}, {"width", -1, {0}}, {"label", 1, {1}}},
        {{"height", 1, {4}}, {"width", 1, {5}}, {"depth", -1, {0}}},
        {{"height", 2, {4, 5}}, {"width", 2, {4, 5}}, {"label", 1, {1}}},
        {{"shape", 1, {1}}, {"label", 1, {1}}},
        {{"pixels", 1, {1}}, {"label", 1, {1}}},
        {{"pixels", -1, {0}}, {"label", 1, {1}}},
    };
    mst_feature features[2];
    int num;
    char why[100];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(why, sizeof why, "which feature is the input? Examples have weight, %s", lists[i][0].name);
        EXPECT_ERROR(find_named("weight", MST_F32, 1, lists[i], features, &num), MST_INVALID, why);
    }
    static const about size[] = {{"height", 1, {4}}, {"width", 1, {5}}, {"label", 1, {1}}, {0}};
    static const int64_t depths[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        static const mst_dtype dtypes[] = {MST_U8, MST_F32};
        for (int k = 0; k < 2; k++) {
            EXPECT_OK(find_named("it", dtypes[k], 20 * depths[i], size, features, &num));
            assert_string_equal(features[0].name, "it");
            assert_true(mst_shape_equal(features[0].shape, i ? MST_SHAPE(4, 5, 3) : MST_SHAPE(4, 5)));
            assert_int_equal(num, 2);
        }
    }
    EXPECT_ERROR(find_named("it", MST_F32, 21, size, features, &num), MST_INVALID, "which feature is the input?");
    EXPECT_ERROR(find_named("it", MST_U8, 21, size, features, &num), MST_INVALID, "the shape [4, 5]");
    EXPECT_OK(find_named("it", MST_F32, 6, (const about[]){{"shape", 1, {6}}, {0}}, features, &num));
    EXPECT_OK(find_named("it", MST_F32, 6, (const about[]){{"shape", 2, {2, 3}}, {0}}, features, &num));
    EXPECT_OK(find_named("it", MST_F32, 6, (const about[]){{"pixels", 1, {6}}, {0}}, features, &num));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_pictures_have_several_names),
        cmocka_unit_test(a_shape_is_that_of_the_input),
        cmocka_unit_test(other_features_are_not_about_the_input),
        cmocka_unit_test(sizes_of_nothing_are_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
