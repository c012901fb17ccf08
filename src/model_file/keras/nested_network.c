#include "model_file/keras/nested_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/keras/call_arguments.h"
#include "model_file/keras/custom_class.h"
#include "model_file/keras/flat_ends.h"
#include "model_file/keras/layer_folder.h"

enum { MOST_DEPTH = 16, MOST_WORK = 1000000, MOST_LAYERS = 100000, MOST_HOPS = 1000, MOST_INPUTS = 1000 };
enum { NAME_SIZE = 1024 };

/* State that is shared by all models of a file while they are made flat. */
typedef struct flattening {
    const char *file;
    int64_t work; /* number of JSON values copied so far: an inner model is copied for each of its calls */
} flattening;

/* A model whose inner models have become its own layers. */
typedef struct flat_model {
    json_t *layers;  /* objects */
    json_t *counts;  /* for each name of a layer, its number of calls */
    json_t *inputs;  /* references: ["name", 0, 0], ... */
    json_t *outputs; /* references too */
} flat_model;

/* A model that is being made flat. */
typedef struct outer_model {
    flattening *f;
    json_t *layers;    /* of the file, or made from the layers of a stack */
    json_t *index;     /* for each name of a layer, its index */
    flat_model *inner; /* [layers]: for layers that are models, these models */
    int64_t *base;     /* [layers]: for inner models, the number of their first call in references of calls: 0 or 1 */
    int64_t *end_base; /* [layers]: the same for the references of the model's outputs */
    bool frozen;
} outer_model;

bool mst_keras_is_model(const char *class_name) {
    return strcmp(class_name, "Sequential") == 0 || strcmp(class_name, "Functional") == 0 ||
           strcmp(class_name, "Model") == 0;
}

static mst_status nested_malformed(const flattening *f, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': the network in it is damaged: %s", f->file, what);
}

static mst_status count_work(flattening *f, int64_t n) {
    f->work += n;
    if (f->work <= MOST_WORK) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "'%s': the models inside of it are too large", f->file);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const char *name_of(const json_t *layer) {
    const char *name = text_of(json_object_get(layer, "config"), "name");
    return *name ? name : text_of(layer, "name");
}

static bool is_inner(const json_t *layer) {
    return mst_keras_is_model(text_of(layer, "class_name")) && !mst_keras_is_custom_class(layer);
}

/* The layers of a model. In old files, the config of a Sequential is only the list of its layers. */
static json_t *layers_of(const json_t *object) {
    json_t *config = json_object_get(object, "config");
    return json_is_array(config) ? config : json_object_get(config, "layers");
}

static void flat_free(flat_model *m) {
    json_decref(m->layers);
    json_decref(m->counts);
    json_decref(m->inputs);
    json_decref(m->outputs);
}

/* ---- references to outputs: ["layer", call, tensor], in Keras 2 with the arguments of the call ---- */

static bool is_reference(const json_t *value) {
    return json_is_string(json_array_get(value, 0)) && json_is_integer(json_array_get(value, 1)) &&
           json_is_integer(json_array_get(value, 2));
}

/* Adds the references in VALUE to OUT, in their order. */
static void find_references(const json_t *value, json_t *out) {
    size_t i;
    const char *key;
    json_t *item;
    if (is_reference(value)) {
        json_array_append(out, (json_t *)(uintptr_t)value);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, item) find_references(item, out);
    } else {
        json_object_foreach((json_t *)(uintptr_t)value, key, item) find_references(item, out);
    }
}

static json_t *references_in(const json_t *value) {
    json_t *list = json_array();
    find_references(value, list);
    return list;
}

static json_int_t integer_at(const json_t *list, size_t i) {
    return json_integer_value(json_array_get(list, i));
}

static const char *text_at(const json_t *list, size_t i) {
    return json_string_value(json_array_get(list, i));
}

static int64_t find_layer(const outer_model *m, const char *name) {
    const json_t *at = json_object_get(m->index, name);
    return at ? json_integer_value(at) : -1;
}

