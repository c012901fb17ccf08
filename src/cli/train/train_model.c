#include "cli/train/train_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/model/application_layers.h"
#include "cli/model/label_columns.h"
#include "cli/model/mlp_layers.h"
#include "cli/model/objective_metrics.h"
#include "cli/model/output_names.h"
#include "cli/model/positions.h"
#include "cli/model/positive_class.h"
#include "cli/model/unknown_categories.h"
#include "cli/predict/predict.h"
#include "cli/signals.h"
#include "cli/spec_kind.h"
#include "cli/train/class_weights.h"
#include "cli/train/train_data.h"
#include "cli/train/train_mix.h"
#include "cli/train/train_network.h"
#include "cli/train/train_size.h"
#include "muster/compile_cache.h"

/* Chooses the number of outputs: that of --classes; else the number of names of classes in the data; else NAMED, the
 * number in --class-names; else what the labels tell. */
static mst_status choose_outputs(training *t, int64_t named) {
    const bool given = option_given(t->list, "classes");
    const int64_t own = mst_dataset_num_classes(t->train, 1), names = own ? own : named;
    const int64_t found = names < 2 ? t->label_classes : names;
    t->num_objectives = 1;
    MST_TRY(train_data_check_labels(t));
    MST_TRY(objective_read_ignored(t->o->ignore_class, &t->objective->ignore_class));
    if (t->is_application && application_predicts_tokens(t->o->model))
        return positions_choose_tokens(t->loss, own, t->train, t->objective);
    if (t->is_application && application_has_positions(t->o->model))
        return positions_choose(t->loss, given ? t->o->classes : found, !t->cluster, t->train, t->objective);
    return objective_choose(t->loss, t->train, 1, given ? t->o->classes : found, !given, t->objective);
}

/* Chooses the names of the classes of a model with one output, and its objective. The number of outputs may follow from
 * the number of names. */
static mst_status choose_only_objective(training *t) {
    const char *file = t->o->class_names;
    if (file && class_names_read(file, t->names)) return mst_error_prefix("--class-names");
    if (!file && !spec_is_long_text(t->data)) /* whose tokens have no names, but numbers */
        MST_TRY(class_names_of(t->train, training_num_inputs(t), t->names));
    const int64_t count = class_names_count((const char *const *)*t->names);
    MST_TRY(t->network ? train_network_check_data(t) : choose_outputs(t, count));
    if (t->network && !file && objective_check_names(t->objective, "", count)) {
        free(*t->names); /* not for the classes of the network */
        *t->names = NULL;
    }
    t->objective->names = (const char *const *)*t->names;
    MST_TRY(label_columns_of(mst_dataset_schema(t->train), &t->label_columns));
    label_columns_name(t->label_columns, t->objective);
    return file ? objective_check_names(t->objective, file, count) : MST_OK;
}

static mst_status choose_objectives(training *t) {
    MST_TRY(train_network_check_data(t));
    MST_TRY(output_names_read(t->o->class_names, t->objective, t->num_objectives, t->names));
    return output_names_find(NULL, t->train, t->objective, t->num_objectives, t->names);
}

static mst_status choose_objective(training *t) {
    const bool several = t->network && t->num_objectives > 1;
    MST_TRY(several ? choose_objectives(t) : choose_only_objective(t));
    MST_TRY(train_mix_labels(t));
    if (!several && spec_is_long_text(t->data) && t->objective->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY)
        t->objective->metric[0] = MST_METRIC_PERPLEXITY;
    MST_TRY(objective_metrics(t->o->metrics, true, t->objective, t->num_objectives));
    MST_TRY(positive_class_choose(t->o->positive, t->objective, t->num_objectives));
    return class_weights_read(t->o->class_weight, t);
}

/* Adds the layers of a table's columns, and lets them learn from the rows of the training. */
static mst_status add_columns(training *t) {
    if (t->o->raw_columns) return MST_OK;
    MST_TRY(table_layers_find(t->train, mst_dataset_schema(t->train), t->o->embed_above, &t->table));
    t->table.fill_missing = t->o->table.missing == MST_MISSING_NAN;
    if (t->test && !t->folds) MST_TRY(unknown_categories_warn(t->test, mst_dataset_schema(t->train)));
    MST_TRY(table_layers_add(&t->table, t->model));
    return table_layers_adapt(&t->table, t->train);
}

