/* Writes the samples: with the library's own writers where it has them, else byte by byte. */
#include "support/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "format/bundle.h"
#include "format/events.h"
#include "format/idx.h"
#include "format/npz.h"
#include "format/png_encode.h"
#include "format/safetensors.h"
#include "muster/dataset.h"
#include "muster/graph.h"
#include "muster/ops.h"
#include "support/archive.h"
#include "support/folder.h"

const sample samples[] = {{"images.idx", "IDX", true, false},
                          {"images.idx.gz", "IDX", true, false},
                          {"arrays.npz", "NPZ", true, false},
                          {"plain-train-00000-of-00001", "TFRecord", false, false},
                          {"records.tfrecord", "TFRecord", false, true},
                          {"gzip-train-00000-of-00001", "TFRecord", false, false},
                          {"zlib-train-00000-of-00001", "TFRecord", false, false},
                          {"run/model.ckpt-7.index", "checkpoint", true, false},
                          {"run/model.ckpt-7.data-00000-of-00001", "checkpoint", true, true},
                          {"model.safetensors", "safetensors", true, false},
                          {"logs/train/events.out.tfevents.1", "event file", false, true},
                          {"table.csv", "CSV", false, false},
                          {"lines.txt", "text", false, false},
                          {"graph.pb", "GraphDef", false, false},
                          {"picture.png", "PNG", false, false},
                          {"picture.jpg", "JPEG", false, false},
                          {NULL, NULL, false, false}};

/* 8 rows of 12 gray pixels. */
static const uint8_t jpeg[] = {
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x1b, 0x12, 0x14, 0x17, 0x14, 0x11, 0x1b, 0x17, 0x16, 0x17, 0x1e, 0x1c,
    0x1b, 0x20, 0x28, 0x42, 0x2b, 0x28, 0x25, 0x25, 0x28, 0x51, 0x3a, 0x3d, 0x30, 0x42, 0x60, 0x55, 0x65, 0x64, 0x5f,
    0x55, 0x5d, 0x5b, 0x6a, 0x78, 0x99, 0x81, 0x6a, 0x71, 0x90, 0x73, 0x5b, 0x5d, 0x85, 0xb5, 0x86, 0x90, 0x9e, 0xa3,
    0xab, 0xad, 0xab, 0x67, 0x80, 0xbc, 0xc9, 0xba, 0xa6, 0xc7, 0x99, 0xa8, 0xab, 0xa4, 0xff, 0xc0, 0x00, 0x0b, 0x08,
    0x00, 0x08, 0x00, 0x0c, 0x01, 0x01, 0x11, 0x00, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x06, 0xff, 0xc4, 0x00, 0x19, 0x10, 0x00, 0x01,
    0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x04, 0x05, 0x33,
    0x41, 0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0x3a, 0x2f, 0x0a, 0x86, 0xf5, 0x21, 0xff, 0xd9,
};

/* Ends the test program if a sample cannot be made, since that is not the failure of a test. */
static void need(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "samples: %s\n", mst_error()->message);
    abort();
}

static mst_tensor *counting(mst_dtype dtype, mst_shape shape) {
    mst_tensor *tensor;
    need(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, (double)(i % 100));
    return tensor;
}

static void *read_file(const char *name, size_t *size) {
    void *data;
    need(mst_file_read(folder_path(name), 1 << 20, &data, size));
    return data;
}

static void write_arrays(void) {
    mst_tensor *images = counting(MST_U8, MST_SHAPE(6, 4, 4)), *weights = counting(MST_F32, MST_SHAPE(3, 5));
    mst_tensor_set(weights, 3, 0.0 / 0.0);
    mst_tensor_set(weights, 4, 1.0 / 0.0);
    const mst_named_tensor tensors[] = {{"x_train", images}, {"weights", weights}};
    need(mst_idx_write(folder_path("images.idx"), images));
    need(mst_npz_write(folder_path("arrays.npz"), tensors, 2));
    need(mst_safetensors_write(folder_path("model.safetensors"), tensors, 2, NULL));
    size_t size;
    void *data = read_file("images.idx", &size);
    blob packed = {0};
    blob_gzip(&packed, data, size);
    (void)folder_write("images.idx.gz", packed.data, packed.size);
    blob_free(&packed);
    free(data);
    mst_tensor_release(images);
    mst_tensor_release(weights);
}

