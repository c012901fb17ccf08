#include "model_file/onnx/onnx_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"

static const Muster__OnnxAttribute *attribute_of(const Muster__OnnxNode *node, const char *name) {
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0) return node->attribute[i];
    return NULL;
}

static bool is_op(const Muster__OnnxNode *node, const char *name) {
    return node && strcmp(node->op_type, name) == 0;
}

/* The node that makes the value NAME; NULL: none does. */
static const Muster__OnnxNode *maker_of(const mst_onnx_file *file, const char *name) {
    for (size_t i = 0; i < file->graph->n_node; i++)
        for (size_t k = 0; k < file->graph->node[i]->n_output; k++)
            if (strcmp(file->graph->node[i]->output[k], name) == 0) return file->graph->node[i];
    return NULL;
}

static const Muster__OnnxNode *maker_of_input(const mst_onnx_file *file, const Muster__OnnxNode *node, size_t i) {
    return node && i < node->n_input ? maker_of(file, node->input[i]) : NULL;
}

/* ---- classes ---- */

/* Takes the classes of attributes whose names begin with "classlabels_". */
static void take_attributes(const Muster__OnnxNode *node, mst_onnx_classes *out) {
    const Muster__OnnxAttribute *texts = attribute_of(node, "classlabels_strings");
    const Muster__OnnxAttribute *ints =
        attribute_of(node, is_op(node, "ZipMap") ? "classlabels_int64s" : "classlabels_ints");
    out->text = NULL;
    out->number = NULL;
    out->tensor = NULL;
    out->count = texts ? texts->n_strings : 0;
    if (out->count) out->text = texts->strings;
    if (out->count || !ints) return;
    out->count = ints->n_ints;
    out->number = ints->ints;
}

/* Takes the classes of the initializer NAME, from which labels are picked. */
static void take_initializer(const mst_onnx_file *file, const char *name, mst_onnx_classes *out) {
    const int64_t at = mst_names_get(&file->names, name);
    if (at < 0) return;
    const Muster__OnnxTensor *m = file->graph->initializer[at];
    mst_tensor *tensor = file->tensor[at];
    if (mst_tensor_shape(tensor).ndim != 1 || mst_dtype_is_float(mst_tensor_dtype(tensor))) return;
    out->count = (size_t)mst_tensor_count(tensor);
    out->text = m->n_string_data ? m->string_data : NULL;
    out->tensor = tensor;
}

/* A ZipMap names all classes of an output. A LinearClassifier may be one of several inside a larger one. */
void mst_onnx_classes_find(const mst_onnx_file *file, mst_onnx_classes *out) {
    enum { NONE, BY_CLASSIFIER, BY_LIST, BY_MAP } found = NONE;
    *out = (mst_onnx_classes){.count = 0};
    for (size_t i = 0; i < file->graph->n_node; i++) {
        const Muster__OnnxNode *node = file->graph->node[i];
        if (strcmp(node->domain, "ai.onnx.ml") != 0) continue;
        if (is_op(node, "ZipMap")) {
            take_attributes(node, out);
            found = BY_MAP;
            out->has_map = true;
        } else if (is_op(node, "ArrayFeatureExtractor") && found < BY_LIST && node->n_input == 2 &&
                   maker_of_input(file, node, 1)) {
            take_initializer(file, node->input[0], out);
            if (out->tensor) found = BY_LIST;
        } else if (is_op(node, "LinearClassifier") && found < BY_CLASSIFIER) {
            take_attributes(node, out);
            found = BY_CLASSIFIER;
        }
    }
}

/* ---- outputs ---- */

bool mst_onnx_is_label(const mst_onnx_file *file, size_t i) {
    enum { TEXT = 8 };
    const Muster__OnnxValue *output = file->graph->output[i];
    const Muster__OnnxTensorType *type = output->type ? output->type->tensor_type : NULL;
    if (!type || !type->shape || type->shape->n_dim != 1) return false;
    return type->elem_type == TEXT || type->elem_type == mst_onnx_type(MST_I64) ||
           type->elem_type == mst_onnx_type(MST_I32);
}

