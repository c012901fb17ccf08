/* tf.train.Example and SequenceExample: the tests put messages together byte by byte, and parse the features that
 * they ask for. A mistake or a truncation is an error that names it. The output of the encoder is parsed too. */
#include "format/example.h"

#include "support/archive.h"
#include "support/test.h"

/* ---- messages, made by hand ---- */

static void add_varint(blob *b, uint64_t value) {
    for (; value >= 0x80; value >>= 7) blob_little(b, value | 0x80, 1);
    blob_little(b, value, 1);
}

static void add_field(blob *b, int number, const blob *content) {
    add_varint(b, (uint64_t)number << 3 | 2);
    add_varint(b, content->size);
    blob_add(b, content->data, content->size);
}

static void add_text(blob *b, int number, const char *text) {
    blob content = {(uint8_t *)(uintptr_t)text, strlen(text)};
    add_field(b, number, &content);
}

/* Takes VALUE. */
static void add_entry(blob *b, const char *name, blob *value) {
    blob entry = {0};
    add_text(&entry, 1, name);
    add_field(&entry, 2, value);
    add_field(b, 1, &entry);
    blob_free(&entry);
    blob_free(value);
}

static blob list_of(int kind, const blob *values) {
    blob feature = {0};
    add_field(&feature, kind, values);
    return feature;
}

static blob integers(bool packed, int n, const int64_t *value) {
    blob list = {0}, all = {0}, feature;
    for (int i = 0; i < n; i++) {
        if (!packed) add_varint(&list, 1 << 3);
        add_varint(packed ? &all : &list, (uint64_t)value[i]);
    }
    if (packed) add_field(&list, 1, &all);
    feature = list_of(3, &list);
    blob_free(&list);
    blob_free(&all);
    return feature;
}

static blob floats(bool packed, int n, const float *value) {
    blob list = {0}, all = {0}, feature;
    for (int i = 0; i < n; i++) {
        if (!packed) add_varint(&list, 1 << 3 | 5);
        blob_add(packed ? &all : &list, &value[i], 4);
    }
    if (packed) add_field(&list, 1, &all);
    feature = list_of(2, &list);
    blob_free(&list);
    blob_free(&all);
    return feature;
}

static blob texts(int n, const char *const *value) {
    blob list = {0}, feature;
    for (int i = 0; i < n; i++) add_text(&list, 1, value[i]);
    feature = list_of(1, &list);
    blob_free(&list);
    return feature;
}

/* Takes FEATURES. */
static blob example_of(blob *features, int number) {
    blob example = {0};
    add_field(&example, number, features);
    blob_free(features);
    return example;
}

/* ---- parsing ---- */

static mst_status parse(const mst_feature *features, int n, const blob *example, void *const *dst) {
    mst_example_parser *parser;
    EXPECT_OK(mst_example_parser_create(features, n, &parser));
    /* a copy of exactly these bytes, so that a sanitizer sees a read past the end */
    uint8_t *data = malloc(example->size + 1);
    memcpy(data, example->data, example->size);
    const mst_status status = mst_example_parse(parser, data, example->size, dst);
    free(data);
    mst_example_parser_destroy(parser);
    return status;
}

static void packed_and_unpacked_values_are_the_same(void **state) {
    (void)state;
    static const int64_t label[] = {-7, 1LL << 40};
    static const float weight[] = {0.5F, -2, 1e30F};
    for (int packed = 0; packed < 2; packed++) {
        blob features = {0}, i = integers(packed, 2, label), f = floats(packed, 3, weight);
        add_entry(&features, "weight", &f);
        add_entry(&features, "label", &i);
        blob example = example_of(&features, 1);
        const mst_feature wanted[] = {{.name = "label", .dtype = MST_I64, .shape = MST_SHAPE(2)},
                                      {.name = "weight", .dtype = MST_F32, .shape = MST_SHAPE(3)}};
        int64_t got_label[2];
        float got_weight[3];
        EXPECT_OK(parse(wanted, 2, &example, (void *[]){got_label, got_weight}));
        assert_memory_equal(got_label, label, sizeof label);
        assert_memory_equal(got_weight, weight, sizeof weight);
        EXPECT_OK(parse(wanted, 2, &example, (void *[]){NULL, got_weight}));
        blob_free(&example);
    }
}

