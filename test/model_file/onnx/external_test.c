/* Tensors of ONNX in files beside the model: they are read from there, and no file name may lead out of the model's
 * folder. */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "device/device.h"
#include "model_file/onnx/onnx_file.h"
#include "muster/inspect.h"
#include "muster/model_file.h"
#include "support/folder.h"
#include "support/test.h"

enum { COUNT = 4, MOST_ENTRIES = 5, MOST_TENSORS = 3 };

static size_t nul_at_end; /* 1: values of entries end in a NUL of their own */
static const float numbers[] = {9, 9, 1, 2, 3, 4, 7};

static char *text(const char *constant) {
    return (char *)(uintptr_t)constant;
}

/* A model of x + w, of four numbers each, with NUM_TENSORS tensors of one place: PLACE is keys and values. */
static const char *write_models(const char *const *place, size_t num_tensors, int64_t count) {
    static char *const names[] = {"w", "w1", "w2"};
    Muster__OnnxModel model = MUSTER__ONNX_MODEL__INIT;
    Muster__OnnxGraph graph = MUSTER__ONNX_GRAPH__INIT;
    Muster__OnnxNode node = MUSTER__ONNX_NODE__INIT, *nodes = &node;
    Muster__OnnxOpset opset = MUSTER__ONNX_OPSET__INIT, *opsets = &opset;
    Muster__OnnxTensor tensor[MOST_TENSORS], *tensors[MOST_TENSORS];
    Muster__OnnxEntry entry[MOST_ENTRIES], *entries[MOST_ENTRIES];
    Muster__OnnxValue value = MUSTER__ONNX_VALUE__INIT, result = value, *inputs = &value, *outputs = &result;
    Muster__OnnxType type = MUSTER__ONNX_TYPE__INIT;
    Muster__OnnxTensorType tensor_type = MUSTER__ONNX_TENSOR_TYPE__INIT;
    Muster__OnnxShape shape = MUSTER__ONNX_SHAPE__INIT;
    Muster__OnnxDimension dim = MUSTER__ONNX_DIMENSION__INIT, *dims = &dim;
    char *in[] = {text("x"), text("w")}, *y = text("y");
    size_t num_entries = 0;
    for (; place[2 * num_entries]; num_entries++) {
        muster__onnx_entry__init(entries[num_entries] = &entry[num_entries]);
        entry[num_entries].key = text(place[2 * num_entries]);
        entry[num_entries].value.data = (uint8_t *)text(place[2 * num_entries + 1]);
        entry[num_entries].value.len = nul_at_end + strlen(place[2 * num_entries + 1]);
    }
    for (size_t i = 0; i < num_tensors; i++) {
        muster__onnx_tensor__init(tensors[i] = &tensor[i]);
        tensor[i].name = names[i];
        tensor[i].data_type = mst_onnx_type(MST_F32);
        tensor[i].dims = &count, tensor[i].n_dims = 1;
        tensor[i].data_location = 1;
        tensor[i].external_data = entries, tensor[i].n_external_data = num_entries;
    }
    dim.value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
    dim.dim_value = COUNT;
    shape.n_dim = 1, shape.dim = &dims;
    tensor_type.elem_type = mst_onnx_type(MST_F32);
    tensor_type.shape = &shape;
    type.tensor_type = &tensor_type;
    value.type = result.type = &type;
    value.name = in[0], result.name = y;
    node.op_type = text("Add");
    node.n_input = 2, node.input = in, node.n_output = 1, node.output = &y;
    graph.n_node = 1, graph.node = &nodes;
    graph.n_initializer = num_tensors, graph.initializer = tensors;
    graph.n_input = graph.n_output = 1, graph.input = &inputs, graph.output = &outputs;
    opset.version = 17;
    model.ir_version = 8, model.graph = &graph, model.n_opset_import = 1, model.opset_import = &opsets;
    uint8_t *data = malloc(muster__onnx_model__get_packed_size(&model));
    assert_non_null(data);
    const char *path = folder_write("m.onnx", data, muster__onnx_model__pack(&model, data));
    free(data);
    return path;
}

static const char *write_model(const char *location, const char *offset, const char *length) {
    return write_models((const char *const[]){"location", location, offset ? "offset" : NULL, offset,
                                              length ? "length" : NULL, length, NULL},
                        1, COUNT);
}

static void expect_read(const char *path) {
    mst_onnx_file file;
    mst_graph *graph;
    EXPECT_OK(mst_onnx_file_read(path, &file));
    assert_memory_equal(mst_tensor_data(file.tensor[0]), numbers + 2, COUNT * sizeof *numbers);
    mst_onnx_file_free(&file);
    EXPECT_OK(mst_onnx_read(path, &graph));
    mst_graph_destroy(graph);
}

