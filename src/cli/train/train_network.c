#include "cli/train/train_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/no_memory.h"
#include "cli/application_layers.h"
#include "cli/command.h"
#include "cli/model_note.h"
#include "cli/network_file.h"
#include "cli/train/train_cluster.h"
#include "model_file/network_text.h"
#include "model_file/onnx_model.h"
#include "model_file/weights.h"
#include "module/module.h"

/* ---- loading ---- */

/* The network is there as a whole: no option of NAMES, ended by NULL, is for it. WHAT is such a network. */
static int check_others(const training *t, const char *const *names, const char *what) {
    for (int i = 0; names[i]; i++)
        if (option_given(t->list, names[i]))
            return command_fail(EXIT_USAGE, "train: --%s is not for %s: leave it out", names[i], what);
    return EXIT_DONE;
}

int train_network_find(training *t, train_options *o) {
    static const char *const layers[] = {"hidden-units", "activation", "l1", "l2", "dropout", "embed-above", NULL};
    static const char *const more[] = {"model", "classes", "missing", "name-map", NULL};
    char what[512];
    if (train_has_texts(t) && !option_given(t->list, "model")) o->model = "text_cnn";
    if (application_check(o->model)) return command_fail_library(EXIT_USAGE, NULL);
    t->has_network = network_file_is(o->load);
    t->is_application = application_is(o->model);
    if (!t->has_network && train_has_texts(t) != application_takes_texts(o->model))
        return command_fail(EXIT_USAGE, "train: --model %s takes %s: %s", o->model,
                            train_has_texts(t) ? "numbers, and the data has texts" : "texts, and the data has none",
                            train_has_texts(t) ? "leave it out, or write --model text_cnn"
                                               : "take texts:PATH, or csv:FILE with --text COLUMN");
    if (!t->has_network && !t->is_application) return EXIT_DONE;
    if (t->has_network && mst_ends_in(o->load, ".onnx"))
        return command_fail(EXIT_USAGE,
                            "train: --load %s: models of ONNX are for inference: muster evaluate and predict take them",
                            o->load);
    if (t->has_network)
        snprintf(what, sizeof what, "a whole model, as --load %s is", o->load);
    else
        snprintf(what, sizeof what, "--model %s, which has layers of its own", o->model);
    o->raw_columns = true; /* what its inputs are is the network's business */
    const int code = check_others(t, layers, what);
    return code || !t->has_network ? code : check_others(t, more, what);
}

/* Whether the schedule of the file's optimizer has come to its end, where it learns no more. */
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

/* The numbers of tokens must be those that the network was trained with. */
static mst_status take_vocabulary(training *t) {
    model_note note;
    if (!train_has_texts(t)) return MST_OK;
    mst_status status = model_note_read(mst_model_store(t->model), &note);
    if (!status && note.schema && !(t->schema = strdup(note.schema))) status = MST_NO_MEMORY("for a vocabulary");
    model_note_free(&note);
    return status;
}

/* An optimizer of the command line begins anew, without the state of the file's; so does one whose state is cut. */
static mst_status load_network(training *t, const char *path) {
    MST_TRY(mst_model_load(path, &t->model, &t->compiled));
    const bool is_cut = t->o->sharded_state, ended = has_ended(t);
    if (ended) t->compiled.has_optimizer = false;
    if (t->compiled.has_optimizer_state && (is_cut || ended || train_optimizer_is_given(t->list))) {
        if (is_cut) fprintf(stderr, "warning: --sharded-state: the optimizer of '%s' begins anew\n", path);
        mst_model_destroy(t->model);
        t->model = NULL;
        MST_TRY(mst_model_load(path, &t->model, NULL));
        t->compiled.has_optimizer_state = false;
    }
    MST_TRY(network_has_weights(t->model, &t->has_weights));
    MST_TRY(take_vocabulary(t));
    return mst_network_end_of(path, t->model, &t->end);
}

int train_network_load(training *t, train_options *o) {
    if (!t->has_network) return EXIT_DONE;
    if (load_network(t, o->load)) return command_fail_library(EXIT_FAILED, "load");
    if (option_given(t->list, "loss")) return EXIT_DONE;
    if (t->compiled.has_loss)
        o->loss = (int)t->compiled.loss;
    else if (t->end.has_loss)
        o->loss = (int)t->end.loss;
    t->from_probabilities = t->compiled.has_loss && t->compiled.from_probabilities;
    return EXIT_DONE;
}

int train_network_freeze(const training *t) {
    enum { LONGEST = 256 };
    char name[LONGEST];
    for (const char *at = t->o->freeze; at; at = *at ? at + 1 : NULL) {
        const size_t size = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        if (mst_model_set_trainable(t->model, name, false)) return command_fail_library(EXIT_USAGE, "freeze");
        at += size;
    }
    return EXIT_DONE;
}

/* ---- saving ---- */

bool train_network_is_saved(const train_options *o) {
    return network_file_is(o->save);
}

static bool is_json(const char *path) {
    return strcmp(strrchr(path, '.'), ".json") == 0;
}

static mst_status check_save(training *t) {
    const void *interface;
    char *text;
    MST_TRY(mst_build(t->model, t->train, true));
    if (mst_ends_in(t->o->save, ".onnx")) return mst_onnx_check(t->model);
    MST_TRY(mst_network_print(t->model, &text));
    free(text);
    return is_json(t->o->save) ? MST_OK : mst_module_interface("hdf5", &interface);
}

int train_network_check_save(training *t) {
    if (!train_network_is_saved(t->o) || !check_save(t)) return EXIT_DONE;
    return command_fail_library(EXIT_FAILED, "save");
}

mst_status train_network_save(const training *t) {
    /* its state must be here, and whole */
    const bool optimizer =
        mst_keras_has_optimizer(&t->optimizer) && !t->o->use_ema && !t->o->sharded_state && !train_cluster_is_served(t);
    return mst_model_save(t->model, t->o->save, .optimizer = optimizer ? &t->optimizer : NULL,
                          .loss = &t->objective.loss, .from_probabilities = t->from_probabilities);
}
