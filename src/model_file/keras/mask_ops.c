#include "model_file/keras/mask_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/keras/classes.h"

enum { MOST_OPS = 64, MOST_HOPS = 1000 }; /* limits the work: each op is compared with all layers */

bool mst_keras_is_mask_op(const char *class_name) {
    return strcmp(class_name, "NotEqual") == 0 || strcmp(class_name, "Any") == 0;
}

static bool has_class(const json_t *layer, const char *name) {
    const char *class_name = json_string_value(json_object_get(layer, "class_name"));
    return class_name && strcmp(class_name, name) == 0;
}

/* The history of TENSOR, [layer, number, tensor]; NULL if it is not a tensor. */
static const json_t *history_of(const json_t *tensor) {
    return json_object_get(json_object_get(tensor, "config"), "keras_history");
}

/* The index of the layer that gives TENSOR; -1: none. */
static int64_t maker_of(const mst_keras_masks *m, const json_t *tensor) {
    const char *name = json_string_value(json_array_get(history_of(tensor), 0));
    return name ? mst_names_get(m->names, name) : -1;
}

/* The I-th argument of the first call of LAYER. */
static const json_t *argument(const json_t *layer, size_t i) {
    const json_t *call = json_array_get(json_object_get(layer, "inbound_nodes"), 0);
    return json_array_get(json_object_get(call, "args"), i);
}

/* Whether LAYER is applied to SRC and masks the steps whose value is NUMBER. It must be a Masking if IS_MASKING is
 * true, else an Embedding. */
static bool makes_mask(const json_t *layer, bool is_masking, const json_t *src, double number) {
    const json_t *config = json_object_get(layer, "config");
    if (!has_class(layer, is_masking ? "Masking" : "Embedding")) return false;
    const double own = json_number_value(json_object_get(config, "mask_value"));
    if (is_masking ? own != number : number != 0 || !json_is_true(json_object_get(config, "mask_zero"))) return false;
    return json_equal(history_of(argument(layer, 0)), history_of(src));
}

/* Whether LAYER makes the mask that OP makes. If LAYER is NULL, whether any layer does. */
static bool is_mask_of(const mst_keras_masks *m, const json_t *op, const json_t *layer) {
    const bool is_masking = has_class(op, "Any");
    if (is_masking) op = json_array_get(m->layers, (size_t)maker_of(m, argument(op, 0)));
    const json_t *src = argument(op, 0), *number = argument(op, 1);
    if (!has_class(op, "NotEqual") || !history_of(src) || !json_is_number(number)) return false;
    if (layer) return makes_mask(layer, is_masking, src, json_number_value(number));
    for (size_t i = 0; i < json_array_size(m->layers); i++)
        if (makes_mask(json_array_get(m->layers, i), is_masking, src, json_number_value(number))) return true;
    return false;
}

mst_status mst_keras_masks_find(const json_t *layers, const mst_names *names, mst_keras_masks *out) {
    const size_t count = json_array_size(layers);
    int ops = 0;
    *out = (mst_keras_masks){layers, names, calloc(count + 1, sizeof *out->known)};
    if (!out->known) return MST_NO_MEMORY("for a network");
    for (size_t i = 0; i < count; i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *class_name = json_string_value(json_object_get(layer, "class_name"));
        if (!class_name || !mst_keras_is_mask_op(class_name)) continue;
        if (++ops > MOST_OPS)
            return MST_FAIL(MST_UNIMPLEMENTED, "more than %d ops that make masks are not read", MOST_OPS);
        out->known[i] = is_mask_of(out, layer, NULL);
    }
    return MST_OK;
}

/* The first tensor that CALL is applied to; NULL: none. */
static const json_t *first_source(const json_t *call) {
    const json_t *source = json_array_get(json_object_get(call, "args"), 0);
    if (!source) source = json_object_get(json_object_get(call, "kwargs"), "inputs");
    if (!source) source = json_object_get(json_object_get(call, "kwargs"), "sequences");
    return json_is_array(source) ? json_array_get(source, 0) : source;
}

/* Whether LAYER passes on the mask of its source in Muster. */
static bool passes_mask(const json_t *layer) {
    const char *class_name = json_string_value(json_object_get(layer, "class_name"));
    const mst_keras_class *class = class_name ? mst_keras_class_find(class_name) : NULL;
    return class && mst_keras_class_type(class)->mask;
}

/* Whether the source of CALL has the mask of OP: follows the source back to the layer that makes the mask. */
static bool has_mask(const mst_keras_masks *m, const json_t *call, const json_t *op) {
    for (int hops = 0; hops < MOST_HOPS; hops++) {
        const json_t *source = first_source(call), *layer = json_array_get(m->layers, (size_t)maker_of(m, source));
        if (!layer) return false;
        if (is_mask_of(m, op, layer)) return true;
        if (!passes_mask(layer)) return false;
        const json_int_t number = json_integer_value(json_array_get(history_of(source), 1));
        call = json_array_get(json_object_get(layer, "inbound_nodes"), (size_t)number);
    }
    return false;
}

mst_status mst_keras_masks_check(const mst_keras_masks *masks, const json_t *call, const json_t *mask) {
    if (!mask || json_is_null(mask)) return MST_OK;
    const int64_t op = maker_of(masks, mask);
    if (op < 0 || !masks->known[op])
        return MST_FAIL(MST_UNIMPLEMENTED, "its mask is not that of an Embedding or a Masking before it");
    if (has_mask(masks, call, json_array_get(masks->layers, (size_t)op))) return MST_OK;
    return MST_FAIL(
        MST_UNIMPLEMENTED,
        "its mask is that of a layer from which none comes here: the mask of what it is applied to is taken");
}

void mst_keras_masks_free(mst_keras_masks *masks) {
    free(masks->known);
    *masks = (mst_keras_masks){0};
}