static void expect_refused(const char *path, mst_status code, const char *why) {
    mst_onnx_file file;
    mst_graph *graph;
    EXPECT_ERROR(mst_onnx_file_read(path, &file), code, why);
    mst_onnx_file_free(&file);
    EXPECT_ERROR(mst_onnx_read(path, &graph), code, "/m.onnx': tensor 'w");
    assert_null(graph);
}

static void tensors_beside_the_model_are_read(void **state) {
    (void)state;
    (void)folder_write("m.onnx.data", numbers, sizeof numbers);
    (void)folder_write("alone.bin", numbers + 2, 4 * sizeof *numbers);
    expect_read(write_model("m.onnx.data", "8", "16"));
    expect_read(write_model("alone.bin", NULL, NULL));
    expect_read(write_model("alone.bin", "0", NULL));
    expect_read(write_model("m.onnx.data", "8", NULL)); /* other tensors follow */
    (void)folder_write("more.bin", numbers + 2, 5 * sizeof *numbers);
    expect_read(write_model("more.bin", NULL, NULL));
    assert_int_equal(mkdir(folder_path("weights"), 0700), 0);
    (void)folder_write("weights/w.bin", numbers, sizeof numbers);
    expect_read(write_model("weights/w.bin", "8", "16"));
    const char *place[] = {"location", "alone.bin", "checksum", "da39a3ee5e6b4b0d3255bfef95601890afd80709", NULL};
    expect_read(write_models(place, 1, COUNT));
}