static const json_t *calls_of(const outer_model *m, int64_t layer) {
    return json_object_get(json_array_get(m->layers, (size_t)layer), "inbound_nodes");
}

/* The number of the input that REFERENCE refers to; -1: none. */
static int64_t input_number(const flat_model *inner, const json_t *reference) {
    for (size_t i = 0; i < json_array_size(inner->inputs); i++)
        if (strcmp(text_at(json_array_get(inner->inputs, i), 0), text_at(reference, 0)) == 0) return (int64_t)i;
    return -1;
}

/* Translates REFERENCE, in the names of the inner model LAYER, to a reference of the flat model for call number CALL of
 * LAYER. The caller owns it. */
static json_t *in_call(const outer_model *m, int64_t layer, int64_t call, const json_t *reference) {
    char name[NAME_SIZE];
    const json_int_t each = json_integer_value(json_object_get(m->inner[layer].counts, text_at(reference, 0)));
    snprintf(name, sizeof name, "%s.%s", name_of(json_array_get(m->layers, (size_t)layer)), text_at(reference, 0));
    return json_pack("[s, I, I]", name, (json_int_t)call * each + integer_at(reference, 1), integer_at(reference, 2));
}

/* Follows REFERENCE, in the names of M, through inner models to a layer. *OUT becomes a reference to that layer, owned
 * by the caller. BASE is m->base or m->end_base, depending on where REFERENCE comes from. */
static mst_status resolve(const outer_model *m, const int64_t *base, const json_t *reference, json_t **out) {
    json_t *sources = NULL;
    mst_status status = MST_OK;
    *out = NULL;
    for (int hops = 0; !status && !*out; hops++) {
        const int64_t layer = find_layer(m, text_at(reference, 0));
        if (layer < 0 || !m->inner[layer].layers) {
            *out = json_pack("[s, I, I]", text_at(reference, 0), integer_at(reference, 1), integer_at(reference, 2));
            status = *out ? MST_OK : MST_NO_MEMORY("for a network");
            break;
        }
        const flat_model *inner = &m->inner[layer];
        const int64_t call = integer_at(reference, 1) - base[layer], tensor = integer_at(reference, 2);
        const json_t *output = tensor < 0 ? NULL : json_array_get(inner->outputs, (size_t)tensor);
        const json_t *given = call < 0 ? NULL : json_array_get(calls_of(m, layer), (size_t)call);
        if (!output || !given || hops > MOST_HOPS) {
            status = nested_malformed(m->f, "an output of an inner model that is not there");
            break;
        }
        const int64_t input = input_number(inner, output);
        if (input < 0) {
            *out = in_call(m, layer, call, output);
            status = *out ? MST_OK : MST_NO_MEMORY("for a network");
            break;
        }
        json_t *next = references_in(given); /* the output is an input: follows its value */
        reference = json_array_get(next, (size_t)input);
        base = m->base;
        json_decref(sources);
        sources = next;
        if (!reference) status = nested_malformed(m->f, "an inner model that is called with too little");
    }
    json_decref(sources);
    return status;
}

/* ---- calls ---- */

/* The model whose names are used in references: M, or its inner model LAYER in one of its calls. */
typedef struct name_space {
    const outer_model *m;
    int64_t layer; /* -1: M itself */
    int64_t call;
    const json_t *given; /* the arguments of the call: references in the names of M */
} name_space;

static mst_status translate(const name_space *n, const json_t *reference, json_t **out) {
    const int64_t input = n->layer < 0 ? -1 : input_number(&n->m->inner[n->layer], reference);
    if (n->layer < 0) return resolve(n->m, n->m->base, reference, out);
    if (input < 0) {
        *out = in_call(n->m, n->layer, n->call, reference);
        return *out ? MST_OK : MST_NO_MEMORY("for a network");
    }
    const json_t *given = json_array_get(n->given, (size_t)input);
    *out = NULL;
    return given ? resolve(n->m, n->m->base, given, out)
                 : nested_malformed(n->m->f, "an inner model that is called with too little");
}