bool mst_onnx_is_scores(const mst_onnx_file *file, size_t i, const mst_onnx_classes *classes) {
    const Muster__OnnxValue *output = file->graph->output[i];
    const Muster__OnnxTensorType *type = output->type ? output->type->tensor_type : NULL;
    if (!classes->count) return false;
    if (!type) return is_op(maker_of(file, output->name), "ZipMap");
    if (mst_dtype_is_float(mst_onnx_dtype(type->elem_type)) && type->shape && type->shape->n_dim == 2) {
        const Muster__OnnxDimension *dim = type->shape->dim[1];
        return dim->value_case == MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE && dim->dim_value == (int64_t)classes->count;
    }
    return false;
}

static bool has_text(const Muster__OnnxNode *node, const char *name, const char *text) {
    const Muster__OnnxAttribute *a = attribute_of(node, name);
    return a && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

/* Whether NODE divides by a sum. The converter adds 1 to a sum of zeros first. */
static bool divides_by_sum(const mst_onnx_file *file, const Muster__OnnxNode *node) {
    const Muster__OnnxNode *by = maker_of_input(file, node, 1);
    return is_op(by, "ReduceSum") || (is_op(by, "Add") && is_op(maker_of_input(file, by, 0), "ReduceSum"));
}

bool mst_onnx_is_probabilities(const mst_onnx_file *file, size_t i) {
    const Muster__OnnxNode *node = maker_of(file, file->graph->output[i]->name);
    for (int steps = 0; steps < 4 && (is_op(node, "ZipMap") || is_op(node, "Identity")); steps++)
        node = maker_of_input(file, node, 0);
    if (is_op(node, "LinearClassifier")) {
        const Muster__OnnxAttribute *a = attribute_of(node, "coefficients"), *b = attribute_of(node, "intercepts");
        const bool two = a && b && b->n_floats == 2; /* sigmoids of scores s and -s */
        return has_text(node, "post_transform", "SOFTMAX") || (two && has_text(node, "post_transform", "LOGISTIC"));
    }
    if (is_op(node, "Normalizer")) return has_text(node, "norm", "L1");
    if (is_op(node, "Div")) return divides_by_sum(file, node);
    return is_op(node, "Softmax") || (is_op(node, "Concat") && is_op(maker_of_input(file, node, 1), "Sigmoid"));
}

/* ---- the note ---- */

static json_t *name_of_class(const mst_onnx_classes *classes, size_t i) {
    char text[32];
    if (classes->text) {
        const ProtobufCBinaryData *name = &classes->text[i];
        return memchr(name->data ? name->data : (const uint8_t *)"", 0, name->len)
                   ? NULL
                   : json_stringn((const char *)name->data, name->len);
    }
    snprintf(text, sizeof text, "%" PRId64,
             classes->number ? classes->number[i] : (int64_t)mst_tensor_get(classes->tensor, (int64_t)i));
    return json_string(text);
}

/* Whether the classes have names that say more than their numbers. */
static bool has_names(const mst_onnx_classes *classes) {
    bool in_order = !classes->text;
    for (size_t i = 0; i < classes->count && in_order; i++)
        in_order =
            (classes->number ? classes->number[i] : (int64_t)mst_tensor_get(classes->tensor, (int64_t)i)) == (int64_t)i;
    return !in_order;
}

char *mst_onnx_classes_note(const mst_onnx_classes *classes, bool probabilities) {
    json_t *note = json_object(), *names = json_array();
    bool good = has_names(classes);
    for (size_t i = 0; i < classes->count && good; i++)
        good = json_array_append_new(names, name_of_class(classes, i)) == 0;
    if (good) json_object_set(note, "classes", names);
    json_decref(names);
    if (probabilities) {
        json_object_set_new(note, "loss", json_string("sparse_categorical_crossentropy"));
        json_object_set_new(note, "from_probabilities", json_true());
    }
    char *text = json_object_size(note) ? json_dumps(note, JSON_COMPACT) : NULL;
    json_decref(note);
    return text;
}
