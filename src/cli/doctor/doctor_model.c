/* The memory that training takes on one task: a step is made, of a model that is thrown away. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/doctor/doctor_checks.h"
#include "cli/mlp_layers.h"
#include "cli/number_text.h"
#include "cli/objective.h"
#include "cli/scale_inputs.h"
#include "muster/dataset.h"
#include "muster/device.h"
#include "muster/train.h"

typedef struct trial {
    int64_t rows; /* of a batch, on one worker */
    int64_t bytes, limit;
    char layers[256];
} trial;

static void print_layers(const doctor_options *o, const mst_dataset *data, int64_t outputs, trial *t) {
    const int64_t inputs = mst_shape_count(mst_dataset_spec(data, 0).shape);
    size_t used = (size_t)snprintf(t->layers, sizeof t->layers, "mlp %" PRId64, inputs);
    for (int i = 0; i < o->hidden_units.count && used < sizeof t->layers; i++)
        used += (size_t)snprintf(t->layers + used, sizeof t->layers - used, "-%" PRId64, o->hidden_units.value[i]);
    if (used < sizeof t->layers) snprintf(t->layers + used, sizeof t->layers - used, "-%" PRId64, outputs);
}

static mst_status make_step(const doctor_options *o, mst_dataset *data, const objective *objective, trial *t) {
    const mlp_form form = {o->hidden_units.value, o->hidden_units.count, objective->outputs, MST_RELU, 0, 0, 0};
    mst_model *model;
    MST_TRY(mst_model_create(&model));
    mlp_layers(model, &form);
    mst_status status =
        mst_compile(model, .loss = objective->loss, .optimizer = mst_optimizer_named(o->optimizer, (mst_optimizer){0}),
                    .strategy = {.kind = MST_STRATEGY_ONE}, .session = {.memory_limit = t->limit});
    if (!status) status = mst_fit(model, .data = data, .batch_size = t->rows, .steps = 1);
    if (!status) t->bytes = mst_session_device_memory(mst_model_session(model), 0);
    mst_model_destroy(model);
    return status;
}

/* Class numbers are labels of a classification, as `muster train` takes them without --loss; other numbers of a
 * regression. */
static mst_status choose(mst_dataset *data, objective *out) {
    enum { MOST_CLASSES = 1000000 };
    const mst_loss classes = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    if (mst_dataset_num_components(data) < 2) return MST_FAIL(MST_INVALID, "the data has no labels");
    const mst_dtype dtype = mst_dataset_spec(data, 1).dtype;
    int64_t num = mst_dataset_num_classes(data, 1), *count = NULL;
    if (dtype == MST_F32 || dtype == MST_F64) return objective_choose(MST_LOSS_MEAN_SQUARED_ERROR, data, 1, true, out);
    if (!num && objective_labels_are_classes(classes, data))
        MST_TRY(objective_count(classes, data, MOST_CLASSES, &count, &num));
    free(count);
    return objective_choose(classes, data, num, true, out);
}

static mst_status try_model(const doctor_options *o, mst_dataset **data, trial *t) {
    mst_dataset *some;
    objective objective;
    MST_TRY(scale_inputs(false, data));
    MST_TRY(choose(*data, &objective));
    print_layers(o, *data, objective.outputs, t);
    MST_TRY(mst_dataset_take(*data, t->rows, &some));
    const mst_status status = make_step(o, some, &objective, t);
    mst_dataset_release(some);
    return status;
}

void doctor_check_model(doctor_report *report, const doctor_options *options, int workers, const char *self) {
    mst_machine m;
    mst_dataset *data = NULL;
    trial t = {.rows = (options->batch_size + workers - 1) / workers, .limit = options->memory_limit};
    mst_machine_read(&m);
    if (t.limit <= 0) t.limit = (int64_t)m.memory;
    mst_status status = mst_dataset_open(options->data, "train", &data);
    if (!status) status = try_model(options, &data, &t);
    if (status)
        doctor_add(report, DOCTOR_FINDING, "memory", self,
                   "take a smaller --batch-size or fewer --hidden-units, or more workers, if memory is what is missing",
                   "%s: %s", *t.layers ? t.layers : options->data, mst_error()->message);
    else
        doctor_add(report, DOCTOR_OK, "memory", self, NULL,
                   "%s with %" PRId64 " rows a step takes %.1f MiB of %.1f GiB", t.layers, t.rows,
                   (double)t.bytes / (1 << 20), (double)t.limit / (1 << 30));
    mst_dataset_release(data);
}