static mst_status copy_call(const name_space *n, const json_t *value, json_t **out);

static mst_status copy_items(const name_space *n, const json_t *value, json_t *out) {
    size_t i;
    const char *key;
    json_t *item, *copy;
    json_array_foreach(value, i, item) {
        MST_TRY(copy_call(n, item, &copy));
        if (json_array_append_new(out, copy)) return MST_NO_MEMORY("for a network");
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item) {
        MST_TRY(copy_call(n, item, &copy));
        if (json_object_set_new(out, key, copy)) return MST_NO_MEMORY("for a network");
    }
    return MST_OK;
}

/* Copies VALUE, and translates its references to those of the flat model. */
static mst_status copy_call(const name_space *n, const json_t *value, json_t **out) {
    *out = NULL;
    MST_TRY(count_work(n->m->f, 1));
    if (is_reference(value)) {
        const json_t *arguments = json_array_get(value, 3); /* they may contain references */
        json_t *copy = NULL;
        if (arguments) MST_TRY(copy_call(n, arguments, &copy));
        const mst_status status = translate(n, value, out);
        if (!status && copy) json_array_append(*out, copy);
        json_decref(copy);
        return status;
    }
    if (!json_is_array(value) && !json_is_object(value)) {
        *out = json_incref((json_t *)(uintptr_t)value);
        return MST_OK;
    }
    json_t *copy = json_is_array(value) ? json_array() : json_object();
    const mst_status status = copy ? copy_items(n, value, copy) : MST_NO_MEMORY("for a network");
    if (!status)
        *out = copy;
    else
        json_decref(copy);
    return status;
}

/* Appends the calls of LAYER to CALLS. */
static mst_status copy_calls(const name_space *n, const json_t *layer, json_t *calls) {
    size_t i;
    json_t *call, *copy;
    json_array_foreach(json_object_get(layer, "inbound_nodes"), i, call) {
        MST_TRY(copy_call(n, call, &copy));
        if (json_array_append_new(calls, copy)) return MST_NO_MEMORY("for a network");
    }
    return MST_OK;
}

/* ---- layers ---- */

/* Adds a copy of LAYER with the name NAME and the calls CALLS; takes ownership of CALLS. GROUP and PATH: see the
 * header; GROUP is NULL if there is none. */
static mst_status add_flat(const outer_model *m, const json_t *layer, const char *name, const char *group,
                           const char *path, json_t *calls, flat_model *out) {
    json_t *config = json_copy(json_object_get(layer, "config"));
    const json_int_t count = (json_int_t)json_array_size(calls);
    int failed = json_object_set_new(config, "name", json_string(name));
    if (m->frozen) failed |= json_object_set_new(config, "trainable", json_false());
    json_t *copy = json_pack("{s:s, s:s, s:o, s:o, s:s}", "class_name", text_of(layer, "class_name"), "name", name,
                             "config", config, "inbound_nodes", calls, "path", path);
    if (json_object_get(layer, "module")) failed |= json_object_set(copy, "module", json_object_get(layer, "module"));
    const json_t *options = json_object_get(layer, MST_KERAS_OWN_OPTIONS);
    if (options) failed |= json_object_set(copy, MST_KERAS_OWN_OPTIONS, (json_t *)(uintptr_t)options);
    if (group) failed |= json_object_set_new(copy, "group", json_string(group));
    failed |= json_array_append_new(out->layers, copy);
    if (json_object_get(out->counts, name)) return nested_malformed(m->f, "two layers of one name");
    failed |= json_object_set_new(out->counts, name, json_integer(count));
    if (json_array_size(out->layers) > MOST_LAYERS) return nested_malformed(m->f, "too many layers");
    return failed ? MST_NO_MEMORY("for a network") : MST_OK;
}

