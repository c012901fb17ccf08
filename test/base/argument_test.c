/* Calls every public function with NULL for each pointer that must not be NULL. The call must return MST_INVALID,
 * and its message must name the function and the argument. The calls are made in a child process: if one crashes,
 * only that call fails, and a new child makes the remaining calls. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "muster/muster.h"
#include "op/shape/strided.h"
#include "support/test.h"
#include "support/training.h"

/* Shared by the children: the call that is made now, and how many have failed. */
static struct shared {
    int at, failures;
    char call[200];
} * shared;
static int number, first; /* numbers of the next call in this child, and of its first call */

static bool begins(const char *call) {
    if (number++ < first) return false;
    shared->at = number - 1;
    snprintf(shared->call, sizeof shared->call, "%s", call);
    mst_error_set(MST_OK, "", 0, "no error");
    return true;
}

static void ends(const char *call, const char *text) {
    const mst_error_info *error = mst_error();
    if (error->code == MST_INVALID && strstr(error->message, text)) return;
    print_error("%s: '%s' is not in '%s'\n", call, text, error->message);
    shared->failures++;
}

/* CALL records MST_INVALID with TEXT in its message. */
#define FAILS(text, call)      \
    do {                       \
        if (begins(#call)) {   \
            (void)!(call);     \
            ends(#call, text); \
        }                      \
    } while (0)
/* The same of a function that returns nothing. */
#define FAILS_VOID(text, call) FAILS(text, ((call), 0))
/* The same where the function returns a struct. */
#define FAILS_STRUCT(text, call) FAILS_VOID(text, (void)(call))
/* CALL does nothing. */
#define DOES_NOTHING(call)                                 \
    do {                                                   \
        if (begins(#call)) {                               \
            call;                                          \
            if (mst_error()->code) ends(#call, "nothing"); \
        }                                                  \
    } while (0)

/* ---- what the calls need beside ---- */

static mst_graph *graph;
static mst_value x, w; /* an input, a variable */
static mst_tensor *tensor;
static mst_session *session;
static mst_store *store;
static mst_snapshot *snapshot;
static mst_dataset *data, *made;
static mst_model *model;
static const double numbers[2] = {1, 2};

static void set_up(void) {
    graph = engine_graph();
    x = engine_input(graph, "x", MST_SHAPE(2));
    w = mst_variable(graph, "w", mst_values(graph, MST_F32, MST_SHAPE(2), numbers));
    tensor = engine_tensor(MST_F32, MST_SHAPE(2), numbers);
    session = engine_session(graph, NULL);
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_snapshot_create(&snapshot));
    data = training_data(8, 2, 2, 1);
    model = training_model(2, 2, 0);
}

/* ---- the calls, by header ---- */

static void tensors(void) {
    mst_tensor *out;
    struct DLManagedTensor *view;
    char text[8], *printed;
    FAILS("mst_dtype_from_name: name is NULL", mst_dtype_from_name(NULL));
    FAILS_STRUCT("mst_shape_make: dim is NULL", mst_shape_make(1, NULL));
    FAILS("mst_shape_print: text is NULL", mst_shape_print(MST_SCALAR, NULL, sizeof text));
    FAILS("mst_tensor_create: out is NULL", mst_tensor_create(MST_F32, MST_SCALAR, NULL));
    FAILS_STRUCT("mst_string_of: text is NULL", mst_string_of(NULL));
    FAILS_STRUCT("mst_tensor_get_string: tensor is NULL", mst_tensor_get_string(NULL, 0));
    FAILS("mst_tensor_set_string: tensor is NULL", mst_tensor_set_string(NULL, 0, mst_string_of("")));
    FAILS("mst_tensor_wrap: out is NULL", mst_tensor_wrap(MST_F32, MST_SCALAR, text, NULL, NULL, NULL));
    FAILS("mst_tensor_wrap: data is NULL", mst_tensor_wrap(MST_F32, MST_SCALAR, NULL, NULL, NULL, &out));
    FAILS("mst_tensor_copy: out is NULL", mst_tensor_copy(MST_F32, MST_SCALAR, numbers, NULL));
    FAILS("mst_tensor_copy: data is NULL", mst_tensor_copy(MST_F32, MST_SCALAR, NULL, &out));
    FAILS("mst_tensor_retain: tensor is NULL", mst_tensor_retain(NULL));
    DOES_NOTHING(mst_tensor_release(NULL));
    FAILS("mst_tensor_dtype: tensor is NULL", mst_tensor_dtype(NULL));
    FAILS_STRUCT("mst_tensor_shape: tensor is NULL", mst_tensor_shape(NULL));
    FAILS("mst_tensor_count: tensor is NULL", mst_tensor_count(NULL));
    FAILS("mst_tensor_bytes: tensor is NULL", mst_tensor_bytes(NULL));
    FAILS("mst_tensor_data: tensor is NULL", mst_tensor_data(NULL));
    FAILS("mst_tensor_references: tensor is NULL", mst_tensor_references(NULL));
    FAILS_STRUCT("mst_tensor_get: tensor is NULL", mst_tensor_get(NULL, 0));
    FAILS_VOID("mst_tensor_set: tensor is NULL", mst_tensor_set(NULL, 0, 1));
    FAILS("mst_tensor_print: tensor is NULL", mst_tensor_print(NULL, &printed));
    FAILS("mst_tensor_print: text is NULL", mst_tensor_print(tensor, NULL));
    FAILS("mst_tensor_to_dlpack: tensor is NULL", mst_tensor_to_dlpack(NULL, &view));
    FAILS("mst_tensor_to_dlpack: out is NULL", mst_tensor_to_dlpack(tensor, NULL));
    FAILS("mst_tensor_from_dlpack: managed is NULL", mst_tensor_from_dlpack(NULL, &out));
    FAILS("mst_tensor_from_dlpack: out is NULL", mst_tensor_from_dlpack((struct DLManagedTensor *)text, NULL));
}

static void graphs(void) {
    void *bytes;
    size_t size;
    mst_graph *other;
    char *text;
    FAILS("mst_graph_create: out is NULL", mst_graph_create(NULL));
    DOES_NOTHING(mst_graph_destroy(NULL));
    FAILS("mst_graph_check: graph is NULL", mst_graph_check(NULL));
    FAILS_VOID("mst_graph_set_seed: graph is NULL", mst_graph_set_seed(NULL, 1));
    FAILS("mst_graph_seed: graph is NULL", mst_graph_seed(NULL));
    FAILS("mst_graph_version: graph is NULL", mst_graph_version(NULL));
    FAILS("mst_graph_num_nodes: graph is NULL", mst_graph_num_nodes(NULL));
    FAILS("mst_graph_node: graph is NULL", mst_graph_node(NULL, 0));
    FAILS("mst_graph_find: graph is NULL", mst_graph_find(NULL, "x"));
    FAILS("mst_graph_find: name is NULL", mst_graph_find(graph, NULL));
    FAILS("mst_graph_print: graph is NULL", mst_graph_print(NULL, &text));
    FAILS("mst_graph_print: text is NULL", mst_graph_print(graph, NULL));
    FAILS("mst_graph_write: graph is NULL", mst_graph_write(NULL, "/dev/null"));
    FAILS("mst_graph_write: path is NULL", mst_graph_write(graph, NULL));
    FAILS("mst_graph_encode: graph is NULL", mst_graph_encode(NULL, &bytes, &size));
    FAILS("mst_graph_encode: data is NULL", mst_graph_encode(graph, NULL, &size));
    FAILS("mst_graph_encode: size is NULL", mst_graph_encode(graph, &bytes, NULL));
    FAILS("mst_graph_read: path is NULL", mst_graph_read(NULL, &other));
    FAILS("mst_graph_read: out is NULL", mst_graph_read("/dev/null", NULL));
    FAILS("mst_graph_decode: data is NULL", mst_graph_decode(NULL, 3, &other));
    FAILS("mst_graph_decode: out is NULL", mst_graph_decode(numbers, 3, NULL));
    FAILS("mst_node_name: node is NULL", mst_node_name(NULL));
    FAILS("mst_node_op: node is NULL", mst_node_op(NULL));
    FAILS("mst_node_options: node is NULL", mst_node_options(NULL));
    FAILS("mst_node_num_src: node is NULL", mst_node_num_src(NULL));
    FAILS_STRUCT("mst_node_src: node is NULL", mst_node_src(NULL, 0));
    FAILS("mst_node_num_dst: node is NULL", mst_node_num_dst(NULL));
    FAILS("mst_node_device: node is NULL", mst_node_device(NULL));
}

static void scopes(void) {
    FAILS("mst_name_scope_push: graph is NULL", mst_name_scope_push(NULL, "a"));
    FAILS("mst_name_scope_push: name is NULL", mst_name_scope_push(engine_graph(), NULL));
    FAILS("mst_name_scope_enter: graph is NULL", mst_name_scope_enter(NULL, "a"));
    FAILS("mst_name_scope_enter: prefix is NULL", mst_name_scope_enter(engine_graph(), NULL));
    FAILS_VOID("mst_name_scope_pop: graph is NULL", mst_name_scope_pop(NULL));
    FAILS("mst_name_scope: graph is NULL", mst_name_scope(NULL));
    FAILS("mst_device_push: graph is NULL", mst_device_push(NULL, "/cpu:0"));
    FAILS_VOID("mst_device_pop: graph is NULL", mst_device_pop(NULL));
    FAILS("mst_control_push: graph is NULL", mst_control_push(NULL, x));
    FAILS_VOID("mst_control_pop: graph is NULL", mst_control_pop(NULL));
    FAILS("mst_variable_scope_push: graph is NULL", mst_variable_scope_push(NULL, "a", MST_REUSE_AUTO));
    FAILS("mst_variable_scope_push: name is NULL", mst_variable_scope_push(engine_graph(), NULL, MST_REUSE_AUTO));
    FAILS_VOID("mst_variable_scope_pop: graph is NULL", mst_variable_scope_pop(NULL));
    FAILS_VOID("mst_collect: graph is NULL", mst_collect(NULL, "a", x));
    FAILS_VOID("mst_collect: collection is NULL", mst_collect(engine_graph(), NULL, x));
    FAILS("mst_collection: graph is NULL", mst_collection(NULL, "a", NULL, NULL, 0));
    FAILS("mst_collection: collection is NULL", mst_collection(graph, NULL, NULL, NULL, 0));
}

/* Evaluates the expression on a new graph, and checks the first error of that graph. */
static mst_value fresh(void) {
    return engine_input(engine_graph(), "x", MST_SHAPE(2));
}

static void values(void) {
    mst_value out;
    mst_graph *g = engine_graph();
    FAILS_STRUCT("mst_rename: name is NULL", mst_rename(fresh(), NULL));
    FAILS_VOID("mst_gradients: src is NULL", mst_gradients(w, NULL, 1, &out));
    FAILS_VOID("mst_gradients: out is NULL", mst_gradients(w, &w, 1, NULL));
    FAILS_VOID("mst_gradients_from: src is NULL", mst_gradients_from(w, w, NULL, 1, &out));
    FAILS_VOID("mst_gradients_from: out is NULL", mst_gradients_from(w, w, &w, 1, NULL));
    FAILS_VOID("mst_shape_fans: fan_in is NULL", mst_shape_fans(MST_SCALAR, NULL, &(double){0}));
    FAILS_VOID("mst_shape_fans: fan_out is NULL", mst_shape_fans(MST_SCALAR, &(double){0}, NULL));
    FAILS_STRUCT("mst_initializer_value: graph is NULL",
                 mst_initializer_value(NULL, mst_zeros_initializer(), MST_F32, MST_SCALAR));
    FAILS_STRUCT("tensor initializer: no tensor",
                 mst_initializer_value(g, mst_tensor_initializer(NULL), MST_F32, MST_SCALAR));
    FAILS_STRUCT("mst_get_variable: graph is NULL", mst_get_variable(NULL, "v", MST_SCALAR));
    FAILS_STRUCT("mst_get_variable: name is NULL", mst_get_variable(engine_graph(), NULL, MST_SCALAR));
    FAILS_STRUCT("mst_constant: graph is NULL", mst_constant(NULL, tensor));
    FAILS_STRUCT("mst_constant: tensor is NULL", mst_constant(engine_graph(), NULL));
    FAILS_STRUCT("mst_scalar: graph is NULL", mst_scalar(NULL, MST_F32, 1));
    FAILS_STRUCT("mst_fill: graph is NULL", mst_fill(NULL, MST_F32, MST_SCALAR, 1));
    FAILS_STRUCT("mst_values: graph is NULL", mst_values(NULL, MST_F32, MST_SHAPE(2), numbers));
    FAILS_STRUCT("mst_string_scalar: graph is NULL", mst_string_scalar(NULL, "a"));
    FAILS_STRUCT("mst_string_scalar: text is NULL", mst_string_scalar(engine_graph(), NULL));
    FAILS_STRUCT("mst_string_values: graph is NULL", mst_string_values(NULL, MST_SCALAR, &(mst_string){0}));
    FAILS_STRUCT("mst_string_values: value is NULL", mst_string_values(engine_graph(), MST_SHAPE(2), NULL));
    FAILS_STRUCT("mst_values: value is NULL", mst_values(engine_graph(), MST_F32, MST_SHAPE(2), NULL));
    FAILS_STRUCT("mst_range: graph is NULL", mst_range(NULL, MST_F32, 0, 2, 1));
    FAILS_STRUCT("mst_no_op: graph is NULL", mst_no_op(NULL));
    FAILS_STRUCT("placeholder: no graph", mst_placeholder(NULL, MST_F32, MST_SCALAR, "p"));
    FAILS_STRUCT("random_uniform: no graph", mst_random_uniform(.dtype = MST_F32));
    FAILS_STRUCT("add_n: 2 sources, but src is NULL", mst_add_n(NULL, 2));
    FAILS_STRUCT("concat: 2 sources, but src is NULL", mst_concat(NULL, 2, 0));
    FAILS_STRUCT("stack: 2 sources, but src is NULL", mst_stack(NULL, 2, 0));
    FAILS_STRUCT("group: 2 sources, but src is NULL", mst_group(NULL, 2));
    FAILS_STRUCT("concat_grad: 2 sources, but values is NULL", mst_concat_grad(fresh(), NULL, 2, 0, 0));
    FAILS_STRUCT("global_norm: 2 sources, but src is NULL", mst_global_norm(NULL, 2));
    FAILS_VOID("mst_variable_penalty: l1 is NULL", mst_variable_penalty(w, NULL, &(float){0}));
    FAILS_VOID("mst_variable_penalty: l2 is NULL", mst_variable_penalty(w, &(float){0}, NULL));
}

/* Arguments that are not values: the result is MST_NONE, or the error value of a graph. */
static void no_values(void) {
    const mst_value none = MST_NONE;
    mst_value out = w;
    mst_tensor *value;
    float l1, l2;
    FAILS_STRUCT("no graph", mst_neg(none));
    FAILS_STRUCT("no graph", mst_add(none, none));
    FAILS_STRUCT("is no value", mst_add(fresh(), none));
    FAILS_STRUCT("is no value", mst_matmul(none, fresh()));
    FAILS_STRUCT("is no value", mst_activate(none, MST_RELU));
    FAILS_STRUCT("no graph", mst_add_n((mst_value[]){none, none}, 2));
    FAILS_STRUCT("no graph", mst_concat((mst_value[]){none, none}, 2, 0));
    FAILS_STRUCT("no initial value", mst_variable(engine_graph(), "v", none));
    FAILS_STRUCT("no initial value", mst_variable(.name = "v", .initial = none));
    FAILS_STRUCT("no graph", mst_assign(none, none));
    FAILS_STRUCT("is no value", mst_dense(none, 3));
    FAILS_STRUCT("no labels or no predictions", mst_loss_per_example(MST_LOSS_HUBER, none, none, false));
    FAILS_STRUCT("there are no losses", mst_loss_reduce(none, none, MST_REDUCTION_MEAN));
    FAILS_STRUCT("no graph", mst_regularizer_value(&mst_keras_regularizer(.l1 = 1), none));
    FAILS_STRUCT("no labels or no predictions", mst_metric_batch(MST_METRIC_ACCURACY, none, none));
    FAILS_STRUCT("is no value", mst_metric_mean(none));
    FAILS_STRUCT("no value", mst_model_call(model, none, false));
    FAILS_STRUCT("is no value", mst_minimize(&(mst_optimizer){.rule = "sgd"}, none, NULL, 0, none));
    FAILS_STRUCT("no variable", mst_apply_gradients(&(mst_optimizer){.rule = "sgd"}, &none, &none, 1, none));
    FAILS_VOID("no value", mst_gradients(none, &none, 1, &out));
    FAILS_VOID("no value", mst_gradients_from(fresh(), none, &w, 1, &out));
    FAILS("is no variable", mst_session_get_variable(session, none, &value));
    FAILS("is no variable", mst_session_set_variable(session, none, tensor));
    FAILS("run: fetch 0 is no value", mst_session_run(session, NULL, 0, &none, 1, NULL));
    FAILS("run: feed 0 is no value", mst_session_run(session, &(mst_feed){.tensor = tensor}, 1, &w, 1, NULL));
    FAILS_VOID("is no variable", mst_replica_update(&(mst_replica){.num_updates = 0}, none, none, MST_JOIN_MEAN));
    FAILS_STRUCT("is no value",
                 mst_schedule_value(engine_graph(), &mst_cosine_decay(.rate = 1, .decay_steps = 9), none));
    DOES_NOTHING((void)mst_value_spec(none));
    DOES_NOTHING((void)mst_value_name(none));
    DOES_NOTHING((void)mst_value_graph(none));
    DOES_NOTHING((void)mst_value_output(none, 1));
    DOES_NOTHING((void)mst_rename(none, "a"));
    DOES_NOTHING((void)mst_moving_average(none));
    DOES_NOTHING((void)mst_variable_initial(none));
    DOES_NOTHING(mst_variable_penalty(none, &l1, &l2));
    DOES_NOTHING(mst_variable_mirror(none, NULL));
    FAILS_STRUCT("no graph", mst_unbroadcast(none, none));
    DOES_NOTHING(mst_collect(graph, "a", none));
}

static void ops(void) {
    mst_shape shape;
    int64_t dim;
    int axis;
    mst_spec spec = {.dtype = MST_F32};
    mst_infer c = {.op = mst_find_op("neg"), .name = "n", .num_src = 1, .src = &spec};
    FAILS_STRUCT("mst_axes_make: axis is NULL", mst_axes_make(1, NULL));
    FAILS("mst_infer_want_dtype: c is NULL", mst_infer_want_dtype(NULL, 0, MST_F32));
    FAILS("mst_infer_want_float: c is NULL", mst_infer_want_float(NULL, 0));
    FAILS("mst_infer_want_index: c is NULL", mst_infer_want_index(NULL, 0));
    FAILS("mst_infer_want_listed: c is NULL", mst_infer_want_listed(NULL, 0));
    FAILS("mst_infer_same_dtype: c is NULL", mst_infer_same_dtype(NULL, 0, 0));
    FAILS("mst_infer_want_ndim: c is NULL", mst_infer_want_ndim(NULL, 0, 0));
    FAILS("mst_infer_same_dim: c is NULL", mst_infer_same_dim(NULL, 1, 1, "rows", &dim));
    FAILS("mst_infer_same_dim: out is NULL", mst_infer_same_dim(&c, 1, 1, "rows", NULL));
    FAILS("mst_infer_same_shape: c is NULL", mst_infer_same_shape(NULL, 0, 0, &shape));
    FAILS("mst_infer_same_shape: out is NULL", mst_infer_same_shape(&c, 0, 0, NULL));
    FAILS("mst_infer_broadcast: c is NULL", mst_infer_broadcast(NULL, 0, 0, &shape));
    FAILS("mst_infer_broadcast: out is NULL", mst_infer_broadcast(&c, 0, 0, NULL));
    FAILS("mst_infer_axis: c is NULL", mst_infer_axis(NULL, 0, 1, &axis));
    FAILS("mst_infer_axis: out is NULL", mst_infer_axis(&c, 0, 1, NULL));
    FAILS("mst_infer_fail: c is NULL", mst_infer_fail(NULL, "wrong"));
    FAILS("mst_kernel_fail: a is NULL", mst_kernel_fail(NULL, MST_IO, "wrong"));
    FAILS("mst_parallel: a is NULL", mst_parallel(NULL, 1, 1, NULL, NULL));
    FAILS("mst_parallel: body is NULL", mst_parallel(&(mst_kernel_args){.num_src = 0}, 1, 1, NULL, NULL));
    FAILS_STRUCT("mst_call_named: op is NULL", mst_call(graph, NULL, 0, NULL, NULL));
    FAILS_STRUCT("neg: 1 sources, but src is NULL", mst_call(engine_graph(), c.op, 1, NULL, NULL));
    FAILS_STRUCT("neg: no graph", mst_call(NULL, c.op, 0, NULL, NULL));
    FAILS_STRUCT("mst_call_named: op is NULL", mst_call_named(graph, NULL, "a", 0, NULL, NULL));
    FAILS_STRUCT("mst_call_text: op is NULL", mst_call_text(graph, NULL, "a", 0, NULL, NULL));
    FAILS_STRUCT("neg: 1 sources, but src is NULL", mst_call_text(engine_graph(), "neg", "a", 1, NULL, NULL));
    FAILS_STRUCT("wrong", mst_value_fail(NULL, MST_INVALID, "wrong"));
    FAILS("mst_register_op: op is NULL", mst_register_op(NULL));
    FAILS("mst_find_op: name is NULL", mst_find_op(NULL));
}

/* Each op of the library, with sources that are not values. */
static void sources_of_ops(void) {
    const mst_value none[8] = {0};
    const mst_op *op;
    for (int i = 0; (op = mst_op_at(i)); i++) {
        const int n = op->num_src == MST_VARIADIC ? 2 : op->num_src;
        if (n == 0) continue;
        FAILS_STRUCT("source 0 is no value", mst_call(engine_graph(), op, n, none, NULL));
        FAILS_STRUCT("no graph", mst_call(NULL, op, n, none, NULL));
        FAILS_STRUCT("but src is NULL", mst_call(engine_graph(), op, n, NULL, NULL));
    }
}

static void losses(void) {
    mst_loss loss;
    mst_metric metric;
    FAILS("mst_loss_from_name: name is NULL", mst_loss_from_name(NULL, &loss));
    FAILS("mst_loss_from_name: out is NULL", mst_loss_from_name("huber", NULL));
    FAILS("mst_regularizer_check: regularizer is NULL", mst_regularizer_check(NULL));
    FAILS_STRUCT("mst_regularizer_value: regularizer is NULL", mst_regularizer_value(NULL, fresh()));
    FAILS("mst_metric_from_name: name is NULL", mst_metric_from_name(NULL, &metric));
    FAILS("mst_metric_from_name: out is NULL", mst_metric_from_name("accuracy", NULL));
    FAILS_VOID("mst_metric_add: state is NULL", mst_metric_add(NULL, 1, 1));
    FAILS_STRUCT("mst_metric_result: state is NULL", mst_metric_result(NULL));
    FAILS_VOID("mst_metric_reset: state is NULL", mst_metric_reset(NULL));
    FAILS_STRUCT("mst_optimizer_named: name is NULL", mst_optimizer_named(NULL, mst_sgd()));
    FAILS("mst_optimizer_check: optimizer is NULL", mst_optimizer_check(NULL));
    FAILS("mst_schedule_is_set: schedule is NULL", mst_schedule_is_set(NULL));
    FAILS("mst_schedule_check: schedule is NULL", mst_schedule_check(NULL));
    FAILS_STRUCT("mst_schedule_value: graph is NULL", mst_schedule_value(NULL, &(mst_schedule){.rate = 1}, x));
    FAILS_STRUCT("mst_schedule_value: schedule is NULL", mst_schedule_value(engine_graph(), NULL, x));
    FAILS_STRUCT("mst_schedule_at: schedule is NULL", mst_schedule_at(NULL, 1));
}

static void models(void) {
    const mst_weight *weights;
    int64_t count;
    mst_value y;
    FAILS("mst_model_create: out is NULL", mst_model_create(NULL));
    DOES_NOTHING(mst_model_destroy(NULL));
    FAILS_STRUCT("dense: model is NULL", mst_dense(NULL, 3));
    FAILS_STRUCT("flatten: model is NULL", mst_flatten(NULL));
    FAILS_STRUCT("dropout: model is NULL", mst_dropout(NULL, .rate = 0.5f));
    FAILS_STRUCT("activation: model is NULL", mst_activate(NULL, MST_RELU));
    FAILS_STRUCT("lambda: model is NULL", mst_lambda(NULL, NULL));
    FAILS_STRUCT("lambda 'lambda': function is NULL", mst_lambda(training_model(2, 2, 0), NULL));
    FAILS_STRUCT("input: model is NULL", mst_input(NULL, MST_SHAPE(2)));
    FAILS_STRUCT("merge: model is NULL", mst_merge((mst_outputs){0}, MST_MERGE_ADD));
    FAILS_STRUCT("mst_layer_append: type_name is NULL", mst_layer_append(NULL, mst_source_model(model), NULL));
    FAILS_STRUCT("there is no layer 'dens': did you mean",
                 mst_layer_append("dens", mst_source_model(training_model(2, 2, 0)), NULL));
    FAILS_STRUCT("mst_layer_append: options is NULL",
                 mst_layer_append("dense", mst_source_model(training_model(2, 2, 0)), NULL));
    FAILS_STRUCT("mst_layer_value: type_name is NULL", mst_layer_value(NULL, mst_source_value(fresh()), NULL));
    FAILS_STRUCT("mst_layer_value: options is NULL", mst_layer_value("dense", mst_source_value(fresh()), NULL));
    FAILS_STRUCT("mst_layer_again: model is NULL", mst_share((mst_output){0}, model));
    FAILS("mst_model_check: model is NULL", mst_model_check(NULL));
    FAILS_VOID("mst_model_outputs: model is NULL", mst_model_outputs(NULL, (mst_outputs){0}));
    FAILS("mst_model_num_inputs: model is NULL", mst_model_num_inputs(NULL));
    FAILS("mst_model_num_outputs: model is NULL", mst_model_num_outputs(NULL));
    FAILS("mst_model_input_name: model is NULL", mst_model_input_name(NULL, 0));
    FAILS("mst_model_output_name: model is NULL", mst_model_output_name(NULL, 0));
    FAILS("mst_model_weights: model is NULL", mst_model_weights(NULL, &weights, &count));
    FAILS("mst_model_weights: out is NULL", mst_model_weights(model, NULL, &count));
    FAILS("mst_model_weights: count is NULL", mst_model_weights(model, &weights, NULL));
    FAILS("mst_model_summary: model is NULL", mst_model_summary(NULL, NULL, stdout));
    FAILS("mst_model_summary: file is NULL", mst_model_summary(model, NULL, NULL));
    FAILS_VOID("mst_model_call_all: outputs is NULL", mst_model_call_all(model, &x, 1, false, NULL, 1));
    FAILS_VOID("mst_model_call_all: model is NULL", mst_model_call_all(NULL, &x, 1, false, &y, 1));
    FAILS_VOID("mst_model_call_all: inputs is NULL", mst_model_call_all(model, NULL, 1, false, &y, 1));
    FAILS_STRUCT("mst_model_call: model is NULL", mst_model_call(NULL, x, false));
    FAILS_VOID("mst_model_mlp: model is NULL", mst_model_mlp(NULL, NULL, 0, 2, 0));
    FAILS_VOID("mst_model_mlp: hidden is NULL", mst_model_mlp(training_model(2, 2, 0), NULL, 1, 2, 0));
    FAILS("mst_model_graph: model is NULL", mst_model_graph(NULL));
    FAILS("mst_model_store: model is NULL", mst_model_store(NULL));
    FAILS("mst_model_session: model is NULL", mst_model_session(NULL));
}

static void training(void) {
    mst_tensor *out;
    mst_callback callback;
    char hex[65];
    FAILS("mst_compile: model is NULL", mst_compile(NULL, .seed = 1));
    FAILS("mst_compile: options is NULL", mst_compile_with(model, NULL));
    FAILS_STRUCT("mst_early_stopping_callback: state is NULL", mst_early_stopping_callback(NULL));
    FAILS_STRUCT("mst_learning_rate_callback: scheduler is NULL", mst_learning_rate_callback(NULL));
    FAILS("mst_progress_callback: file is NULL", mst_progress_callback(MST_PROGRESS_BAR, NULL, 1, &callback));
    FAILS("mst_progress_callback: out is NULL", mst_progress_callback(MST_PROGRESS_BAR, stdout, 1, NULL));
    FAILS("mst_fit: model is NULL", mst_fit(NULL, data));
    FAILS("mst_fit: options is NULL", mst_fit_with(model, NULL, NULL));
    FAILS("mst_evaluate: model is NULL", mst_evaluate(NULL, data, 2, NULL, NULL));
    FAILS("mst_evaluate: data is NULL", mst_evaluate(model, NULL, 2, NULL, NULL));
    FAILS("mst_predict: model is NULL", mst_predict(NULL, data, 2, &out));
    FAILS("mst_predict: data is NULL", mst_predict(model, NULL, 2, &out));
    FAILS("mst_predict: out is NULL", mst_predict(model, data, 2, NULL));
    FAILS("mst_evaluate_all: model is NULL", mst_evaluate_all(NULL, data, 2, NULL, NULL, 1));
    FAILS("mst_evaluate_all: data is NULL", mst_evaluate_all(model, NULL, 2, NULL, NULL, 1));
    FAILS("mst_predict_all: out is NULL", mst_predict_all(model, data, 2, NULL, 1));
    FAILS("mst_predict_all: model is NULL", mst_predict_all(NULL, data, 2, &out, 1));
    FAILS("mst_predict_all: data is NULL", mst_predict_all(model, NULL, 2, &out, 1));
    FAILS_STRUCT("mst_history_at: history is NULL", mst_history_at(NULL, 0, "loss"));
    FAILS_STRUCT("mst_history_at: column is NULL", mst_history_at(&(mst_history){0}, 0, NULL));
    FAILS_VOID("mst_history_free: history is NULL", mst_history_free(NULL));
    FAILS("mst_model_sha256: model is NULL", mst_model_sha256(NULL, hex));
    FAILS("mst_model_sha256: hex is NULL", mst_model_sha256(model, NULL));
    if (mst_compile(model, .seed = 1)) fail_msg("%s", mst_error()->message);
    FAILS("fit: no data", mst_fit(model, NULL));
    FAILS("fit: 1 callbacks, but callbacks is NULL", mst_fit(model, data, .num_callbacks = 1));
}

static mst_replica_function no_replica = NULL;

static void strategies(void) {
    mst_strategy strategy = {.num_devices = 1};
    mst_step_values out;
    char text[64];
    const mst_optimizer sgd = mst_sgd();
    FAILS("mst_strategy_resolve: strategy is NULL", mst_strategy_resolve(NULL));
    FAILS("mst_strategy_device: strategy is NULL", mst_strategy_device(NULL, 0, text, sizeof text));
    FAILS("mst_strategy_device: text is NULL", mst_strategy_device(&strategy, 0, NULL, sizeof text));
    FAILS_VOID("mst_replica_update: replica is NULL", mst_replica_update(NULL, w, w, MST_JOIN_MEAN));
    FAILS_VOID("mst_strategy_build: graph is NULL", mst_strategy_build(NULL, &strategy, &sgd, no_replica, NULL, &out));
    FAILS_VOID("mst_strategy_build: strategy is NULL",
               mst_strategy_build(engine_graph(), NULL, &sgd, no_replica, NULL, &out));
    FAILS_VOID("mst_strategy_build: replica is NULL",
               mst_strategy_build(engine_graph(), &strategy, &sgd, no_replica, NULL, &out));
    FAILS_STRUCT("mst_minimize: optimizer is NULL", mst_minimize(NULL, fresh(), NULL, 0, MST_NONE));
    FAILS_STRUCT("mst_apply_gradients: optimizer is NULL", mst_apply_gradients(NULL, &w, &w, 1, MST_NONE));
    FAILS_STRUCT("mst_apply_gradients: gradients is NULL", mst_apply_gradients(&sgd, NULL, &w, 1, MST_NONE));
    FAILS_STRUCT("mst_apply_gradients: variables is NULL", mst_apply_gradients(&sgd, &w, NULL, 1, MST_NONE));
    FAILS_STRUCT("mst_global_step: graph is NULL", mst_global_step(NULL));
}

static void sessions(void) {
    mst_session *out;
    mst_tensor *value;
    set_up(); /* the graph has no mistake yet */
    FAILS("mst_session_create: graph is NULL", mst_session_create(NULL, NULL, &out));
    FAILS("mst_session_create: out is NULL", mst_session_create(graph, NULL, NULL));
    DOES_NOTHING(mst_session_destroy(NULL));
    FAILS("mst_session_store: session is NULL", mst_session_store(NULL));
    FAILS("mst_session_init_variables: session is NULL", mst_session_init_variables(NULL));
    FAILS("mst_session_run: session is NULL", mst_session_run(NULL, NULL, 0, &w, 1, NULL));
    FAILS("mst_session_run: feeds is NULL", mst_session_run(session, NULL, 1, &w, 1, NULL));
    FAILS("mst_session_run: fetches is NULL", mst_session_run(session, NULL, 0, NULL, 1, NULL));
    FAILS("run: the feed of 'x' needs a tensor", mst_session_run(session, &(mst_feed){.value = x}, 1, &w, 1, NULL));
    FAILS("mst_session_get_variable: session is NULL", mst_session_get_variable(NULL, w, &value));
    FAILS("mst_session_get_variable: out is NULL", mst_session_get_variable(session, w, NULL));
    FAILS("mst_session_set_variable: session is NULL", mst_session_set_variable(NULL, w, tensor));
    FAILS("mst_session_set_variable: value is NULL", mst_session_set_variable(session, w, NULL));
    FAILS("mst_session_num_devices: session is NULL", mst_session_num_devices(NULL));
    FAILS("mst_session_device: session is NULL", mst_session_device(NULL, 0));
    FAILS("mst_session_device_memory: session is NULL", mst_session_device_memory(NULL, 0));
    FAILS("mst_session_copied_bytes: session is NULL", mst_session_copied_bytes(NULL));
    FAILS("mst_session_num_plans: session is NULL", mst_session_num_plans(NULL));
    FAILS_STRUCT("mst_session_plan_info: session is NULL", mst_session_plan_info(NULL));
}

static void stores(void) {
    mst_snapshot *taken;
    mst_state_info *list;
    mst_tensor *out;
    int64_t count;
    FAILS("mst_store_create: out is NULL", mst_store_create(NULL));
    FAILS("mst_store_retain: store is NULL", mst_store_retain(NULL));
    DOES_NOTHING(mst_store_release(NULL));
    FAILS("mst_store_list: store is NULL", mst_store_list(NULL, &list, &count));
    FAILS("mst_store_list: out is NULL", mst_store_list(store, NULL, &count));
    FAILS("mst_store_list: count is NULL", mst_store_list(store, &list, NULL));
    FAILS("mst_store_get: store is NULL", mst_store_get(NULL, "", "w", &out));
    FAILS("mst_store_get: name is NULL", mst_store_get(store, "", NULL, &out));
    FAILS("mst_store_get: out is NULL", mst_store_get(store, "", "w", NULL));
    FAILS("mst_store_set: store is NULL", mst_store_set(NULL, "", "w", MST_STATE_WEIGHT, tensor));
    FAILS("mst_store_set: name is NULL", mst_store_set(store, "", NULL, MST_STATE_WEIGHT, tensor));
    FAILS("mst_store_set: value is NULL", mst_store_set(store, "", "w", MST_STATE_WEIGHT, NULL));
    FAILS("mst_store_snapshot: store is NULL", mst_store_snapshot(NULL, &taken));
    FAILS("mst_store_snapshot: out is NULL", mst_store_snapshot(store, NULL));
    FAILS("mst_store_restore: store is NULL", mst_store_restore(NULL, snapshot));
    FAILS("mst_store_restore: snapshot is NULL", mst_store_restore(store, NULL));
    FAILS("mst_snapshot_create: out is NULL", mst_snapshot_create(NULL));
    FAILS("mst_snapshot_add: snapshot is NULL", mst_snapshot_add(NULL, "", "w", MST_STATE_WEIGHT, tensor));
    FAILS("mst_snapshot_add: name is NULL", mst_snapshot_add(snapshot, "", NULL, MST_STATE_WEIGHT, tensor));
    FAILS("mst_snapshot_add: value is NULL", mst_snapshot_add(snapshot, "", "w", MST_STATE_WEIGHT, NULL));
    FAILS("mst_snapshot_retain: snapshot is NULL", mst_snapshot_retain(NULL));
    DOES_NOTHING(mst_snapshot_release(NULL));
    FAILS("mst_snapshot_count: snapshot is NULL", mst_snapshot_count(NULL));
    FAILS_STRUCT("mst_snapshot_info: snapshot is NULL", mst_snapshot_info(NULL, 0));
    FAILS_STRUCT("snapshot: entry 0 asked for, there are 0", mst_snapshot_info(snapshot, 0));
    FAILS("mst_snapshot_value: snapshot is NULL", mst_snapshot_value(NULL, 0));
    FAILS("snapshot: entry -1 asked for, there are 0", mst_snapshot_value(snapshot, -1));
    FAILS("mst_snapshot_find: snapshot is NULL", mst_snapshot_find(NULL, "", "w"));
    FAILS("mst_snapshot_find: name is NULL", mst_snapshot_find(snapshot, "", NULL));
}

static void machines(void) {
    mst_device_info info;
    int count;
    FAILS_VOID("mst_machine_read: out is NULL", mst_machine_read(NULL));
    FAILS("mst_devices_describe: out is NULL", mst_devices_describe("cpu", NULL, NULL, 1, &count));
    FAILS("mst_devices_describe: count is NULL", mst_devices_describe("cpu", NULL, &info, 1, NULL));
    FAILS("mst_libraries: out is NULL", mst_libraries(NULL));
    DOES_NOTHING(if (mst_devices_describe(NULL, NULL, &info, 1, &count)) return );
}

static mst_status map(const mst_array *in, mst_array *out, void *context) {
    (void)in, (void)out, (void)context;
    return MST_OK;
}

static void sources(void) {
    const mst_spec row = {.dtype = MST_F32};
    FAILS("mst_dataset_retain: dataset is NULL", mst_dataset_retain(NULL));
    DOES_NOTHING(mst_dataset_release(NULL));
    FAILS("mst_dataset_from_tensors: components is NULL", mst_dataset_from_tensors(NULL, 1, &made));
    FAILS("from_tensors: component 0 is NULL", mst_dataset_from_tensors(&(mst_tensor *){NULL}, 1, &made));
    FAILS("mst_dataset_from_tensors: out is NULL", mst_dataset_from_tensors(&tensor, 1, NULL));
    FAILS("mst_dataset_from_idx: images_path is NULL", mst_dataset_from_idx(NULL, NULL, &made));
    FAILS("mst_dataset_from_idx: out is NULL", mst_dataset_from_idx("a", NULL, NULL));
    FAILS("mst_dataset_from_npz: path is NULL", mst_dataset_from_npz(NULL, &(const char *){"x"}, 1, &made));
    FAILS("mst_dataset_from_npz: names is NULL", mst_dataset_from_npz("a", NULL, 1, &made));
    FAILS("from_npz: the name of array 0 is NULL", mst_dataset_from_npz("a", &(const char *){NULL}, 1, &made));
    FAILS("mst_dataset_from_npz: out is NULL", mst_dataset_from_npz("a", &(const char *){"x"}, 1, NULL));
    FAILS("mst_dataset_open: spec is NULL", mst_dataset_open(NULL, "train", &made));
    FAILS("mst_dataset_open: part is NULL", mst_dataset_open("fashion-mnist", NULL, &made));
    FAILS("mst_dataset_open: out is NULL", mst_dataset_open("fashion-mnist", "train", NULL));
    FAILS("mst_dataset_shuffle: dataset is NULL", mst_dataset_shuffle(NULL, NULL, &made));
    FAILS("mst_dataset_shuffle: out is NULL", mst_dataset_shuffle(data, NULL, NULL));
    FAILS("mst_dataset_repeat: dataset is NULL", mst_dataset_repeat(NULL, 2, &made));
    FAILS("mst_dataset_repeat: out is NULL", mst_dataset_repeat(data, 2, NULL));
    FAILS("mst_dataset_batch: dataset is NULL", mst_dataset_batch(NULL, 2, false, &made));
    FAILS("mst_dataset_batch: out is NULL", mst_dataset_batch(data, 2, false, NULL));
    FAILS("mst_dataset_map: dataset is NULL", mst_dataset_map(NULL, map, NULL, &row, 1, &made));
    FAILS("mst_dataset_map: function is NULL", mst_dataset_map(data, NULL, NULL, &row, 1, &made));
    FAILS("mst_dataset_map: outputs is NULL", mst_dataset_map(data, map, NULL, NULL, 1, &made));
    FAILS("mst_dataset_map: out is NULL", mst_dataset_map(data, map, NULL, &row, 1, NULL));
    FAILS("mst_dataset_scale: dataset is NULL", mst_dataset_scale(NULL, 0, MST_F32, 1, &made));
    FAILS("mst_dataset_scale: out is NULL", mst_dataset_scale(data, 0, MST_F32, 1, NULL));
    FAILS("mst_dataset_take: dataset is NULL", mst_dataset_take(NULL, 1, &made));
    FAILS("mst_dataset_take: out is NULL", mst_dataset_take(data, 1, NULL));
    FAILS("mst_dataset_skip: dataset is NULL", mst_dataset_skip(NULL, 1, &made));
    FAILS("mst_dataset_skip: out is NULL", mst_dataset_skip(data, 1, NULL));
    FAILS("mst_dataset_prefetch: dataset is NULL", mst_dataset_prefetch(NULL, 1, &made));
    FAILS("mst_dataset_prefetch: out is NULL", mst_dataset_prefetch(data, 1, NULL));
    FAILS("mst_dataset_shard: dataset is NULL", mst_dataset_shard(NULL, 2, 0, &made));
    FAILS("mst_dataset_shard: out is NULL", mst_dataset_shard(data, 2, 0, NULL));
    FAILS("mst_dataset_num_rows: dataset is NULL", mst_dataset_num_rows(NULL));
    FAILS("mst_dataset_cardinality: dataset is NULL", mst_dataset_cardinality(NULL));
    FAILS("mst_dataset_num_components: dataset is NULL", mst_dataset_num_components(NULL));
    FAILS_STRUCT("mst_dataset_spec: dataset is NULL", mst_dataset_spec(NULL, 0));
}

static void iterators(void) {
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_tensor *out;
    char memory[64];
    FAILS("mst_iterator_create: dataset is NULL", mst_iterator_create(NULL, 0, &iterator));
    FAILS("mst_iterator_create: out is NULL", mst_iterator_create(data, 0, NULL));
    DOES_NOTHING(mst_iterator_destroy(NULL));
    EXPECT_OK(mst_iterator_create(data, 0, &iterator));
    FAILS("mst_iterator_next: iterator is NULL", mst_iterator_next(NULL, &batch));
    FAILS("mst_iterator_next: batch is NULL", mst_iterator_next(iterator, NULL));
    FAILS("mst_iterator_skip: iterator is NULL", mst_iterator_skip(NULL, 1));
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    FAILS("mst_batch_size: batch is NULL", mst_batch_size(NULL));
    FAILS("mst_batch_copy: batch is NULL", mst_batch_copy(NULL, 0, 0, 1, memory));
    FAILS("mst_batch_copy: dst is NULL", mst_batch_copy(batch, 0, 0, 1, NULL));
    FAILS("mst_batch_copy_all: batch is NULL", mst_batch_copy_all(NULL, 0, 1, &(void *){memory}));
    FAILS("mst_batch_copy_all: dst is NULL", mst_batch_copy_all(batch, 0, 1, NULL));
    FAILS("mst_batch_tensor: batch is NULL", mst_batch_tensor(NULL, 0, &out));
    FAILS("mst_batch_tensor: out is NULL", mst_batch_tensor(batch, 0, NULL));
}

/* ---- the children ---- */

static void summaries(void) {
    mst_summary_writer *writer;
    mst_curves *curves;
    mst_trace *trace;
    FAILS("mst_summary_writer_create: folder is NULL", mst_summary_writer_create(NULL, NULL, &writer));
    FAILS("mst_summary_writer_create: out is NULL", mst_summary_writer_create("x", NULL, NULL));
    FAILS("mst_summary_flush: writer is NULL", mst_summary_flush(NULL));
    DOES_NOTHING((void)!mst_summary_writer_close(NULL));
    FAILS_VOID("mst_summary_scalar: writer is NULL", mst_summary_scalar(NULL, "x", 1, 1));
    FAILS_VOID("mst_summary_histogram: writer is NULL", mst_summary_histogram(NULL, "x", tensor, 1));
    FAILS_VOID("mst_summary_image: writer is NULL", mst_summary_image(NULL, "x", tensor, 1));
    FAILS_VOID("mst_summary_text: writer is NULL", mst_summary_text(NULL, "x", "text", 1));
    FAILS_VOID("mst_summary_graph: writer is NULL", mst_summary_graph(NULL, graph));
    FAILS_VOID("mst_summary_trace: writer is NULL", mst_summary_trace(NULL, "x", NULL, 1));
    FAILS_VOID("mst_summary_hparams: writer is NULL", mst_summary_hparams(NULL, NULL, 1));
    FAILS_VOID("mst_summary_hparams_failed: writer is NULL", mst_summary_hparams_failed(NULL));
    FAILS("mst_curves_read: folder is NULL", mst_curves_read(NULL, &curves));
    FAILS("mst_curves_read: out is NULL", mst_curves_read("x", NULL));
    FAILS("mst_curves_count: curves is NULL", mst_curves_count(NULL));
    FAILS_STRUCT("mst_curves_get: curves is NULL", mst_curves_get(NULL, 0));
    DOES_NOTHING(mst_curves_free(NULL));
    FAILS("mst_trace_create: out is NULL", mst_trace_create(NULL));
    FAILS("mst_trace_write: trace is NULL", mst_trace_write(NULL, "x"));
    FAILS("mst_trace_num_runs: trace is NULL", mst_trace_num_runs(NULL));
    FAILS_VOID("mst_session_trace: session is NULL", mst_session_trace(NULL, NULL));
    FAILS_STRUCT("mst_tensorboard_callback: tensorboard is NULL", mst_tensorboard_callback(NULL));
    DOES_NOTHING(mst_trace_destroy(NULL));
    if (mst_trace_create(&trace)) return;
    FAILS("mst_trace_write: path is NULL", mst_trace_write(trace, NULL));
    mst_trace_destroy(trace);
}

static void make_calls(void) {
    static void (*const groups[])(void) = {tensors,        graphs,   scopes,  values,    no_values,  ops,
                                           sources_of_ops, losses,   models,  training,  strategies, sessions,
                                           stores,         machines, sources, iterators, summaries};
    set_up();
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) groups[i]();
}

/* Makes the calls from FIRST on in a child process; true if it made all of them. */
static bool run_child(void) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* otherwise cmocka's handler would run further tests in the child */
        alarm(120);
        make_calls();
        fflush(NULL);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    print_error("%s: crashed\n", shared->call);
    shared->failures++;
    first = shared->at + 1;
    return false;
}

static void null_is_one_error_that_names_the_function_and_the_argument(void **state) {
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    while (!run_child()) {
    }
    assert_true(shared->at > 200); /* they were made */
    assert_int_equal(shared->failures, 0);
    munmap(shared, sizeof *shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_one_error_that_names_the_function_and_the_argument),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
