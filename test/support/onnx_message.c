#include "support/onnx_message.h"

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/model_file.h"
#include "support/expect.h"

char *onnx_text(const char *constant) {
    return (char *)(uintptr_t)constant;
}

void onnx_begin(onnx_message *m, int64_t opset) {
    memset(m, 0, sizeof *m);
    muster__onnx_model__init(&m->model);
    muster__onnx_graph__init(&m->graph);
    muster__onnx_opset__init(&m->opset);
    m->model.ir_version = 8;
    m->model.producer_name = onnx_text("a test");
    m->model.graph = &m->graph;
    m->model.n_opset_import = 1;
    m->model.opset_import = m->opsets;
    m->opsets[0] = &m->opset;
    m->opset.version = opset;
    m->graph.node = m->nodes;
    m->graph.initializer = m->tensors;
    m->graph.input = m->inputs;
    m->graph.output = m->outputs;
}

Muster__OnnxValue *onnx_add_value(onnx_message *m, const char *name, mst_dtype dtype, mst_shape shape) {
    const int i = m->num_values++;
    muster__onnx_value__init(&m->value[i]);
    muster__onnx_type__init(&m->type[i]);
    muster__onnx_tensor_type__init(&m->tensor_type[i]);
    muster__onnx_shape__init(&m->shape[i]);
    m->value[i].name = onnx_text(name);
    m->value[i].type = &m->type[i];
    m->type[i].tensor_type = &m->tensor_type[i];
    m->tensor_type[i].elem_type = mst_onnx_type(dtype);
    m->tensor_type[i].shape = &m->shape[i];
    m->shape[i].n_dim = (size_t)shape.ndim;
    m->shape[i].dim = m->dims[i];
    for (int k = 0; k < shape.ndim; k++) {
        muster__onnx_dimension__init(m->dims[i][k] = &m->dim[i][k]);
        if (shape.dim[k] < 0) continue;
        m->dim[i][k].value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
        m->dim[i][k].dim_value = shape.dim[k];
    }
    return &m->value[i];
}

void onnx_add_input(onnx_message *m, const char *name, mst_shape shape) {
    m->inputs[m->graph.n_input++] = onnx_add_value(m, name, MST_F32, shape);
}

void onnx_add_output(onnx_message *m, const char *name, mst_shape shape) {
    m->outputs[m->graph.n_output++] = onnx_add_value(m, name, MST_F32, shape);
}

Muster__OnnxNode *onnx_add_node(onnx_message *m, const char *words) {
    const size_t i = m->graph.n_node++;
    char *rest, *copy = m->words[i];
    snprintf(copy, sizeof m->words[i], "%s", words);
    muster__onnx_node__init(m->nodes[i] = &m->node[i]);
    m->node[i].op_type = strtok_r(copy, " ", &rest);
    m->name[i][0] = strtok_r(NULL, " ", &rest);
    m->node[i].output = m->name[i];
    m->node[i].n_output = 1;
    m->node[i].input = m->name[i] + 1;
    m->node[i].attribute = m->attributes[i];
    while ((m->name[i][1 + m->node[i].n_input] = strtok_r(NULL, " ", &rest))) m->node[i].n_input++;
    return &m->node[i];
}

Muster__OnnxAttribute *onnx_add_attribute(onnx_message *m, const char *name, int type) {
    const size_t i = m->graph.n_node - 1;
    Muster__OnnxAttribute *a = &m->attribute[i][m->node[i].n_attribute];
    muster__onnx_attribute__init(a);
    a->name = onnx_text(name);
    a->type = type;
    m->attributes[i][m->node[i].n_attribute++] = a;
    return a;
}