static mst_status add_own(const outer_model *m, int64_t i, const char *path, flat_model *out) {
    const json_t *layer = json_array_get(m->layers, (size_t)i);
    const name_space own = {.m = m, .layer = -1};
    json_t *calls = json_array();
    const mst_status status = copy_calls(&own, layer, calls);
    if (!status) return add_flat(m, layer, name_of(layer), NULL, path, calls, out);
    json_decref(calls);
    return status;
}

/* Whether all calls of the inner model I are of Keras 2 and have training=False. */
static bool all_without_training(const outer_model *m, int64_t i) {
    const json_t *calls = calls_of(m, i);
    for (size_t c = 0; c < json_array_size(calls); c++) {
        const json_t *call = json_array_get(calls, c);
        if (json_is_object(call) || !json_is_false(json_object_get(mst_keras_arguments_of(call), "training")))
            return false;
    }
    return true;
}

/* Whether LAYER is a BatchNormalization of the inner model I, all of whose calls are of Keras 2 and have
 * training=False: it keeps its statistics in training. */
static bool keeps_statistics(const outer_model *m, int64_t i, const json_t *layer) {
    return strcmp(text_of(layer, "class_name"), "BatchNormalization") == 0 && mst_keras_training_matters(layer) &&
           all_without_training(m, i);
}

/* Whether LAYER, of the inner model I, is a dropout that never drops anything, because all calls are of Keras 2 and
 * have training=False. */
static bool never_drops(const outer_model *m, int64_t i, const json_t *layer) {
    return mst_keras_is_dropout(layer) && all_without_training(m, i);
}

/* Refuses LAYER of the inner model I if CALL, a call of the model, has the argument `training`, and this changes what
 * LAYER computes. In files of Keras 3 the argument has no effect: fit, evaluate and predict decide. */
static mst_status check_training(const outer_model *m, int64_t i, const json_t *call, const json_t *layer) {
    const json_t *training = json_object_get(mst_keras_arguments_of(call), "training");
    const bool says_so = json_is_boolean(training) && !json_is_object(call);
    if (!says_so || !mst_keras_training_matters(layer) || keeps_statistics(m, i, layer) || never_drops(m, i, layer))
        return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "'%s': layer '%.100s' (%.100s) is of a model that is called with training=%s, which is not "
                    "known here: freeze it, or leave it out",
                    m->f->file, name_of(layer), text_of(layer, "class_name"),
                    json_is_true(training) ? "True" : "False");
}

/* The mask, among the MASKS of a call of the model INNER, for the first input that the inner CALL takes; NULL: none. */
static const json_t *mask_for(const flat_model *inner, const json_t *call, const json_t *masks) {
    json_t *taken = references_in(json_object_get(call, "args"));
    const json_t *first = json_array_get(taken, 0);
    const int64_t input = first ? input_number(inner, first) : -1;
    json_decref(taken);
    if (input < 0 || json_is_null(masks)) return NULL;
    return json_is_array(masks) ? json_array_get(masks, (size_t)input) : masks;
}

/* For one call OUTER of LAYER's model: adds the masks that OUTER has for its inputs to the copies of LAYER's calls,
 * which begin at index FIRST of COPIES. */
static mst_status give_masks(const name_space *n, const json_t *outer, const json_t *layer, size_t first,
                             const json_t *copies) {
    const name_space own = {.m = n->m, .layer = -1};
    const json_t *masks = json_object_get(mst_keras_arguments_of(outer), "mask"), *mask;
    const json_t *calls = json_object_get(layer, "inbound_nodes");
    for (size_t i = 0; masks && i < json_array_size(calls); i++) {
        json_t *arguments = json_object_get(json_array_get(copies, first + i), "kwargs"), *copy;
        if (!(mask = mask_for(&n->m->inner[n->layer], json_array_get(calls, i), masks)) || json_is_null(mask)) continue;
        const json_t *own_mask = json_object_get(arguments, "mask");
        if (!json_is_object(arguments) || (own_mask && !json_is_null(own_mask))) continue;
        MST_TRY(copy_call(&own, mask, &copy));
        if (json_object_set_new(arguments, "mask", copy)) return MST_NO_MEMORY("for a network");
    }
    return MST_OK;
}

