/* Folders of TensorFlow Datasets. The tests write their files in its format, with records of Muster's own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/png_encode.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

static const char info_json[] =
    "{\"description\": \"Pets.\", \"fileFormat\": \"tfrecord\", \"moduleName\": \"pets\", \"name\": \"pets\",\n"
    " \"releaseNotes\": {\"1.0.0\": \"First.\"}, \"splits\": [\n"
    "  {\"filepathTemplate\": \"{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}\", \"name\": \"train\",\n"
    "   \"numBytes\": \"100\", \"shardLengths\": [\"2\", \"1\"]},\n"
    "  {\"name\": \"%s\", \"shardLengths\": [\"1\"]}],\n"
    " %s \"version\": \"1.0.0\"}\n";
static const char image_keys[] =
    "\"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"image\"}, {\"featureKey\": \"label\"}]}},";
static const char tensor_keys[] =
    "\"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"v\"}, {\"featureKey\": \"s\"}]}},";

#define CLASS(module, name) "\"pythonClassName\": \"tensorflow_datasets.core.features." module "." name "\""
static const char features_json[] =
    "{" CLASS("features_dict", "FeaturesDict") ", \"featuresDict\": {\"features\": {\n"
    " \"image\": {" CLASS("image_feature", "Image") ", \"image\": {\"dtype\": \"uint8\", \"encodingFormat\": \"png\",\n"
    "   \"shape\": {\"dimensions\": [\"%d\", \"%d\", \"3\"]}}},\n"
    " \"label\": {" CLASS("class_label_feature", "ClassLabel") ", \"classLabel\": {\"numClasses\": \"2\"}},\n"
    " \"text\": {" CLASS("text_feature", "Text") ", \"text\": {}},\n"
    " \"v\": {" CLASS("tensor_feature", "Tensor") ", \"tensor\": {\"shape\": {\"dimensions\": [\"2\", \"2\"]},\n"
    "   \"dtype\": \"float32\", \"encoding\": \"none\"}},\n"
    " \"s\": {" CLASS("scalar", "Scalar") ", \"tensor\": {\"shape\": {}, \"dtype\": \"int32\",\n"
    "   \"encoding\": \"none\"}}\n"
    "}}}\n";

/* Row I: a picture of the gray 40 * I, class I mod 2, v [I, I + 1, I + 2, I + 3] and s 10 * I. */
static void write_shard(const char *name, int first, int count, bool damaged) {
    mst_tfrecord_writer *writer;
    EXPECT_OK(mst_tfrecord_writer_open(folder_path(name), MST_TFRECORD_PLAIN, &writer));
    for (int i = first; i < first + count; i++) {
        uint8_t pixels[6 * 4 * 3], record[2000];
        void *png;
        size_t size;
        memset(pixels, 40 * i, sizeof pixels);
        if (mst_png_encode(pixels, 6, 4, 3, &png, &size)) skip(); /* built without libspng */
        if (damaged) size /= 2;
        const float v[] = {(float)i, (float)i + 1, (float)i + 2, (float)i + 3};
        const int64_t label = i % 2;
        const int32_t s = 10 * i;
        const mst_feature_data features[] = {{"image", MST_U8, png, (int64_t)size},
                                             {"label", MST_I64, &label, 1},
                                             {"s", MST_I32, &s, 1},
                                             {"v", MST_F32, v, 4}};
        assert_true(mst_example_size(features, 4) <= sizeof record);
        mst_example_encode(features, 4, record);
        EXPECT_OK(mst_tfrecord_writer_add(writer, record, mst_example_size(features, 4)));
        free(png);
    }
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
}

static void write_info(const char *test, const char *keys) {
    char text[4000];
    snprintf(text, sizeof text, info_json, test, keys);
    (void)folder_write_text("dataset_info.json", text);
}

