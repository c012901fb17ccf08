/* What is in files of every format, as text and as JSON. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/leveldb_table.h"
#include "format/png_encode.h"
#include "muster/inspect.h"
#include "muster/tfrecord.h"
#include "support/folder.h"
#include "support/samples.h"
#include "support/test.h"

#include <jansson.h>

/* The report of NAME; valid until the next call. */
static const char *report(const char *name, mst_status expected) {
    static char *text;
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    const mst_status status = mst_inspect(folder_path(name), out);
    fclose(out);
    if (status != expected) fail_msg("'%s': %s, %s", name, mst_status_name(status), mst_error()->message);
    return text;
}

static json_t *report_json(const char *name, mst_status expected) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(mst_inspect_json(folder_path(name), out), expected);
    fclose(out);
    json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    if (!json) fail_msg("'%s' is no JSON", text);
    free(text);
    return json;
}

static void expect_in(const char *name, mst_status status, const char *const *lines) {
    const char *text = report(name, status);
    for (; *lines; lines++)
        if (!strstr(text, *lines)) fail_msg("'%s' is not in the report of '%s':\n%s", *lines, name, text);
}

#define EXPECT_IN(name, status, ...) expect_in(name, status, (const char *const[]){__VA_ARGS__, NULL})

static bool is_there(const char *name) {
    return access(folder_path(name), F_OK) == 0;
}

static void formats_are_known_by_their_bytes(void **state) {
    (void)state;
    samples_write();
    for (const sample *s = samples; s->name; s++) {
        if (!is_there(s->name)) continue; /* built without the codec */
        json_t *json = report_json(s->name, MST_OK);
        assert_string_equal(json_string_value(json_object_get(json, "format")), s->format);
        json_decref(json);
        if (strcmp(s->format, "checkpoint") == 0) continue; /* its two files have one name */
        void *data;
        size_t size;
        EXPECT_OK(mst_file_read(folder_path(s->name), 1 << 20, &data, &size));
        (void)folder_write("odd", data, size);
        json = report_json("odd", MST_OK);
        assert_string_equal(json_string_value(json_object_get(json, "format")), s->format);
        json_decref(json);
        free(data);
    }
}

static void arrays_have_statistics(void **state) {
    (void)state;
    samples_write();
    EXPECT_IN("arrays.npz", MST_OK, "NPZ, 2 arrays\n", "  x_train                  u8 [6, 4, 4]  0 to 95, mean 47.5\n",
              "  weights                  f32 [3, 5]  0 to 14, mean 7.53846, 1 NaN, 1 infinite\n");
    json_t *json = report_json("model.safetensors", MST_OK), *tensors = json_object_get(json, "tensors");
    json_t *weights = json_array_get(tensors, 0);
    assert_string_equal(json_string_value(json_object_get(weights, "name")), "weights");
    assert_string_equal(json_string_value(json_object_get(weights, "dtype")), "f32");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(weights, "shape"), 1)), 5);
    assert_int_equal(json_integer_value(json_object_get(weights, "nan")), 1);
    assert_int_equal(json_integer_value(json_object_get(weights, "infinite")), 1);
    assert_true(json_real_value(json_object_get(weights, "max")) == 14);
    json_decref(json);
}

static void records_have_features_and_named_damage(void **state) {
    (void)state;
    samples_write();
    EXPECT_IN("records.tfrecord", MST_OK, "TFRecord, plain, 6 records",
              "image_raw                bytes      16 bytes\n",
              "label                    integers   1 value  0 to 5, mean 2.5\n");
    FILE *file = fopen(folder_path("records.tfrecord"), "r+b");
    assert_int_equal(fseek(file, 20, SEEK_SET), 0);
    fputc(77, file);
    fclose(file);
    EXPECT_IN("records.tfrecord", MST_CORRUPT, "5 records", "damage: '", "record at byte 0");
    json_t *json = report_json("records.tfrecord", MST_CORRUPT);
    assert_int_equal(json_integer_value(json_object_get(json, "num_damaged")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "damage")), 1);
    json_decref(json);
}