/* Adds LAYER of the inner model I, with its calls in each call of the inner model. */
static mst_status add_inner_layer(const outer_model *m, int64_t i, const json_t *layer, flat_model *out) {
    char name[NAME_SIZE];
    const char *own = name_of(json_array_get(m->layers, (size_t)i));
    json_t *calls = json_array(), *call;
    size_t c;
    mst_status status = MST_OK;
    json_array_foreach(calls_of(m, i), c, call) {
        json_t *given = references_in(call);
        const name_space n = {.m = m, .layer = i, .call = (int64_t)c, .given = given};
        if (!status) status = count_work(m->f, (int64_t)json_array_size(given) + 1);
        if (!status) status = check_training(m, i, call, layer);
        const size_t before = json_array_size(calls);
        if (!status) status = copy_calls(&n, layer, calls);
        if (!status) status = give_masks(&n, call, layer, before, calls);
        json_decref(given);
    }
    if (status) {
        json_decref(calls);
        return status;
    }
    snprintf(name, sizeof name, "%s.%s", own, name_of(layer));
    MST_TRY(add_flat(m, layer, name, own, text_of(layer, "path"), calls, out));
    json_t *added = json_array_get(out->layers, json_array_size(out->layers) - 1);
    if (never_drops(m, i, layer)) return mst_keras_drop_nothing(added);
    if (!keeps_statistics(m, i, layer)) return MST_OK;
    return json_object_set_new(added, MST_KERAS_OWN_OPTIONS, json_pack("{s:b}", "moving_statistics", 1))
               ? MST_NO_MEMORY("for a network")
               : MST_OK;
}

static mst_status add_inner(const outer_model *m, int64_t i, flat_model *out) {
    const flat_model *inner = &m->inner[i];
    size_t k;
    json_t *layer;
    json_array_foreach(inner->layers, k, layer) {
        json_t *as_reference = json_pack("[s]", name_of(layer));
        const bool is_input = as_reference && input_number(inner, as_reference) >= 0;
        json_decref(as_reference);
        if (!is_input) MST_TRY(add_inner_layer(m, i, layer, out));
    }
    return MST_OK;
}

/* ---- models ---- */

/* The shape of the input of a stack without an InputLayer. It is that of the stack, or of the first layer in it. */
static const json_t *stack_shape(const json_t *object) {
    for (int depth = 0; object && depth < MOST_DEPTH; depth++) {
        static const char *const keys[] = {"batch_shape", "batch_input_shape", "build_input_shape"};
        const json_t *config = json_object_get(object, "config");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (json_is_array(json_object_get(config, keys[i]))) return json_object_get(config, keys[i]);
        object = json_array_get(layers_of(object), 0);
    }
    return NULL;
}

/* An InputLayer, then a copy of the layers of a stack. Each layer is applied to the one before it. */
static json_t *layers_of_stack(const json_t *object) {
    json_t *layers = json_array(), *layer;
    const char *before = NULL;
    size_t i;
    const bool has_input = strcmp(text_of(json_array_get(layers_of(object), 0), "class_name"), "InputLayer") == 0;
    if (!has_input) {
        before = "input";
        json_array_append_new(layers, json_pack("{s:s, s:{s:s, s:O?}, s:[]}", "class_name", "InputLayer", "config",
                                                "name", before, "batch_shape", stack_shape(object), "inbound_nodes"));
    }
    json_array_foreach(layers_of(object), i, layer) {
        json_t *copy = json_copy(layer);
        json_t *calls = before ? json_pack("[[[s, i, i, {}]]]", before, 0, 0) : json_array();
        json_object_set_new(copy, "inbound_nodes", calls);
        json_array_append_new(layers, copy);
        before = name_of(layer);
    }
    return layers;
}

/* Sets BASE of an inner model with k calls to 1 if one of REFERENCES has the call number k, so that the calls are
 * numbered from 1. */
