#include "cli/model/network_objectives.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { LONGEST_ITEM = 512 };
_Static_assert((int)MAX_ENDS <= (int)MST_MAX_TARGETS, "each output has an objective");

/* ---- what is given for outputs ---- */

typedef mst_status (*take_item)(const network_objectives *from, int place, const char *value, objective *out);

/* Calls TAKE for each item of TEXT, "a=x,b=y". An item without a name is for the output with the item's place in the
 * list. If ALL is true, it is for every output. */
static mst_status take_items(const network_objectives *from, const char *option, const char *text, bool all,
                             take_item take, objective *out) {
    const int n = from->ends->num_outputs;
    char item[LONGEST_ITEM];
    const char *value;
    int number = 0, place;
    for (const char *at = text; at; number++) {
        const size_t size = strcspn(at, ",");
        if (size >= sizeof item) return MST_FAIL(MST_INVALID, "--%s: '%.20s...' is too long", option, at);
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        MST_TRY(objective_item(option, item, out, n, &place, &value));
        if (place < 0 && !all && number >= n)
            return MST_FAIL(MST_INVALID, "--%s %s: the model has %d outputs", option, text, n);
        for (int i = 0; i < n; i++)
            if (i == place || (place < 0 && (all || i == number))) MST_TRY(take(from, i, value, &out[i]));
        at = at[size] ? at + size + 1 : NULL;
    }
    return MST_OK;
}

/* MST_SIGMOID or MST_SOFTMAX if END ends in that activation, else MST_LINEAR. */
static mst_activation probabilities_of(const network_output *end) {
    if (!end->sees_logits[MST_LOSS_BINARY_CROSSENTROPY]) return MST_SIGMOID;
    return end->sees_logits[MST_LOSS_CATEGORICAL_CROSSENTROPY] ? MST_LINEAR : MST_SOFTMAX;
}

static void set_loss(const network_ends *ends, int place, mst_loss loss, bool from_probabilities, objective *out) {
    const network_output *end = &ends->output[place];
    *out = objective_of(loss, end->size);
    out->component = ends->num_inputs + place;
    out->output = end->name;
    out->row = end->shape;
    out->from_probabilities = from_probabilities;
    out->gives = probabilities_of(end);
    out->finished = from_probabilities || !end->sees_logits[loss];
    /* a divergence takes the outputs as they are, with or without a softmax */
    out->has_scores = loss == MST_LOSS_KL_DIVERGENCE ? end->sees_logits[MST_LOSS_CATEGORICAL_CROSSENTROPY]
                                                     : from_probabilities && end->sees_logits[loss];
}

static mst_status take_loss(const network_objectives *from, int place, const char *value, objective *out) {
    mst_loss loss;
    MST_TRY(objective_loss_named(value, &loss));
    set_loss(from->ends, place, loss, false, out);
    return MST_OK;
}

static mst_status take_weight(const network_objectives *from, int place, const char *value, objective *out) {
    double weight;
    (void)from, (void)place;
    if (!mst_number_parse_f64(value, &weight) || !(weight >= 0 && weight <= 1e9))
        return MST_FAIL(MST_INVALID, "--loss-weights: '%.64s' is no weight: write OUTPUT=1,OUTPUT=0.5", value);
    out->weight = weight > 0 ? weight : MST_ZERO;
    return MST_OK;
}

/* ---- what is not given ---- */

static mst_loss loss_of_labels(const network_objectives *from, int place, const mst_dataset *data) {
    const int component = from->ends->num_inputs + place;
    const bool labels = component < mst_dataset_num_components(data);
    const mst_dtype dtype = labels ? mst_dataset_spec(data, component).dtype : MST_NO_DTYPE;
    const bool numbers = from->ends->output[place].size == 1 || dtype == MST_F32 || dtype == MST_F64;
    return numbers && from->ends->num_outputs > 1 ? MST_LOSS_MEAN_SQUARED_ERROR
                                                  : MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
}

