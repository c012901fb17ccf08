/* Measures the memory that training takes on one task, by running one step of a model that is then thrown away. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "cli/doctor/doctor_checks.h"
#include "cli/model/application_layers.h"
#include "cli/model/label_kind.h"
#include "cli/model/mlp_layers.h"
#include "cli/model/network_end.h"
#include "cli/model/network_file.h"
#include "cli/model/network_objectives.h"
#include "cli/model/objective.h"
#include "cli/model/positions.h"
#include "cli/model/scale_inputs.h"
#include "cli/number_text.h"
#include "cli/spec_kind.h"
#include "model_file/model_file.h"
#include "muster/dataset.h"
#include "muster/device.h"
#include "muster/train.h"

typedef struct trial {
    int64_t rows;         /* of a batch, on one worker */
    int64_t bytes, limit; /* of memory: what the step takes, and what it may take */
    char layers[256];     /* the model in words, for the report */
    mst_model *network;   /* from a file, else NULL; owned. The members below describe it */
    network_ends ends;
    mst_model_compiled compiled;
    int64_t num_tokens; /* of the embedding with which it begins; 0: it begins with another layer */
} trial;

static bool has_several_ends(const trial *t) {
    return t->network && (t->ends.num_inputs > 1 || t->ends.num_outputs > 1);
}

static void print_layers(const doctor_options *o, const mst_dataset *data, int64_t outputs, trial *t) {
    const mst_shape shape = mst_dataset_spec(data, 0).shape;
    const int64_t inputs = mst_shape_count(shape);
    char text[MST_SHAPE_TEXT];
    if (has_several_ends(t)) {
        snprintf(t->layers, sizeof t->layers, "%.150s, %d inputs and %d outputs,", o->model, t->ends.num_inputs,
                 t->ends.num_outputs);
        return;
    }
    if (t->network || application_is(o->model)) {
        snprintf(t->layers, sizeof t->layers, "%.150s of %s", o->model, mst_shape_print(shape, text, sizeof text));
        return;
    }
    size_t used = (size_t)snprintf(t->layers, sizeof t->layers, "mlp %" PRId64, inputs);
    for (int i = 0; i < o->hidden_units.count && used < sizeof t->layers; i++)
        used += (size_t)snprintf(t->layers + used, sizeof t->layers - used, "-%" PRId64, o->hidden_units.value[i]);
    if (used < sizeof t->layers) snprintf(t->layers + used, sizeof t->layers - used, "-%" PRId64, outputs);
}

/* OBJECTIVE has one element for each output. */
static mst_status make_step(const doctor_options *o, mst_dataset *data, const objective *objective, trial *t) {
    mst_compile_options compile = {.optimizer = mst_optimizer_named(o->optimizer, (mst_optimizer){0}),
                                   .strategy = {.kind = MST_STRATEGY_ONE},
                                   .session = {.memory_limit = t->limit}};
    const mlp_form form = {o->hidden_units.value, o->hidden_units.count, objective->outputs, MST_RELU, 0, 0, 0};
    mst_model *model = t->network;
    if (!model) MST_TRY(mst_model_create(&model));
    mst_status status = MST_OK;
    if (application_is(o->model))
        status = application_layers(o->model, model, data,
                                    objective->row.ndim > 1 ? objective->row.dim[1] : objective->outputs,
                                    &(application_heads){.heads = 0});
    else if (!t->network)
        mlp_layers(model, &form);
    objective_compile(objective, t->network ? t->ends.num_outputs : 1, &compile);
    if (!status) status = mst_compile_with(model, &compile);
    if (!status) status = mst_fit(model, .data = data, .batch_size = t->rows, .steps = 1);
    if (!status) t->bytes = mst_session_device_memory(mst_model_session(model), 0);
    if (!t->network) mst_model_destroy(model);
    return status;
}

/* Chooses the objectives as `muster train` does without --loss: class numbers are labels of a classification, other
 * numbers are labels of a regression. A network from a file has outputs of its own. */