static void find_base(const outer_model *m, const json_t *references, int64_t *base) {
    const json_t *reference;
    size_t i;
    json_array_foreach(references, i, reference) {
        const int64_t layer = find_layer(m, text_at(reference, 0));
        if (layer >= 0 && m->inner[layer].layers &&
            integer_at(reference, 1) == (json_int_t)json_array_size(calls_of(m, layer)))
            base[layer] = 1;
    }
}

/* Finds the number of the first call of each inner model. It is 0, or 1 if Keras counts the call in which the model was
 * made. Keras 2 counts the same way in all references, and the reference to the last call shows which way. Keras 3
 * counts that call only in the outputs of the outer model, and only for functional models. */
static void find_bases(const outer_model *m, const json_t *outputs) {
    json_t *all = references_in(outputs), *reference;
    size_t i;
    for (size_t k = 0; k < json_array_size(m->layers); k++) {
        const json_t *layer = json_array_get(m->layers, k), *calls = calls_of(m, (int64_t)k);
        const bool is_functional = strcmp(text_of(layer, "class_name"), "Sequential") != 0;
        m->end_base[k] = is_functional && json_is_object(json_array_get(calls, 0));
    }
    json_array_foreach(all, i, reference) {
        const int64_t layer = find_layer(m, text_at(reference, 0));
        if (layer >= 0 && integer_at(reference, 1) == 0) m->end_base[layer] = 0;
    }
    find_base(m, all, m->end_base);
    json_array_clear(all);
    for (size_t k = 0; k < json_array_size(m->layers); k++) find_references(calls_of(m, (int64_t)k), all);
    find_base(m, all, m->base);
    for (size_t k = 0; k < json_array_size(m->layers); k++) { /* inner models of Keras 2 */
        if (json_is_object(json_array_get(calls_of(m, (int64_t)k), 0))) continue;
        m->base[k] = m->end_base[k] = m->base[k] || m->end_base[k];
    }
    json_decref(all);
}

static mst_status make_flat(flattening *f, const json_t *object, const char *path, bool frozen, int depth,
                            flat_model *out);

/* Makes the layers of M flat. Layers that are not models stay unchanged. The first pass makes the inner models flat.
 * The second pass adds all layers: it comes later because their references may lead through any inner model. */
static mst_status flatten_layers(outer_model *m, const char *path, int depth, flat_model *out) {
    json_t *before = json_object(), *layer; /* for each class, the number of layers so far */
    size_t i;
    mst_status status = before ? MST_OK : MST_NO_MEMORY("for a network");
    for (int turn = 0; turn < 2 && !status; turn++) {
        json_object_clear(before);
        json_array_foreach(m->layers, i, layer) {
            const char *class_name = text_of(layer, "class_name");
            const json_int_t count = json_integer_value(json_object_get(before, class_name));
            char folder[MST_KERAS_FOLDER];
            mst_keras_layer_folder(path, class_name, count, folder);
            json_object_set_new(before, class_name, json_integer(count + 1));
            if (turn == 0 && is_inner(layer))
                status = make_flat(m->f, layer, folder, m->frozen, depth + 1, &m->inner[i]);
            if (turn == 1)
                status = is_inner(layer) ? add_inner(m, (int64_t)i, out) : add_own(m, (int64_t)i, folder, out);
            if (status) break;
        }
        if (turn == 0) find_bases(m, out->outputs);
    }
    json_decref(before);
    return status;
}

/* Replaces the outputs by references of the flat model. */
static mst_status resolve_outputs(const outer_model *m, flat_model *out) {
    json_t *given = out->outputs, *reference, *resolved;
    size_t i;
    mst_status status = MST_OK;
    out->outputs = json_array();
    json_array_foreach(given, i, reference) {
        status = resolve(m, m->end_base, reference, &resolved);
        if (status) break;
        json_array_append_new(out->outputs, resolved);
    }
    json_decref(given);
    return status;
}

