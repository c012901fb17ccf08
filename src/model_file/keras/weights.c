#include "model_file/keras/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/keras/classes.h"
#include "model_file/keras/gradient_sums.h"
#include "model_file/keras/layer_folder.h"
#include "model_file/keras/preprocessing.h"
#include "rule/accumulate.h"
#include "strategy/weight_copies.h"

/* ---- tensors of a file as entries of a store ---- */

/* TENSOR converted to DTYPE; a new reference. */
static mst_status as_dtype(mst_tensor *tensor, mst_dtype dtype, mst_tensor **out) {
    if (mst_tensor_dtype(tensor) == dtype) {
        *out = mst_tensor_retain(tensor);
        return MST_OK;
    }
    MST_TRY(mst_tensor_create(dtype, mst_tensor_shape(tensor), out));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(*out, i, mst_tensor_get(tensor, i));
    return MST_OK;
}

mst_status mst_keras_entry_add(mst_snapshot *snapshot, const char *name, mst_state_kind kind, mst_tensor *tensor,
                               mst_dtype dtype) {
    mst_tensor *converted;
    MST_TRY(as_dtype(tensor, dtype, &converted));
    const mst_status status = mst_snapshot_add(snapshot, NULL, name, kind, converted);
    mst_tensor_release(converted);
    return status;
}

static mst_status add_weight(const char *file, const char *path, const mst_weight *weight, mst_tensor *tensor,
                             mst_snapshot *snapshot) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    if (!tensor) return MST_FAIL(MST_CORRUPT, "'%s': has no '%s', the weights of '%s'", file, path, weight->name);
    if (!mst_shape_equal(mst_tensor_shape(tensor), weight->spec.shape))
        return MST_FAIL(MST_INVALID, "'%s': '%s' is %s, '%s' needs %s: it is another model's", file, path,
                        mst_shape_print(mst_tensor_shape(tensor), have, sizeof have), weight->name,
                        mst_shape_print(weight->spec.shape, want, sizeof want));
    return mst_keras_entry_add(snapshot, weight->name, MST_STATE_WEIGHT, tensor, weight->spec.dtype);
}

/* ---- paths of weights in files of Keras 3 ---- */

static void path_of(const mst_keras_network *network, int64_t i, char out[MST_KERAS_FOLDER]) {
    const mst_keras_layer *layer = &network->layer[i];
    int64_t before = 0;
    for (int64_t k = 0; k < i; k++) before += strcmp(network->layer[k].class_name, layer->class_name) == 0;
    if (layer->path)
        snprintf(out, MST_KERAS_FOLDER, "%s", layer->path);
    else
        mst_keras_layer_folder("", layer->class_name, before, out);
}

/* The K-th weight of LAYER, counting only those that are weights in Keras' files too; NULL if it has fewer. */
static const mst_weight *weight_of(const mst_weight *weights, int64_t count, const mst_keras_layer *layer, int64_t k) {
    if (mst_keras_preprocessing_keeps_weights(layer->class_name)) return NULL;
    for (int64_t i = 0; i < count; i++)
        if (strcmp(weights[i].layer, layer->name) == 0 && k-- == 0) return &weights[i];
    return NULL;
}

/* Writes the path of the K-th of COUNT weights of LAYER, whose folder is OF_LAYER, to OUT. K = COUNT gives the path
 * that one more weight would have. */
static void weight_path(const char *of_layer, const mst_keras_layer *layer, int64_t k, int64_t count, char *out,
                        size_t size) {
    char folder[MST_KERAS_FOLDER + 10];
    const char *const *part = mst_keras_class_parts(layer->inside ? layer->inside : layer->class_name);
    snprintf(folder, sizeof folder, "%s%s", of_layer, layer->inside ? "/layer" : "");
    int64_t num = 0;
    while (part && part[num]) num++;
    if (num == 0 || count < num) {
        snprintf(out, size, "%s/vars/%lld", folder, (long long)k);
        return;
    }
    const int64_t each = count / num, which = k < count ? k / each : num - 1;
    snprintf(out, size, "%s/%s/vars/%lld", folder, part[which], (long long)(k - which * each));
}