static mst_status choose(const doctor_options *o, const trial *t, mst_dataset *data, objective *out) {
    enum { MOST_CLASSES = 1000000 };
    const mst_loss classes = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    const network_objectives from = {
        .path = o->model, .ends = &t->ends, .compiled = &t->compiled, .unknown = UNKNOWN_LOSS_TRAINS};
    if (has_several_ends(t)) return network_objectives_choose(&from, data, out);
    if (mst_dataset_num_components(data) < 2) return MST_FAIL(MST_INVALID, "the data has no labels");
    if (application_predicts_tokens(o->model))
        return positions_choose_tokens(classes, mst_dataset_num_classes(data, 1), data, out);
    label_kind labels = {.are_numbers = false};
    if (!t->network) MST_TRY(label_kind_find(data, &labels));
    const mst_dtype dtype = mst_dataset_spec(data, 1).dtype;
    int64_t num = mst_dataset_num_classes(data, 1), *count = NULL;
    if (dtype == MST_F32 || dtype == MST_F64 || labels.are_numbers)
        return objective_choose(MST_LOSS_MEAN_SQUARED_ERROR, data, 1, t->network ? t->ends.output[0].size : 1,
                                !t->network, out);
    if (t->network) return objective_choose(classes, data, 1, t->ends.output[0].size, false, out);
    if (!num && objective_labels_are_classes(classes, data, 1))
        MST_TRY(objective_count(classes, data, 1, MOST_CLASSES, &count, &num));
    free(count);
    return objective_choose(classes, data, 1, num, true, out);
}

static bool has_texts(const doctor_options *o) {
    return mst_dataset_spec_has_texts(o->data);
}

/* Opens the train part, with pictures and texts in the sizes that `muster train` uses. */
static mst_status open_data(const doctor_options *o, const trial *t, mst_dataset **out) {
    enum { MAX_TOKENS = 20000, LENGTH = 300 };
    const mst_shape input = t->ends.input[0].shape;
    const char *inputs[MAX_ENDS], *outputs[MAX_ENDS];
    mst_data_options options = {.image_size = o->image_size};
    if (t->network) network_data_options(&t->ends, inputs, outputs, &options);
    if (mst_dataset_spec_has_pictures(o->data) && !o->image_size)
        options.image_size = t->network && input.ndim >= 2 && input.dim[0] > 0 ? input.dim[0] : MST_IMAGE_SIZE_FIT;
    if (has_texts(o) && (t->network || !spec_is_long_text(o->data)))
        options.max_tokens = t->num_tokens ? t->num_tokens : MAX_TOKENS;
    if (options.max_tokens) options.sequence_length = t->network && input.dim[0] > 0 ? input.dim[0] : LENGTH;
    return mst_dataset_open_with(o->data, "train", &options, out);
}

static mst_status try_model(const doctor_options *o, mst_dataset **data, trial *t) {
    mst_dataset *some;
    objective list[MAX_ENDS] = {{.component = 0}};
    for (int i = 0; i < (t->network ? t->ends.num_inputs : 1); i++)
        MST_TRY(scale_inputs(PIXELS_UNIT, i, t->network ? &t->ends.input[i] : NULL, data));
    MST_TRY(choose(o, t, *data, list));
    print_layers(o, *data, list->outputs, t);
    MST_TRY(mst_dataset_take(*data, t->rows, &some));
    const mst_status status = make_step(o, some, list, t);
    mst_dataset_release(some);
    return status;
}

static mst_status load_network(const char *path, trial *t) {
    MST_TRY(mst_network_load(path, &t->network, &t->compiled));
    MST_TRY(network_ends_of(path, t->network, &t->ends));
    return network_tokens(t->network, &t->num_tokens);
}

void doctor_check_model(doctor_report *report, const doctor_options *options, int workers, const char *self) {
    mst_machine m;
    char bytes[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    mst_dataset *data = NULL;
    trial t = {.rows = (options->batch_size + workers - 1) / workers, .limit = options->memory_limit};
    mst_machine_read(&m);
    if (t.limit <= 0) t.limit = (int64_t)m.memory;
    doctor_options o = *options;
    if (has_texts(&o) && strcmp(o.model, "mlp") == 0) o.model = "text_cnn";
    mst_status status = network_file_is(o.model) ? load_network(o.model, &t) : application_check(o.model);
    if (!status) status = open_data(&o, &t, &data);
    if (!status) status = try_model(&o, &data, &t);
    if (status)
        doctor_add(report, DOCTOR_FINDING, "memory", self,
                   "take a smaller --batch-size, model or --image-size, or more workers, if memory is what is missing",
                   "%s: %s", *t.layers ? t.layers : options->data, mst_error()->message);
    else
        doctor_add(report, DOCTOR_OK, "memory", self, NULL, "%s with %" PRId64 " rows a step takes %s of %s", t.layers,
                   t.rows, mst_bytes_print(t.bytes, bytes, sizeof bytes),
                   mst_bytes_print(t.limit, limit, sizeof limit));
    mst_model_destroy(t.network);
    mst_dataset_release(data);
}
