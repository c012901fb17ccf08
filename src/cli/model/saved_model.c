/* Opens a model that was saved, for `muster evaluate` and `muster predict`.
 *
 * A file of weights has named tensors and the note of `muster train`, but no network. So the layers are derived from
 * the weights: layer1/weights [784, 500] and layer2/weights [500, 10] give a network 784-500-10. The loss, the data and
 * the names of the classes are those that the user gives, else those of the note. Then the model is built, and its
 * weights are restored by name. --name-map maps the names, if those in the file are different. */
#include "cli/model/saved_model.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "cli/accelerators.h"
#include "cli/array_notes.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/json_events.h"
#include "cli/left_out.h"
#include "cli/model/label_columns.h"
#include "cli/model/mlp_layers.h"
#include "cli/model/network_end.h"
#include "cli/model/network_file.h"
#include "cli/model/network_objectives.h"
#include "cli/model/network_texts.h"
#include "cli/model/objective_metrics.h"
#include "cli/model/output_names.h"
#include "cli/model/picture_files.h"
#include "cli/model/positive_class.h"
#include "cli/model/print_restored.h"
#include "cli/model/saved_network.h"
#include "cli/model/scale_inputs.h"
#include "cli/model/unknown_categories.h"
#include "cli/precision.h"
#include "cli/spec_kind.h"

#define AT(member) offsetof(saved_options, member)

const option saved_model_options[] = {
    {"checkpoint-dir", OPTION_FILE, AT(checkpoint_dir), "DIR",
     .help = "the newest checkpoint of DIR that is not damaged"},
    {"load", OPTION_FILE, AT(load), "FILE",
     .help = "or this file: FILE.safetensors, FILE.npz, or the prefix of a checkpoint; a whole model: FILE.keras, "
             "FILE.h5, FILE.onnx or a folder of Hugging Face, of muster train --save or another program",
     .excludes = "checkpoint-dir"},
    {"name-map", OPTION_FILE, AT(name_map), "FILE",
     .help =
         "where variables have other names in the checkpoint: a line for each, name here = name there; what is here is "
         "layer1/weights, layer1/biases, layer2/weights and so on"},
    {"use-ema", OPTION_FLAG, AT(use_ema), .help = "the moving averages of the weights, in place of the weights"},
    {"loss", OPTION_WORDS, AT(loss), "NAME", .choice = objective_loss, .also = objective_short_losses,
     .help = "that the model was trained for (default: what muster train noted in the file, else "
             "sparse_categorical_crossentropy); of several outputs OUTPUT=NAME,OUTPUT=NAME"},
    {"loss-weights", OPTION_TEXT, AT(loss_weights), "OUTPUT=X,OUTPUT=X,...",
     .help = "of several outputs, as of muster train (default: as in training)"},
    {"activation", OPTION_CHOICE, AT(activation), "NAME", "relu", .choice = mlp_activation,
     .help = "of the hidden layers (default: as in training)"},
    {"metrics", OPTION_TEXT, AT(metrics), "NAME,NAME,...", .choice = objective_metric,
     .choice_help = objective_metric_help, .help = "what is measured beside the loss (default: as in training)"},
    {"positive", OPTION_TEXT, AT(positive), "CLASS",
     .help = "the class, by name or number, for precision, recall, f1, auc and pr_auc (default: as in training, else "
             "the second of two classes, in the order of names; with more classes all together); OUTPUT=CLASS for one "
             "of several outputs"},
    {"ignore-class", OPTION_TEXT, AT(ignore_class), "N",
     .help = "labels that do not count, as of muster train (default: as in training)"},
    {"data", OPTION_TEXT, AT(data), "SPEC",
     .help = "as of muster train; the test part is taken, and csv:FILE, images:DIR, or x and y of npz:FILE, as it is; "
             "categories are numbered "
             "as in training "
             "(default: --test-data or --data of the training, else fashion-mnist)"},
    {"class-names", OPTION_FILE, AT(class_names), "FILE",
     .help = "names of the classes, one in each line (default: those of the training, else of the data); of several "
             "outputs with classes OUTPUT=FILE,OUTPUT=FILE"},
    {"label", OPTION_TEXT, AT(table.label), "COLUMN,COLUMN,...",
     .help = "csv: the column of labels, or several (default: as in training, else the last)"},
    {"sample-weight", OPTION_TEXT, AT(table.weight), "COLUMN",
     .help =
         "csv: the column of the examples' weights, by which evaluate multiplies their losses (default: all have the "
         "weight 1)"},
    {"tokenizer", OPTION_FILE, AT(tokenizer), "PATH",
     .help = "texts: as of muster train, for a network without a vocabulary of its own"},
    {"sequence-length", OPTION_INTEGER, AT(sequence_length), "N", NULL, 1, 1e6,
     .help = "texts: words that a network takes of each, if it splits them itself (default: its own number, else 300)"},
    {"text", OPTION_TEXT, AT(text), "COLUMN",
     .help = "csv: the column of texts, where it has another name than in training (default: as there); predict "
             "without --data: -: texts on standard input, as --data texts:- reads them"},
    {"delimiter", OPTION_TEXT, AT(table.delimiter), "C",
     .help = "csv: what is between cells: a character, or tab (default: as in training)"},
    {"comment", OPTION_TEXT, AT(table.comment), "C",
     .help = "csv: lines that begin with this character are skipped (default: as in training)"},
    {"no-header", OPTION_FLAG, AT(table.no_header),
     .help = "csv: the first line is a row too (default: as in training)"},
    {"encoding", OPTION_TEXT, AT(table.encoding), "NAME",
     .help = "csv, texts: as of muster train (default: as in training)"},
    {"decimal", OPTION_TEXT, AT(table.decimal), "C",
     .help = "csv: the decimal mark of numbers, ',' or '.' (default: as in training)"},
    {"thousands", OPTION_TEXT, AT(table.thousands), "C",
     .help = "csv: the thousands separator: ',', '.', an apostrophe, or space (default: as in training)"},
    {"image-size", OPTION_INTEGER, AT(image_size), "N", NULL, 1, 16384,
     .help = "images, tfds, tfrecord: pictures are resized to N x N pixels (default: as in training, else what the "
             "network takes)"},
    {"skip-corrupt", OPTION_INTEGER, AT(skip_corrupt), "N", NULL, 0, 1e15,
     .help = "pictures, images, masks, tfrecord: damaged ones that are left out, as of muster train"},
    {"data-dir", OPTION_FILE, AT(data_dir), "DIR", .help = "the same as --data idx:DIR", .excludes = "data"},
    {"pixels", OPTION_CHOICE, AT(pixels), .initial = "0..1", .choices = pixels_choices,
     .help = "the range of u8 inputs, as of muster train (default: as in training)"},
    {"raw-pixels", OPTION_FLAG, AT(raw_pixels), .help = "the same as --pixels raw", .excludes = "pixels"},
    {"batch-size", OPTION_INTEGER, AT(batch_size), "N", "1000", 1, 1e9, .help = "examples of a step"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC",
     .help = "as of muster train (default: gpu:1 or tpu:1 if MUSTER_PJRT_PLUGIN names such a plugin, else cpu)"},
    {"precision", OPTION_TEXT, AT(precision), "NAME", .choice = precision_name,
     .help = "of products, as of muster train (default: as in training)"},
    {"json", OPTION_FLAG, AT(json), .help = "one JSON object a line on standard output, and nothing else"},
    {0}};

