#include "cli/train/train_network.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/model/application_layers.h"
#include "cli/model/model_note.h"
#include "cli/model/network_adapt.h"
#include "cli/model/network_file.h"
#include "cli/model/network_objectives.h"
#include "cli/model/network_texts.h"
#include "cli/spec_kind.h"
#include "cli/train/train_cluster.h"
#include "cli/train/train_data.h"
#include "cli/train/train_mix.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/huggingface/token_network.h"
#include "model_file/keras/network_text.h"
#include "model_file/keras/weights.h"
#include "model_file/model_file.h"
#include "model_file/onnx/onnx_model.h"
#include "module/module.h"

/* ---- loading ---- */

/* Refuses the options NAMES, ended by NULL, since the network exists as a whole. WHAT describes it in the message. */
static int check_others(const training *t, const char *const *names, const char *what) {
    for (int i = 0; names[i]; i++)
        if (option_given(t->list, names[i]))
            return command_fail(EXIT_USAGE, "train: --%s is not for %s: leave it out", names[i], what);
    return EXIT_DONE;
}

/* Refuses options that are not for a network from a file of --load or --model. */
static int check_network_options(const training *t, const char *what) {
    static const char *const layers[] = {"hidden-units", "activation", "l1", "l2", "embed-above", NULL};
    static const char *const others[] = {"dropout", "heads", "key-value-heads", NULL};
    static const char *const loaded[] = {"classes", "missing", "name-map", NULL};
    static const char *const fresh[] = {"missing", NULL};
    static const char *const tokens[] = {"classes", NULL}; /* as many as the data has tokens */
    const bool predicts_tokens = t->is_application && application_predicts_tokens(t->o->model);
    int code = check_others(t, layers, what);
    if (!code) code = check_others(t, predicts_tokens ? tokens : others, what);
    if (code || !t->network) return code;
    return check_others(t, t->network == t->o->load ? loaded : fresh, what);
}

/* Whether a model that the command makes takes the data: pictures and numbers, texts, or one long text. */
static int check_texts(const training *t) {
    const char *model = t->o->model;
    const bool texts = training_has_texts(t), is_long = spec_is_long_text(t->data);
    if (is_long && !application_predicts_tokens(model))
        return command_fail(EXIT_USAGE,
                            "train: '%s': is for a network that predicts the token after each position, and --model %s "
                            "does not: take --model gpt:6x384, llama:6x384 or FILE.keras",
                            t->data, model);
    if (is_long) return EXIT_DONE;
    if (application_predicts_tokens(model))
        return command_fail(EXIT_USAGE, "train: --model %s takes one long text: lines:FILE or tokens:FILE, not '%s'",
                            model, t->data);
    if (texts == application_takes_texts(model)) return EXIT_DONE;
    return command_fail(
        EXIT_USAGE, "train: --model %s takes %s: %s", model,
        texts ? "numbers, and the data has texts" : "texts, and the data has none",
        texts ? "leave it out, or write --model text_cnn" : "take texts:PATH, word-ids:FILE, or csv:FILE with --text");
}

int train_network_find(training *t, train_options *o) {
    const bool given = option_given(t->list, "model"), is_file = network_file_is(o->model);
    char what[512];
    if (training_has_texts(t) && !given) o->model = spec_is_long_text(t->data) ? "gpt:4x256" : "text_cnn";
    if (!is_file && application_check(o->model)) return command_fail_library(EXIT_USAGE, NULL);
    t->network = is_file ? o->model : !given && network_file_is(o->load) ? o->load : NULL;
    t->is_application = !is_file && !t->network && application_is(o->model);
    if (!t->network && check_texts(t)) return EXIT_USAGE;
    static const char *const heads[] = {"heads", "key-value-heads", NULL};
    if (!t->network && !t->is_application) return check_others(t, heads, "a model without attention");
    const char *option = is_file ? "model" : "load";
    if (t->network)
        snprintf(what, sizeof what, "a whole model, as --%s %s is", option, t->network);
    else
        snprintf(what, sizeof what, "--model %s, which has layers of its own", o->model);
    o->raw_columns = true; /* the network encodes its inputs itself */
    return check_network_options(t, what);
}

