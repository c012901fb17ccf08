/* Uses each toy of one_file/src as an outside program does, and names each one that does not do what it should. */
#include <muster/muster.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void expect(bool good, const char *what) {
    if (!good) printf("wrong: %s (%s)\n", what, mst_error()->message);
    wrong += !good;
}

/* The element 0 of VALUE. */
static double run(mst_graph *graph, mst_value value) {
    mst_session *session = NULL;
    mst_tensor *tensor = NULL;
    double first = -1;
    if (!mst_graph_check(graph) && !mst_session_create(graph, NULL, &session) && !mst_session_init_variables(session) &&
        !mst_session_run(session, NULL, 0, &value, 1, &tensor))
        first = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    mst_session_destroy(session);
    return first;
}

static void use_in_a_graph(mst_graph *graph) {
    mst_loss loss;
    mst_metric metric;
    expect(!mst_loss_from_name("toy", &loss) && loss == MST_LOSS_TOY, "the name of the loss");
    expect(!mst_metric_from_name("toy", &metric) && metric == MST_METRIC_TOY, "the name of the metric");
    expect(strcmp(mst_activation_name(MST_TOY), "toy") == 0, "the name of the activation");
    expect(strcmp(mst_initializer_name(MST_INITIALIZER_TOY), "toy") == 0, "the name of the initializer");
    expect(strcmp(mst_strategy_names[MST_STRATEGY_TOY], "toy") == 0, "the name of the strategy");
    expect(strcmp(mst_schedule_names[MST_SCHEDULE_TOY], "toy") == 0, "the name of the schedule");

    mst_value w = mst_get_variable(graph, "w", MST_SHAPE(1, 2), .initializer = mst_toy_initializer());
    mst_value x = mst_fill(graph, MST_F32, MST_SHAPE(1, 2), 5), y = mst_fill(graph, MST_F32, MST_SHAPE(1, 2), 3);
    mst_schedule schedule = mst_toy_schedule(.rate = 0.5);
    expect(run(graph, w) == 7, "the initializer");
    expect(run(graph, mst_toy(mst_add(w, x))) == 36, "the op, by its kernel");
    expect(run(graph, mst_activate(x, MST_TOY)) == -5, "the activation");
    expect(run(graph, mst_toy_layer(x, .name = "layer")) == 10, "the layer");
    expect(run(graph, mst_loss_per_example(MST_LOSS_TOY, x, y, false)) == 8, "the loss");
    expect(run(graph, mst_metric_batch(.metric = MST_METRIC_TOY, .labels = x, .predictions = y).sum) == 6,
           "the metric");
    expect(run(graph, mst_schedule_value(graph, &schedule, mst_scalar(graph, MST_I64, 3))) == 0.25, "the schedule");
}

static void use_in_training(void) {
    mst_model *model = NULL;
    mst_dataset *data = mst_data_toy(mst_data_open("toy:8", "train"));
    char text[64];
    mst_strategy strategy = {.kind = MST_STRATEGY_TOY, .num_devices = 2};
    expect(!mst_strategy_resolve(&strategy) && strcmp(mst_strategy_device(&strategy, 1, text, sizeof text),
                                                      mst_strategy_device(&strategy, 0, text, sizeof text)) == 0,
           "the strategy");
    expect(mst_toy_optimizer().learning_rate == 0.125, "the default of the optimizer");
    bool good = !mst_dataset_check(data) && !mst_model_create(&model);
    expect(good, "the data spec and the transform");
    if (good) {
        mst_toy_layer(model, .factor = 3);
        mst_dense(model, 2, .activation = MST_TOY, .kernel_initializer = mst_toy_initializer());
        expect(!mst_compile(model, .optimizer = mst_toy_optimizer(), .metric = {MST_METRIC_TOY},
                            .strategy = {.kind = MST_STRATEGY_TOY}) &&
                   !mst_fit(model, .data = data, .batch_size = 4, .epochs = 2),
               "training with all of them");
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    mst_graph *graph = NULL;
    if (mst_graph_create(&graph)) return puts(mst_error()->message), 1;
    use_in_a_graph(graph);
    use_in_training();
    mst_graph_destroy(graph);
    return wrong != 0;
}