/* ---- the model that a file has ---- */

enum { MOST_LAYERS = 1000 };

/* The weights of dense layer I (from 1) in SNAPSHOT; NULL if it has none. */
static const mst_tensor *layer_weights(const mst_snapshot *snapshot, int i) {
    char name[64];
    snprintf(name, sizeof name, "layer%d/weights", i);
    const mst_tensor *weights = mst_snapshot_find(snapshot, NULL, name);
    return weights && mst_tensor_shape(weights).ndim == 2 ? weights : NULL;
}

/* Fills UNITS with the units of the dense layers layer1, layer2, ... of SNAPSHOT, which has layer1. Returns the number
 * of layers. */
static int read_layers(const mst_snapshot *snapshot, int64_t *units) {
    const mst_tensor *weights = layer_weights(snapshot, 1);
    int count = 0;
    do units[count++] = mst_tensor_shape(weights).dim[1];
    while (count < MOST_LAYERS && (weights = layer_weights(snapshot, count + 1)));
    return count;
}

static const char *path_of(const saved_options *o) {
    return o->load ? o->load : o->checkpoint_dir;
}

/* The loss of --loss, else the one that was noted in the file. */
static mst_status choose_loss(const saved_options *o, const option_list *list, const model_note *note, mst_loss *out) {
    *out = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    if (o->loss_weights || (option_given(list, "loss") && strchr(o->loss, '=')))
        return MST_FAIL(MST_INVALID, "'%s': is no network of a file, whose outputs have names: write --loss NAME",
                        path_of(o));
    if (option_given(list, "loss")) return objective_loss_named(o->loss, out);
    if (!note->loss || !mst_loss_from_name(note->loss, out)) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': was trained with a loss '%s', which is not known here: say which with --loss",
                    path_of(o), note->loss);
}

static mst_activation choose_activation(const saved_options *o, const option_list *list, const model_note *note) {
    const char *name = model_note_option(note, "activation");
    for (int i = 0; name && !option_given(list, "activation") && mlp_activation(i); i++)
        if (strcmp(mlp_activation(i), name) == 0) return (mst_activation)i;
    return (mst_activation)o->activation;
}

/* Chooses the precision of --precision, else that of the training. */
static mst_status choose_precision(const saved_options *o, saved_model *out) {
    const char *name = o->precision ? o->precision : model_note_option(&out->note, "precision");
    out->precision = MST_FLOAT32;
    return name ? precision_read(name, &out->precision) : MST_OK;
}

/* Adds the layers of a table's columns, as in training. Their weights are in the file. */
static mst_status add_columns(saved_model *out) {
    const model_note *note = &out->note;
    const char *above = model_note_option(note, "embed-above"), *missing = model_note_option(note, "missing");
    if (!note->encodes_columns) return MST_OK;
    MST_TRY(table_layers_find(out->data, note->schema, above ? strtoll(above, NULL, 10) : 0, &out->table));
    if (!out->table.num_columns)
        return MST_FAIL(MST_INVALID,
                        "the model was trained on a table of other columns than the data has: take csv:FILE");
    out->table.fill_missing = missing && strcmp(missing, table_missing[MST_MISSING_NAN]) == 0;
    return table_layers_add(&out->table, out->model);
}

