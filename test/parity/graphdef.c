/** The C side of graphdef_test.py:
 *
 *      parity_graphdef write FOLDER   writes graphs to files, and prints for each one JSON line with what is in it:
 *                                     {"file": NAME, "nodes": [{"name", "op", "inputs", "device", "shapes"}, ...]}
 *      parity_graphdef print FILE     prints the graph as text
 *      parity_graphdef run FILE       computes values of a graph: on standard input
 *                                     {"feeds": {NODE: TENSOR, ...}, "fetches": [VALUE, ...]}; prints for each fetch
 *                                     one JSON line {"shape", "values"}
 *
 *  TENSOR is {"dtype": "f32", "shape": [2], "values": [...]}; each value of "string" is a list of its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "graph/graph.h"
#include "muster/muster.h"

enum { MOST = 32, PATH_SIZE = 1024 };

/* ---- graphs ---- */

/* Ops that TensorFlow has under the same name, with the same sources and options. */
static void build_same(mst_graph *g) {
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 3), "x");
    mst_value w = mst_variable(
        g, "w", mst_rename(mst_values(g, MST_F32, MST_SHAPE(3, 2), (double[]){1, -2, 3, -4, 5, 6}), "w_initial"));
    mst_value b = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2), (double[]){0.5, -0.25}), "b");
    mst_value y = MST_NONE;
    mst_with_device (g, "/cpu:0") y = mst_add(mst_matmul(x, w), b);
    mst_with_name (g, "elementwise") {
        mst_value positive = mst_add(mst_square(y), mst_ones_like(y));
        mst_value terms[] = {mst_relu(y),       mst_relu6(y),       mst_tanh(y),
                             mst_sigmoid(y),    mst_softplus(y),    mst_exp(mst_neg(positive)),
                             mst_log(positive), mst_sqrt(positive), mst_rsqrt(positive),
                             mst_abs(y),        mst_sin(y),         mst_floor(y)};
        mst_rename(mst_add_n(terms, (int)(sizeof terms / sizeof *terms)), "sum");
        mst_rename(mst_maximum(mst_sub(y, b), mst_mul(y, mst_minimum(y, b))), "products");
        mst_rename(mst_div(mst_squared_difference(y, b), positive), "quotient");
    }
    mst_with_name (g, "chosen") {
        mst_value both = mst_logical_and(mst_greater(y, b), mst_logical_not(mst_is_nan(y)));
        mst_rename(mst_select(both, y, mst_zeros_like(y)), "select");
    }
    mst_rename(mst_matmul(y, y, .transpose_b = true), "gram");
    mst_value parts = mst_rename(mst_unstack(b, 0), "parts");
    mst_rename(mst_stack((mst_value[]){mst_value_output(parts, 1), parts}, 2, 0), "stacked");
    mst_rename(mst_softmax(y), "softmax");
    mst_with_control (g, y) mst_rename(mst_identity(b), "after");
    mst_rename(mst_l2_loss(y), "l2");
}

static void build_strings(mst_graph *g) {
    const mst_string bytes[] = {{"Hello, distributed TensorFlow!", 30}, {NULL, 0}, {"\0\xff\n", 3}};
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(-1), "words");
    mst_value fixed = mst_rename(mst_string_values(g, MST_SHAPE(3), bytes), "fixed");
    mst_value stacked = mst_rename(mst_stack((mst_value[]){x, fixed}, 2, 1), "stacked");
    mst_rename(mst_equal(stacked, mst_rename(mst_string_scalar(g, "same"), "same")), "equal");
    mst_rename(mst_not_equal(x, fixed), "not_equal");
    mst_rename(mst_identity(mst_rename(mst_unstack(stacked, 0), "parts")), "first");
}

static void build_network(mst_graph *g) {
    mst_graph_set_seed(g, 42);
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 28, 28), "images");
    mst_value labels = mst_placeholder(g, MST_U8, MST_SHAPE(-1), "labels"), variables[MOST], slope[MOST];
    for (int t = 0; t < 2; t++) {
        char device[16], name[16];
        snprintf(device, sizeof device, "/gpu:%d", t);
        snprintf(name, sizeof name, "tower_%d", t);
        mst_with_device (g, device)
            mst_with_name (g, name)
                mst_with_variables (g, "network", MST_REUSE_AUTO) {
                    mst_value h = mst_dense(mst_reshape(x, MST_SHAPE(-1, 784)), 500, .name = "dense",
                                            .activation = MST_RELU, .l2 = 1e-4f);
                    h = mst_dense(mst_dropout(h, .rate = 0.5f), 10, .name = "dense_1");
                    mst_value loss = mst_reduce_mean(mst_sparse_softmax_cross_entropy(h, labels));
                    mst_collect(g, MST_LOSSES, loss);
                    int count = mst_collection(g, MST_TRAINABLE, NULL, variables, MOST);
                    mst_gradients(loss, variables, count < MOST ? count : MOST, slope);
                }
    }
}

