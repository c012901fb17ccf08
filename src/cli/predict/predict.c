/** muster predict: predicts the test part with a saved model, and writes the file of `muster train --predict FILE`. */
#include "cli/predict/predict.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/left_out.h"
#include "cli/model/saved_model.h"
#include "cli/predict/mask_output.h"
#include "cli/predict/predict_rows.h"
#include "cli/predict/predictions.h"
#include "cli/standard_output.h"
#include "format/npy.h"
#include "format/npz.h"

static bool ends_in(const char *path, const char *ending) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

mst_status predict_check_file(const char *option, const char *path, int n) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (ends_in(path, ".csv") || ends_in(path, ".npz")) return MST_OK;
    if (dot && dot[1] && strcmp(dot, ".npy") != 0)
        return MST_FAIL(MST_INVALID, "--%s %s: predictions are written as FILE.csv, FILE.npy or FILE.npz", option,
                        path);
    if (n == 1) return MST_OK;
    return MST_FAIL(MST_INVALID, "--%s %s: the model has %d outputs: FILE.npz has an array for each, FILE.csv columns",
                    option, path, n);
}

static mst_status write_npz(const predictions *p, const char *path) {
    mst_named_tensor array[MST_MAX_TARGETS];
    for (int i = 0; i < p->count; i++)
        array[i] = (mst_named_tensor){p->objective[i].output ? p->objective[i].output : "outputs", p->outputs[i]};
    return mst_npz_write(path, array, p->count);
}

static mst_status write_rows(const predictions *p, const char *path) {
    if (ends_in(path, ".csv")) return predictions_write_csv(p, path);
    return ends_in(path, ".npz") ? write_npz(p, path) : mst_npy_write(path, p->outputs[0]);
}

static void release_all(mst_tensor *const *tensor, int n) {
    for (int i = 0; i < n; i++) mst_tensor_release(tensor[i]);
}

mst_status predict_to_file(mst_model *model, const objective *list, int n, const mst_dataset *data, int64_t batch_size,
                           const char *path) {
    mst_tensor *outputs[MST_MAX_TARGETS];
    MST_TRY(predict_rows(model, list, n, data, batch_size, outputs));
    const mst_status status = write_rows(&(predictions){.outputs = outputs, .objective = list, .count = n}, path);
    release_all(outputs, n);
    return status;
}

/* ---- the command ---- */

enum { PICTURES_BATCH = 32 }; /* they can be large */

typedef struct predict_options {
    saved_options saved; /* first: the offsets in saved_model_options are those in this struct */
    const char *out;
    FILE *stream;         /* --out -: standard output */
    bool writes_masks;    /* --out DIR/ */
    mst_mask_names masks; /* the files in it */
} predict_options;

static const option own_options[] = {
    {"out", OPTION_FILE, offsetof(predict_options, out), "FILE", .alias = "output",
     .help =
         "where the class probabilities go, or what else --loss compares: FILE.csv, with the class of each row, or "
         "[n, outputs] in NumPy's .npy, or FILE.npz, an array for each output by its name; -: CSV on standard "
         "output, and all else on standard error; of a model with a class for each pixel also DIR/, a mask for each "
         "picture: a gray PNG of class numbers under its name and in its size (default: the class of each row is "
         "printed)"},
    {0}};

static const option_section sections[] = {
    {.title = "Model and data", .options = saved_model_options}, {.title = "Predictions", .options = own_options}, {0}};

static mst_status show(const predict_options *o, const predictions *p) {
    if (o->stream) return predictions_print_csv(p, o->stream);
    if (o->out) return write_rows(p, o->out);
    if (o->saved.json) return predictions_write_events(p);
    predictions_print(p);
    return MST_OK;
}

static mst_status write_event(const predict_options *o, const saved_model *saved) {
    json_t *event = json_event("predicted");
    json_add(&event, "", "step", json_step(saved->restored.step));
    json_add(&event, "", "precision", json_string(mst_precision_names[saved_model_precision(saved)]));
    saved_model_add_devices(&event, saved);
    left_out_add(saved->data, &event);
    damaged_add(saved->data, &event);
    if (o->out) json_add(&event, "", "path", json_text(o->out));
    return json_write(event);
}

/* Writes a mask for each picture. */
static mst_status predict_masks(const predict_options *o, const saved_model *saved) {
    const int64_t batch_size = o->saved.batch_size < PICTURES_BATCH ? o->saved.batch_size : PICTURES_BATCH;
    MST_TRY(mask_output_write(saved, &o->masks, o->out, batch_size));
    if (o->saved.json) return write_event(o, saved);
    command_print("masks: %" PRId64 " in %s", o->masks.count, o->out);
    return MST_OK;
}