/* Whether the schedule of the file's optimizer has reached its end, where training makes no more progress. */
static bool has_ended(const training *t) {
    const mst_schedule *s = &t->compiled.optimizer.schedule;
    mst_tensor *step;
    if (!t->compiled.has_optimizer_state || !mst_schedule_ends(s->kind) || s->cycle ||
        mst_store_get(mst_model_store(t->model), NULL, "global_step", &step))
        return false;
    const bool ended = mst_tensor_get(step, 0) >= (double)(s->warmup_steps + s->decay_steps);
    mst_tensor_release(step);
    return ended;
}

/* Takes the vocabulary noted in the file: tokens must have the numbers with which the network was trained. */
static mst_status take_vocabulary(training *t) {
    model_note note;
    if (!training_has_texts(t)) return MST_OK;
    mst_status status = model_note_read(mst_model_store(t->model), &note);
    if (!status && note.schema && !(t->schema = strdup(note.schema))) status = MST_NO_MEMORY("for a vocabulary");
    model_note_free(&note);
    return status;
}

/* A network of Hugging Face takes texts of any length that it has positions for, and one that splits texts itself takes
 * any number of words: --sequence-length. */
static mst_status take_length(const training *t, const char *path) {
    network_set_text_length(path, t->model, t->o->sequence_length);
    if (!mst_huggingface_is(path) || !option_given(t->list, "sequence-length")) return MST_OK;
    if (!mst_huggingface_set_positions(t->model, t->o->sequence_length)) return MST_OK;
    return mst_error_prefix("--sequence-length, '%s'", path);
}

/* Loads the network of --model for a new training: with new values, a new vocabulary and a new optimizer. */
static mst_status load_fresh(training *t, const char *path) {
    MST_TRY(mst_network_load(path, &t->model, &t->compiled));
    t->compiled.has_optimizer = false;
    *t->compiled.other_optimizer = '\0';
    MST_TRY(take_length(t, path));
    MST_TRY(network_ends_of(path, t->model, &t->ends));
    return network_tokens(t->model, &t->num_tokens);
}

/* Loads the network of --load. An optimizer of the command line begins anew, without the state in the file. So does the
 * optimizer with --sharded-state. */
static mst_status load_network(training *t, const char *path) {
    MST_TRY(mst_layers_load(path, &t->model, &t->compiled));
    const bool is_cut = t->o->sharded_state, ended = has_ended(t);
    if (ended) t->compiled.has_optimizer = false;
    if (t->compiled.has_optimizer_state && (is_cut || ended || train_optimizer_is_given(t->list))) {
        if (is_cut) command_warn("--sharded-state: the optimizer of '%s' begins anew", path);
        mst_model_destroy(t->model);
        t->model = NULL;
        MST_TRY(mst_layers_load(path, &t->model, NULL));
        t->compiled.has_optimizer_state = false;
    }
    MST_TRY(network_has_weights(t->model, &t->has_weights));
    MST_TRY(take_vocabulary(t));
    MST_TRY(take_length(t, path));
    return network_ends_of(path, t->model, &t->ends);
}

void train_network_take_optimizer(training *t) {
    const mst_model_compiled *c = &t->compiled;
    if (c->has_optimizer) t->optimizer = c->optimizer;
    if (*c->other_optimizer)
        command_warn(
            "'%s': its optimizer '%s' is not taken from a file (%s): %s begins anew in its place; "
            "--optimizer takes another",
            t->network, c->other_optimizer, c->optimizer_note, t->optimizer.rule);
    if (c->has_optimizer && *c->optimizer_note)
        command_warn("'%s': its optimizer '%s': %s", t->network, t->optimizer.rule, c->optimizer_note);
    if (c->has_optimizer && c->lacks_state)
        command_warn("'%s': the state of its optimizer '%s' is not the one of Keras 3, and not read: it begins anew",
                     t->network, t->optimizer.rule);
}

/* Refuses options for pictures and texts if the network has several inputs. */
static int check_single_options(const training *t) {
    static const char *const single[] = {
        "flip",   "crop-padding", "rotation",        "zoom",    "translation", "brightness", "contrast", "mixup",
        "cutmix", "max-tokens",   "sequence-length", "classes", NULL};
    if (t->ends.num_inputs == 1 && t->ends.num_outputs == 1) return EXIT_DONE;
    return check_others(t, single, "networks with several inputs or outputs");
}

/* Refuses options of texts that become numbers if the network takes strings, which are texts here. */
static int check_string_options(const training *t) {
    static const char *const of_numbers[] = {"max-tokens", "pad", "tokenizer", NULL};
    if (network_check_strings(t->network, &t->ends)) return command_fail_library(EXIT_FAILED, NULL);
    if (!network_takes_strings(&t->ends)) return EXIT_DONE;
    if (!training_has_texts(t))
        return command_fail(EXIT_USAGE, "train: '%s': takes texts: give texts:PATH, or csv:FILE with --text",
                            t->network);
    return check_others(t, of_numbers, "a network that splits texts itself");
}