static int64_t count_of(const mst_weight *weights, int64_t count, const mst_keras_layer *layer) {
    int64_t k = 0;
    while (weight_of(weights, count, layer, k)) k++;
    return k;
}

/* The number of weights, out of the COUNT weights of a model, that are not written to files. */
static int64_t num_left_out(const mst_keras_network *network, const mst_weight *weights, int64_t count) {
    int64_t left_out = 0;
    for (int64_t i = 0; i < network->num_layers; i++) {
        const mst_keras_layer *l = &network->layer[i];
        if (!mst_keras_preprocessing_keeps_weights(l->class_name)) continue;
        for (int64_t k = 0; k < count; k++) left_out += strcmp(weights[k].layer, l->name) == 0;
    }
    return left_out;
}

static mst_status read_layer(const char *file, const mst_keras_tree *tree, const mst_keras_network *network, int64_t i,
                             const mst_weight *weights, int64_t count, mst_snapshot *snapshot) {
    char folder[MST_KERAS_FOLDER], path[MST_KERAS_FOLDER + 50];
    const mst_weight *weight;
    const mst_keras_layer *l = &network->layer[i];
    const int64_t num = count_of(weights, count, l);
    int64_t k = 0;
    path_of(network, i, folder);
    for (; (weight = weight_of(weights, count, l, k)); k++) {
        weight_path(folder, l, k, num, path, sizeof path);
        MST_TRY(add_weight(file, path, weight, mst_keras_tree_array(tree, path), snapshot));
    }
    weight_path(folder, l, k, num, path, sizeof path);
    if (k && mst_keras_tree_array(tree, path))
        return MST_FAIL(MST_INVALID, "'%s': layer '%s' has more than %lld weights there: it is another one", file,
                        l->name, (long long)k);
    return MST_OK;
}

static mst_status read_paths(const char *file, const mst_keras_tree *tree, const mst_keras_network *network,
                             const mst_weight *weights, int64_t count, mst_snapshot *snapshot) {
    for (int64_t i = 0; i < network->num_layers; i++)
        MST_TRY(read_layer(file, tree, network, i, weights, count, snapshot));
    return MST_OK;
}

/* ---- weights in .h5 files: lists of names, layer by layer ---- */

enum { PATH_SIZE = 1024 };
static const char weights_folder[] = "/model_weights"; /* in files of whole models; files with only weights use "/" */

typedef struct by_name {
    const char *file, *root; /* weights_folder or "" */
    const mst_keras_tree *tree;
    const mst_weight **order; /* the weights in the order of the lists */
    int64_t *list;            /* for each weight, its list: the index of the first layer that has this list */
    int64_t count, at, k;     /* number of weights; index of the next one; number of names of its list so far */
    char group[PATH_SIZE];
    mst_snapshot *snapshot;
} by_name;

/* Adds the weights of layer I and of the layers that share its list, which are those of the same inner model. *END
 * becomes the index after the last of these layers. In a list, trained weights come first. */
static void add_list(by_name *b, const mst_keras_network *network, int64_t i, int64_t *end, const mst_weight *weights,
                     int64_t count) {
    const mst_keras_layer *l = network->layer;
    const mst_weight *weight;
    *end = i + 1;
    while (l[i].group && *end < network->num_layers && l[*end].group && strcmp(l[i].group, l[*end].group) == 0) ++*end;
    for (int trained = 1; trained >= 0; trained--)
        for (int64_t layer = i; layer < *end; layer++)
            for (int64_t k = 0; (weight = weight_of(weights, count, &l[layer], k)); k++) {
                if (weight->trainable != trained || b->count == count) continue;
                b->list[b->count] = i;
                b->order[b->count++] = weight;
            }
}