static void names_lead_nowhere_else(void **state) {
    (void)state;
    char whole[600];
    (void)folder_write("w.bin", numbers + 2, 4 * sizeof *numbers);
    assert_int_equal(mkdir(folder_path("in"), 0700), 0);
    (void)folder_write("in/w.bin", numbers + 2, 4 * sizeof *numbers);
    assert_int_equal(symlink("w.bin", folder_path("link.bin")), 0);
    assert_int_equal(symlink("in", folder_path("link")), 0);
    snprintf(whole, sizeof whole, "%s", folder_path("w.bin"));
    const char *const parts[] = {whole, "../w.bin", "in/../w.bin", "./w.bin", "in//w.bin", "..", ".", "in/..", "in/"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        expect_refused(write_model(parts[i], NULL, NULL), MST_INVALID, "has a part that is empty, '.' or '..'");
    expect_refused(write_model("link.bin", NULL, NULL), MST_INVALID, "has a symbolic link on its way");
    expect_refused(write_model("link/w.bin", NULL, NULL), MST_INVALID, "has a symbolic link on its way");
    expect_refused(write_model("in", NULL, NULL), MST_INVALID, "is a folder");
    expect_refused(write_model("w.bin/w.bin", NULL, NULL), MST_NOT_FOUND, "no such file");
    expect_refused(write_model("w.bin/", NULL, NULL), MST_NOT_FOUND, "no such file");
    expect_refused(write_model("nowhere", NULL, NULL), MST_NOT_FOUND, "no such file");
}

static void lengths_are_checked(void **state) {
    static const struct {
        const char *offset, *length, *why;
    } cases[] = {{"0", "12", "its shape needs 16 bytes, and 'w.bin' has 12 for it from byte 0 on"},
                 {"13", "16", "its shape needs 16 bytes, and 'w.bin' has 15 for it from byte 13 on"},
                 {"8", "20", "its shape needs 16 bytes, and 'w.bin' has 20 for it from byte 8 on"},
                 {"16", NULL, "its shape needs 16 bytes, and 'w.bin' has 12 for it from byte 16 on"},
                 {"100", "16", "'w.bin' has 0"},
                 {"999999999999999999", "16", "'w.bin' has 0"},
                 {"-4", "16", "the offset of its external data is '-4', not a number of bytes"},
                 {"1e3", "16", "the offset of its external data is '1e3'"},
                 {"", "16", "the offset of its external data is ''"},
                 {"0", "18446744073709551616", "the length of its external data is"}};
    (void)state;
    (void)folder_write("w.bin", numbers, sizeof numbers);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(write_model("w.bin", cases[i].offset, cases[i].length), MST_CORRUPT, cases[i].why);
    const char *twice[] = {"location", "w.bin", "location", "w.bin", NULL};
    expect_refused(write_models(twice, 1, COUNT), MST_CORRUPT, "the entry 'location' twice");
    const char *none[] = {"offset", "8", NULL};
    expect_refused(write_models(none, 1, COUNT), MST_CORRUPT,
                   "its data is in a file beside the model that is not named");
    const char *other[] = {"location", "w.bin", "basepath", "/", NULL};
    expect_refused(write_models(other, 1, COUNT), MST_UNIMPLEMENTED, "the entry 'basepath', which is not known here");
}

/* A name is shown without what would steer a terminal, and an odd one is one error. */
static void odd_names(void **state) {
    (void)state;
    enum { DEEP = 3000 };
    char deep[2 * DEEP + 1], wide[1001];
    (void)folder_write("w.bin", numbers + 2, 4 * sizeof *numbers);
    (void)folder_write("w\\.bin", numbers + 2, 4 * sizeof *numbers);
    nul_at_end = 1;
    expect_refused(write_model("w.bin", NULL, NULL), MST_CORRUPT,
                   "its data is in the file 'w.bin\\x00', which is no name");
    expect_refused(write_model("", NULL, NULL), MST_CORRUPT, "'\\x00', which is no name of a file");
    expect_refused(write_model("w.bin", "0", NULL), MST_CORRUPT, "w.bin\\x00");
    nul_at_end = 0;
    expect_refused(write_model("", NULL, NULL), MST_CORRUPT, "'', which is no name of a file");
    expect_refused(write_model("a\nb\033[31m", NULL, NULL), MST_NOT_FOUND, "'a\\nb\\x1b[31m': no such file");
    expect_refused(write_model("w.bin", "\033", NULL), MST_CORRUPT, "is '\\x1b', not a number");
    expect_read(write_model("w\\.bin", NULL, NULL));
    for (int i = 0; i < DEEP; i++) memcpy(deep + 2 * i, "a/", 2);
    deep[2 * DEEP] = 0;
    expect_refused(write_model(deep, NULL, NULL), MST_NOT_FOUND, "no such file");
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = 0;
    expect_refused(write_model(wide, NULL, NULL), MST_IO, "cannot be opened: File name too long");
}

/* None of them is waited for, or read. */
static void what_is_no_regular_file(void **state) {
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    expect_refused(write_model("pipe", NULL, NULL), MST_INVALID, "is not a regular file");
    expect_refused(write_model("pipe/w.bin", NULL, NULL), MST_NOT_FOUND, "no such file");
    const int self = socket(AF_UNIX, SOCK_STREAM, 0);
    const size_t size = sizeof address.sun_path;
    if ((size_t)snprintf(address.sun_path, size, "%s", folder_path("socket")) < size) { /* else it cannot be bound */
        assert_int_equal(bind(self, (const struct sockaddr *)&address, sizeof address), 0);
        expect_refused(write_model("socket", NULL, NULL), MST_IO, "cannot be opened");
    }
    close(self);
    if (mknod(folder_path("zeros"), S_IFCHR | 0600, makedev(1, 5)) == 0) /* for root alone */
        expect_refused(write_model("zeros", NULL, "16"), MST_INVALID, "is not a regular file");
}

/* A file of terabytes that takes no room on the disk: no byte is read before all tensors are known to fit. */
static void files_larger_than_the_memory(void **state) {
    (void)state;
    const int64_t memory = mst_host_memory(), third = (memory / 3 + 4) / 4 * 4;
    char length[24];
    if (memory <= 0) skip();
    const char *path = folder_write("w.bin", numbers, sizeof numbers);
    if (truncate(path, 4 * third)) skip();
    snprintf(length, sizeof length, "%lld", (long long)third);
    const char *place[] = {"location", "w.bin", "length", length, NULL};
    mst_onnx_file file;
    EXPECT_ERROR(mst_onnx_file_read(write_models(place, 3, third / 4), &file), MST_OUT_OF_MEMORY,
                 "m.onnx': the tensors in the files beside the model need ");
    mst_onnx_file_free(&file);
}

/* Many tensors of the same bytes: a few hundred bytes of ONNX would become any number. */
static void tensors_take_no_more_than_their_files_have(void **state) {
    (void)state;
    const char *place[] = {"location", "w.bin", NULL};
    (void)folder_write("w.bin", numbers + 2, 4 * sizeof *numbers);
    expect_read(write_models(place, 1, COUNT));
    expect_refused(write_models(place, 2, COUNT), MST_CORRUPT,
                   "up to this one the tensors take 32 bytes, more than the files beside the model have (16 bytes)");
    expect_refused(write_models(place, 1, 1000000000000), MST_CORRUPT, "its shape needs 4000000000000 bytes");
}

/* Bytes in memory have no folder. */
static void memory_names_no_files(void **state) {
    (void)state;
    void *data;
    size_t size;
    mst_graph *graph;
    (void)folder_write("w.bin", numbers + 2, 4 * sizeof *numbers);
    EXPECT_OK(mst_file_read(write_model("w.bin", NULL, NULL), 1 << 20, &data, &size));
    EXPECT_ERROR(mst_onnx_decode(data, size, &graph), MST_UNIMPLEMENTED, "its data is in another file, 'w.bin'");
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(tensors_beside_the_model_are_read),
        TEST_IN_FOLDER(names_lead_nowhere_else),
        TEST_IN_FOLDER(odd_names),
        TEST_IN_FOLDER(what_is_no_regular_file),
        TEST_IN_FOLDER(files_larger_than_the_memory),
        TEST_IN_FOLDER(lengths_are_checked),
        TEST_IN_FOLDER(tensors_take_no_more_than_their_files_have),
        TEST_IN_FOLDER(memory_names_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
