#include "cli/saved_network.h"

#include <string.h>

#include "cli/network_file.h"
#include "model_file/network_end.h"
#include "model_file/network_text.h"

/* Options that are for networks which the command makes, and for files without a network. */
static mst_status saved_network_check(const saved_options *o, const option_list *list) {
    static const char *const others[] = {"activation", "name-map", "use-ema"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(list, others[i]))
            return MST_FAIL(MST_INVALID, "--%s is not for whole models, as '%s' is: leave it out", others[i], o->load);
    return MST_OK;
}

static void take_noted_loss(const model_note *note, mst_model_compiled *compiled) {
    compiled->has_loss = note->loss && !mst_loss_from_name(note->loss, &compiled->loss);
    compiled->from_probabilities = note->from_probabilities;
}

mst_status saved_network_load(const saved_options *o, const option_list *list, saved_model *out,
                              mst_model_compiled *compiled) {
    bool has_weights = false;
    MST_TRY(saved_network_check(o, list));
    MST_TRY(mst_model_load(o->load, &out->model, compiled));
    MST_TRY(network_has_weights(out->model, &has_weights));
    if (!has_weights) return MST_FAIL(MST_INVALID, "'%s': has a network without weights", o->load);
    MST_TRY(network_restored(o->load, out->model, &out->restored));
    if (model_note_read(mst_model_store(out->model), &out->note)) return mst_error_prefix("'%s'", o->load);
    if (!compiled->has_loss) take_noted_loss(&out->note, compiled);
    return MST_OK;
}

mst_status saved_network_make(const char *path, saved_model *out, mst_model_compiled *compiled) {
    *compiled = (mst_model_compiled){.has_loss = false};
    take_noted_loss(&out->note, compiled);
    return mst_network_parse(path, out->note.network, &out->model);
}

/* Where nothing tells the loss, predictions are shown as they are. */
static mst_status choose_loss(const saved_options *o, const option_list *list, bool predicts,
                              const mst_model_compiled *compiled, const mst_network_end *end, mst_loss *out) {
    *out = (mst_loss)o->loss;
    if (option_given(list, "loss")) return MST_OK;
    *out = compiled->has_loss ? compiled->loss : end->loss;
    if (compiled->has_loss || end->has_loss) return MST_OK;
    *out = MST_LOSS_MEAN_SQUARED_ERROR;
    if (predicts) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': does not say for which loss it was trained, nor does its last layer: give --loss",
                    o->load ? o->load : o->checkpoint_dir);
}

mst_status saved_network_compile(const saved_options *o, const option_list *list, const char *command,
                                 const mst_model_compiled *compiled, saved_model *out) {
    const bool predicts = strcmp(command, "predict") == 0;
    const char *noted = json_string_value(json_object_get(out->note.options, "metrics"));
    mst_network_end end;
    mst_loss loss = 0;
    MST_TRY(mst_network_end_of(o->load ? o->load : o->checkpoint_dir, out->model, &end));
    MST_TRY(choose_loss(o, list, predicts, compiled, &end, &loss));
    if (predicts || mst_dataset_num_components(out->data) < 2)
        out->objective = objective_of(loss, end.outputs);
    else
        MST_TRY(objective_choose(loss, out->data, end.outputs, false, &out->objective));
    const bool from_probabilities = compiled->from_probabilities && !option_given(list, "loss");
    out->objective.finished = from_probabilities || !end.sees_logits[loss];
    MST_TRY(objective_metrics(o->metrics ? o->metrics : noted, &out->objective));
    mst_compile_options compile = {.loss = loss,
                                   .from_probabilities = from_probabilities,
                                   .precision = out->precision,
                                   .session = {.devices = o->devices}};
    memcpy(compile.metric, out->objective.metric, sizeof compile.metric);
    return mst_compile_with(out->model, &compile);
}