static bool is_next_in_list(const by_name *b) {
    return b->at < b->count && (b->k == 0 || b->list[b->at] == b->list[b->at - 1]);
}

static mst_status read_named(void *context, const char *name) {
    by_name *b = context;
    char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", b->group, name);
    if (!is_next_in_list(b))
        return MST_FAIL(MST_INVALID, "'%s': '%s' has no place in the model: it is another one's", b->file, path);
    b->k++;
    return add_weight(b->file, path, b->order[b->at++], mst_keras_tree_array(b->tree, path), b->snapshot);
}

static mst_status read_group(void *context, const char *name) {
    by_name *b = context;
    snprintf(b->group, sizeof b->group, "%s/%s", b->root, name);
    b->k = 0;
    MST_TRY(mst_keras_tree_each_text(b->tree, b->group, "weight_names", read_named, b));
    if (b->k == 0 || !is_next_in_list(b)) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': '%s' has no weights for '%s': it is another model's", b->file, b->group,
                    b->order[b->at]->name);
}

static mst_status read_lists(by_name *b, const mst_keras_network *network, const mst_weight *weights, int64_t count) {
    for (int64_t i = 0, end; i < network->num_layers; i = end) add_list(b, network, i, &end, weights, count);
    if (mst_keras_tree_has_texts(b->tree, weights_folder, "layer_names")) b->root = weights_folder;
    MST_TRY(mst_keras_tree_each_text(b->tree, *b->root ? b->root : "/", "layer_names", read_group, b));
    if (b->at == b->count) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': has nothing for '%s'", b->file, b->order[b->at]->name);
}

static mst_status read_names(const char *file, const mst_keras_tree *tree, const mst_keras_network *network,
                             const mst_weight *weights, int64_t count, mst_snapshot *snapshot) {
    by_name b = {.file = file, .root = "", .tree = tree, .snapshot = snapshot};
    b.order = calloc((size_t)count + 1, sizeof *b.order);
    b.list = calloc((size_t)count + 1, sizeof *b.list);
    const mst_status status =
        b.order && b.list ? read_lists(&b, network, weights, count) : MST_NO_MEMORY("to read '%s'", file);
    free(b.order);
    free(b.list);
    return status;
}

static bool has_names(const mst_keras_tree *tree) {
    return mst_keras_tree_has_texts(tree, "/", "layer_names") ||
           mst_keras_tree_has_texts(tree, weights_folder, "layer_names");
}

mst_status mst_keras_weights_read(const char *name, const mst_keras_tree *tree, const mst_keras_network *network,
                                  mst_model *model) {
    const mst_weight *weights;
    int64_t count;
    mst_snapshot *snapshot;
    if (mst_model_weights(model, &weights, &count)) return mst_error_prefix("'%s'", name);
    MST_TRY(mst_snapshot_create(&snapshot));
    mst_status status = has_names(tree) ? read_names(name, tree, network, weights, count, snapshot)
                                        : read_paths(name, tree, network, weights, count, snapshot);
    const int64_t needed = count - num_left_out(network, weights, count);
    if (!status && mst_snapshot_count(snapshot) != needed)
        status = MST_FAIL(MST_INVALID, "'%s': has %lld weights, the model %lld: it is another one's", name,
                          (long long)mst_snapshot_count(snapshot), (long long)needed);
    if (!status) status = mst_weight_copies_add(model->store, snapshot);
    if (!status) status = mst_store_restore(model->store, snapshot);
    mst_snapshot_release(snapshot);
    return status;
}

/* ---- writing ---- */

static mst_status write_weight(mst_model *model, const mst_weight *weight, const char *path, mst_keras_tree *tree) {
    mst_tensor *value, *converted = NULL;
    MST_TRY(mst_store_get(model->store, NULL, weight->name, &value));
    const mst_dtype dtype = mst_tensor_dtype(value);
    mst_status status = as_dtype(value, mst_dtype_is_float(dtype) && dtype != MST_F64 ? MST_F32 : dtype, &converted);
    if (!status) status = mst_keras_tree_add(tree, path, converted);
    mst_tensor_release(converted);
    mst_tensor_release(value);
    return status;
}