/* Each op of the first of its examples that is not an error. */
static void build_all(mst_graph *g) {
    const mst_op *op;
    for (int i = 0; (op = mst_op_at(i)); i++)
        for (int k = 0; k < op->num_examples; k++) {
            const mst_example *example = &op->examples[k];
            mst_value src[MST_EXAMPLE_SRC];
            if (example->fails) continue;
            for (int s = 0; s < example->num_src; s++) {
                mst_dtype dtype = example->src[s].dtype;
                for (int d = 1; !dtype; d++)
                    if ((example->dtypes ? example->dtypes : op->dtypes) & MST_DTYPE_BIT(d)) dtype = (mst_dtype)d;
                src[s] = mst_placeholder(g, dtype, mst_shape_make(example->src[s].ndim, example->src[s].dim));
            }
            mst_call(g, op, example->num_src, src, example->options);
        }
}

static const struct {
    const char *file;
    void (*build)(mst_graph *graph);
} graphs[] = {{"same", build_same}, {"strings", build_strings}, {"network", build_network}, {"all", build_all}};

/* ---- JSON ---- */

static json_t *inputs_of(const mst_node *node) {
    json_t *list = json_array();
    char text[PATH_SIZE];
    for (int i = 0; i < node->num_src; i++) {
        const char *name = node->src[i].node->name;
        if (node->src[i].index)
            snprintf(text, sizeof text, "%s:%d", name, node->src[i].index);
        else
            snprintf(text, sizeof text, "%s", name);
        json_array_append_new(list, json_string(text));
    }
    for (int i = 0; i < node->num_control; i++) {
        snprintf(text, sizeof text, "^%s", node->control[i]->name);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static json_t *shape_of(mst_shape shape) {
    json_t *list = json_array();
    for (int i = 0; i < shape.ndim; i++) json_array_append_new(list, json_integer(shape.dim[i]));
    return list;
}

static json_t *nodes_of(const mst_graph *g) {
    json_t *list = json_array();
    for (int64_t i = 0; i < mst_graph_num_nodes(g); i++) {
        const mst_node *node = mst_graph_node(g, i);
        json_t *shapes = json_array();
        for (int k = 0; k < node->num_dst && !(node->op->flags & MST_OP_NO_VALUE); k++)
            json_array_append_new(shapes, shape_of(node->dst[k].shape));
        json_array_append_new(list, json_pack("{ss ss so ss so}", "name", node->name, "op", node->op->name, "inputs",
                                              inputs_of(node), "device", node->device, "shapes", shapes));
    }
    return list;
}

static void print_json(json_t *j) {
    char *text = json_dumps(j, JSON_COMPACT);
    printf("%s\n", text);
    free(text);
    json_decref(j);
}

/* ---- commands ---- */

static mst_status write_one(int i, const char *folder) {
    mst_graph *g;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, graphs[i].file);
    MST_TRY(mst_graph_create(&g));
    graphs[i].build(g);
    mst_status status = mst_graph_write(g, path);
    if (!status) print_json(json_pack("{ss so}", "file", graphs[i].file, "nodes", nodes_of(g)));
    mst_graph_destroy(g);
    return status;
}

static mst_status write_all(const char *folder) {
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) MST_TRY(write_one((int)i, folder));
    return MST_OK;
}

static mst_status print(const char *path) {
    mst_graph *g;
    char *text;
    MST_TRY(mst_graph_read(path, &g));
    mst_status status = mst_graph_print(g, &text);
    if (!status) fputs(text, stdout);
    if (!status) free(text);
    mst_graph_destroy(g);
    return status;
}

