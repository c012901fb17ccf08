/* Sizes that nodes compute: a tensor of any size is refused by its shape, before memory is taken for it. */
/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "muster/model_file.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/onnx_message.h"
#include "support/sanitized.h"

enum { LARGE = 1 << 15 };

static struct {
    const char *name;
    bool is_number;
    size_t count;
    int64_t list[6];
} lists[] = {{"zero", true, 1, {0}},
             {"one", true, 1, {1}},
             {"depth", true, 1, {1 << 24}},
             {"end", true, 1, {1 << 30}},
             {"pair", false, 2, {0, 1}},
             {"many", false, 1, {LARGE}},
             {"places", false, 2, {LARGE, 2}},
             {"matrix", false, 2, {-1, 1}},
             {"ends", false, 2, {1, 2}},
             {"picture", false, 4, {-1, 1, 1, 1}},
             {"volume", false, 5, {-1, 1, 1, 1, 1}},
             {"plane", false, 3, {1, LARGE, LARGE}},
             {"high", false, 3, {1, LARGE, 1}},
             {"wide", false, 3, {1, 1, LARGE}},
             {"row", false, 2, {1, LARGE}},
             {"column", false, 2, {LARGE, 1}},
             {"some", false, 3, {1, 64, 1}},
             {"half", false, 3, {1, 4096, 6000}},
             {"pads", false, 6, {0, 0, 0, 0, LARGE, LARGE}},
             {"mirror", false, 6, {0, 4095, 5999, 0, 4095, 5999}}};
enum { LISTS = sizeof lists / sizeof *lists };

static float four[] = {1, 1, LARGE, LARGE};

static void add_floats(onnx_message *m, const char *name, size_t count, int64_t *dims, size_t ndim) {
    Muster__OnnxTensor *t = onnx_add_list(m, name, NULL, 0);
    t->data_type = mst_onnx_type(MST_F32);
    t->float_data = four;
    t->n_float_data = count;
    t->dims = dims;
    t->n_dims = ndim;
}

/* a is [n, 1, 1], the input of the model, or a constant of one element. */
static void begin_case(onnx_message *m, const char *nodes, bool constant) {
    static int64_t ones[] = {1, 1, 1, 1, 1}, count = 4;
    onnx_begin(m, 19);
    onnx_add_input(m, constant ? "x" : "a", MST_SHAPE(-1, 1, 1));
    if (constant) add_floats(m, "a", 1, ones, 3);
    if (onnx_nodes_name(nodes, "scales")) add_floats(m, "scales", 4, &count, 1);
    if (onnx_nodes_name(nodes, "fixed")) add_floats(m, "fixed", 1, ones, 3);
    if (onnx_nodes_name(nodes, "kernel")) add_floats(m, "kernel", 1, ones, 4);
    if (onnx_nodes_name(nodes, "kernel3")) add_floats(m, "kernel3", 1, ones, 5);
    for (int i = 0; i < LISTS; i++)
        if (onnx_nodes_name(nodes, lists[i].name))
            if (onnx_add_list(m, lists[i].name, lists[i].list, lists[i].count) && lists[i].is_number)
                m->tensor[m->graph.n_initializer - 1].n_dims = 0;
    onnx_add_nodes(m, nodes);
    onnx_add_output(m, "y", MST_SHAPE(-1));
}

/* The last of NODES is refused, by its name and operator, with the shape and its bytes. */
static void expect_refused(const char *nodes, bool constant) {
    onnx_message m;
    size_t size;
    mst_graph *graph;
    char begin[100];
    const char *last = strrchr(nodes, ';') ? strrchr(nodes, ';') + 1 : nodes;
    begin_case(&m, nodes, constant);
    void *data = onnx_pack(&m, &size);
    const mst_status status = mst_onnx_decode(data, size, &graph);
    const char *error = mst_error()->message;
    snprintf(begin, sizeof begin, "node 'y' (%.*s, opset 19): ", (int)strcspn(last, " "), last);
    if (status != MST_INVALID) fail_msg("%s: not refused", nodes);
    const bool by_value = strstr(error, "B for one example, and a file of this size may have 12");
    const bool by_all = strstr(error, "B: the constants that the nodes compute would take ");
    if (!strstr(error, begin) || !strstr(error, "] takes ") || by_value == by_all) fail_msg("%s: %s", nodes, error);
    free(data);
}