static void write_records(void) {
    static const char *const names[] = {"plain", "gzip", "zlib"};
    mst_tensor *tensor[2] = {counting(MST_U8, MST_SHAPE(6, 4, 4)), counting(MST_I64, MST_SHAPE(6))};
    mst_dataset *rows;
    need(mst_dataset_from_tensors(tensor, 2, &rows));
    for (int i = 0; i < 3; i++) {
        char spec[600];
        snprintf(spec, sizeof spec, "tfrecord:%s", folder_path(names[i]));
        need(mst_dataset_write(spec, rows, NULL, &(mst_write_options){.compression = (mst_tfrecord_compression)i}));
    }
    size_t size;
    void *data = read_file("plain-train-00000-of-00001", &size);
    (void)folder_write("records.tfrecord", data, size);
    free(data);
    mst_dataset_release(rows);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
}

static void write_checkpoint(void) {
    static const char state[] =
        "model_checkpoint_path: \"model.ckpt-7\"\nall_model_checkpoint_paths: \"model.ckpt-7\"\n";
    mst_bundle_writer *writer;
    mst_tensor *weights = counting(MST_F32, MST_SHAPE(3, 5)), *step = counting(MST_I64, MST_SCALAR);
    (void)mkdir(folder_path("run"), 0755);
    need(mst_bundle_writer_create(folder_path("run/model.ckpt-7"), &writer));
    need(mst_bundle_writer_add(writer, "layer1/weights", weights));
    need(mst_bundle_writer_add(writer, "global_step", step));
    need(mst_bundle_writer_add_string(writer, "note", "what it is", 10));
    need(mst_bundle_writer_finish(writer));
    (void)folder_write("run/checkpoint", state, sizeof state - 1);
    mst_tensor_release(weights);
    mst_tensor_release(step);
}

static void write_events(void) {
    mst_event_file *file;
    char made[600];
    (void)mkdir(folder_path("logs"), 0755);
    need(mst_event_file_create(folder_path("logs/train"), &file));
    snprintf(made, sizeof made, "%s", mst_event_file_path(file));
    for (int i = 0; i < 5; i++) {
        Muster__Summary__Value value = MUSTER__SUMMARY__VALUE__INIT, *values = &value;
        Muster__Summary summary = MUSTER__SUMMARY__INIT;
        Muster__Event event = MUSTER__EVENT__INIT;
        value.tag = (char[]){"loss"};
        value.value_case = MUSTER__SUMMARY__VALUE__VALUE_SIMPLE_VALUE;
        value.simple_value = 1.0F / (float)(i + 1);
        summary.n_value = 1;
        summary.value = &values;
        event.step = 10 * i;
        event.what_case = MUSTER__EVENT__WHAT_SUMMARY;
        event.summary = &summary;
        need(mst_event_file_append(file, &event));
    }
    need(mst_event_file_close(file));
    if (rename(made, folder_path("logs/train/events.out.tfevents.1"))) abort();
}

static void write_texts(void) {
    static const char table[] = "width,kind,n\n1.5,wide,1\n,\"thin, \"\"x\"\"\",2\n0.5,wide,3\n",
                      lines[] = "one\nlonger line\n";
    (void)folder_write("table.csv", table, sizeof table - 1);
    (void)folder_write("lines.txt", lines, sizeof lines - 1);
}

static void write_graph(void) {
    mst_graph *graph;
    need(mst_graph_create(&graph));
    mst_value x = mst_placeholder(graph, MST_F32, MST_SHAPE(-1, 3), "x");
    mst_value w = mst_variable(graph, "w", mst_random_normal(graph, MST_SHAPE(3, 2)));
    mst_rename(mst_relu(mst_matmul(x, w)), "y");
    need(mst_graph_write(graph, folder_path("graph.pb")));
    mst_graph_destroy(graph);
}

static void write_pictures(void) {
    uint8_t pixels[6 * 5 * 3];
    void *png;
    size_t size;
    for (int i = 0; i < (int)sizeof pixels; i++) pixels[i] = (uint8_t)(i * i % 251);
    if (mst_png_encode(pixels, 6, 5, 3, &png, &size) == MST_OK) {
        (void)folder_write("picture.png", png, size);
        free(png);
    }
    (void)folder_write("picture.jpg", jpeg, sizeof jpeg);
}

void samples_write(void) {
    write_arrays();
    write_records();
    write_checkpoint();
    write_events();
    write_texts();
    write_graph();
    write_pictures();
}