static mst_status write_layer(mst_model *model, const mst_keras_network *network, int64_t i, const mst_weight *weights,
                              int64_t count, mst_keras_tree *tree) {
    char folder[MST_KERAS_FOLDER], path[MST_KERAS_FOLDER + 50];
    const mst_weight *weight;
    const mst_keras_layer *l = &network->layer[i];
    const int64_t num = count_of(weights, count, l);
    path_of(network, i, folder);
    for (int64_t k = 0; (weight = weight_of(weights, count, l, k)); k++) {
        weight_path(folder, l, k, num, path, sizeof path);
        MST_TRY(write_weight(model, weight, path, tree));
    }
    snprintf(path, sizeof path, "%s/vars", folder);
    return mst_keras_tree_add_text(tree, path, "name", l->name);
}

mst_status mst_keras_weights_write(mst_model *model, const mst_keras_network *network, mst_keras_tree *tree) {
    const mst_weight *weights;
    int64_t count;
    MST_TRY(mst_model_weights(model, &weights, &count));
    for (int64_t i = 0; i < network->num_layers; i++) MST_TRY(write_layer(model, network, i, weights, count, tree));
    return MST_OK;
}

static mst_status write_layer_h5(mst_model *model, const mst_keras_layer *layer, const mst_weight *weights,
                                 int64_t count, const char **names, mst_keras_tree *tree) {
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    const mst_weight *weight;
    int64_t k = 0;
    snprintf(folder, sizeof folder, "%s/%s", weights_folder, layer->name);
    for (; (weight = weight_of(weights, count, layer, k)); k++) {
        names[k] = weight->name;
        snprintf(path, sizeof path, "%s/%s", folder, weight->name);
        MST_TRY(write_weight(model, weight, path, tree));
    }
    return mst_keras_tree_add_list(tree, folder, "weight_names", names, k);
}

mst_status mst_keras_weights_write_h5(mst_model *model, const mst_keras_network *network, mst_keras_tree *tree) {
    const mst_weight *weights;
    int64_t count, layers = 0;
    MST_TRY(mst_model_weights(model, &weights, &count));
    const char **names = calloc((size_t)(count + network->num_layers) + 1, sizeof *names);
    mst_status status = names ? MST_OK : MST_NO_MEMORY("for a model file");
    for (int64_t i = 0; i < network->num_layers && !status; i++)
        status = write_layer_h5(model, &network->layer[i], weights, count, names, tree);
    for (int64_t i = 0; i < network->num_layers && !status; i++)
        if (strcmp(network->layer[i].class_name, "InputLayer") != 0) names[layers++] = network->layer[i].name;
    if (!status) status = mst_keras_tree_add_list(tree, weights_folder, "layer_names", names, layers);
    free(names);
    return status;
}

/* ---- the optimizer's state ---- */

enum { MOST_SLOTS = 5, GLOBAL_STEP_AT = 0, RATE_AT = 1, STATE_PATH = 60, ENTRY_SIZE = 600 };
static const char keras_3[] = "/optimizer", h5[] = "/optimizer_weights"; /* folders of the state */

/* The order of slots in Keras' list, with Muster's names. Each group has its slots for all variables before the next
 * group begins. In a group, the slots of one variable are consecutive. If the rule has a number of its own, as Nadam
 * has, this number comes after all slots. */
typedef struct keras_slots {
    int first; /* index of the first slot: 2, after step and learning rate; 1 if the learning rate is a schedule */
    int count;
    const char *name[MOST_SLOTS];
    int group[MOST_SLOTS];
    const char *number; /* the name in Muster's store of the number of the rule; NULL: none */
} keras_slots;