int train_network_load(training *t, const train_options *o) {
    if (!t->network) return EXIT_DONE;
    const bool is_fresh = t->network == o->model;
    if (is_fresh ? load_fresh(t, o->model) : load_network(t, o->load))
        return command_fail_library(EXIT_FAILED, is_fresh ? "model" : "load");
    const int code = check_string_options(t);
    return code ? code : check_single_options(t);
}

int train_network_adapt(const training *t) {
    const char *left;
    if (!t->network || t->network != t->o->model) return EXIT_DONE;
    if (network_adapt(t->model, t->train, &left)) return command_fail_library(EXIT_FAILED, "model");
    if (left)
        command_warn(
            "'%s': layer '%s' is not applied to an input and learns nothing before training: it begins with "
            "a mean of 0 and a variance of 1",
            t->network, left);
    return EXIT_DONE;
}

/* Warns of a loss from logits after an activation: Keras would apply the activation twice. */
static void warn_of_logits(const training *t) {
    for (int i = 0; i < t->num_objectives; i++) {
        const objective *o = &t->objective[i];
        const char *activation = mst_activation_name(objective_finish_of(o->loss));
        if (!o->wants_logits) continue;
        command_warn(
            "'%s': its loss '%s' has from_logits=True, but %s%s%s ends in a %s, which gives probabilities: "
            "the loss is computed from the logits before the %s; in Keras leave one of the two out",
            t->network, mst_loss_name(o->loss), t->num_objectives > 1 ? "output '" : "the network",
            t->num_objectives > 1 ? o->output : "", t->num_objectives > 1 ? "'" : "", activation, activation);
    }
}

int train_network_objectives(training *t) {
    if (!t->network) return EXIT_DONE;
    network_objectives from = {.path = t->network,
                               .loss = option_given(t->list, "loss") ? t->o->loss : NULL,
                               .loss_weights = t->o->loss_weights,
                               .ends = &t->ends,
                               .compiled = &t->compiled,
                               .unknown = UNKNOWN_LOSS_TRAINS};
    if (objective_read_ignored(t->o->ignore_class, &from.ignore_class)) return command_fail_library(EXIT_USAGE, NULL);
    t->num_objectives = t->ends.num_outputs;
    if (network_objectives_choose(&from, t->train, t->objective)) return command_fail_library(EXIT_USAGE, NULL);
    warn_of_logits(t);
    return EXIT_DONE;
}

static mst_status check_only_output(const training *t) {
    const int64_t outputs = t->objective->outputs, classes = mst_dataset_num_classes(t->train, training_num_inputs(t));
    if (option_given(t->list, "classes") && t->o->classes != outputs)
        return MST_FAIL(MST_INVALID, "'%s': has %" PRId64 " outputs, not the %" PRId64 " of --classes", t->network,
                        outputs, t->o->classes);
    if (classes > outputs && t->objective->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY)
        return MST_FAIL(MST_INVALID, "'%s': has %" PRId64 " outputs, the labels of '%s' are of %" PRId64 " classes",
                        t->network, outputs, t->data, classes);
    return MST_OK;
}

mst_status train_network_check_data(const training *t) {
    MST_TRY(network_inputs_check(t->network, &t->ends, t->data, t->train));
    MST_TRY(train_data_check_labels(t));
    if (t->num_tokens && t->o->tokenizer && mst_dataset_num_classes(t->train, 0) > t->num_tokens)
        return MST_FAIL(MST_INVALID,
                        "'%s': has an embedding of %" PRId64 " tokens, and --tokenizer '%s' has %" PRId64
                        ": take the network's own tokenizer",
                        t->network, t->num_tokens, t->o->tokenizer, mst_dataset_num_classes(t->train, 0));
    if (t->num_tokens && mst_dataset_num_classes(t->train, 0) > t->num_tokens)
        return MST_FAIL(MST_INVALID,
                        "'%s': has an embedding of %" PRId64 " tokens, the texts have %" PRId64
                        ": take --max-tokens "
                        "%" PRId64,
                        t->network, t->num_tokens, mst_dataset_num_classes(t->train, 0), t->num_tokens);
    if (t->num_objectives == 1) MST_TRY(check_only_output(t));
    /* in a cluster, wrong classes are found during training: the others would have to wait for a check here */
    return network_objectives_check(t->objective, t->num_objectives, t->train, !t->cluster);
}

