/* Loads the weights of layers that have the same name in a file and in a model, for transfer learning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "model_file/keras/classes.h"
#include "model_file/keras/keras_file.h"
#include "model_file/keras/weights.h"
#include "muster/model_file.h"
#include "strategy/weight_copies.h"

enum { PATH_SIZE = 1024, MOST_LISTED = 20 };

typedef struct file_layer {
    const char *name;
    int64_t first, count; /* its arrays: index of the first, and number */
    bool used;
} file_layer;

/* The layers of a file that have weights, and their arrays in Keras' order. */
typedef struct file_layers {
    const char *file;
    const mst_keras_tree *tree;
    const char *root;      /* the root folder in an .h5 file */
    char group[PATH_SIZE]; /* the group of the layer whose names of weights are being read */
    file_layer *layer;
    int64_t num_layers, layer_capacity;
    mst_tensor **array;
    int64_t num_arrays, array_capacity;
} file_layers;

static mst_status begin_layer(file_layers *f, const char *name) {
    MST_TRY(mst_grow(&f->layer, sizeof *f->layer, f->num_layers + 1, &f->layer_capacity));
    f->layer[f->num_layers++] = (file_layer){.name = name, .first = f->num_arrays};
    return MST_OK;
}

static mst_status take_array(file_layers *f, mst_tensor *tensor) {
    MST_TRY(mst_grow(&f->array, sizeof(mst_tensor *), f->num_arrays + 1, &f->array_capacity));
    f->array[f->num_arrays++] = tensor;
    f->layer[f->num_layers - 1].count++;
    return MST_OK;
}

/* ---- .h5: lists of names ---- */

static mst_status read_weight_name(void *context, const char *name) {
    file_layers *f = context;
    char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", f->group, name);
    mst_tensor *tensor = mst_keras_tree_array(f->tree, path);
    return tensor ? take_array(f, tensor) : MST_FAIL(MST_CORRUPT, "'%s': has no '%s'", f->file, path);
}

static mst_status read_layer_name(void *context, const char *name) {
    file_layers *f = context;
    snprintf(f->group, sizeof f->group, "%s/%s", f->root, name);
    MST_TRY(begin_layer(f, name));
    return mst_keras_tree_each_text(f->tree, f->group, "weight_names", read_weight_name, f);
}

/* ---- Keras 3: a folder "vars" of each layer, with its name ---- */

/* Writes the folder of the layer of PATH, ".../layers/lstm/vars", to OUT. False if PATH belongs to an inner layer. */
static bool layer_folder(const char *path, char out[PATH_SIZE]) {
    static const char list[] = "/layers", vars[] = "/vars";
    const size_t size = strlen(path), end = strlen(vars);
    if (size <= end || size >= PATH_SIZE || strcmp(path + size - end, vars) != 0) return false;
    snprintf(out, PATH_SIZE, "%.*s", (int)(size - end), path);
    const char *name = strrchr(out, '/');
    const size_t before = name ? (size_t)(name - out) : 0;
    return before >= strlen(list) && strncmp(out + before - strlen(list), list, strlen(list)) == 0;
}

/* Adds the arrays in the folder "vars" of FOLDER followed by INSIDE. */
static mst_status take_arrays(file_layers *f, const char *folder, const char *inside) {
    char path[2 * PATH_SIZE];
    mst_tensor *tensor;
    for (int64_t k = 0;; k++) {
        snprintf(path, sizeof path, "%s%s/vars/%lld", folder, inside, (long long)k);
        if (!(tensor = mst_keras_tree_array(f->tree, path))) return MST_OK;
        MST_TRY(take_array(f, tensor));
    }
}

/* Adds the arrays of a layer, or of its inner layers. INSIDE is "", or "/layer" for the inner layer of a
 * TimeDistributed. */