/* Groups that come before the groups of the rule. */
enum { GROUP_OF_AVERAGES = -2, GROUP_OF_SUMS = -1 };
static const char average_name[] = MST_COPY_AVERAGE;

static void add_slot(keras_slots *slots, const char *name, int group) {
    slots->name[slots->count] = name, slots->group[slots->count] = group, slots->count++;
}

static bool find_rule_slots(const mst_optimizer *o, keras_slots *out) {
    *out = (keras_slots){.first = 2};
    if (!o->rule) return false;
    if (strcmp(o->rule, "sgd") == 0) {
        if (o->momentum != 0) *out = (keras_slots){.first = 2, .count = 1, .name = {"momentum"}};
    } else if (strcmp(o->rule, "adam") == 0 || strcmp(o->rule, "adamw") == 0) {
        *out = (keras_slots){.first = 2, .count = o->amsgrad ? 3 : 2, .name = {"m", "v", "vhat"}, .group = {0, 0, 1}};
    } else if (strcmp(o->rule, "rmsprop") == 0) {
        *out = (keras_slots){.first = 2, .count = 1, .name = {"rms"}};
        if (o->momentum != 0) add_slot(out, "momentum", 1);
        if (o->centered) add_slot(out, "mg", 2);
    } else if (strcmp(o->rule, "adagrad") == 0) {
        *out = (keras_slots){.first = 2, .count = 1, .name = {"accumulator"}};
    } else if (strcmp(o->rule, "nadam") == 0) {
        *out = (keras_slots){.first = 2, .count = 2, .name = {"m", "v"}, .number = "nadam/state"};
    } else if (strcmp(o->rule, "ftrl") == 0) {
        *out = (keras_slots){.first = 2, .count = 2, .name = {"accumulator", "linear"}};
    } else {
        return false;
    }
    if (mst_schedule_is_set(&o->schedule)) out->first = 1;
    return true;
}

static bool find_slots(const mst_optimizer *o, keras_slots *out) {
    if (!find_rule_slots(o, out)) return false;
    if (o->ema_decay > 0) add_slot(out, average_name, GROUP_OF_AVERAGES);
    if (mst_accumulates(o)) add_slot(out, MST_ACCUMULATOR, GROUP_OF_SUMS);
    return true;
}

/* The index in Keras' list of slot SLOT of trained variable VARIABLE, out of COUNT variables. */
static int64_t slot_place(const keras_slots *slots, int slot, int64_t variable, int64_t count) {
    int64_t before = slots->first, inside = 0, width = 0;
    for (int i = 0; i < slots->count; i++) {
        before += slots->group[i] < slots->group[slot] ? count : 0;
        width += slots->group[i] == slots->group[slot];
        inside += i < slot && slots->group[i] == slots->group[slot];
    }
    return before + variable * width + inside;
}

static const char *state_path(const char *folder, int64_t i, char out[STATE_PATH]) {
    snprintf(out, STATE_PATH, "%s/vars/%lld", folder, (long long)i);
    return out;
}

/* A search for one name in the list of the state's names in an .h5 file, which is in the order of Keras 3. */
typedef struct nth_name {
    int64_t left; /* number of names to skip */
    const char *name;
} nth_name;

static mst_status take_name(void *context, const char *name) {
    nth_name *n = context;
    if (n->left-- == 0) n->name = name;
    return MST_OK;
}

/* Variable I of the optimizer; NULL if there is none. */
static mst_tensor *state_of(const mst_keras_tree *tree, int64_t i) {
    char path[STATE_PATH], named[2 * PATH_SIZE];
    nth_name n = {.left = i};
    mst_tensor *tensor = mst_keras_tree_array(tree, state_path(keras_3, i, path));
    if (tensor || mst_keras_tree_each_text(tree, h5, "weight_names", take_name, &n) || !n.name) return tensor;
    snprintf(named, sizeof named, "%s/%s", h5, n.name);
    return mst_keras_tree_array(tree, named);
}