static void checkpoint_is_found_by_prefix_files_and_folder(void **state) {
    (void)state;
    static const char *const lines[] = {"checkpoint, 3 tensors in 1 data file\n",
                                        "  global_step              i64 []  0\n",
                                        "  layer1/weights           f32 [3, 5]  0 to 14, mean 7\n",
                                        "  note                     string []  'what it is'\n", NULL};
    samples_write();
    expect_in("run/model.ckpt-7", MST_OK, lines);
    expect_in("run/model.ckpt-7.index", MST_OK, lines);
    expect_in("run/model.ckpt-7.data-00000-of-00001", MST_OK, lines);
    expect_in("run", MST_OK, lines);
    EXPECT_IN("run", MST_OK, "folder of checkpoints, 1\n", "  model.ckpt-7             step 7, good\n");
    /* pictures beside it that training would refuse are no data */
    assert_int_equal(mkdir(folder_path("run/plots"), 0755), 0);
    (void)folder_write("run/plots/loss.tif", "II*", 3);
    EXPECT_IN("run", MST_OK, "folder of checkpoints, 1\n", "  model.ckpt-7             step 7, good\n");
    (void)folder_write("run/loss.png", "", 0);
    (void)folder_write("run/plots/loss.png", "", 0);
    EXPECT_IN("run", MST_OK, "folder of checkpoints, 1\n", "  model.ckpt-7             step 7, good\n");
}

static void wrong_check_sum_is_named_with_its_tensor(void **state) {
    (void)state;
    samples_write();
    FILE *file = fopen(folder_path("run/model.ckpt-7.data-00000-of-00001"), "r+b");
    assert_int_equal(fseek(file, 12, SEEK_SET), 0); /* after global_step */
    fputc(77, file);
    fclose(file);
    EXPECT_IN("run/model.ckpt-7", MST_CORRUPT, "global_step", "note",
              "damage: ", "the check sum of 'layer1/weights' does not match");
    EXPECT_IN("run", MST_CORRUPT, "step 7, damaged", "'layer1/weights'");
    assert_int_equal(unlink(folder_path("run/model.ckpt-7.data-00000-of-00001")), 0);
    EXPECT_IN("run/model.ckpt-7", MST_NOT_FOUND, "damage: ", ".data-00000-of-00001");
    assert_int_equal(unlink(folder_path("run/model.ckpt-7.index")), 0);
    EXPECT_IN("run", MST_OK, "missing, the state file names it");
}