static mst_status make_layers(training *t) {
    const train_options *o = t->o;
    MST_TRY(mst_model_create(&t->model));
    MST_TRY(add_columns(t));
    if (t->is_application) {
        const mst_shape row = t->objective->row;
        const int64_t classes = row.ndim > 1 ? row.dim[row.ndim - 1] : t->objective->outputs;
        const application_heads heads = {o->heads, o->key_value_heads, o->dropout};
        MST_TRY(application_layers(o->model, t->model, t->train, classes, &heads));
        objective_add_layers(t->objective->loss, t->model);
        return mst_model_check(t->model);
    }
    mlp_layers(t->model, &(mlp_form){.hidden = o->hidden_units.value,
                                     .num_hidden = o->hidden_units.count,
                                     .outputs = t->objective->outputs,
                                     .activation = (mst_activation)o->activation,
                                     .l1 = o->l1,
                                     .l2 = o->l2,
                                     .dropout = o->dropout});
    objective_add_layers(t->objective->loss, t->model);
    return mst_model_check(t->model);
}

int train_model_make(training *t) {
    const train_options *o = t->o;
    if (train_optimizer(o, t->list, train_total_steps(t), &t->optimizer)) return command_fail_library(EXIT_USAGE, NULL);
    if (!train_optimizer_is_given(t->list)) train_network_take_optimizer(t);
    if (t->o->use_ema && !(t->optimizer.ema_decay > 0))
        return command_fail(EXIT_USAGE,
                            "train: --use-ema takes the averages that an optimizer keeps, and that of '%s' keeps none: "
                            "give --ema X, with which the optimizer begins anew",
                            t->network);
    if (choose_objective(t) || train_data_check_measured(t) || train_data_warn_of_columns(t))
        return command_fail_library(EXIT_FAILED, NULL);
    if (o->confusion && objective_check_confusion("train", t->objective, t->num_objectives)) return EXIT_USAGE;
    if (o->predict && predict_check_file("predict", o->predict, t->num_objectives))
        return command_fail_library(EXIT_USAGE, NULL);
    if (!t->network && make_layers(t)) return command_fail_library(EXIT_FAILED, NULL);
    if (train_network_adapt(t)) return EXIT_FAILED;
    if (train_network_freeze(t)) return EXIT_USAGE;
    if (option_given(t->list, "batch-norm-momentum") &&
        mst_model_set_batch_norm_momentum(t->model, o->batch_norm_momentum))
        return command_fail_library(EXIT_USAGE, "batch-norm-momentum");
    if (!t->has_weights && train_size_check(t)) return command_fail_library(EXIT_FAILED, NULL);
    if (mst_compile_cache_set(o->compile_cache, 0, stderr)) return command_fail_library(EXIT_FAILED, "compile-cache");
    mst_session_options session = {.devices = t->devices,
                                   .visible_devices = o->visible_devices,
                                   .allow_soft_placement = o->allow_soft_placement,
                                   .placement_log = o->log_device_placement ? stderr : NULL,
                                   .plan_log = o->dump_plan ? stderr : NULL,
                                   .plan_pass = o->dump_plan && strcmp(o->dump_plan, "all") != 0 ? o->dump_plan : NULL,
                                   .memory_limit = o->memory_limit,
                                   .timeout = o->step_timeout,
                                   .stop = signals_stop,
                                   .pin_threads = o->pin,
                                   .check_numerics = o->check_numerics,
                                   .recompute = o->recompute};
    mst_compile_options compile = {.optimizer = t->optimizer,
                                   .strategy = t->strategy,
                                   .session = session,
                                   .precision = t->precision,
                                   .sample_weights = table_options_has_weight(&t->o->table),
                                   .task = t->task,
                                   .seed = o->seed};
    objective_compile(t->objective, t->num_objectives, &compile);
    class_weights_compile(t, &compile);
    if (mst_compile_with(t->model, &compile)) return command_fail_library(EXIT_FAILED, NULL);
    if (train_mix_batches(t)) return command_fail_library(EXIT_FAILED, NULL);
    return EXIT_DONE;
}