bool mst_keras_has_state(const mst_keras_tree *tree) {
    return state_of(tree, RATE_AT + 1) != NULL;
}

/* Calls USE for each slot of each trained weight, in the order of NETWORK's layers. PLACE is the slot's index in Keras'
 * list. *TOTAL becomes the index after the last slot. */
typedef mst_status (*slot_use)(void *context, int64_t place, const char *entry, mst_spec spec);
static mst_status each_slot(mst_model *model, const mst_keras_network *network, const keras_slots *slots, slot_use use,
                            void *context, int64_t *total) {
    const mst_weight *weights, *weight;
    int64_t count, trained = 0, variable = 0;
    char entry[ENTRY_SIZE];
    MST_TRY(mst_model_weights(model, &weights, &count));
    for (int64_t i = 0; i < count; i++) trained += weights[i].trainable;
    for (int64_t i = 0; i < network->num_layers; i++)
        for (int64_t k = 0; (weight = weight_of(weights, count, &network->layer[i], k)); k++) {
            if (!weight->trainable) continue;
            for (int slot = 0; slot < slots->count; slot++) {
                snprintf(entry, sizeof entry, "%s/%s", weight->name, slots->name[slot]);
                MST_TRY(use(context, slot_place(slots, slot, variable, trained), entry, weight->spec));
            }
            variable++;
        }
    *total = slots->first + trained * slots->count;
    return MST_OK;
}

/* Whether the slot ENTRY is a sum of gradients. If so, WEIGHT becomes the name of its weight. */
static bool is_sum(const char *entry, char weight[ENTRY_SIZE]) {
    const char *slot = strrchr(entry, '/');
    if (strcmp(slot + 1, MST_ACCUMULATOR) != 0) return false;
    snprintf(weight, ENTRY_SIZE, "%.*s", (int)(slot - entry), entry);
    return true;
}

typedef struct state_reader {
    const mst_keras_tree *tree;
    mst_snapshot *snapshot;
    const mst_gradient_sums *sums;
    bool is_new; /* no step was made: averages are zeros in the file, which Keras does not use */
    bool fits;
} state_reader;

static mst_status read_slot(void *context, int64_t place, const char *entry, mst_spec spec) {
    state_reader *r = context;
    char weight[ENTRY_SIZE];
    mst_tensor *tensor = state_of(r->tree, place), *sum;
    if (!tensor || !mst_shape_equal(mst_tensor_shape(tensor), spec.shape)) r->fits = false;
    if (!r->fits) return MST_OK;
    const mst_state_kind kind = strcmp(strrchr(entry, '/') + 1, average_name) == 0 ? MST_STATE_AVERAGE : MST_STATE_SLOT;
    if (r->is_new && kind == MST_STATE_AVERAGE) return MST_OK; /* it begins with the weight */
    if (!is_sum(entry, weight)) return mst_keras_entry_add(r->snapshot, entry, kind, tensor, spec.dtype);
    MST_TRY(mst_gradient_sums_of(r->sums, weight, tensor, &sum));
    const mst_status status = mst_keras_entry_add(r->snapshot, entry, kind, sum, spec.dtype);
    mst_tensor_release(sum);
    return status;
}

/* Reads the number of the rule, which is variable *TOTAL of the state. */
static mst_status read_rule_number(state_reader *r, const keras_slots *slots, int64_t *total) {
    if (!slots->number) return MST_OK;
    mst_tensor *tensor = state_of(r->tree, (*total)++);
    if (!tensor || mst_tensor_shape(tensor).ndim) r->fits = false;
    return r->fits ? mst_keras_entry_add(r->snapshot, slots->number, MST_STATE_RULE, tensor, MST_F64) : MST_OK;
}

/* The name of the entry with the number of gradients in the sums. In Keras, this number follows from the step. */
static const char *accumulated_name(const mst_optimizer *o, char out[STATE_PATH]) {
    snprintf(out, STATE_PATH, "%s/accumulated", o->rule);
    return out;
}