static mst_status build_model(const saved_options *o, const option_list *list, const int64_t *units, int count,
                              mst_loss loss, saved_model *out) {
    const int64_t outputs = units[count - 1];
    const char *ignored = o->ignore_class ? o->ignore_class : model_note_option(&out->note, "ignore-class");
    double ignore_class;
    MST_TRY(objective_read_ignored(ignored, &ignore_class));
    *out->objective = (objective){.ignore_class = ignore_class};
    if (mst_dataset_num_components(out->data) < 2)
        *out->objective = objective_of(loss, outputs);
    else
        MST_TRY(objective_choose(loss, out->data, 1, outputs, false, out->objective));
    out->num_objectives = 1;
    MST_TRY(objective_metrics(o->metrics ? o->metrics : model_note_option(&out->note, "metrics"), o->metrics != NULL,
                              out->objective, 1));
    MST_TRY(mst_model_create(&out->model));
    MST_TRY(add_columns(out));
    mlp_layers(out->model, &(mlp_form){.hidden = units,
                                       .num_hidden = count - 1,
                                       .outputs = outputs,
                                       .activation = choose_activation(o, list, &out->note)});
    objective_add_layers(loss, out->model);
    return MST_OK;
}

/* Fails since the file has no weights of a first layer. The message lists the tensors of SNAPSHOT, which was read
 * without --name-map. */
static mst_status fail_unknown(const char *path, const char *name_map, const mst_snapshot *snapshot) {
    enum { LISTED = 400, ONE = 200 };
    char list[LISTED + ONE] = "", shape[MST_SHAPE_TEXT];
    size_t used = 0;
    for (int64_t i = 0; i < mst_snapshot_count(snapshot) && used < LISTED; i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        if (info.kind != MST_STATE_WEIGHT) continue;
        snprintf(list + used, ONE, "%s'%.100s' %s", used ? ", " : "", info.name,
                 mst_shape_print(info.spec.shape, shape, sizeof shape));
        used += strlen(list + used);
    }
    if (!used) snprintf(list, sizeof list, "no weights");
    if (name_map)
        return MST_FAIL(MST_NOT_FOUND, "'%s': has nothing for 'layer1/weights' by the names of '%s'; it has %s", path,
                        name_map, list);
    return MST_FAIL(MST_NOT_FOUND,
                    "'%s': has no 'layer1/weights': it is not of a model that muster train made; it has %s: say with "
                    "--name-map FILE what is what",
                    path, list);
}

static mst_status make_model(const mst_snapshot *snapshot, const saved_options *o, const option_list *list,
                             saved_model *out) {
    mst_loss loss = 0;
    int64_t *units = malloc(MOST_LAYERS * sizeof *units);
    if (!units) return MST_NO_MEMORY("for a model");
    const int count = read_layers(snapshot, units);
    mst_status status = choose_loss(o, list, &out->note, &loss);
    if (!status) status = build_model(o, list, units, count, loss, out);
    free(units);
    return status;
}

/* Reads the entries of the file, and its note. NAMES renames the entries; NULL: they keep their names. WHERE gets the
 * path of the file. */
static mst_status read_entries(const saved_options *o, const name_map *names, mst_snapshot **snapshot,
                               mst_restored *where, saved_model *out) {
    mst_store *store;
    mst_restore_options options = {.kinds = 0};
    if (names) options = (mst_restore_options){.names = names->name, .num_names = names->count};
    mst_snapshot_release(*snapshot);
    *snapshot = NULL;
    mst_restored_free(where);
    model_note_free(&out->note);
    MST_TRY(mst_store_create(&store));
    mst_status status = mst_checkpoint_restore(path_of(o), store, &options, where);
    if (!status && model_note_read(store, &out->note)) status = mst_error_prefix("'%s'", where->path);
    if (!status) status = mst_store_snapshot(store, snapshot);
    mst_store_release(store);
    return status;
}

/* Reads the file by Muster's names, then if needed by the names of --name-map. Muster's names come first in a folder of
 * checkpoints, as in `muster train`: a training may have begun there with a checkpoint of another program and a map,
 * but its own checkpoints have Muster's names. With --load and a map, only the names of the map are used. */
static mst_status read_file(const saved_options *o, mst_snapshot **snapshot, mst_restored *where, saved_model *out) {
    const bool has_map = out->variables.count > 0;
    if (!has_map || !o->load) {
        MST_TRY(read_entries(o, NULL, snapshot, where, out));
        if (layer_weights(*snapshot, 1) || out->note.network) return MST_OK;
    }
    if (has_map) {
        const mst_status status = read_entries(o, &out->variables, snapshot, where, out);
        if (status && status != MST_NOT_FOUND) return status;
        if (!status && layer_weights(*snapshot, 1)) return MST_OK;
        MST_TRY(read_entries(o, NULL, snapshot, where, out)); /* for the names in the message */
    }
    return fail_unknown(where->path, o->name_map, *snapshot);
}