/* TensorFlow's: a variable "p" in two slices; tf.train.Checkpoint's "a/w" and "n". */
static const uint8_t slices_index[] = {
    0x00, 0x00, 0x06, 0x08, 0x01, 0x1a, 0x02, 0x08, 0x01, 0x00, 0x0a, 0x13, 0x00, 0x70, 0x00, 0x01, 0x01, 0x02, 0x80,
    0x82, 0x80, 0x83, 0x08, 0x01, 0x12, 0x08, 0x12, 0x02, 0x08, 0x02, 0x12, 0x02, 0x08, 0x03, 0x28, 0x18, 0x35, 0x65,
    0x34, 0xee, 0xd8, 0x06, 0x04, 0x15, 0x82, 0x82, 0x80, 0x83, 0x08, 0x01, 0x12, 0x08, 0x12, 0x02, 0x08, 0x02, 0x12,
    0x02, 0x08, 0x03, 0x20, 0x18, 0x28, 0x18, 0x35, 0xfb, 0x70, 0xae, 0x7c, 0x00, 0x01, 0x22, 0x70, 0x08, 0x01, 0x12,
    0x08, 0x12, 0x02, 0x08, 0x04, 0x12, 0x02, 0x08, 0x03, 0x3a, 0x08, 0x0a, 0x02, 0x10, 0x02, 0x0a, 0x02, 0x10, 0x03,
    0x3a, 0x0a, 0x0a, 0x04, 0x08, 0x02, 0x10, 0x02, 0x0a, 0x02, 0x10, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    0x00, 0x00, 0xb4, 0x48, 0x78, 0x25, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xc0, 0xf2, 0xa1, 0xb0,
    0x00, 0x01, 0x02, 0x71, 0x00, 0x73, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x4e, 0x97, 0xc4, 0xa4,
    0x78, 0x08, 0x85, 0x01, 0x0e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
static const uint8_t slices_data[] = {0xe0, 0xce, 0xbc, 0xbd, 0x78, 0x4c, 0x3f, 0x3f, 0x00, 0x78, 0x00, 0xbc,
                                      0x4a, 0xa8, 0xa8, 0xbe, 0x90, 0xba, 0x15, 0xbd, 0x80, 0x36, 0x61, 0x3c,
                                      0xe0, 0xa0, 0xf1, 0xbc, 0x8e, 0xa6, 0x29, 0xbf, 0xe4, 0x90, 0x5d, 0xbe,
                                      0x00, 0xc7, 0x38, 0xbf, 0xfb, 0x45, 0xe3, 0xbe, 0x1e, 0xee, 0x22, 0xbf};
static const uint8_t objects_index[] = {
    0x00, 0x00, 0x06, 0x08, 0x01, 0x1a, 0x02, 0x08, 0x01, 0x00, 0x1c, 0x0e, 0x5f, 0x43, 0x48, 0x45, 0x43, 0x4b, 0x50,
    0x4f, 0x49, 0x4e, 0x54, 0x41, 0x42, 0x4c, 0x45, 0x5f, 0x4f, 0x42, 0x4a, 0x45, 0x43, 0x54, 0x5f, 0x47, 0x52, 0x41,
    0x50, 0x48, 0x08, 0x07, 0x12, 0x00, 0x20, 0x0c, 0x28, 0xa4, 0x01, 0x35, 0xa9, 0xcf, 0x44, 0xed, 0x00, 0x1e, 0x11,
    0x61, 0x2f, 0x77, 0x2f, 0x2e, 0x41, 0x54, 0x54, 0x52, 0x49, 0x42, 0x55, 0x54, 0x45, 0x53, 0x2f, 0x56, 0x41, 0x52,
    0x49, 0x41, 0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41, 0x4c, 0x55, 0x45, 0x08, 0x01, 0x12, 0x04, 0x12, 0x02, 0x08, 0x02,
    0x20, 0x04, 0x28, 0x08, 0x35, 0x59, 0x3c, 0xe5, 0x35, 0x00, 0x1c, 0x0b, 0x6e, 0x2f, 0x2e, 0x41, 0x54, 0x54, 0x52,
    0x49, 0x42, 0x55, 0x54, 0x45, 0x53, 0x2f, 0x56, 0x41, 0x52, 0x49, 0x41, 0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41, 0x4c,
    0x55, 0x45, 0x08, 0x03, 0x12, 0x00, 0x28, 0x04, 0x35, 0x63, 0x3f, 0x7f, 0x28, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x00, 0x00, 0x00, 0xd3, 0x42, 0xf3, 0xdf, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xc0, 0xf2, 0xa1,
    0xb0, 0x00, 0x01, 0x03, 0x6f, 0x00, 0x9a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xd3, 0x03,
    0xfb, 0xd2, 0x9f, 0x01, 0x08, 0xac, 0x01, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
static const uint8_t objects_data[] = {
    0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0x40, 0x9e, 0x01, 0x1c, 0x6e, 0x26, 0x27,
    0x0a, 0x12, 0x0a, 0x05, 0x08, 0x01, 0x12, 0x01, 0x61, 0x0a, 0x05, 0x08, 0x02, 0x12, 0x01, 0x6e, 0x2a, 0x02,
    0x08, 0x01, 0x0a, 0x0b, 0x0a, 0x05, 0x08, 0x03, 0x12, 0x01, 0x77, 0x2a, 0x02, 0x08, 0x01, 0x0a, 0x3e, 0x12,
    0x38, 0x0a, 0x0e, 0x56, 0x41, 0x52, 0x49, 0x41, 0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41, 0x4c, 0x55, 0x45, 0x12,
    0x08, 0x56, 0x61, 0x72, 0x69, 0x61, 0x62, 0x6c, 0x65, 0x1a, 0x1c, 0x6e, 0x2f, 0x2e, 0x41, 0x54, 0x54, 0x52,
    0x49, 0x42, 0x55, 0x54, 0x45, 0x53, 0x2f, 0x56, 0x41, 0x52, 0x49, 0x41, 0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41,
    0x4c, 0x55, 0x45, 0x2a, 0x02, 0x08, 0x01, 0x0a, 0x3b, 0x12, 0x35, 0x0a, 0x0e, 0x56, 0x41, 0x52, 0x49, 0x41,
    0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41, 0x4c, 0x55, 0x45, 0x12, 0x03, 0x61, 0x2f, 0x77, 0x1a, 0x1e, 0x61, 0x2f,
    0x77, 0x2f, 0x2e, 0x41, 0x54, 0x54, 0x52, 0x49, 0x42, 0x55, 0x54, 0x45, 0x53, 0x2f, 0x56, 0x41, 0x52, 0x49,
    0x41, 0x42, 0x4c, 0x45, 0x5f, 0x56, 0x41, 0x4c, 0x55, 0x45, 0x2a, 0x02, 0x08, 0x01};

static void slices_and_names_of_objects_are_told(void **state) {
    (void)state;
    (void)folder_write("p.index", slices_index, sizeof slices_index);
    (void)folder_write("p.data-00000-of-00001", slices_data, sizeof slices_data);
    EXPECT_IN("p", MST_OK, "checkpoint, 1 tensor in 1 data file\n", "  p                        f32 [4, 3]  ",
              ", in 2 slices\n");
    json_t *json = report_json("p", MST_OK), *tensor = json_array_get(json_object_get(json, "tensors"), 0);
    assert_int_equal(json_integer_value(json_object_get(tensor, "slices")), 2);
    json_decref(json);
    (void)folder_write("o.index", objects_index, sizeof objects_index);
    (void)folder_write("o.data-00000-of-00001", objects_data, sizeof objects_data);
    EXPECT_IN("o", MST_OK, "a/w/.ATTRIBUTES/VARIABLE_VALUE f32 [2]  1 to 2, mean 1.5  = a/w\n");
    json = report_json("o", MST_OK);
    tensor = json_array_get(json_object_get(json, "tensors"), 1);
    assert_string_equal(json_string_value(json_object_get(tensor, "object")), "a/w");
    json_decref(json);
}

/* After the slice of the first two rows of "p", one more of rows 1 and 2, with the same data. */
static mst_status add_overlap(void *context, const mst_table_entry *e) {
    mst_table_writer *writer = context;
    MST_TRY(mst_table_add(writer, e->key, e->key_size, e->value, e->value_size));
    const size_t start = 6;
    if (e->key_size < 10 || (uint8_t)e->key[start] != 0x80) return MST_OK;
    char key[16];
    memcpy(key, e->key, e->key_size);
    key[start] = (char)0x81;
    return mst_table_add(writer, key, e->key_size, e->value, e->value_size);
}

static void slices_that_overlap_are_damage(void **state) {
    (void)state;
    uint8_t data[sizeof slices_data + sizeof slices_data / 2] = {0};
    mst_table_writer writer = {.data = NULL};
    memcpy(data, slices_data, sizeof slices_data);
    EXPECT_OK(mst_table_parse("p", slices_index, sizeof slices_index, add_overlap, &writer));
    EXPECT_OK(mst_table_finish(&writer));
    (void)folder_write("p.index", writer.data, (size_t)writer.size);
    (void)folder_write("p.data-00000-of-00001", data, sizeof data);
    mst_table_writer_free(&writer);
    EXPECT_IN("p", MST_CORRUPT, "slices of 'p' overlap");
}

static void logs_have_tags_with_steps_and_last_values(void **state) {
    (void)state;
    samples_write();
    const char *line = "  loss                     scalar     5 points, steps 0 to 40, last value 0.2\n";
    EXPECT_IN("logs/train/events.out.tfevents.1", MST_OK, "event file, 6 events\n", line);
    EXPECT_IN("logs", MST_OK, "log folder, 1 event file, 6 events\n", "run train\n", line);
    json_t *json = report_json("logs", MST_OK), *tag = json_array_get(json_object_get(json, "tags"), 0);
    assert_string_equal(json_string_value(json_object_get(tag, "run")), "train");
    assert_int_equal(json_integer_value(json_object_get(tag, "last_step")), 40);
    json_decref(json);
    assert_int_equal(truncate(folder_path("logs/train/events.out.tfevents.1"), 200), 0);
    EXPECT_IN("logs/train/events.out.tfevents.1", MST_OK, "ends in the middle of a record");
    EXPECT_IN("logs", MST_OK, "1 of the files end in the middle of a record");
}

static void tables_have_types_missing_cells_and_categories(void **state) {
    (void)state;
    samples_write();
    EXPECT_IN("table.csv", MST_OK, "CSV, 3 rows, 3 columns\n",
              "  width                    floats      0.5 to 1.5, mean 1, 1 missing\n",
              "  kind                     categories  2 different\n", "    'thin, \"x\"'            1\n",
              "    'wide'                 2\n", "  n                        integers    1 to 3, mean 2\n");
    const char mixed[] = "a;b\n1;x\ntwo;y\n";
    (void)folder_write("mixed", mixed, sizeof mixed - 1);
    EXPECT_IN("mixed", MST_OK, "separated by semicolons", "mixed       2 different, 1 are numbers");
    const char torn[] = "a,b\n1,2\n3\n";
    (void)folder_write("torn.csv", torn, sizeof torn - 1);
    EXPECT_IN("torn.csv", MST_CORRUPT, "damage: ", "line 3");
}

static void text_has_lines(void **state) {
    (void)state;
    samples_write();
    EXPECT_IN("lines.txt", MST_OK, "text, 2 lines, 16 bytes, the longest line has 11\n");
}

static void graphs_have_feeds_variables_and_ops(void **state) {
    (void)state;
    samples_write();
    EXPECT_IN("graph.pb", MST_OK, "GraphDef, ", "feed x                   f32 [?, 3]\n",
              "variable w               f32 [3, 2]\n", "MatMul                   1\n");
    json_t *json = report_json("graph.pb", MST_OK);
    assert_null(json_object_get(json, "not_run_here"));
    json_decref(json);
}

static void pictures_have_sizes_and_damage(void **state) {
    (void)state;
    samples_write();
    if (!is_there("picture.png")) skip();
    EXPECT_IN("picture.png", MST_OK, "PNG, 5 x 6 pixels, 3 channels of 8 bits\n",
              "pixels                   u8 [6, 5, 3]");
    assert_int_equal(truncate(folder_path("picture.png"), 60), 0);
    EXPECT_IN("picture.png", MST_CORRUPT, "PNG, 60 bytes", "damage: ");
    char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    const mst_status status = mst_inspect(folder_path("picture.jpg"), out);
    fclose(out);
    if (status == MST_UNIMPLEMENTED) skip();
    EXPECT_IN("picture.jpg", MST_OK, "JPEG, 12 x 8 pixels, 1 channel of 8 bits\n");
}

static void write_png(const char *name, int height, int width) {
    uint8_t pixels[100] = {7, 8, 9};
    void *png;
    size_t size;
    EXPECT_OK(mst_png_encode(pixels, height, width, 1, &png, &size));
    (void)folder_write(name, png, size);
    free(png);
}

static void folders_of_pictures_have_classes_and_sizes(void **state) {
    (void)state;
    samples_write();
    if (!is_there("picture.png")) skip();
    static const char *const folders[] = {"p", "p/train", "p/train/cat", "p/train/dog", "p/test", "p/test/cat"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(folder_path(folders[i]), 0755), 0);
    write_png("p/train/cat/1.png", 4, 5);
    write_png("p/train/cat/2.png", 6, 3);
    write_png("p/train/dog/1.png", 4, 4);
    write_png("p/test/cat/1.png", 2, 2);
    EXPECT_IN("p", MST_OK, "folder of pictures, train and test\n",
              "  train                    3 pictures in 2 classes, of 3 x 4 to 5 x 6 pixels\n",
              "    cat                    2\n", "    dog                    1\n",
              "  test                     1 picture in 1 classes, all of 2 x 2 pixels\n");
    (void)folder_write("p/train/dog/1.png", "\x89PNG\r\n\x1a\nxx", 10);
    EXPECT_IN("p", MST_CORRUPT, "damage: ", "p/train/dog/1.png'");
    EXPECT_IN("p/train", MST_CORRUPT, "one part");
}

/* Pictures that training refuses, a file and folders of them. */
static void pictures_of_other_kinds_are_named(void **state) {
    (void)state;
    FILE *out = tmpfile();
    (void)folder_write("other", "II*\0\10\0\0\0", 8);
    EXPECT_ERROR(mst_inspect(folder_path("other"), out), MST_INVALID,
                 "other': is a TIFF picture, which is not read, only PNG, JPEG, WebP, GIF and BMP");
    fclose(out);
    static const char *const folders[] = {"p", "p/cat", "q", "q/train", "q/train/cat"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(folder_path(folders[i]), 0755), 0);
    (void)folder_write("p/cat/1.tif", "II*", 3);
    (void)folder_write("q/train/cat/1.tif", "II*", 3);
    EXPECT_IN("p", MST_UNIMPLEMENTED, "folder of pictures", "p/cat/1.tif': TIFF pictures are not read");
    EXPECT_IN("q", MST_UNIMPLEMENTED, "folder of pictures", "q/train/cat/1.tif': TIFF pictures are not read");
    /* a name is not a picture */
    assert_int_equal(mkdir(folder_path("pictures"), 0755), 0);
    (void)folder_write("pictures/train", "text", 4);
    out = tmpfile();
    EXPECT_ERROR(mst_inspect(folder_path("pictures"), out), MST_INVALID, "is of no format that is known");
    fclose(out);
}

static void unknown_file_is_one_error_that_lists_all_formats(void **state) {
    (void)state;
    FILE *out = tmpfile();
    (void)folder_write("odd", "\1\2\3\4\5\6\7", 7);
    EXPECT_ERROR(mst_inspect(folder_path("odd"), out), MST_INVALID, "known are checkpoint, ");
    EXPECT_ERROR(mst_inspect_json(folder_path("odd"), out), MST_INVALID, "TFRecord");
    EXPECT_ERROR(mst_inspect(folder_path("none"), out), MST_NOT_FOUND, "no such file, folder or checkpoint");
    EXPECT_ERROR(mst_inspect(folder_path(""), out), MST_INVALID, "no format that is known here");
    EXPECT_ERROR(mst_inspect(NULL, out), MST_INVALID, "path is NULL");
    assert_int_equal(ftell(out), 0);
    fclose(out);
}

static void damaged_beginning_is_told_by_the_format_of_the_name(void **state) {
    (void)state;
    samples_write();
    (void)folder_write("arrays.npz", "\1\2\3\4\5\6\7", 7);
    EXPECT_IN("arrays.npz", MST_CORRUPT, "NPZ", "damage: ");
}

/* Features with the names "a\0bc" and "a\0bd", three times, in one file of records. */
static void names_of_features_may_hold_zero_bytes(void **state) {
    (void)state;
    static const uint8_t example[] = {0x0a, 0x1c, 0x0a, 0x0c, 0x0a, 0x04, 'a',  0,    'b',  'c',
                                      0x12, 0x04, 0x1a, 0x02, 0x0a, 0x00, 0x0a, 0x0c, 0x0a, 0x04,
                                      'a',  0,    'b',  'd',  0x12, 0x04, 0x1a, 0x02, 0x0a, 0x00};
    mst_tfrecord_writer *writer;
    EXPECT_OK(mst_tfrecord_writer_open(folder_path("zero.tfrecord"), MST_TFRECORD_PLAIN, &writer));
    for (int i = 0; i < 3; i++) EXPECT_OK(mst_tfrecord_writer_add(writer, example, sizeof example));
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
    EXPECT_IN("zero.tfrecord", MST_OK, "  a\\x00bc ", "  a\\x00bd ");
    json_t *json = report_json("zero.tfrecord", MST_OK), *features = json_object_get(json, "features");
    assert_int_equal(json_array_size(features), 2);
    const json_t *name = json_object_get(json_array_get(features, 1), "name");
    assert_int_equal(json_string_length(name), 4);
    assert_memory_equal(json_string_value(name), "a\0bd", 4);
    json_decref(json);
}

static void names_of_a_file_cannot_write_to_the_terminal(void **state) {
    (void)state;
    const char table[] = "a\x1b[31m,\xff,\xc2\x9b\n1,2,3\n"; /* U+009B begins a command of terminals, as ESC [ does */
    (void)folder_write("odd.csv", table, sizeof table - 1);
    EXPECT_IN("odd.csv", MST_OK, "a\\x1b[31m ", "\\xff ", "\\xc2\\x9b ");
    json_t *json = report_json("odd.csv", MST_OK), *columns = json_object_get(json, "columns");
    assert_string_equal(json_string_value(json_object_get(json_array_get(columns, 0), "name")), "a\x1b[31m");
    assert_string_equal(json_string_value(json_object_get(json_array_get(columns, 1), "name")), "\\xff");
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(formats_are_known_by_their_bytes),
        TEST_IN_FOLDER(arrays_have_statistics),
        TEST_IN_FOLDER(records_have_features_and_named_damage),
        TEST_IN_FOLDER(checkpoint_is_found_by_prefix_files_and_folder),
        TEST_IN_FOLDER(wrong_check_sum_is_named_with_its_tensor),
        TEST_IN_FOLDER(slices_and_names_of_objects_are_told),
        TEST_IN_FOLDER(slices_that_overlap_are_damage),
        TEST_IN_FOLDER(logs_have_tags_with_steps_and_last_values),
        TEST_IN_FOLDER(tables_have_types_missing_cells_and_categories),
        TEST_IN_FOLDER(text_has_lines),
        TEST_IN_FOLDER(names_of_features_may_hold_zero_bytes),
        TEST_IN_FOLDER(graphs_have_feeds_variables_and_ops),
        TEST_IN_FOLDER(pictures_have_sizes_and_damage),
        TEST_IN_FOLDER(folders_of_pictures_have_classes_and_sizes),
        TEST_IN_FOLDER(pictures_of_other_kinds_are_named),
        TEST_IN_FOLDER(unknown_file_is_one_error_that_lists_all_formats),
        TEST_IN_FOLDER(damaged_beginning_is_told_by_the_format_of_the_name),
        TEST_IN_FOLDER(names_of_a_file_cannot_write_to_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