static double accumulated_at(const mst_optimizer *o, double step) {
    return mst_accumulates(o) ? fmax(fmod(step, o->gradient_accumulation_steps), 0) : 0;
}

static mst_status read_accumulated(const state_reader *r, const mst_optimizer *o, double step) {
    char name[STATE_PATH];
    mst_tensor *tensor;
    if (!mst_accumulates(o)) return MST_OK;
    MST_TRY(mst_tensor_create(MST_I64, MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, accumulated_at(o, step));
    const mst_status status =
        mst_keras_entry_add(r->snapshot, accumulated_name(o, name), MST_STATE_RULE, tensor, MST_I64);
    mst_tensor_release(tensor);
    return status;
}

mst_status mst_keras_state_read(const mst_keras_tree *tree, const mst_keras_network *network, mst_model *model,
                                mst_optimizer *optimizer, bool *found) {
    keras_slots slots;
    int64_t total = 0;
    const bool has_rate = !mst_schedule_is_set(&optimizer->schedule);
    mst_tensor *step = state_of(tree, GLOBAL_STEP_AT), *rate = has_rate ? state_of(tree, RATE_AT) : step;
    mst_gradient_sums sums;
    state_reader r = {.tree = tree, .sums = &sums, .fits = true};
    *found = false;
    if (!find_slots(optimizer, &slots) || !step || !rate || mst_tensor_count(step) != 1 ||
        mst_tensor_count(rate) != 1 || mst_tensor_shape(step).ndim || mst_tensor_shape(rate).ndim)
        return MST_OK;
    MST_TRY(mst_snapshot_create(&r.snapshot));
    const double steps = mst_tensor_get(step, 0);
    r.is_new = steps == 0;
    mst_status status = mst_gradient_sums_begin(model, -accumulated_at(optimizer, steps), &sums);
    if (!status) status = each_slot(model, network, &slots, read_slot, &r, &total);
    mst_gradient_sums_free(&sums);
    if (!status) status = read_rule_number(&r, &slots, &total);
    if (!status) status = mst_keras_entry_add(r.snapshot, "global_step", MST_STATE_STEP, step, MST_I64);
    if (!status) status = read_accumulated(&r, optimizer, steps);
    if (!status && r.fits && !state_of(tree, total)) {
        status = mst_store_restore(model->store, r.snapshot);
        if (has_rate) optimizer->learning_rate = mst_tensor_get(rate, 0);
        *found = !status;
    }
    mst_snapshot_release(r.snapshot);
    return status;
}

typedef struct state_writer {
    mst_model *model;
    const char *folder;
    mst_keras_tree *tree;
    const mst_gradient_sums *sums;
} state_writer;

static mst_status write_slot(void *context, int64_t place, const char *entry, mst_spec spec) {
    const state_writer *w = context;
    char path[STATE_PATH], weight[ENTRY_SIZE];
    mst_tensor *value, *sum;
    mst_status status = mst_store_get(w->model->store, NULL, entry, &value);
    if (status == MST_NOT_FOUND)
        return MST_FAIL(MST_NOT_FOUND,
                        "the optimizer has no state '%s' yet: train first, or save without the optimizer", entry);
    (void)spec;
    if (!status && is_sum(entry, weight)) {
        status = mst_gradient_sums_of(w->sums, weight, value, &sum);
        mst_tensor_release(value);
        value = sum;
    }
    if (!status) status = mst_keras_tree_add(w->tree, state_path(w->folder, place, path), value);
    mst_tensor_release(value);
    return status;
}

static mst_status write_number(const state_writer *w, int64_t i, mst_dtype dtype, double number) {
    char path[STATE_PATH];
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(dtype, MST_SCALAR, &tensor));
    mst_tensor_set(tensor, 0, number);
    const mst_status status = mst_keras_tree_add(w->tree, state_path(w->folder, i, path), tensor);
    mst_tensor_release(tensor);
    return status;
}