/* Every operator that can make more than it is given, of constants and of the model's input. */
static void results_that_are_too_large_are_refused_by_their_shape(void **state) {
    (void)state;
    static const char *const nodes[] = {
        "Expand y a plane",
        "Tile y a plane",
        ("Concat b a a a a a a a a axis=1;Concat c b b b b b b b b axis=1;Concat d c c c c c c c c axis=1;"
         "Concat e d d d d d d d d axis=1;Concat f e e e e e e e e axis=1;Concat g f f f f f f f f axis=1;"
         "Concat h g g g g g g g g axis=1;Concat i h h h h h h h h axis=1;Concat y i i i i i i i i axis=1"),
        "ConstantOfShape y plane",
        "ConstantOfShape y plane value=7",
        "Shape s a;Mul t s plane;ConstantOfShape y t",
        "Shape s a;Mul t s plane;Expand y a t",
        "Range y zero end one",
        "Pad y a pads",
        "Pad y a pads mode:edge",
        "Expand b a half;Pad y b mirror mode:reflect",
        "Expand b a half;Pad y b mirror mode:wrap",
        "Reshape p a picture;Resize y p _ scales",
        "Reshape p a picture;Resize y p _ scales mode:linear",
        "Expand b a some;Cast i b to=7;OneHot y i depth pair",
        "Expand b a wide;ConstantOfShape i many value=0;Gather y b i axis=1",
        "Expand c fixed wide;ConstantOfShape i places value=0;GatherND y c i",
        "Expand b a half;Cast y b to=11",
        "Reshape p a picture;Conv y p kernel pads=20000,20000,20000,20000",
        "Reshape p a volume;Conv y p kernel3 pads=500,500,500,500,500,500",
        "Reshape p a picture;ConvTranspose y p kernel strides=9,9 output_shape=20000,20000",
        "Reshape p a picture;AveragePool y p kernel_shape=2,2 pads=20000,20000,20000,20000 count_include_pad=1",
        "Reshape p a picture;AveragePool y p kernel_shape=2,2 dilations=2,2 pads=20000,20000,20000,20000",
        "Reshape p a picture;MaxPool y p kernel_shape=2,2 dilations=2,2 pads=20000,20000,20000,20000",
        "Reshape p a picture;LpPool y p kernel_shape=2,2 pads=20000,20000,20000,20000",
        "Reshape p a picture;MaxPool y p kernel_shape=20001,20001 pads=20000,20000,20000,20000",
        "Expand b a high;Expand c a wide;Einsum y b c equation:bij,bjk->bik",
        "Reshape b a matrix;Expand c b column;Cast d one to=1;Expand e d row;Gemm y c e",
        "Expand b a high;Expand c a wide;Greater d b b;Greater e c c;And y d e",
        "Expand b a high;Expand c a wide;Greater d b b;Greater e c c;Or y d e",
        "Expand b a high;Expand c a wide;Greater d b b;Greater e c c;Xor y d e",
        "Expand b a high;Expand c a wide;Greater d b b;Where y d b c",
        "Expand b a high;Expand c a wide;Mod y b c fmod=1",
        "Expand b a high;Expand c fixed wide;PRelu y b c",
    };
    static const char *const pairs[] = {"Add",  "Div",         "Equal",  "Greater", "GreaterOrEqual",
                                        "Less", "LessOrEqual", "MatMul", "Max",     "Mean",
                                        "Min",  "Mul",         "Pow",    "Sub",     "Sum"};
    for (int constant = 0; constant < 2; constant++) {
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) expect_refused(nodes[i], constant);
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            char text[100];
            snprintf(text, sizeof text, "Expand b a high;Expand c a wide;%s y b c", pairs[i]);
            expect_refused(text, constant);
        }
    }
}