/* Restores the weights by the names of MAP; NULL: by Muster's names. */
static mst_status restore_weights(const saved_options *o, const name_map *map, saved_model *saved) {
    mst_restore_options options = {.kinds = 1u << MST_STATE_WEIGHT, .averages = o->use_ema};
    if (map) options.names = map->name, options.num_names = map->count;
    mst_restored_free(&saved->restored);
    return mst_checkpoint_restore(path_of(o), mst_model_store(saved->model), &options, &saved->restored);
}

mst_status saved_model_restore(const saved_options *o, saved_model *saved) {
    if (network_file_is(o->load)) return MST_OK; /* its weights were read with the network */
    const bool has_map = saved->variables.count > 0;
    if (!has_map || !o->load) {
        const mst_status status = restore_weights(o, NULL, saved);
        if (!has_map || status != MST_NOT_FOUND) return status;
    }
    return restore_weights(o, &saved->variables, saved);
}

/* ---- open and close ---- */

static bool is_pictures(const char *spec) {
    return mst_dataset_spec_has_pictures(spec);
}

/* The options to read a table: those of the user, else those of the training. If the schema of the training is known,
 * it decides which columns are used and how the numbers of each column are written. */
static table_options choose_table(const saved_options *o, const option_list *list, const model_note *note,
                                  const char *spec) {
    table_options table = o->table;
    if (!table.encoding && (spec_is_table(spec) || spec_is_of_kind(spec, "texts:")))
        table.encoding = model_note_option(note, "encoding");
    if (!spec_is_table(spec)) return table;
    if (!table.delimiter) table.delimiter = model_note_option(note, "delimiter");
    if (!table.comment) table.comment = model_note_option(note, "comment");
    const char *no_header = model_note_option(note, "no-header");
    if (no_header && !option_given(list, "no-header")) table.no_header = strcmp(no_header, "true") == 0;
    const char *missing = model_note_option(note, "missing");
    if (missing && strcmp(missing, table_missing[MST_MISSING_NAN]) == 0) table.missing = MST_MISSING_NAN;
    if (!note->schema && !table.decimal && !table.thousands) {
        table.decimal = model_note_option(note, "decimal");
        table.thousands = model_note_option(note, "thousands");
    }
    if (note->schema) table.drop = table.categories = NULL;
    return table;
}

/* Fails since the data of the training, which is used because the user named none, cannot be opened. */
static mst_status fail_noted_data(const char *spec) {
    return MST_FAIL(mst_error()->code, "the data of the training, '%s': %s; --data SPEC takes other data", spec,
                    mst_error()->message);
}

/* Fails since the data is of another kind than the data of the training, which numbered the columns, classes and
 * words. */
static mst_status fail_other_kind(const saved_options *o, const char *noted, const char *spec) {
    return MST_FAIL(MST_INVALID, "'%s': the model was trained on '%s', and takes no data such as '%s': %s", path_of(o),
                    noted, spec, "name data of the same kind");
}

/* The shape of an example of the inputs, from the network if there is one, else from the weights in SNAPSHOT. */
static mst_status input_shape(const saved_options *o, const mst_snapshot *snapshot, saved_model *out,
                              mst_shape *shape) {
    network_ends ends;
    if (!out->model) {
        *shape = MST_SHAPE(mst_tensor_shape(layer_weights(snapshot, 1)).dim[0]);
        return MST_OK;
    }
    MST_TRY(network_ends_of_any(path_of(o), out->model, &ends));
    *shape = ends.input[0].shape;
    if (ends.num_inputs > 1)
        return MST_FAIL(MST_INVALID, "'%s': has %d inputs, and pictures are one: take --data npz:FILE", path_of(o),
                        ends.num_inputs);
    if (ends.input[0].is_tokens)
        return MST_FAIL(MST_INVALID,
                        "'%s': the model takes numbers of words, not pictures: take --data texts:PATH, or "
                        "csv:FILE",
                        path_of(o));
    return MST_OK;
}

static mst_status open_pictures(const saved_options *o, const option_list *list, const mst_snapshot *snapshot,
                                saved_model *out) {
    mst_shape shape;
    if (out->note.encodes_columns || (out->note.data && spec_is_table(out->note.data)))
        return MST_FAIL(MST_INVALID, "'%s': the model takes the columns of a table, not pictures", path_of(o));
    MST_TRY(data_options_check_pictures(list, o->pictures[0]));
    MST_TRY(input_shape(o, snapshot, out, &shape));
    const picture_files files = {.paths = o->pictures,
                                 .count = o->num_pictures,
                                 .size = o->image_size ? o->image_size : out->note.image_size,
                                 .skip_corrupt = o->skip_corrupt};
    return picture_files_open(&files, shape, &out->data, &out->files);
}

static const char *choose_spec(const saved_options *o, const model_note *note) {
    const char *test_data = model_note_option(note, "test-data");
    if (o->data) return o->data;
    return test_data ? test_data : note->data ? note->data : "fashion-mnist";
}

/* A model of dense layers takes rows of any shape, if their number of elements is the input size of the first layer. */
static mst_status check_first_layer(const saved_options *o, const mst_snapshot *snapshot, const char *spec,
                                    const saved_model *out) {
    char text[MST_SHAPE_TEXT];
    const int64_t want = mst_tensor_shape(layer_weights(snapshot, 1)).dim[0];
    const mst_shape have = mst_dataset_spec(out->data, 0).shape;
    if (out->note.encodes_columns || mst_shape_count(have) == want) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': takes inputs of %lld numbers, those of '%s' are %s", path_of(o),
                    (long long)want, spec, mst_shape_print(have, text, sizeof text));
}