/* Takes the loss of the file, else the loss that fits the last layer. */
static mst_status choose_default(const network_objectives *from, int place, const mst_dataset *data, objective *out) {
    const mst_model_compiled *made = from->compiled;
    const network_output *end = &from->ends->output[place];
    const mst_output_loss only = {made->has_loss, made->loss, made->from_probabilities, 0};
    const mst_output_loss noted = from->ends->num_outputs == 1 ? only : made->output[place];
    mst_loss loss = end->loss;
    if (noted.has_loss)
        loss = noted.loss;
    else if (*made->other_loss[place] && from->unknown != UNKNOWN_LOSS_SHOWS)
        return MST_FAIL(MST_INVALID,
                        "'%s': its loss '%s' is not known here, or not with its options: give another by --loss%s%s",
                        from->path, made->other_loss[place], from->ends->num_outputs > 1 ? " for " : "",
                        from->ends->num_outputs > 1 ? end->name : "");
    else if (!end->has_loss && from->unknown == UNKNOWN_LOSS_SHOWS)
        loss = MST_LOSS_MEAN_SQUARED_ERROR;
    else if (!end->has_loss && from->unknown == UNKNOWN_LOSS_TRAINS)
        loss = loss_of_labels(from, place, data);
    else if (!end->has_loss)
        return MST_FAIL(MST_INVALID,
                        "'%s': does not say for which loss %s%s%s was trained, nor does its last layer: give --loss",
                        from->path, from->ends->num_outputs > 1 ? "its output '" : "it",
                        from->ends->num_outputs > 1 ? end->name : "", from->ends->num_outputs > 1 ? "'" : "");
    set_loss(from->ends, place, loss, noted.has_loss && noted.from_probabilities, out);
    out->wants_logits = noted.has_loss && !noted.from_probabilities && !end->sees_logits[loss] &&
                        objective_finish_of(loss) != MST_LINEAR;
    return MST_OK;
}

mst_status network_objectives_choose(const network_objectives *from, const mst_dataset *data, objective *out) {
    const int n = from->ends->num_outputs;
    for (int i = 0; i < n; i++) out[i] = (objective){.output = from->ends->output[i].name};
    if (from->loss) MST_TRY(take_items(from, "loss", from->loss, true, take_loss, out));
    for (int i = 0; i < n; i++) {
        const double noted = from->compiled->output[i].weight;
        if (out[i].weight == 0) MST_TRY(choose_default(from, i, data, &out[i])); /* --loss did not name it */
        if (noted > 0 || (noted == 0 && signbit(noted))) out[i].weight = noted;  /* MST_ZERO is -0.0 */
    }
    MST_TRY(objective_set_ignored(from->ignore_class, out, n));
    if (!from->loss_weights) return MST_OK;
    if (n == 1)
        return MST_FAIL(MST_INVALID, "--loss-weights is for models with several outputs, '%s' has one", from->path);
    return take_items(from, "loss-weights", from->loss_weights, false, take_weight, out);
}

mst_status network_objectives_check(const objective *list, int n, mst_dataset *data, bool with_classes) {
    for (int i = 0; i < n; i++) {
        const objective *o = &list[i];
        objective made = {.ignore_class = o->ignore_class};
        mst_status status = objective_is_of_shape(o)
                                ? objective_check_shape(o, data)
                                : objective_choose(o->loss, data, o->component, o->outputs, false, &made);
        if (!status && with_classes) status = objective_check_classes(o, data);
        if (status && n > 1) return mst_error_prefix("output '%s'", o->output);
        MST_TRY(status);
    }
    return MST_OK;
}

/* ---- data ---- */

/* Whether mst_model_call takes an example of SHAPE for an input of shape WANT. */
static bool input_fits(mst_shape shape, mst_shape want) {
    const bool adds_one = want.ndim > 0 && shape.ndim == want.ndim - 1 && want.dim[want.ndim - 1] == 1;
    if (shape.ndim != want.ndim && !adds_one) return false;
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dim[i] >= 0 && want.dim[i] >= 0 && shape.dim[i] != want.dim[i]) return false;
    return true;
}

mst_status network_inputs_check(const char *path, const network_ends *ends, const char *data_name,
                                const mst_dataset *data) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    const bool several = ends->num_inputs > 1;
    for (int i = 0; i < ends->num_inputs && i < mst_dataset_num_components(data); i++) {
        const network_input *input = &ends->input[i];
        const mst_shape shape = mst_dataset_spec(data, i).shape;
        if (!input_fits(shape, input->shape))
            return MST_FAIL(MST_INVALID, "'%s': takes inputs%s%s%s of shape %s, those of '%s' are %s", path,
                            several ? " '" : "", several ? input->name : "", several ? "'" : "",
                            mst_shape_print(input->shape, want, sizeof want), data_name,
                            mst_shape_print(shape, have, sizeof have));
    }
    return MST_OK;
}

void network_data_options(const network_ends *ends, const char **inputs, const char **outputs, mst_data_options *out) {
    for (int i = 0; i < ends->num_inputs; i++) inputs[i] = ends->input[i].name;
    for (int i = 0; i < ends->num_outputs; i++) outputs[i] = ends->output[i].name;
    out->inputs = inputs;
    out->outputs = outputs;
    out->num_inputs = ends->num_inputs;
    out->num_outputs = ends->num_outputs;
}
