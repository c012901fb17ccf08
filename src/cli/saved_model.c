#include "cli/saved_model.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/objective.h"
#include "cli/train_checkpoint.h"

#define AT(member) offsetof(saved_options, member)

const option saved_model_options[] = {
    {"checkpoint-dir", OPTION_FILE, AT(checkpoint_dir), "DIR",
     .help = "the newest checkpoint of DIR that is not damaged"},
    {"load", OPTION_FILE, AT(load), "FILE",
     .help = "or this file: FILE.safetensors, FILE.npz, or the prefix of a checkpoint", .excludes = "checkpoint-dir"},
    {"use-ema", OPTION_FLAG, AT(use_ema), .help = "the moving averages of the weights, in place of the weights"},
    {"loss", OPTION_CHOICE, AT(loss), "NAME", "sparse_categorical_crossentropy", .choice = objective_loss,
     .help = "that the model was trained for, as of muster train"},
    {"data", OPTION_TEXT, AT(data), "SPEC", "fashion-mnist", .help = "as of muster train; the test part is taken"},
    {"label", OPTION_TEXT, AT(label), "COLUMN", .help = "csv: the column of labels (default: the last)"},
    {"image-size", OPTION_INTEGER, AT(image_size), "N", NULL, 1, 16384,
     .help = "images: pictures are resized to N x N pixels (default 224)"},
    {"data-dir", OPTION_FILE, AT(data_dir), "DIR", .help = "the same as --data idx:DIR", .excludes = "data"},
    {"raw-pixels", OPTION_FLAG, AT(raw_pixels), .help = "u8 inputs stay 0 to 255; else they are divided by 255"},
    {"batch-size", OPTION_INTEGER, AT(batch_size), "N", "1000", 1, 1e9, .help = "examples of a step"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC", "cpu", .help = "as of muster train"},
    {"json", OPTION_FLAG, AT(json), .help = "one JSON object a line on standard output, and nothing else"},
    {0}};

/* ---- the model that a file has ---- */

enum { MOST_LAYERS = 1000 };

/* Units of the dense layers layer1, layer2, ... of SNAPSHOT; their number. */
static int read_layers(const mst_snapshot *snapshot, int64_t *units) {
    char name[64];
    int count = 0;
    for (; count < MOST_LAYERS; count++) {
        snprintf(name, sizeof name, "layer%d/weights", count + 1);
        const mst_tensor *weights = mst_snapshot_find(snapshot, NULL, name);
        if (!weights || mst_tensor_shape(weights).ndim != 2) break;
        units[count] = mst_tensor_shape(weights).dim[1];
    }
    return count;
}

static mst_status build_model(const char *path, const mst_snapshot *snapshot, const saved_options *o,
                              saved_model *out) {
    int64_t *units = malloc(MOST_LAYERS * sizeof *units);
    if (!units) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a model");
    const int count = read_layers(snapshot, units);
    mst_status status = MST_OK;
    if (!count)
        status =
            MST_FAIL(MST_NOT_FOUND, "'%s': has no 'layer1/weights': it is not of a model that muster train made", path);
    objective objective;
    if (!status) status = objective_choose((mst_loss)o->loss, out->data, units[count - 1], false, &objective);
    if (!status) status = mst_model_create(&out->model);
    if (!status) {
        mst_model_mlp(out->model, units, count - 1, units[count - 1], 0);
        objective_add_layers(objective.loss, out->model);
        status = mst_compile(out->model, .loss = objective.loss, .metric = {objective.metric},
                             .session = {.devices = o->devices});
    }
    free(units);
    return status;
}

static mst_status make_model(const saved_options *o, saved_model *out) {
    mst_restored where;
    mst_store *store;
    mst_snapshot *snapshot = NULL;
    const char *path = o->load ? o->load : o->checkpoint_dir;
    MST_TRY(mst_store_create(&store));
    mst_status status = mst_checkpoint_restore(path, store, NULL, &where);
    if (!status) status = mst_store_snapshot(store, &snapshot);
    if (!status) status = build_model(where.path, snapshot, o, out);
    mst_restored_free(&where);
    mst_snapshot_release(snapshot);
    mst_store_release(store);
    return status;
}

mst_status saved_model_restore(const saved_options *o, saved_model *saved) {
    const mst_restore_options options = {.kinds = 1u << MST_STATE_WEIGHT | 1u << MST_STATE_STEP,
                                         .averages = o->use_ema};
    mst_restored_free(&saved->restored);
    MST_TRY(mst_checkpoint_restore(o->load ? o->load : o->checkpoint_dir, mst_model_store(saved->model), &options,
                                   &saved->restored));
    return MST_OK;
}

/* ---- open and close ---- */

static mst_status open_data(const saved_options *o, saved_model *out) {
    char *spec = NULL;
    if (o->data_dir && asprintf(&spec, "idx:%s", o->data_dir) < 0)
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for the name of the data");
    const mst_data_options options = {.label = o->label, .image_size = o->image_size};
    mst_status status = mst_dataset_open_with(spec ? spec : o->data, "test", &options, &out->data);
    free(spec);
    return status ? status : train_scale_inputs(o->raw_pixels, &out->data);
}

int saved_model_open(const saved_options *o, const char *command, saved_model *out) {
    *out = (saved_model){.model = NULL};
    if (!o->checkpoint_dir && !o->load)
        return command_fail(EXIT_USAGE, "%s: which model? give --checkpoint-dir DIR or --load FILE", command);
    struct stat info;
    if (o->checkpoint_dir && (stat(o->checkpoint_dir, &info) || !S_ISDIR(info.st_mode)))
        return command_fail(EXIT_FAILED, "--checkpoint-dir: '%s': there is no such folder", o->checkpoint_dir);
    mst_status status = open_data(o, out);
    if (!status) status = make_model(o, out);
    if (!status) status = mst_build(out->model, out->data, false);
    if (!status) status = saved_model_restore(o, out);
    if (!status) status = restored_show(&out->restored, o->json, false);
    return status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}

void saved_model_close(saved_model *saved) {
    mst_restored_free(&saved->restored);
    mst_model_destroy(saved->model);
    mst_dataset_release(saved->data);
}