static void write_features(int height, int width) {
    char text[4000];
    snprintf(text, sizeof text, features_json, height, width);
    (void)folder_write_text("features.json", text);
}

static void write_folder(void) {
    write_info("test", image_keys);
    write_features(-1, -1);
    (void)folder_write_text("label.labels.txt", "cat\ndog\n");
    write_shard("pets-train.tfrecord-00000-of-00002", 0, 2, false);
    write_shard("pets-train.tfrecord-00001-of-00002", 2, 1, false);
    write_shard("pets-test.tfrecord-00000-of-00001", 5, 1, false);
}

static mst_status open_folder(const char *part, const mst_data_options *options, mst_dataset **out) {
    char spec[4096];
    snprintf(spec, sizeof spec, "tfds:%s", folder_path(""));
    return mst_dataset_open_with(spec, part, options, out);
}

/* The rows of component I, all in one batch. */
static mst_tensor *all_rows(mst_dataset *rows, int component) {
    mst_tensor *tensor = pipeline_column(rows, component);
    assert_non_null(tensor);
    return tensor;
}

static void splits_are_parts_and_pictures_are_decoded(void **state) {
    (void)state;
    write_folder();
    for (int test = 0; test < 2; test++) {
        const int64_t n = test ? 1 : 3, first = test ? 5 : 0;
        mst_dataset *rows;
        EXPECT_OK(open_folder(test ? "test" : "train", &(mst_data_options){.image_size = 5}, &rows));
        assert_int_equal(mst_dataset_num_rows(rows), n);
        assert_string_equal(mst_dataset_class_name(rows, 1, 1), "dog");
        assert_int_equal(mst_dataset_num_classes(rows, 1), 2);
        assert_string_equal(
            mst_dataset_schema(rows),
            "{\"columns\":[{\"name\":\"class\",\"type\":\"category\",\"categories\":[\"cat\",\"dog\"]}]}");
        mst_tensor *pictures = all_rows(rows, 0), *labels = all_rows(rows, 1);
        assert_true(mst_shape_equal(mst_tensor_shape(pictures), MST_SHAPE(n, 5, 5, 3)));
        for (int64_t i = 0; i < n * 75; i++)
            assert_int_equal(((uint8_t *)mst_tensor_data(pictures))[i], 40 * (first + i / 75));
        for (int64_t i = 0; i < n; i++) assert_int_equal(((int64_t *)mst_tensor_data(labels))[i], (first + i) % 2);
        mst_tensor_release(pictures);
        mst_tensor_release(labels);
        mst_dataset_release(rows);
    }
}

static void expect_size(const mst_data_options *options, mst_shape expected) {
    mst_dataset *rows;
    EXPECT_OK(open_folder("train", options, &rows));
    assert_true(mst_shape_equal(mst_dataset_spec(rows, 0).shape, expected));
    mst_dataset_release(rows);
}

static void sizes_are_those_of_the_folder_where_it_has_one(void **state) {
    (void)state;
    const mst_data_options fit = {.image_size = MST_IMAGE_SIZE_FIT};
    write_folder();
    expect_size(NULL, MST_SHAPE(224, 224, 3));
    expect_size(&fit, MST_SHAPE(4, 4, 3)); /* the shorter side of the first one */
    expect_size(&(mst_data_options){.channels = 1, .image_size = 7}, MST_SHAPE(7, 7, 1));
    write_features(6, 4);
    expect_size(NULL, MST_SHAPE(6, 4, 3));
    expect_size(&fit, MST_SHAPE(6, 4, 3));
}