/* The size to which pictures are resized: the one that the network takes, if that is a square; else 0. */
static int64_t fitting_size(const network_ends *ends) {
    const mst_shape input = ends->input[0].shape;
    return input.ndim >= 2 && input.dim[0] > 0 && input.dim[0] == input.dim[1] ? input.dim[0] : 0;
}

/* The length of the texts that the network takes; 0: any. */
static int64_t text_length(const network_ends *ends) {
    const mst_shape input = ends->input[0].shape;
    return input.ndim == 1 && input.dim[0] > 0 ? input.dim[0] : 0;
}

/* Whether the model predicts the token after each position of its input: its outputs are as many as its tokens. */
static mst_status find_language_model(const network_ends *ends, const saved_model *saved, bool *out) {
    const mst_shape shape = ends->output[0].shape;
    int64_t num_tokens = 0;
    *out = false;
    if (ends->num_inputs > 1 || ends->num_outputs > 1 || !ends->input[0].is_tokens || shape.ndim != 2) return MST_OK;
    MST_TRY(network_tokens(saved->model, &num_tokens));
    *out = num_tokens > 0 && shape.dim[1] == num_tokens;
    return MST_OK;
}

/* Refuses texts as the data of a language model: `muster generate` writes on after a text. */
static mst_status check_texts(const saved_options *o, const option_list *list, const network_ends *ends,
                              const char *spec, const saved_model *saved) {
    const bool has_texts = option_given(list, "text") || (spec_is_of_kind(spec, "texts:") && !o->tokenizer);
    bool is_language_model = false;
    if (saved->model && o->predicts && has_texts) MST_TRY(find_language_model(ends, saved, &is_language_model));
    if (!is_language_model) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': is a language model, which goes on with a text by muster generate --%s %s --text TEXT; "
                    "predict gives the numbers of all tokens for --data lines:FILE or tokens:FILE",
                    path_of(o), o->load ? "load" : "checkpoint-dir", path_of(o));
}

/* Refuses data without texts for a network that takes strings, and a tokenizer, whose ids are numbers. */
static mst_status check_strings(const saved_options *o, const option_list *list, const model_note *note,
                                const char *spec) {
    const bool has_text = option_given(list, "text") || model_note_option(note, "text");
    if (o->tokenizer)
        return MST_FAIL(MST_INVALID, "--tokenizer is not for '%s', which splits texts itself: leave it out",
                        path_of(o));
    if (spec_is_of_kind(spec, "texts:") || (spec_is_table(spec) && has_text)) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': takes texts, and '%s' has none: take --data texts:PATH, or csv:FILE with --text", path_of(o),
                    spec);
}

/* Opens the test part, or the data that the user names. SNAPSHOT is that of a file without a network, else NULL. */
static mst_status open_spec(const saved_options *o, const option_list *list, const network_ends *ends,
                            const mst_snapshot *snapshot, saved_model *out) {
    const model_note *note = &out->note;
    char *folder = NULL;
    const char *spec = choose_spec(o, note);
    MST_TRY(check_texts(o, list, ends, spec, out));
    if (out->model) MST_TRY(network_check_strings(path_of(o), ends));
    const bool takes_strings = out->model && network_takes_strings(ends);
    if (takes_strings) MST_TRY(check_strings(o, list, note, spec));
    if (out->model && !note->schema && !o->tokenizer && !takes_strings && spec_is_of_kind(spec, "texts:"))
        return MST_FAIL(MST_INVALID,
                        "'%s': has no vocabulary that numbers the words of '%s', as a model of muster train has: take "
                        "--data npz:FILE with numbers, or --tokenizer if it takes ids of one",
                        path_of(o), spec);
    if (o->data_dir && asprintf(&folder, "idx:%s", o->data_dir) < 0) return MST_NO_MEMORY("for the name of the data");
    if (folder) spec = folder;
    mst_status checked = data_options_check(list, spec, o->text || model_note_option(note, "text"));
    if (!checked && o->sequence_length && !takes_strings)
        checked = MST_FAIL(MST_INVALID,
                           "--sequence-length: '%s' does not split texts itself, so its length is known: leave it out",
                           path_of(o));
    if (checked) {
        free(folder);
        return checked;
    }
    mst_data_options options = {.image_size = o->image_size,
                                .skip_corrupt = o->skip_corrupt,
                                .schema = note->schema,
                                .text = o->text,
                                .tokenizer = o->tokenizer,
                                .raw_texts = takes_strings,
                                .inputs_only = o->predicts,
                                .unknown_categories = note->encodes_columns};
    const char *inputs[MAX_ENDS], *outputs[MAX_ENDS];
    if (takes_strings && !o->text) options.text = model_note_option(note, "text");
    if (out->model) network_data_options(ends, inputs, outputs, &options);
    if (out->model && spec != note->data && !note->schema) {
        /* data that the user names: the network tells which columns of a table are inputs */
        options.whole_file = true;
        options.input_columns = mst_shape_count(ends->input[0].shape);
        if (options.input_columns < 0) options.input_columns = 0;
    }
    if (spec != note->data && (spec_is_of_kind(spec, "npz:") || spec_is_long_text(spec)))
        options.whole_file = true;                                   /* also with a schema */
    const bool has_length = o->tokenizer || spec_is_long_text(spec); /* the length is that of the network's input */
    if (out->model && has_length && !note->schema) options.sequence_length = text_length(ends);
    const table_options table = choose_table(o, list, note, spec);
    if (!o->image_size && is_pictures(spec)) options.image_size = note->image_size;
    if (!options.image_size && is_pictures(spec) && out->model) options.image_size = fitting_size(ends);
    options.parts_only = spec == note->data; /* else, with a schema, data without parts would be the train part */
    mst_status status = table_options_open(&table, spec, "test", options, &out->data);
    if (!status && out->model) status = network_inputs_check(path_of(o), ends, spec, out->data);
    if (status == MST_NOT_FOUND && o->predicts && is_pictures(spec) && o->data)
        status = MST_FAIL(status, "%s; to predict pictures without classes, name them, or their folder, without --data",
                          mst_error()->message);
    if (status && note->data && !o->data && !folder) status = fail_noted_data(spec);
    const char *of_other_kind = status == MST_INVALID && note->schema            ? "schema: "
                                : status == MST_NOT_FOUND && spec_is_table(spec) ? "is the train part"
                                                                                 : NULL;
    if (of_other_kind && note->data && !spec_same_kind(spec, note->data) && strstr(mst_error()->message, of_other_kind))
        status = fail_other_kind(o, note->data, spec);
    if (!status && snapshot) status = check_first_layer(o, snapshot, spec, out);
    free(folder);
    return status;
}