static mst_status take_layer(file_layers *f, const char *folder, const char *inside) {
    enum { PART_SIZE = 60 };
    const int64_t before = f->num_arrays;
    const char *const *part;
    char text[PART_SIZE];
    MST_TRY(take_arrays(f, folder, inside));
    for (int i = 0; f->num_arrays == before && (part = mst_keras_parts_at(i)); i++)
        for (; *part; part++) {
            snprintf(text, sizeof text, "%s/%s", inside, *part);
            MST_TRY(take_arrays(f, folder, text));
        }
    return MST_OK;
}

static mst_status read_folders(file_layers *f) {
    const mst_keras_tree *tree = f->tree;
    char folder[PATH_SIZE];
    for (int64_t i = 0; i < tree->num_texts; i++) {
        const mst_keras_text *text = &tree->text[i];
        if (text->count != 1 || strcmp(text->name, "name") != 0 || !layer_folder(text->path, folder)) continue;
        MST_TRY(begin_layer(f, text->text[0]));
        MST_TRY(take_layer(f, folder, ""));
        if (!f->layer[f->num_layers - 1].count) MST_TRY(take_layer(f, folder, "/layer"));
    }
    return MST_OK;
}

static mst_status read_layers(file_layers *f) {
    static const char *const roots[] = {"/model_weights", ""};
    for (int i = 0; i < 2; i++) {
        f->root = roots[i];
        const char *folder = *f->root ? f->root : "/";
        if (mst_keras_tree_has_texts(f->tree, folder, "layer_names"))
            return mst_keras_tree_each_text(f->tree, folder, "layer_names", read_layer_name, f);
    }
    return read_folders(f);
}

/* ---- into a model ---- */

static file_layer *find_layer(const file_layers *f, const char *name) {
    for (int64_t i = 0; i < f->num_layers; i++)
        if (f->layer[i].count && strcmp(f->layer[i].name, name) == 0) return &f->layer[i];
    return NULL;
}

/* Names with ", " between them. If there are many, the text has only the first ones. */
typedef struct name_list {
    char *text;
    int64_t count;
} name_list;

static mst_status list_name(name_list *list, const char *name) {
    if (list->count++ > MOST_LISTED) return MST_OK;
    const char *word = list->count > MOST_LISTED ? "..." : name;
    const size_t used = list->text ? strlen(list->text) : 0, size = used + strlen(word) + sizeof ", ";
    char *grown = realloc(list->text, size);
    if (!grown) return MST_NO_MEMORY("for names of layers");
    snprintf(grown + used, size - used, "%s%s", used ? ", " : "", word);
    list->text = grown;
    return MST_OK;
}

typedef struct transfer {
    file_layers file;
    const mst_weight *weights; /* of the model */
    int64_t num_weights;
    mst_snapshot *chosen; /* the new values of weights */
    name_list missing;    /* layers of the model that get none */
    name_list left_over;  /* layers of the file that are not used */
} transfer;

static bool same_shapes(const file_layers *f, const file_layer *layer, const mst_weight *weights, int64_t count) {
    if (layer->count != count) return false;
    for (int64_t k = 0; k < count; k++)
        if (!mst_shape_equal(mst_tensor_shape(f->array[layer->first + k]), weights[k].spec.shape)) return false;
    return true;
}

static mst_status wrong_layer(const file_layers *f, const file_layer *layer, const mst_weight *weights, int64_t count) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    if (layer->count != count)
        return MST_FAIL(MST_INVALID, "'%s': layer '%s' has %lld weights there, in the model %lld", f->file, layer->name,
                        (long long)layer->count, (long long)count);
    int64_t k = 0;
    while (mst_shape_equal(mst_tensor_shape(f->array[layer->first + k]), weights[k].spec.shape)) k++;
    return MST_FAIL(MST_INVALID, "'%s': layer '%s' has %s where '%s' is %s: only the last layer may differ", f->file,
                    layer->name, mst_shape_print(mst_tensor_shape(f->array[layer->first + k]), have, sizeof have),
                    weights[k].name, mst_shape_print(weights[k].spec.shape, want, sizeof want));
}