static void tensors_and_scalars_are_inputs_and_labels(void **state) {
    (void)state;
    mst_dataset *rows;
    write_folder();
    write_info("test", tensor_keys);
    EXPECT_OK(open_folder("train", NULL, &rows));
    mst_tensor *v = all_rows(rows, 0), *s = all_rows(rows, 1);
    assert_true(mst_shape_equal(mst_tensor_shape(v), MST_SHAPE(3, 2, 2)));
    assert_int_equal(mst_tensor_dtype(s), MST_I32);
    for (int i = 0; i < 12; i++) {
        const int row = i / 4, place = i % 4;
        assert_true(mst_tensor_get(v, i) == row + place);
    }
    for (int i = 0; i < 3; i++) assert_true(mst_tensor_get(s, i) == 10 * i);
    assert_null(mst_dataset_class_name(rows, 1, 0));
    mst_tensor_release(v);
    mst_tensor_release(s);
    mst_dataset_release(rows);
}

static void without_keys_the_only_picture_and_the_only_class_are_taken(void **state) {
    (void)state;
    write_folder();
    write_info("validation", "");
    rename(folder_path("pets-test.tfrecord-00000-of-00001"), folder_path("pets-validation.tfrecord-00000-of-00001"));
    expect_size(&(mst_data_options){.image_size = 2}, MST_SHAPE(2, 2, 3));
    mst_dataset *rows;
    EXPECT_OK(open_folder("test", NULL, &rows)); /* the split `validation` */
    assert_int_equal(mst_dataset_num_rows(rows), 1);
    mst_dataset_release(rows);
}

static void labels_alone_are_read_without_the_pictures(void **state) {
    (void)state;
    mst_dataset *rows;
    write_folder();
    write_shard("pets-train.tfrecord-00001-of-00002", 2, 1, true);
    EXPECT_OK(open_folder("train", NULL, &rows));
    mst_tensor *labels = all_rows(rows, 1);
    assert_true(mst_tensor_get(labels, 2) == 0 && mst_tensor_get(labels, 1) == 1);
    mst_tensor_release(labels);
    mst_dataset_release(rows);
}

static void a_damaged_picture_names_its_file(void **state) {
    (void)state;
    mst_dataset *rows;
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    write_folder();
    write_shard("pets-train.tfrecord-00001-of-00002", 2, 1, true);
    EXPECT_OK(open_folder("train", NULL, &rows));
    EXPECT_OK(mst_iterator_create(rows, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, 2));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_tensor(batch, 0, &tensor), MST_CORRUPT, "pets-train.tfrecord-00001-of-00002");
    mst_iterator_destroy(it);
    mst_dataset_release(rows);
}

static void expect_refused(mst_status code, const char *text) {
    mst_dataset *rows;
    EXPECT_ERROR(open_folder("train", NULL, &rows), code, text);
    assert_null(rows);
}

static void what_is_missing_is_named(void **state) {
    (void)state;
    mst_dataset *rows;
    expect_refused(MST_NOT_FOUND, "has no dataset_info.json: tfds:DIR takes the folder of one version");
    write_folder();
    write_info("unsupervised", image_keys);
    EXPECT_ERROR(open_folder("test", NULL, &rows), MST_NOT_FOUND, "there are: train, unsupervised");
    write_info("test",
               "\"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"text\"}, {\"featureKey\": "
               "\"label\"}]}},");
    expect_refused(MST_UNIMPLEMENTED, "input 'text' is a feature Text that is not read");
    write_info("test",
               "\"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"x\"}, {\"featureKey\": "
               "\"label\"}]}},");
    expect_refused(MST_CORRUPT, "no feature 'x'");
    write_info("test", "\"supervisedKeys\": {\"dict\": {}},");
    expect_refused(MST_UNIMPLEMENTED, "not one input and one label");
    write_info("test", image_keys);
    (void)folder_write_text("label.labels.txt", "cat\n");
    expect_refused(MST_CORRUPT, "has 1 names, features.json says that there are 2 classes");
    (void)folder_write_text("label.labels.txt", "cat\ndog\n");
    write_shard("pets-train.tfrecord-00000-of-00002", 0, 1, false);
    expect_refused(MST_CORRUPT, "2 examples, 3 are in dataset_info.json");
    remove(folder_path("pets-train.tfrecord-00001-of-00002"));
    expect_refused(MST_NOT_FOUND, "pets-train.tfrecord-00001-of-00002");
}

