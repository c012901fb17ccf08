#include "cli/model/saved_network.h"

#include <string.h>

#include "cli/model/network_file.h"
#include "cli/model/network_objectives.h"
#include "cli/model/objective_metrics.h"
#include "cli/spec_kind.h"
#include "model_file/keras/network_text.h"

/* Refuses options that are only for networks made by the command, or for files without a network. */
static mst_status saved_network_check(const saved_options *o, const option_list *list) {
    static const char *const others[] = {"activation", "name-map", "use-ema"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(list, others[i]))
            return MST_FAIL(MST_INVALID, "--%s is not for whole models, as '%s' is: leave it out", others[i], o->load);
    return MST_OK;
}

static void take_noted_loss(const saved_model *saved, mst_model_compiled *compiled) {
    const model_note *note = &saved->note;
    compiled->has_loss = note->loss && !mst_loss_from_name(note->loss, &compiled->loss);
    compiled->from_probabilities = note->from_probabilities;
    for (int i = 0; i < MST_MAX_OUTPUTS && i < mst_model_num_outputs(saved->model); i++) {
        const mst_output_loss noted = model_note_output(note, mst_model_output_name(saved->model, i));
        if (noted.has_loss) compiled->output[i] = noted;
    }
}

mst_status saved_network_load(const saved_options *o, const option_list *list, saved_model *out,
                              mst_model_compiled *compiled) {
    MST_TRY(saved_network_check(o, list));
    MST_TRY(network_load(o->load, &out->model, compiled, &out->note));
    MST_TRY(network_restored(o->load, out->model, &out->restored));
    if (!compiled->has_loss) take_noted_loss(out, compiled);
    return MST_OK;
}

mst_status saved_network_make(const char *path, saved_model *out, mst_model_compiled *compiled) {
    *compiled = (mst_model_compiled){.has_loss = false};
    MST_TRY(mst_network_parse(path, out->note.network, &out->model));
    take_noted_loss(out, compiled);
    return MST_OK;
}

mst_status saved_network_objectives(const saved_options *o, const option_list *list, const char *command,
                                    const mst_model_compiled *compiled, saved_model *out) {
    const bool predicts = strcmp(command, "predict") == 0;
    const char *noted = json_string_value(json_object_get(out->note.options, "metrics"));
    const char *ignored = o->ignore_class ? o->ignore_class : model_note_option(&out->note, "ignore-class");
    network_ends ends;
    network_objectives from = {.path = o->load ? o->load : o->checkpoint_dir,
                               .loss = option_given(list, "loss") ? o->loss : NULL,
                               .loss_weights = o->loss_weights,
                               .ends = &ends,
                               .compiled = compiled,
                               .unknown = predicts ? UNKNOWN_LOSS_SHOWS : UNKNOWN_LOSS_FAILS};
    if (!predicts) MST_TRY(objective_read_ignored(ignored, &from.ignore_class));
    MST_TRY((predicts ? network_ends_of_any : network_ends_of)(from.path, out->model, &ends));
    MST_TRY(network_objectives_choose(&from, out->data, out->objective));
    out->num_objectives = ends.num_outputs;
    if (!predicts && mst_dataset_num_components(out->data) > ends.num_inputs)
        MST_TRY(network_objectives_check(out->objective, out->num_objectives, out->data, false));
    const char *spec = o->data ? o->data : out->note.data;
    const bool is_long = spec && spec_is_long_text(spec) && out->num_objectives == 1 &&
                         out->objective->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    if (is_long && !noted) out->objective->metric[0] = MST_METRIC_PERPLEXITY; /* as in training */
    return objective_metrics(o->metrics ? o->metrics : noted, o->metrics != NULL, out->objective, out->num_objectives);
}