/* How pixels are scaled: by --pixels or --raw-pixels, or if neither is given, as in the note. */
static int pixels_of(const saved_options *o, const option_list *list, const model_note *note) {
    if (option_given(list, "raw-pixels")) return o->raw_pixels ? PIXELS_RAW : PIXELS_UNIT;
    if (option_given(list, "pixels")) return o->pixels;
    return note->raw_pixels ? PIXELS_RAW : pixels_from_name(note->pixels);
}

/* Finds the range of pixels by the network's name, if neither an option nor the note gives it. */
static void find_pixels(const saved_options *o, const option_list *list, const network_ends *ends, saved_model *out) {
    const bool is_given = option_given(list, "pixels") || option_given(list, "raw-pixels");
    if (is_given || !network_file_is(o->load) || network_file_is_onnx(o->load) || out->note.json) return;
    if (mst_dataset_spec(out->data, 0).dtype == MST_U8)
        out->known_pixels = application_pixels_of(out->model, &ends->input[0]);
}

static mst_status scale_all_inputs(int pixels, const network_ends *ends, saved_model *out) {
    if (!out->model) return scale_inputs(pixels, 0, NULL, &out->data);
    if (out->known_pixels.name) pixels = out->known_pixels.pixels;
    for (int i = 0; i < ends->num_inputs; i++) MST_TRY(scale_inputs(pixels, i, &ends->input[i], &out->data));
    return MST_OK;
}

/* Opens the data or the pictures, and scales the inputs. SNAPSHOT is that of a file without a network, else NULL. */
static mst_status open_data(const saved_options *o, const option_list *list, const mst_snapshot *snapshot,
                            saved_model *out) {
    const int pixels = pixels_of(o, list, &out->note);
    int64_t num_paths;
    network_ends ends;
    if (out->model) MST_TRY(network_ends_of_any(path_of(o), out->model, &ends));
    const int num_inputs = out->model ? ends.num_inputs : 1;
    mst_dtype stored[MST_MAX_TARGETS];
    MST_TRY(o->num_pictures ? open_pictures(o, list, snapshot, out) : open_spec(o, list, &ends, snapshot, out));
    if (!o->num_pictures) array_notes_warn(choose_spec(o, &out->note));
    if (!o->num_pictures && mst_dataset_file_paths(out->data, &num_paths)) out->files = out->data;
    for (int i = 0; i < num_inputs && o->data && o->data != out->note.data; i++)
        if (out->note.divides_pixels[i]) MST_TRY(scale_inputs_warn(o->data, i, out->data));
    for (int i = 0; i < num_inputs; i++) stored[i] = mst_dataset_spec(out->data, i).dtype;
    if (!o->num_pictures) MST_TRY(data_options_check_pixels(list, choose_spec(o, &out->note), stored, num_inputs));
    if (out->model) find_pixels(o, list, &ends, out);
    return scale_all_inputs(pixels, &ends, out);
}

/* Chooses the names of the classes of a model with one output: those of --class-names, else those noted in the file,
 * else those of the data. */
static mst_status choose_only_names(const saved_options *o, saved_model *out) {
    objective *only = out->objective;
    class_names *own = out->own_names;
    const bool has_network = out->note.network || network_file_is(o->load);
    if (o->class_names) {
        if (class_names_read(o->class_names, own)) return mst_error_prefix("--class-names");
        MST_TRY(objective_check_names(only, o->class_names, class_names_count((const char *const *)*own)));
    } else if (!out->note.classes) {
        MST_TRY(class_names_of(out->data, mst_model_num_inputs(out->model), own));
        if (has_network && *own && objective_check_names(only, "", class_names_count((const char *const *)*own))) {
            free(*own); /* their number is not the number of classes of the model */
            *own = NULL;
        }
    }
    only->names = *own ? (const char *const *)*own : out->note.classes;
    MST_TRY(label_columns_of(out->note.schema, &out->label_columns));
    label_columns_name(out->label_columns, only);
    return MST_OK;
}