static void names_in_the_files_reach_nothing_outside(void **state) {
    (void)state;
    static const char *const names[] = {"../pets", "/etc/x", "a/b", "..", ".hidden", "", "a b", "p*ts"};
    char text[1000];
    write_folder();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text,
                 "{\"name\": \"%s\", \"splits\": [{\"name\": \"train\", \"shardLengths\": [\"3\"]}]}", names[i]);
        (void)folder_write_text("dataset_info.json", text);
        expect_refused(MST_CORRUPT, "cannot be part of the names of files");
    }
    (void)folder_write_text("dataset_info.json",
                            "{\"name\": \"pets\", \"splits\": [{\"name\": \"train\", \"shardLengths\": [\"3\"], "
                            "\"filepathTemplate\": \"../{DATASET}\"}]}");
    expect_refused(MST_UNIMPLEMENTED, "its files are named '../{DATASET}', which is not read");
    write_info("test",
               "\"supervisedKeys\": {\"tuple\": {\"items\": [{\"featureKey\": \"v\"}, {\"featureKey\": "
               "\"../label\"}]}},");
    (void)folder_write_text("features.json",
                            "{\"featuresDict\": {\"features\": {\"../label\": {\"classLabel\": {\"numClasses\": "
                            "\"2\"}}, \"v\": {\"tensor\": "
                            "{\"shape\": {\"dimensions\": [\"4\"]}, \"dtype\": \"float32\"}}}}}");
    mst_dataset *rows;
    EXPECT_OK(open_folder("train", NULL, &rows)); /* no file of names is looked for */
    assert_int_equal(mst_dataset_num_classes(rows, 1), 0);
    mst_dataset_release(rows);
}

static void damaged_json_is_named(void **state) {
    (void)state;
#define PICTURES(dimensions) \
    "{\"featuresDict\": {\"features\": {\"image\": {\"image\": {\"shape\": {\"dimensions\": [" dimensions "]}}}}}}"
    static const char *const features[] = {
        "",
        "[1]",
        "{",
        "{}",
        PICTURES("\"-7\""),
        "{\"featuresDict\": {\"features\": {\"image\": 3, \"label\": []}}}",
        PICTURES("\"9999999999\", \"9999999999\", \"3\""),
    };
#undef PICTURES
    static const char *const lengths[] = {"[]", "3", "[\"-1\"]", "[\"9223372036854775807\", \"2\"]", "[{}]"};
    mst_dataset *rows;
    write_folder();
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        (void)folder_write_text("features.json", features[i]);
        assert_int_not_equal(open_folder("train", NULL, &rows), MST_OK);
        assert_non_null(strstr(mst_error()->message, "features.json"));
    }
    write_features(6, 4);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char text[500];
        snprintf(text, sizeof text, "{\"name\": \"pets\", \"splits\": [{\"name\": \"train\", \"shardLengths\": %s}]}",
                 lengths[i]);
        (void)folder_write_text("dataset_info.json", text);
        expect_refused(MST_CORRUPT, "no list of numbers");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(splits_are_parts_and_pictures_are_decoded),
        TEST_IN_FOLDER(sizes_are_those_of_the_folder_where_it_has_one),
        TEST_IN_FOLDER(tensors_and_scalars_are_inputs_and_labels),
        TEST_IN_FOLDER(without_keys_the_only_picture_and_the_only_class_are_taken),
        TEST_IN_FOLDER(labels_alone_are_read_without_the_pictures),
        TEST_IN_FOLDER(a_damaged_picture_names_its_file),
        TEST_IN_FOLDER(what_is_missing_is_named),
        TEST_IN_FOLDER(names_in_the_files_reach_nothing_outside),
        TEST_IN_FOLDER(damaged_json_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