static mst_status predict(const predict_options *o, const saved_model *saved) {
    const int n = saved->num_objectives;
    mst_tensor *outputs[MST_MAX_TARGETS];
    objective list[MST_MAX_TARGETS];
    int64_t num_files;
    if (o->writes_masks) return predict_masks(o, saved);
    MST_TRY(predict_rows(saved->model, saved->objective, n, saved->data, o->saved.batch_size, outputs));
    for (int i = 0; i < n; i++) { /* sizes that the network left open come from the data */
        list[i] = saved->objective[i];
        list[i].outputs = mst_tensor_count(outputs[i]) / mst_tensor_shape(outputs[i]).dim[0];
    }
    const mst_status status = show(o, &(predictions){.outputs = outputs,
                                                     .objective = list,
                                                     .count = n,
                                                     .files = mst_dataset_file_paths(saved->files, &num_files)});
    release_all(outputs, n);
    MST_TRY(status);
    if (o->saved.json) return write_event(o, saved);
    if (o->out && !o->stream) command_print("predictions: %s", o->out);
    return MST_OK;
}

static int predict_run(const command_call *call) {
    predict_options *o = call->options;
    saved_model saved;
    o->saved.predicts = true;
    o->saved.pictures = call->positional;
    o->saved.num_pictures = call->num_positional;
    if (standard_output_is(o->saved.text) && !o->saved.data && !o->saved.data_dir) { /* "-" */
        o->saved.data = "texts:-";
        o->saved.text = NULL;
    }
    if (o->saved.num_pictures && (o->saved.data || o->saved.data_dir))
        return command_fail(EXIT_USAGE, "'%s': pictures are predicted in place of --data: leave one of them out",
                            o->saved.pictures[0]);
    if (o->saved.num_pictures && !option_given(call->list, "batch-size")) o->saved.batch_size = PICTURES_BATCH;
    const bool is_stream = standard_output_is(o->out);
    o->writes_masks = !is_stream && mask_output_is(o->out);
    const bool is_file = o->out && !is_stream && !o->writes_masks;
    if (is_stream && o->saved.json)
        return command_fail(EXIT_USAGE, "--out -: standard output has the lines of --json: leave one of them out");
    if (is_stream && standard_output_take(&o->stream)) return command_fail_library(EXIT_FAILED, "out");
    if (is_file && mst_file_check(o->out)) return command_fail_library(EXIT_FAILED, "out");
    if (is_file && predict_check_file("out", o->out, 1)) return command_fail_library(EXIT_USAGE, NULL);
    int status = saved_model_open(&o->saved, call->list, "predict", &saved);
    if (!status && is_file && predict_check_file("out", o->out, saved.num_objectives))
        status = command_fail_library(EXIT_USAGE, NULL);
    if (!status && o->writes_masks &&
        mask_output_names(&saved, o->saved.pictures, o->saved.num_pictures, o->out, &o->masks))
        status = command_fail_library(EXIT_FAILED, NULL);
    if (!status && (saved_model_show(&saved, o->saved.json) || predict(o, &saved)))
        status = command_fail_library(EXIT_FAILED, NULL);
    mst_mask_names_free(&o->masks);
    saved_model_close(&saved);
    if (o->stream) (void)fclose(o->stream); /* it was flushed */
    return status;
}

const command command_predict = {
    .name = "predict",
    .summary =
        "what a saved model says of the test part, or of other data: the class of each row, or probabilities to a file",
    .usage = "--checkpoint-dir DIR | --load FILE [options] [PICTURE...]",
    .notes =
        "PICTURE: a PNG, JPEG, WebP, GIF or BMP file, or a folder, whose pictures are taken; resized to what the "
        "model takes, and 32 in a batch by default.\n"
        "\n"
        "muster predict --load model.safetensors --data csv:new.csv\n"
        "muster predict --load model.keras photo.jpg holidays/*.png\n"
        "muster predict --checkpoint-dir run --out probabilities.npy\n"
        "muster predict --load pets.keras holidays --out masks/\n"
        "muster predict --load model.npz --data csv:- --out - < new.csv > predictions.csv\n"
        "echo 'so good' | muster predict --load topics.keras --text -",
    .sections = sections,
    .options_size = sizeof(predict_options),
    .max_positional = COMMAND_MOST_POSITIONAL,
    .run = predict_run,
};