/* Chooses the arrays for the weights [FIRST, FIRST + COUNT) of one layer of the model. */
static mst_status choose_layer(transfer *t, int64_t first, int64_t count) {
    const mst_weight *weights = &t->weights[first];
    const bool is_last = first + count == t->num_weights;
    file_layer *layer = find_layer(&t->file, weights[0].layer);
    if (!layer) return list_name(&t->missing, weights[0].layer);
    if (!same_shapes(&t->file, layer, weights, count))
        return is_last ? list_name(&t->missing, weights[0].layer) : wrong_layer(&t->file, layer, weights, count);
    layer->used = true;
    for (int64_t k = 0; k < count; k++)
        MST_TRY(mst_keras_entry_add(t->chosen, weights[k].name, MST_STATE_WEIGHT, t->file.array[layer->first + k],
                                    weights[k].spec.dtype));
    return MST_OK;
}

static mst_status choose(transfer *t) {
    MST_TRY(read_layers(&t->file));
    for (int64_t i = 0, count; i < t->num_weights; i += count) {
        for (count = 1; i + count < t->num_weights && strcmp(t->weights[i + count].layer, t->weights[i].layer) == 0;)
            count++;
        MST_TRY(choose_layer(t, i, count));
    }
    for (int64_t i = 0; i < t->file.num_layers; i++)
        if (t->file.layer[i].count && !t->file.layer[i].used) MST_TRY(list_name(&t->left_over, t->file.layer[i].name));
    if (mst_snapshot_count(t->chosen)) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no layer that the model has: it has %s; the model has %s", t->file.file,
                    t->left_over.text ? t->left_over.text : "none with weights",
                    t->missing.text ? t->missing.text : "none with weights");
}

void mst_loaded_layers_free(mst_loaded_layers *loaded) {
    if (!loaded) return;
    free(loaded->missing);
    free(loaded->left_over);
    *loaded = (mst_loaded_layers){.count = 0};
}

/* Fills OUT, which takes ownership of the lists. */
static mst_status fill_loaded(transfer *t, mst_loaded_layers *out) {
    *out = (mst_loaded_layers){.count = mst_snapshot_count(t->chosen),
                               .missing = t->missing.text ? t->missing.text : strdup(""),
                               .left_over = t->left_over.text ? t->left_over.text : strdup("")};
    t->missing.text = t->left_over.text = NULL;
    return out->missing && out->left_over ? MST_OK : MST_NO_MEMORY("for names of layers");
}

mst_status mst_model_load_layers(mst_model *model, const char *path, mst_loaded_layers *loaded) {
    if (MST_IS_NULL(model) || MST_IS_NULL(path)) return MST_INVALID;
    mst_keras_file file;
    transfer t = {.file = {.file = path, .tree = &file.tree}};
    if (loaded) *loaded = (mst_loaded_layers){.count = 0};
    if (mst_is_folder(path))
        return MST_FAIL(MST_INVALID,
                        "'%s': is a folder, and weights for layers of the same names come from a file of Keras: muster "
                        "convert makes one of a folder of Hugging Face",
                        path);
    mst_status status = mst_keras_file_read(path, &file);
    if (!status && !file.has_weights) status = MST_FAIL(MST_INVALID, "'%s': has no weights", path);
    if (!status) status = mst_model_weights(model, &t.weights, &t.num_weights);
    if (!status) status = mst_snapshot_create(&t.chosen);
    if (!status) status = choose(&t);
    if (!status) status = mst_weight_copies_add(model->store, t.chosen);
    if (!status) status = mst_store_restore(model->store, t.chosen);
    if (!status && loaded) status = fill_loaded(&t, loaded);
    mst_snapshot_release(t.chosen);
    free(t.missing.text);
    free(t.left_over.text);
    free(t.file.layer);
    free(t.file.array);
    mst_keras_file_free(&file);
    return status;
}