static mst_status choose_names(const saved_options *o, saved_model *out) {
    if (out->num_objectives == 1) return choose_only_names(o, out);
    MST_TRY(output_names_read(o->class_names, out->objective, out->num_objectives, out->own_names));
    return output_names_find(&out->note, out->data, out->objective, out->num_objectives, out->own_names);
}

/* With --use-ema the file must have averages; without them, restoring would take the weights instead. */
static mst_status check_averages(const saved_options *o, const mst_snapshot *snapshot, const char *path) {
    bool found = !o->use_ema;
    for (int64_t i = 0; !found && i < mst_snapshot_count(snapshot); i++)
        found = mst_snapshot_info(snapshot, i).kind == MST_STATE_AVERAGE;
    if (found) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND,
                    "--use-ema: '%s' has no moving averages, which muster train --ema X keeps: leave it out", path);
}

/* Opens a file of a whole model, or if PATH is not NULL the checkpoint of a network that came from such a file. */
static mst_status open_network(const saved_options *o, const option_list *list, const char *command, const char *path,
                               saved_model *out) {
    mst_model_compiled compiled;
    MST_TRY(path ? saved_network_make(path, out, &compiled) : saved_network_load(o, list, out, &compiled));
    network_set_text_length(path_of(o), out->model, o->sequence_length);
    MST_TRY(choose_precision(o, out));
    MST_TRY(open_data(o, list, NULL, out));
    return saved_network_objectives(o, list, command, &compiled, out);
}

/* Opens a file without a network. Its weights tell the layers. */
static mst_status open_weights(const saved_options *o, const option_list *list, const mst_snapshot *snapshot,
                               saved_model *out) {
    MST_TRY(choose_precision(o, out));
    MST_TRY(open_data(o, list, snapshot, out));
    return make_model(snapshot, o, list, out);
}

static mst_status compile_model(const saved_options *o, saved_model *out) {
    const char *positive = o->positive ? o->positive : model_note_option(&out->note, "positive");
    char found[32];
    if (!o->devices) accelerators_default(found, &out->accelerators_problem);
    mst_compile_options compile = {.precision = out->precision,
                                   .sample_weights = table_options_has_weight(&o->table) && !o->predicts,
                                   .session = {.devices = o->devices ? o->devices : found}};
    MST_TRY(positive_class_choose(o->predicts ? NULL : positive, out->objective, out->num_objectives));
    objective_compile(out->objective, out->num_objectives, &compile);
    return mst_compile_with(out->model, &compile);
}

static mst_status open_model(const saved_options *o, const option_list *list, const char *command, saved_model *out) {
    mst_restored where = {.path = NULL};
    mst_snapshot *snapshot = NULL;
    const bool is_whole = network_file_is(o->load);
    mst_status status = MST_OK;
    if (!is_whole) status = name_map_read(o->name_map, &out->variables);
    if (!status && !is_whole) status = read_file(o, &snapshot, &where, out);
    if (!status && !is_whole) status = check_averages(o, snapshot, where.path);
    if (!status)
        status = is_whole || out->note.network ? open_network(o, list, command, where.path, out)
                                               : open_weights(o, list, snapshot, out);
    if (!status) status = choose_names(o, out);
    if (!status) status = compile_model(o, out);
    mst_restored_free(&where);
    mst_snapshot_release(snapshot);
    return status;
}

/* Whether PART of SPEC, read with the options TABLE, lacks the column of labels. If so, the library's error lists the
 * columns that exist. */
static bool lacks_labels(const table_options *table, const char *spec, const char *part) {
    mst_dataset *data = NULL;
    const bool failed = table_options_open(table, spec, part, (mst_data_options){0}, &data) != MST_OK;
    mst_dataset_release(data);
    return failed && strstr(mst_error()->message, "has no column");
}

/* Fails since the data has no labels. For a table, the message tells the name of the missing column. */
static mst_status fail_unlabelled(const saved_options *o, const option_list *list, const char *command,
                                  const saved_model *saved) {
    const char *text = saved->note.schema, *spec = choose_spec(o, &saved->note);
    json_t *schema = text ? mst_json_read_string(text, NULL) : NULL;
    const json_t *columns = json_object_get(schema, "columns");
    const json_t *last = json_array_get(columns, json_array_size(columns) ? json_array_size(columns) - 1 : 0);
    const char *name = json_string_value(json_object_get(last, "name"));
    char *quoted = NULL;
    table_options table = choose_table(o, list, &saved->note, spec);
    table.label = name;
    if (name && strchr(name, ',') && !strchr(name, '"') && asprintf(&quoted, "\"%s\"", name) < 0) quoted = NULL;
    if (quoted) table.label = quoted;
    mst_status status;
    if (!table.label || !spec_is_table(spec))
        status = MST_FAIL(MST_INVALID, "'%s': the data has no labels: %s needs them", spec, command);
    else if (strcmp(spec, "csv:-") != 0 && (lacks_labels(&table, spec, "train") || lacks_labels(&table, spec, "test")))
        status = mst_error_prefix("the data has no labels, which %s needs", command);
    else
        status =
            MST_FAIL(MST_INVALID, "'%s': the data has no labels: %s needs their column, '%s'", spec, command, name);
    free(quoted);
    json_decref(schema);
    return status;
}