static void bytes_become_elements(void **state) {
    (void)state;
    const char *const value[] = {"abcd", "efgh"};
    blob features = {0}, t = texts(2, value);
    add_entry(&features, "x", &t);
    blob example = example_of(&features, 1);
    char bytes[8];
    int32_t words[2];
    EXPECT_OK(
        parse(&(mst_feature){.name = "x", .dtype = MST_U8, .shape = MST_SHAPE(2, 4)}, 1, &example, (void *[]){bytes}));
    assert_memory_equal(bytes, "abcdefgh", 8);
    EXPECT_OK(
        parse(&(mst_feature){.name = "x", .dtype = MST_I32, .shape = MST_SHAPE(2)}, 1, &example, (void *[]){words}));
    assert_int_equal(words[1], 0x68676665);
    EXPECT_ERROR(
        parse(&(mst_feature){.name = "x", .dtype = MST_U8, .shape = MST_SHAPE(7)}, 1, &example, (void *[]){bytes}),
        MST_INVALID, "feature 'x' has 8 values, 7 are asked for");
    blob_free(&example);
}

static void missing_features_have_the_default_or_are_an_error(void **state) {
    (void)state;
    blob features = {0}, empty = {0};
    add_entry(&features, "none", &empty); /* a Feature with no kind */
    blob example = example_of(&features, 1);
    float got[3];
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "none" : "absent";
        mst_feature f = {.name = name, .dtype = MST_F32, .shape = MST_SHAPE(3)};
        EXPECT_ERROR(parse(&f, 1, &example, (void *[]){got}), MST_NOT_FOUND, name);
        f.has_default = true;
        f.default_value = 2.5;
        EXPECT_OK(parse(&f, 1, &example, (void *[]){got}));
        assert_true(got[0] == 2.5F && got[1] == 2.5F && got[2] == 2.5F);
    }
    blob_free(&example);
}

static void variable_features_are_padded_and_have_their_length(void **state) {
    (void)state;
    static const int64_t values[] = {5, 6, 7, 8};
    for (int n = 0; n <= 4; n += 2) {
        blob features = {0}, i = integers(true, n, values);
        add_entry(&features, "x", &i);
        blob example = example_of(&features, 1);
        int64_t got[6], length;
        const mst_feature f = {
            .name = "x", .dtype = MST_I64, .shape = MST_SHAPE(3, 2), .variable = true, .default_value = -1};
        EXPECT_OK(parse(&f, 1, &example, (void *[]){got, &length}));
        assert_int_equal(length, n / 2);
        for (int k = 0; k < 6; k++) assert_int_equal(got[k], k < n ? values[k] : -1);
        const mst_feature one = {.name = "x", .dtype = MST_I64, .shape = MST_SHAPE(3), .variable = true};
        if (n == 4)
            EXPECT_ERROR(parse(&one, 1, &example, (void *[]){got, &length}), MST_INVALID, "4 values, at most 3");
        blob_free(&example);
    }
}

static void last_value_wins(void **state) {
    (void)state;
    static const int64_t first = 1, second = 2;
    static const float half = 0.5F;
    int64_t got;
    blob features = {0}, a = integers(true, 1, &first), b = integers(false, 1, &second);
    add_entry(&features, "x", &a);
    add_entry(&features, "x", &b);
    blob example = example_of(&features, 1);
    const mst_feature x = {.name = "x", .dtype = MST_I64};
    EXPECT_OK(parse(&x, 1, &example, (void *[]){&got}));
    assert_int_equal(got, 2);
    blob_free(&example);
    /* within one Feature: another kind replaces, the same kind adds */
    blob f = floats(true, 1, &half), i = integers(true, 1, &first), j = integers(true, 1, &second);
    int64_t two[2];
    blob_add(&f, i.data, i.size);
    blob_add(&f, j.data, j.size);
    features = (blob){0};
    add_entry(&features, "x", &f);
    example = example_of(&features, 1);
    const mst_feature pair = {.name = "x", .dtype = MST_I64, .shape = MST_SHAPE(2)};
    EXPECT_OK(parse(&pair, 1, &example, (void *[]){two}));
    assert_true(two[0] == 1 && two[1] == 2);
    blob_free(&i);
    blob_free(&j);
    blob_free(&example);
}