static mst_status set_string(mst_tensor *tensor, int64_t i, json_t *list) {
    char bytes[PATH_SIZE];
    const size_t length = json_array_size(list);
    if (length > sizeof bytes) return MST_FAIL(MST_INVALID, "a string of %zu bytes is too long", length);
    for (size_t k = 0; k < length; k++) bytes[k] = (char)json_integer_value(json_array_get(list, k));
    return mst_tensor_set_string(tensor, i, (mst_string){bytes, length});
}

static json_t *element_of(const mst_tensor *tensor, int64_t i) {
    if (mst_tensor_dtype(tensor) != MST_STRING) return json_real(mst_tensor_get(tensor, i));
    const mst_string string = mst_tensor_get_string(tensor, i);
    json_t *list = json_array();
    for (size_t k = 0; k < string.length; k++) json_array_append_new(list, json_integer((unsigned char)string.data[k]));
    return list;
}

static mst_status tensor_of(json_t *j, mst_tensor **out) {
    json_t *shape = json_object_get(j, "shape"), *values = json_object_get(j, "values");
    mst_shape dims = {.ndim = (int32_t)json_array_size(shape)};
    for (int i = 0; i < dims.ndim; i++) dims.dim[i] = json_integer_value(json_array_get(shape, (size_t)i));
    MST_TRY(mst_tensor_create(mst_dtype_from_name(json_string_value(json_object_get(j, "dtype"))), dims, out));
    for (int64_t i = 0; i < mst_tensor_count(*out); i++) {
        json_t *value = json_array_get(values, (size_t)i);
        if (json_is_array(value))
            MST_TRY(set_string(*out, i, value));
        else
            mst_tensor_set(*out, i, json_number_value(value));
    }
    return MST_OK;
}

static mst_status find(const mst_graph *g, const char *name, mst_value *out) {
    return mst_graph_find_value(g, name, out) ? MST_OK : MST_FAIL(MST_NOT_FOUND, "there is no value '%s'", name);
}

static mst_status run_graph(mst_graph *g, json_t *task) {
    mst_feed feeds[MOST];
    mst_value fetches[MOST];
    mst_tensor *outputs[MOST] = {NULL};
    mst_session *session;
    int num_feeds = 0, num_fetches = 0;
    const char *name;
    json_t *j;
    size_t i;
    json_object_foreach(json_object_get(task, "feeds"), name, j) {
        feeds[num_feeds] = (mst_feed){0};
        MST_TRY(find(g, name, &feeds[num_feeds].value));
        MST_TRY(tensor_of(j, &feeds[num_feeds++].tensor));
    }
    json_array_foreach(json_object_get(task, "fetches"), i, j)
        MST_TRY(find(g, json_string_value(j), &fetches[num_fetches++]));
    MST_TRY(mst_session_create(g, &(mst_session_options){.allow_soft_placement = true}, &session));
    MST_TRY(mst_session_init_variables(session));
    MST_TRY(mst_session_run(session, feeds, num_feeds, fetches, num_fetches, outputs));
    for (int k = 0; k < num_fetches; k++) {
        json_t *values = json_array();
        for (int64_t e = 0; e < mst_tensor_count(outputs[k]); e++)
            json_array_append_new(values, element_of(outputs[k], e));
        print_json(json_pack("{so so}", "shape", shape_of(mst_tensor_shape(outputs[k])), "values", values));
        mst_tensor_release(outputs[k]);
    }
    mst_session_destroy(session);
    for (int k = 0; k < num_feeds; k++) mst_tensor_release(feeds[k].tensor);
    return MST_OK;
}

static mst_status run(const char *path) {
    mst_graph *g;
    MST_TRY(mst_graph_read(path, &g));
    json_t *task = json_loadf(stdin, 0, NULL);
    mst_status status = task ? run_graph(g, task) : MST_FAIL(MST_INVALID, "standard input is no JSON");
    json_decref(task);
    mst_graph_destroy(g);
    return status;
}

int main(int argc, char **argv) {
    mst_status status = MST_FAIL(MST_INVALID, "usage: parity_graphdef write FOLDER | print FILE | run FILE");
    if (argc == 3 && strcmp(argv[1], "write") == 0) status = write_all(argv[2]);
    if (argc == 3 && strcmp(argv[1], "print") == 0) status = print(argv[2]);
    if (argc == 3 && strcmp(argv[1], "run") == 0) status = run(argv[2]);
    if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
    return status ? 1 : 0;
}