static mst_status write_rule_number(const state_writer *w, const keras_slots *slots, int64_t *total) {
    mst_tensor *value;
    if (!slots->number) return MST_OK;
    MST_TRY(mst_store_get(w->model->store, NULL, slots->number, &value));
    const mst_status status = write_number(w, (*total)++, MST_F32, mst_tensor_get(value, 0));
    mst_tensor_release(value);
    return status;
}

/* The step as Keras counts it. Its remainder tells how many gradients are in the sums. This must hold even if the sums
 * come from a checkpoint with another remainder. */
static double keras_step(mst_model *model, const mst_optimizer *o, double step) {
    const int each = o->gradient_accumulation_steps;
    char name[STATE_PATH];
    mst_tensor *accumulated;
    if (!mst_accumulates(o) || mst_store_get(model->store, NULL, accumulated_name(o, name), &accumulated)) return step;
    step = step - fmod(step, each) + fmin(mst_tensor_get(accumulated, 0), each - 1);
    mst_tensor_release(accumulated);
    return step;
}

static mst_status write_state(mst_model *model, const mst_keras_network *network, const mst_optimizer *optimizer,
                              const char *folder, mst_keras_tree *tree, int64_t *total) {
    keras_slots slots;
    mst_gradient_sums sums;
    state_writer w = {model, folder, tree, &sums};
    mst_tensor *step = NULL;
    if (!find_slots(optimizer, &slots))
        return MST_FAIL(MST_UNIMPLEMENTED, "the state of the optimizer '%s' cannot be saved for Keras",
                        optimizer->rule ? optimizer->rule : "");
    mst_status status = mst_store_get(model->store, NULL, "global_step", &step);
    if (status && status != MST_NOT_FOUND) return status;
    const double steps = step ? keras_step(model, optimizer, mst_tensor_get(step, 0)) : 0;
    status = write_number(&w, GLOBAL_STEP_AT, MST_I64, steps);
    mst_tensor_release(step);
    /* a callback may have changed the learning rate of the optimizer */
    mst_tensor *rate = NULL;
    if (!status && mst_store_get(model->store, NULL, "learning_rate", &rate)) rate = NULL;
    if (!status && !mst_schedule_is_set(&optimizer->schedule))
        status = write_number(&w, RATE_AT, MST_F32, rate ? mst_tensor_get(rate, 0) : optimizer->learning_rate);
    mst_tensor_release(rate);
    if (status) return status;
    status = mst_gradient_sums_begin(model, accumulated_at(optimizer, steps), &sums);
    if (!status) status = each_slot(model, network, &slots, write_slot, &w, total);
    mst_gradient_sums_free(&sums);
    if (!status) status = write_rule_number(&w, &slots, total);
    return status;
}

mst_status mst_keras_state_write(mst_model *model, const mst_keras_network *network, const mst_optimizer *optimizer,
                                 mst_keras_tree *tree) {
    int64_t total;
    return write_state(model, network, optimizer, keras_3, tree, &total);
}

mst_status mst_keras_state_write_h5(mst_model *model, const mst_keras_network *network, const mst_optimizer *optimizer,
                                    mst_keras_tree *tree) {
    enum { NAME = 32 };
    int64_t total = 0;
    MST_TRY(write_state(model, network, optimizer, h5, tree, &total));
    char(*name)[NAME] = calloc((size_t)total + 1, sizeof *name);
    const char **names = calloc((size_t)total + 1, sizeof *names);
    mst_status status = name && names ? MST_OK : MST_NO_MEMORY("for a model file");
    for (int64_t i = 0; i < total && !status; i++) {
        snprintf(name[i], sizeof name[i], "vars/%lld", (long long)i);
        names[i] = name[i];
    }
    if (!status) status = mst_keras_tree_add_list(tree, h5, "weight_names", names, total);
    free(names);
    free(name);
    return status;
}