/* Makes the layers whose names match PATTERN trainable or not. */
static mst_status set_trained(mst_model *model, const char *pattern, bool trained) {
    bool found = false;
    const char *name;
    if (!strpbrk(pattern, "*?[")) return mst_model_set_trainable(model, pattern, trained);
    for (int64_t i = 0; (name = mst_model_layer_name(model, i)); i++) {
        if (fnmatch(pattern, name, 0) != 0) continue;
        MST_TRY(mst_model_set_trainable(model, name, trained));
        found = true;
    }
    return found ? MST_OK : MST_FAIL(MST_NOT_FOUND, "the model has no layer whose name is like '%s'", pattern);
}

int train_network_freeze(const training *t) {
    enum { LONGEST = 256 };
    char text[LONGEST];
    for (const char *at = t->o->freeze; at; at = *at ? at + 1 : NULL) {
        const size_t size = strcspn(at, ",");
        snprintf(text, sizeof text, "%.*s", (int)size, at);
        const bool trained = text[0] == '-';
        if (set_trained(t->model, text + trained, trained)) return command_fail_library(EXIT_USAGE, "freeze");
        at += size;
    }
    return EXIT_DONE;
}

/* ---- saving ---- */

bool train_network_is_saved(const train_options *o) {
    return network_file_is_named(o->save);
}

static bool is_json(const char *path) {
    return mst_ends_in(path, ".json");
}

static mst_status check_save(training *t) {
    const void *interface;
    char *text;
    MST_TRY(mst_build(t->model, t->train, true));
    if (mst_huggingface_is_named(t->o->save)) return mst_huggingface_check(t->model);
    if (mst_ends_in(t->o->save, ".onnx")) return mst_onnx_check(t->model);
    if (t->o->save_optimizer && !mst_keras_has_optimizer(&t->optimizer))
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': Keras has no optimizer like %s: leave --save-optimizer out",
                        t->o->save, t->optimizer.rule);
    MST_TRY(mst_network_check_names(t->model));
    MST_TRY(mst_network_print(t->model, &text));
    free(text);
    return is_json(t->o->save) ? MST_OK : mst_module_interface("hdf5", &interface);
}

int train_network_check_save(training *t) {
    if (t->o->save_optimizer && train_cluster_is_served(t))
        return command_fail(EXIT_USAGE,
                            "train: --save-optimizer: parameter servers keep the optimizer's state: leave "
                            "it out");
    if (!train_network_is_saved(t->o) || !check_save(t)) return EXIT_DONE;
    return command_fail_library(EXIT_FAILED, "save");
}

/* Why the file cannot contain the optimizer, whose state must be in this process and complete; NULL: it can. */
static const char *why_no_optimizer(const training *t) {
    if (!mst_keras_has_optimizer(&t->optimizer)) return "Keras has none such";
    if (t->o->use_ema) return "with --use-ema the file has averages in place of the weights that it updates";
    if (t->o->sharded_state) return "with --sharded-state no task has all of it";
    return train_cluster_is_served(t) ? "parameter servers have it" : NULL;
}

mst_status train_network_save(const training *t) {
    /* warn only for files that keep an optimizer: FILE.json never does, .weights.h5 only with --save-optimizer */
    const bool weights = mst_ends_in(t->o->save, ".weights.h5") && !t->o->save_optimizer;
    const bool kept = !weights && !is_json(t->o->save);
    const char *reason = why_no_optimizer(t);
    const bool optimizer = kept && !reason;
    if (kept && reason)
        command_warn("'%s': does not keep the optimizer: %s; --checkpoint-dir keeps it", t->o->save, reason);
    const bool several = t->num_objectives > 1;
    mst_output_loss losses[MST_MAX_TARGETS];
    for (int i = 0; i < t->num_objectives; i++) {
        const objective *o = &t->objective[i];
        losses[i] = (mst_output_loss){true, o->loss, o->from_probabilities, o->weight};
    }
    const mst_loss loss = train_mix_saved_loss(t);
    return mst_model_save(t->model, t->o->save, .optimizer = optimizer ? &t->optimizer : NULL,
                          .loss = several ? NULL : &loss, .from_probabilities = t->objective->from_probabilities,
                          .output_losses = several ? losses : NULL);
}