/* Refuses --class-names with the names of the data in another order. Text labels are numbered in the order of their
 * bytes, so labels would be compared with outputs of other classes. */
static mst_status check_order(const objective *o, const mst_dataset *data) {
    for (int64_t i = 0; o->names && i < mst_dataset_num_classes(data, o->component); i++) {
        const char *there = mst_dataset_class_name(data, o->component, i), *here = class_names_at(o->names, i);
        for (int64_t k = 0; here && class_names_at(o->names, k); k++)
            if (k != i && strcmp(class_names_at(o->names, k), there) == 0)
                return MST_FAIL(MST_INVALID,
                                "--class-names: class %lld is '%.64s', in the data it is '%.64s', whose number here is "
                                "%lld: write numbers in place of names as the labels of the data",
                                (long long)i, here, there, (long long)k);
    }
    return MST_OK;
}

/* Before the model runs, checks that it has all classes of the labels. So the message can give the row, and not only a
 * node of the graph. */
static mst_status check_classes(const saved_model *saved) {
    for (int i = 0; i < saved->num_objectives; i++) {
        const objective *o = &saved->objective[i];
        const mst_status status = objective_check_classes(o, saved->data);
        if (status && saved->num_objectives > 1) return mst_error_prefix("output '%s'", o->output);
        MST_TRY(status);
    }
    return MST_OK;
}

mst_status saved_model_open_quietly(const saved_options *o, const option_list *list, const char *command,
                                    saved_model *out) {
    *out = (saved_model){.model = NULL};
    const bool predicts = strcmp(command, "predict") == 0;
    MST_TRY(open_model(o, list, command, out));
    if (!predicts && mst_dataset_num_components(out->data) < mst_model_num_inputs(out->model) + 1)
        return fail_unlabelled(o, list, command, out);
    if (!predicts) MST_TRY(check_classes(out));
    for (int i = 0; !predicts && o->class_names && i < out->num_objectives; i++)
        MST_TRY(check_order(&out->objective[i], out->data));
    if (predicts && network_file_is(o->load)) return MST_OK; /* prediction does not use labels */
    MST_TRY(mst_build(out->model, out->data, false));
    return saved_model_restore(o, out);
}

int saved_model_open(const saved_options *o, const option_list *list, const char *command, saved_model *out) {
    *out = (saved_model){.model = NULL};
    if (!o->checkpoint_dir && !o->load)
        return command_fail(EXIT_USAGE, "%s: which model? give --checkpoint-dir DIR or --load FILE", command);
    struct stat info;
    if (o->checkpoint_dir && (stat(o->checkpoint_dir, &info) || !S_ISDIR(info.st_mode)))
        return command_fail(
            EXIT_FAILED,
            "--checkpoint-dir: '%s': there is no such folder: give the one of --checkpoint-dir of the training",
            o->checkpoint_dir);
    if (objective_check_metrics(o->metrics)) return command_fail_usage(command);
    if (o->precision && precision_read(o->precision, &out->precision)) return command_fail_usage(command);
    const char *schema = NULL;
    mst_status status = saved_model_open_quietly(o, list, command, out);
    if (!status && out->note.encodes_columns) schema = out->note.schema;
    if (!status && schema) status = unknown_categories_warn(out->data, schema);
    return status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}

mst_precision saved_model_precision(const saved_model *saved) {
    return precision_on(saved->precision, mst_session_device(mst_model_session(saved->model), 0));
}

mst_status saved_model_show(const saved_model *saved, bool json) {
    const char *device = mst_session_device(mst_model_session(saved->model), 0);
    MST_TRY(restored_show(&saved->restored, saved->known_pixels.name ? &saved->known_pixels : NULL, json, false));
    if (json) return MST_OK;
    damaged_print(saved->data, "");
    precision_note(saved->precision, device);
    accelerators_print_untested(accelerators_untested(device));
    fflush(stdout);
    return MST_OK;
}

void saved_model_add_devices(json_t **event, const saved_model *saved) {
    const mst_session *session = mst_model_session(saved->model);
    const char *untested = accelerators_untested(mst_session_device(session, 0));
    json_t *devices = json_array();
    for (int i = 0; i < mst_session_num_devices(session); i++)
        json_array_append_new(devices, json_string(mst_session_device(session, i)));
    json_add(event, "", "devices", devices);
    if (untested) json_add(event, "", "untested_devices", json_string(untested));
    if (saved->accelerators_problem) json_add(event, "", "accelerators_error", json_text(saved->accelerators_problem));
}

void saved_model_close(saved_model *saved) {
    mst_restored_free(&saved->restored);
    mst_model_destroy(saved->model);
    table_layers_free(&saved->table);
    mst_dataset_release(saved->data);
    model_note_free(&saved->note);
    free(saved->accelerators_problem);
    for (int i = 0; i < MST_MAX_TARGETS; i++) free(saved->own_names[i]);
    free(saved->label_columns);
    name_map_free(&saved->variables);
}