static void steps_of_a_sequence_are_rows(void **state) {
    (void)state;
    blob context = {0}, lists = {0}, list = {0}, example = {0};
    static const int64_t id = 9;
    blob i = integers(true, 1, &id);
    add_entry(&context, "id", &i);
    for (int step = 0; step < 2; step++) {
        const float values[] = {(float)step, (float)step + 0.5F};
        blob f = floats(true, 2, values);
        add_field(&list, 1, &f);
        blob_free(&f);
    }
    add_entry(&lists, "frames", &list);
    add_field(&example, 1, &context);
    add_field(&example, 2, &lists);
    const mst_feature wanted[] = {
        {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(3, 2), .sequence = true, .default_value = -1},
        {.name = "id", .dtype = MST_I64}};
    float frames[6];
    int64_t steps, got_id;
    EXPECT_OK(parse(wanted, 2, &example, (void *[]){frames, &steps, &got_id}));
    assert_int_equal(steps, 2);
    assert_int_equal(got_id, 9);
    assert_memory_equal(frames, ((float[]){0, 0.5F, 1, 1.5F, -1, -1}), sizeof frames);
    const mst_feature one = {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(1, 2), .sequence = true};
    EXPECT_ERROR(parse(&one, 1, &example, (void *[]){frames, &steps}), MST_INVALID, "more than 1 steps");
    const mst_feature wide = {.name = "frames", .dtype = MST_F32, .shape = MST_SHAPE(3, 1), .sequence = true};
    EXPECT_ERROR(parse(&wide, 1, &example, (void *[]){frames, &steps}), MST_INVALID, "step 0");
    blob_free(&context);
    blob_free(&lists);
    blob_free(&example);
}

static void wrong_kinds_and_ranges_are_named(void **state) {
    (void)state;
    static const int64_t large = 300;
    static const float half = 0.5F;
    blob features = {0}, i = integers(true, 1, &large), f = floats(true, 1, &half);
    add_entry(&features, "i", &i);
    add_entry(&features, "f", &f);
    blob example = example_of(&features, 1);
    char got[8];
    EXPECT_ERROR(parse(&(mst_feature){.name = "i", .dtype = MST_F32}, 1, &example, (void *[]){got}), MST_INVALID,
                 "'i' holds integers, which cannot become f32");
    EXPECT_ERROR(parse(&(mst_feature){.name = "f", .dtype = MST_I64}, 1, &example, (void *[]){got}), MST_INVALID,
                 "'f' holds floats, which cannot become i64");
    EXPECT_ERROR(parse(&(mst_feature){.name = "i", .dtype = MST_U8}, 1, &example, (void *[]){got}), MST_INVALID,
                 "out of the range of u8");
    blob_free(&example);
}

static void every_truncation_is_an_error_or_lacks_a_feature(void **state) {
    (void)state;
    static const int64_t label = 300;
    const char *const value[] = {"0123456789"};
    blob features = {0}, i = integers(true, 1, &label), t = texts(1, value);
    add_entry(&features, "image", &t);
    add_entry(&features, "label", &i);
    blob example = example_of(&features, 1);
    const mst_feature wanted[] = {{.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(10)},
                                  {.name = "label", .dtype = MST_I64}};
    char image[10];
    int64_t got;
    const size_t size = example.size;
    for (example.size = 0; example.size < size; example.size++) {
        assert_int_not_equal(parse(wanted, 2, &example, (void *[]){image, &got}), MST_OK);
        assert_true(mst_error()->code == MST_CORRUPT || mst_error()->code == MST_NOT_FOUND);
    }
    EXPECT_OK(parse(wanted, 2, &example, (void *[]){image, &got}));
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            example.data[at] ^= (uint8_t)(1 << bit);
            (void)!parse(wanted, 2, &example, (void *[]){image, &got});
            example.data[at] ^= (uint8_t)(1 << bit);
        }
    blob_free(&example);
}