static void add_word(onnx_message *m, char *word) {
    const size_t size = strcspn(word, "=:"), i = m->graph.n_node - 1;
    const bool is_text = word[size] == ':';
    char *rest = word + size + 1;
    word[size] = 0;
    if (is_text) {
        Muster__OnnxAttribute *a = onnx_add_attribute(m, word, MST_ONNX_STRING);
        a->s.data = (uint8_t *)rest;
        a->s.len = strlen(rest);
    } else if (strcmp(word, "value") == 0) {
        muster__onnx_tensor__init(&m->number_tensor);
        m->number = atoi(rest);
        m->one = 1;
        m->number_tensor.data_type = mst_onnx_type(MST_I64);
        m->number_tensor.int64_data = &m->number;
        m->number_tensor.n_int64_data = m->number_tensor.n_dims = 1;
        m->number_tensor.dims = &m->one;
        onnx_add_attribute(m, word, MST_ONNX_TENSOR)->t = &m->number_tensor;
    } else if (strchr(rest, ',')) {
        int64_t *list = m->ints[i][m->node[i].n_attribute];
        Muster__OnnxAttribute *a = onnx_add_attribute(m, word, MST_ONNX_INTS);
        a->ints = list;
        for (char *c = rest; *c && a->n_ints < ONNX_INTS; c += *c == ',') list[a->n_ints++] = strtol(c, &c, 10);
    } else if (strchr(rest, '.')) {
        onnx_add_attribute(m, word, MST_ONNX_FLOAT)->f = strtof(rest, NULL);
    } else {
        onnx_add_attribute(m, word, MST_ONNX_INT)->i = atoi(rest);
    }
}

void onnx_add_nodes(onnx_message *m, const char *nodes) {
    char *rest, *inner;
    snprintf(m->text, sizeof m->text, "%s", nodes);
    for (char *node = strtok_r(m->text, ";", &rest); node; node = strtok_r(NULL, ";", &rest)) {
        char words[200] = "";
        char *attribute[ONNX_ATTRIBUTES];
        int count = 0;
        for (char *word = strtok_r(node, " ", &inner); word; word = strtok_r(NULL, " ", &inner)) {
            if (strcspn(word, "=:") < strlen(word)) {
                attribute[count++] = word;
                continue;
            }
            strcat(words, " ");
            strcat(words, word);
        }
        Muster__OnnxNode *made = onnx_add_node(m, words + 1);
        for (size_t i = 0; i < made->n_input; i++)
            if (strcmp(made->input[i], "_") == 0) made->input[i] = onnx_text("");
        for (int i = 0; i < count; i++) add_word(m, attribute[i]);
    }
}

bool onnx_nodes_name(const char *nodes, const char *name) {
    const size_t size = strlen(name);
    for (const char *at = nodes; (at = strstr(at, name)); at++)
        if (at > nodes && at[-1] == ' ' && (!at[size] || strchr(" ;", at[size]))) return true;
    return false;
}

Muster__OnnxTensor *onnx_add_list(onnx_message *m, const char *name, int64_t *list, size_t count) {
    const size_t i = m->graph.n_initializer++;
    muster__onnx_tensor__init(m->tensors[i] = &m->tensor[i]);
    m->size[i] = (int64_t)count;
    m->tensor[i].name = onnx_text(name);
    m->tensor[i].data_type = mst_onnx_type(MST_I64);
    m->tensor[i].int64_data = list;
    m->tensor[i].n_int64_data = count;
    m->tensor[i].dims = &m->size[i];
    m->tensor[i].n_dims = 1;
    return &m->tensor[i];
}

void *onnx_pack(const onnx_message *m, size_t *size) {
    *size = muster__onnx_model__get_packed_size(&m->model);
    uint8_t *data = malloc(*size + 1);
    assert_non_null(data);
    muster__onnx_model__pack(&m->model, data);
    return data;
}

mst_graph *onnx_decode(const onnx_message *m) {
    size_t size;
    void *data = onnx_pack(m, &size);
    mst_graph *graph;
    EXPECT_OK(mst_onnx_decode(data, size, &graph));
    free(data);
    return graph;
}

void onnx_expect_refused(const onnx_message *m, mst_status code, const char *why) {
    size_t size;
    void *data = onnx_pack(m, &size);
    mst_graph *graph;
    EXPECT_ERROR(mst_onnx_decode(data, size, &graph), code, why);
    assert_null(graph);
    free(data);
}