/* Runs ACTION in a process of its own, whose memory it measures: at most MOST_MB. */
static void within(int most_mb, mst_status (*action)(const char *path), const char *path) {
    int result;
    const pid_t child = fork();
    if (child == 0) {
        struct rusage usage;
        if (action(path)) {
            fprintf(stderr, "%s\n", mst_error()->message);
            _exit(1);
        }
        getrusage(RUSAGE_SELF, &usage);
        _exit(usage.ru_maxrss / 1024 > most_mb ? 2 : 0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static mst_status predict_and_write(const char *path) {
    enum { ROWS = 2 };
    mst_model *model;
    mst_tensor *x, *y;
    mst_dataset *data;
    MST_TRY(mst_model_load(path, &model, NULL));
    MST_TRY(mst_compile(model, .session = {.devices = "cpu:1"}));
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1, 1), &x));
    MST_TRY(mst_dataset_from_tensors(&x, 1, &data));
    MST_TRY(mst_predict(model, data, ROWS, &y));
    const mst_status status = mst_model_save(model, folder_path("written.onnx"));
    mst_tensor_release(x);
    mst_tensor_release(y);
    mst_dataset_release(data);
    mst_model_destroy(model);
    return status;
}

static const char *write_case(const char *nodes, bool constant) {
    onnx_message m;
    size_t size;
    begin_case(&m, nodes, constant);
    void *data = onnx_pack(&m, &size);
    const char *path = folder_write("small.onnx", data, size);
    free(data);
    return path;
}

/* What a small file may ask for is little: 128 MiB of constants, or for a value of each example. */
static void files_that_ask_for_all_they_may_take_little(void **state) {
    static const char *const nodes[] = {"Expand b fixed half;Mul y a b", "Expand y a half",
                                        "Tile b a half;ReduceMean y b ends"};
    (void)state;
    if (SANITIZED) skip();
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        within(1000, predict_and_write, write_case(nodes[i], false));
}

static mst_status load_refused(const char *path) {
    mst_model *model;
    const mst_status status = mst_model_load(path, &model, NULL);
    return status == MST_INVALID && strstr(mst_error()->message, "small.onnx': node 'b' (") ? MST_OK : MST_INTERNAL;
}

static void models_are_refused_while_they_are_loaded(void **state) {
    (void)state;
    if (SANITIZED) skip();
    within(300, load_refused, write_case("Expand b fixed plane;Mul y a b", false));
    within(300, load_refused, write_case("Pad b a pads;ReduceMean y b", false));
}

/* The bytes of a file count: a large model may compute larger constants of its weights. */
static void limits_grow_with_the_file(void **state) {
    enum { COUNT = 1 << 20 };
    (void)state;
    onnx_message m;
    begin_case(&m, "Expand b fixed half;Expand c fixed half;Expand d fixed half;Add e b c;Add f e d;Add y a f", false);
    onnx_expect_refused(&m, MST_INVALID, "node 'c' (Expand, opset 19): its result f32[1, 4096, 6000] takes");
    int64_t *list = calloc(COUNT, sizeof *list);
    assert_non_null(list);
    onnx_add_list(&m, "weights", list, COUNT)->int64_data = list;
    memset(list, 0x7f, COUNT * sizeof *list);
    mst_graph_destroy(onnx_decode(&m));
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_that_are_too_large_are_refused_by_their_shape),
        TEST_IN_FOLDER(files_that_ask_for_all_they_may_take_little),
        TEST_IN_FOLDER(models_are_refused_while_they_are_loaded),
        cmocka_unit_test(limits_grow_with_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