static void what_is_encoded_is_parsed_and_described(void **state) {
    (void)state;
    uint8_t image[300];
    static const int64_t shape[] = {10, -30};
    static const float weight[] = {1.5F, -3};
    static const bool flag = true;
    for (int i = 0; i < 300; i++) image[i] = (uint8_t)i;
    const mst_feature_data data[] = {{"flag", MST_BOOL, &flag, 1},
                                     {"image", MST_U8, image, 300},
                                     {"none", MST_I64, NULL, 0},
                                     {"shape", MST_I64, shape, 2},
                                     {"weight", MST_F32, weight, 2}};
    const size_t size = mst_example_size(data, 5);
    blob example = {malloc(size), size};
    mst_example_encode(data, 5, example.data);
    const mst_feature wanted[] = {{.name = "shape", .dtype = MST_I32, .shape = MST_SHAPE(2)},
                                  {.name = "weight", .dtype = MST_F64, .shape = MST_SHAPE(2)},
                                  {.name = "flag", .dtype = MST_BOOL},
                                  {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(300)},
                                  {.name = "none", .dtype = MST_I64, .shape = MST_SHAPE(1), .variable = true}};
    int32_t got_shape[2];
    double got_weight[2];
    bool got_flag;
    uint8_t got_image[300];
    int64_t none, length;
    EXPECT_OK(parse(wanted, 5, &example, (void *[]){got_shape, got_weight, &got_flag, got_image, &none, &length}));
    assert_true(got_shape[0] == 10 && got_shape[1] == -30 && got_weight[1] == -3 && got_flag && length == 0);
    assert_memory_equal(got_image, image, sizeof image);
    mst_feature_value value[5];
    int count;
    EXPECT_OK(mst_example_describe(example.data, example.size, value, 5, &count));
    assert_int_equal(count, 5);
    assert_memory_equal(value[1].name, "image", 5);
    assert_int_equal(value[1].kind, MST_FEATURE_BYTES);
    assert_int_equal(value[1].num_bytes, 300);
    assert_int_equal(value[3].kind, MST_FEATURE_INTEGERS);
    assert_int_equal(value[3].count, 2);
    assert_int_equal(mst_example_size(&(mst_feature_data){"x", MST_F64, weight, 1}, 1), 0);
    blob_free(&example);
}

static void features_of_no_elements_hold_nothing(void **state) {
    (void)state;
    for (int n = 0; n < 2; n++) {
        const float value = 1;
        blob features = {0}, f = floats(n, n, &value);
        add_entry(&features, "none", &f);
        blob example = example_of(&features, 1);
        const mst_feature wanted[] = {{.name = "none", .dtype = MST_F32, .shape = MST_SHAPE(0)},
                                      {.name = "none", .dtype = MST_F32, .shape = MST_SHAPE(2, 0)}};
        float got;
        for (int i = 0; i < 2; i++)
            if (n == 0)
                EXPECT_OK(parse(&wanted[i], 1, &example, (void *[]){&got}));
            else
                EXPECT_ERROR(parse(&wanted[i], 1, &example, (void *[]){&got}), MST_INVALID,
                             "'none' has 1 values, 0 are asked for");
        const mst_feature missing = {.name = "other", .dtype = MST_F32, .shape = MST_SHAPE(0)};
        EXPECT_ERROR(parse(&missing, 1, &example, (void *[]){&got}), MST_NOT_FOUND, "'other' is missing");
        blob_free(&example);
    }
}

static void impossible_features_are_refused(void **state) {
    (void)state;
    mst_example_parser *p;
    const mst_feature twice[] = {{.name = "a", .dtype = MST_I64}, {.name = "a", .dtype = MST_F32}};
    EXPECT_ERROR(mst_example_parser_create(twice, 2, &p), MST_INVALID, "two features 'a'");
    EXPECT_ERROR(mst_example_parser_create(twice, 0, &p), MST_INVALID, "0 features");
    EXPECT_ERROR(mst_example_parser_create(&(mst_feature){.dtype = MST_I64}, 1, &p), MST_INVALID, "has no name");
    EXPECT_ERROR(mst_example_parser_create(&(mst_feature){.name = "a"}, 1, &p), MST_INVALID, "'a' has no dtype");
    EXPECT_ERROR(mst_example_parser_create(
                     &(mst_feature){.name = "a", .dtype = MST_I64, .shape = MST_SHAPE(1 << 20, 1 << 20)}, 1, &p),
                 MST_INVALID, "possible size");
    EXPECT_ERROR(mst_example_parser_create(&(mst_feature){.name = "a", .dtype = MST_I64, .variable = true}, 1, &p),
                 MST_INVALID, "give it a shape");
    assert_null(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_and_unpacked_values_are_the_same),
        cmocka_unit_test(bytes_become_elements),
        cmocka_unit_test(missing_features_have_the_default_or_are_an_error),
        cmocka_unit_test(variable_features_are_padded_and_have_their_length),
        cmocka_unit_test(last_value_wins),
        cmocka_unit_test(steps_of_a_sequence_are_rows),
        cmocka_unit_test(wrong_kinds_and_ranges_are_named),
        cmocka_unit_test(every_truncation_is_an_error_or_lacks_a_feature),
        cmocka_unit_test(what_is_encoded_is_parsed_and_described),
        cmocka_unit_test(features_of_no_elements_hold_nothing),
        cmocka_unit_test(impossible_features_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