static mst_status index_layers(outer_model *m) {
    json_t *layer;
    size_t i;
    const size_t count = json_array_size(m->layers);
    if (count > MOST_LAYERS) return nested_malformed(m->f, "too many layers");
    json_array_foreach(m->layers, i, layer) {
        if (!*name_of(layer) || !*text_of(layer, "class_name"))
            return nested_malformed(m->f, "a layer without class or name");
        if (!is_inner(layer) && !json_is_object(json_object_get(layer, "config")))
            return nested_malformed(m->f, "a layer without config");
        json_object_set_new(m->index, name_of(layer), json_integer((json_int_t)i));
    }
    m->inner = calloc(count, sizeof *m->inner);
    m->base = calloc(count, sizeof *m->base);
    m->end_base = calloc(count, sizeof *m->end_base);
    return m->inner && m->base && m->end_base ? MST_OK : MST_NO_MEMORY("for a network");
}

/* Makes the model OBJECT flat. Its weights are in the folder PATH. Free OUT also after a failure. */
static mst_status make_flat(flattening *f, const json_t *object, const char *path, bool frozen, int depth,
                            flat_model *out) {
    const json_t *config = json_object_get(object, "config");
    const bool is_stack = strcmp(text_of(object, "class_name"), "Sequential") == 0;
    outer_model m = {.f = f, .frozen = frozen || json_is_false(json_object_get(config, "trainable"))};
    if (depth > MOST_DEPTH)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': has models in models, more than %d deep", f->file, MOST_DEPTH);
    if (!json_array_size(layers_of(object))) return nested_malformed(f, "a model without layers");
    m.layers = is_stack ? layers_of_stack(object) : json_incref(layers_of(object));
    m.index = json_object();
    *out = (flat_model){json_array(), json_object(), NULL, NULL};
    mst_status status = index_layers(&m);
    const size_t count = json_array_size(m.layers);
    if (!status && is_stack) {
        out->inputs = json_pack("[[s, i, i]]", name_of(json_array_get(m.layers, 0)), 0, 0);
        out->outputs = json_pack("[[s, i, i]]", name_of(json_array_get(m.layers, count - 1)), 0, 0);
    } else if (!status) {
        out->inputs = references_in(json_object_get(config, "input_layers"));
        out->outputs = references_in(json_object_get(config, "output_layers"));
    }
    if (!status && json_array_size(out->inputs) > MOST_INPUTS) status = nested_malformed(f, "too many inputs");
    if (!status) status = flatten_layers(&m, path, depth, out);
    if (!status) status = resolve_outputs(&m, out);
    for (size_t i = 0; m.inner && i < count; i++) flat_free(&m.inner[i]);
    free(m.inner);
    free(m.base);
    free(m.end_base);
    json_decref(m.layers);
    json_decref(m.index);
    return status;
}

mst_status mst_keras_flatten(const char *name, const json_t *object, json_t **out) {
    flattening f = {.file = name};
    flat_model flat = {NULL, NULL, NULL, NULL};
    json_t *layer;
    size_t i;
    bool has_inner = false;
    *out = NULL;
    json_array_foreach(layers_of(object), i, layer) has_inner |= is_inner(layer);
    if (!has_inner) return MST_OK;
    mst_status status = make_flat(&f, object, "", false, 0, &flat);
    if (!status)
        *out = json_pack("{s:s, s:{s:O, s:O, s:O}}", "class_name", "Functional", "config", "layers", flat.layers,
                         "input_layers", flat.inputs, "output_layers", flat.outputs);
    if (!status && !*out) status = MST_NO_MEMORY("for a network");
    static const char *const kept[] = {MST_KERAS_INPUT_KEYS, MST_KERAS_OUTPUT_KEYS};
    for (int k = 0; *out && k < 2; k++) {
        json_t *keys = json_object_get(json_object_get(object, "config"), kept[k]);
        if (keys) json_object_set(json_object_get(*out, "config"), kept[k], keys);
    }
    flat_free(&flat);
    return status;
}
