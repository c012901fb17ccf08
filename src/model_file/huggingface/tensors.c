#include "model_file/huggingface/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/no_memory.h"

enum { MOST_PER_LAYER = 16, MOST_OTHERS = 5, QUERY_KEY_VALUE = 3 };

typedef struct tensor_list {
    const mst_gpt_network *config;
    mst_huggingface_tensor *item;
    int64_t count;
    int64_t layer; /* counted from 0; -1: the tensor is in none */
} tensor_list;

/* Adds a tensor and returns it. NAME and WEIGHT are those in the layer. */
static mst_huggingface_tensor *add_tensor(tensor_list *l, const char *name, const char *weight, mst_shape shape) {
    mst_huggingface_tensor *t = &l->item[l->count++];
    const long long layer = (long long)l->layer;
    *t = (mst_huggingface_tensor){.shape = shape, .rows = 1, .columns = 1, .num_parts = 1};
    if (layer < 0) {
        snprintf(t->name, sizeof t->name, "%s", name);
        snprintf(t->weight, sizeof t->weight, "%s", weight);
    } else {
        snprintf(t->name, sizeof t->name, "%s.%lld.%s", l->config->is_llama ? "layers" : "h", layer, name);
        snprintf(t->weight, sizeof t->weight, "block_%lld_%s", layer + 1, weight);
    }
    return t;
}

static void add_vector(tensor_list *l, const char *name, const char *weight, int64_t size) {
    mst_huggingface_tensor *t = add_tensor(l, name, weight, MST_SHAPE(size));
    t->is_vector = true;
    t->columns = size;
}

/* A matrix whose first IN dimensions are rows. */
static mst_huggingface_tensor *add_matrix(tensor_list *l, const char *name, const char *weight, mst_shape shape,
                                          int in) {
    mst_huggingface_tensor *t = add_tensor(l, name, weight, shape);
    for (int i = 0; i < shape.ndim; i++) *(i < in ? &t->rows : &t->columns) *= shape.dim[i];
    t->is_transposed = l->config->is_llama;
    return t;
}

static void add_dense(tensor_list *l, const char *name, const char *weight, int64_t in, int64_t out) {
    char full[MST_HUGGINGFACE_NAME], own[MST_HUGGINGFACE_NAME];
    snprintf(full, sizeof full, "%s.weight", name);
    snprintf(own, sizeof own, "%s/kernel", weight);
    add_matrix(l, full, own, MST_SHAPE(in, out), 1);
    if (!l->config->inner_bias) return;
    snprintf(full, sizeof full, "%s.bias", name);
    snprintf(own, sizeof own, "%s/bias", weight);
    add_vector(l, full, own, out);
}

/* ---- attention ---- */

static const char *const part_names[QUERY_KEY_VALUE] = {"query", "key", "value"};

static int64_t heads_in(const mst_gpt_network *c, int part) {
    return part == 0 ? c->heads : c->key_value_heads;
}

/* Queries, keys and values of GPT-2, which are side by side in one tensor. */
static void add_joined(tensor_list *l, bool bias) {
    const mst_gpt_network *c = l->config;
    char own[MST_HUGGINGFACE_NAME];
    for (int i = 0; i < QUERY_KEY_VALUE; i++) {
        snprintf(own, sizeof own, "attention/%s/%s", part_names[i], bias ? "bias" : "kernel");
        const mst_shape shape =
            bias ? MST_SHAPE(c->heads, c->head_length) : MST_SHAPE(c->width, c->heads, c->head_length);
        mst_huggingface_tensor *t =
            add_matrix(l, bias ? "attn.c_attn.bias" : "attn.c_attn.weight", own, shape, bias ? 0 : 1);
        t->is_vector = bias;
        t->part = i;
        t->num_parts = QUERY_KEY_VALUE;
    }
}

static void add_apart(tensor_list *l) {
    const mst_gpt_network *c = l->config;
    static const char *const names[] = {"q_proj", "k_proj", "v_proj"};
    char full[MST_HUGGINGFACE_NAME], own[MST_HUGGINGFACE_NAME];
    for (int i = 0; i < QUERY_KEY_VALUE; i++) {
        snprintf(full, sizeof full, "self_attn.%s.weight", names[i]);
        snprintf(own, sizeof own, "attention/%s/kernel", part_names[i]);
        add_matrix(l, full, own, MST_SHAPE(c->width, heads_in(c, i), c->head_length), 1);
        if (!c->attention_bias) continue;
        snprintf(full, sizeof full, "self_attn.%s.bias", names[i]);
        snprintf(own, sizeof own, "attention/%s/bias", part_names[i]);
        add_matrix(l, full, own, MST_SHAPE(heads_in(c, i), c->head_length), 0)->is_vector = true;
    }
}

static void add_attention(tensor_list *l) {
    const mst_gpt_network *c = l->config;
    static const char own[] = "attention/attention_output/kernel", own_bias[] = "attention/attention_output/bias";
    if (c->is_llama)
        add_apart(l);
    else
        add_joined(l, false), add_joined(l, true);
    add_matrix(l, c->is_llama ? "self_attn.o_proj.weight" : "attn.c_proj.weight", own,
               MST_SHAPE(c->heads, c->head_length, c->width), 2);
    if (c->attention_bias)
        add_vector(l, c->is_llama ? "self_attn.o_proj.bias" : "attn.c_proj.bias", own_bias, c->width);
}

/* ---- networks ---- */

static void add_gpt2_layer(tensor_list *l) {
    const mst_gpt_network *c = l->config;
    add_vector(l, "ln_1.weight", "norm_1/gamma", c->width);
    add_vector(l, "ln_1.bias", "norm_1/beta", c->width);
    add_attention(l);
    add_vector(l, "ln_2.weight", "norm_2/gamma", c->width);
    add_vector(l, "ln_2.bias", "norm_2/beta", c->width);
    add_dense(l, "mlp.c_fc", "inner", c->width, c->inner);
    add_dense(l, "mlp.c_proj", "outer", c->inner, c->width);
}

static void add_llama_layer(tensor_list *l) {
    const mst_gpt_network *c = l->config;
    add_vector(l, "input_layernorm.weight", "norm_1/scale", c->width);
    add_attention(l);
    add_vector(l, "post_attention_layernorm.weight", "norm_2/scale", c->width);
    add_dense(l, "mlp.gate_proj", "gate", c->width, c->inner);
    add_dense(l, "mlp.up_proj", "inner", c->width, c->inner);
    add_dense(l, "mlp.down_proj", "outer", c->inner, c->width);
}

/* The rows of an embedding are not transposed. */
static void add_embedding(tensor_list *l, const char *name, const char *weight, int64_t rows) {
    add_matrix(l, name, weight, MST_SHAPE(rows, l->config->width), 1)->is_transposed = false;
}

mst_status mst_huggingface_tensors(const mst_gpt_network *config, mst_huggingface_tensor **out, int64_t *count) {
    const mst_gpt_network *c = config;
    tensor_list l = {.config = c};
    l.item = calloc((size_t)(MOST_PER_LAYER * c->layers + MOST_OTHERS), sizeof *l.item);
    *out = NULL;
    if (!l.item) return MST_NO_MEMORY("for the tensors of a model");
    l.layer = -1;
    add_embedding(&l, c->is_llama ? "embed_tokens.weight" : "wte.weight", "token_embedding/embeddings",
                  c->vocabulary_size);
    if (!c->is_llama) add_embedding(&l, "wpe.weight", "position_embedding/embeddings", c->positions);
    for (l.layer = 0; l.layer < c->layers; l.layer++) (c->is_llama ? add_llama_layer : add_gpt2_layer)(&l);
    l.layer = -1;
    add_vector(&l, c->is_llama ? "norm.weight" : "ln_f.weight", c->is_llama ? "norm/scale" : "norm/gamma", c->width);
    if (!c->is_llama) add_vector(&l, "ln_f.bias", "norm/beta", c->width);
    if (c->is_untied) {
        mst_huggingface_tensor *t =
            add_matrix(&l, "lm_head.weight", "logits/kernel", MST_SHAPE(c->width, c->vocabulary_size), 1);
        t->is_transposed = t->has_no_prefix = true;
    }
    *out = l.item;
    *count = l.count;
    return MST_OK;
}

mst_shape mst_huggingface_tensor_shape(const mst_huggingface_tensor *tensor) {
    const int64_t columns = tensor->num_parts * tensor->columns;
    if (tensor->is_vector) return MST_SHAPE(columns);
    return tensor->is_transposed ? MST_SHAPE(columns, tensor->rows) : MST_SHAPE(tensor->rows, columns);
}

const char *mst_huggingface_prefix(const mst_gpt_network *config) {
    return config->is_llama ? "model." : "transformer.";
}

bool mst_huggingface_is_left_out(const mst_gpt_network *config, const char *name) {
    if (strcmp(name, "lm_head.weight") == 0) return !config->is_untied; /* the embedding once more */
    if (config->is_llama) return mst_ends_in(name, "rotary_emb.inv_freq");
    return mst_ends_in(name, ".attn.bias") || mst_ends_in(name, ".attn.masked_bias");
}

/* ---- copies ---- */

/* Matrices are copied in squares of so many rows and columns, since one side of a transposed copy is far apart. */
enum { SQUARE = 32 };

/* The place in the file of the element in ROW and COLUMN of the weight. */
static int64_t file_place(const mst_huggingface_tensor *t, int64_t row, int64_t column) {
    return t->is_transposed ? column * t->rows + row : (row * t->num_parts + t->part) * t->columns + column;
}

static int64_t end_of_square(int64_t begin, int64_t size) {
    return size - begin < SQUARE ? size : begin + SQUARE;
}

void mst_huggingface_take(const mst_huggingface_tensor *tensor, const float *file, float *weight) {
    const mst_huggingface_tensor t = *tensor;
    for (int64_t row = 0; row < t.rows; row += SQUARE)
        for (int64_t column = 0; column < t.columns; column += SQUARE)
            for (int64_t i = row; i < end_of_square(row, t.rows); i++)
                for (int64_t k = column; k < end_of_square(column, t.columns); k++)
                    weight[i * t.columns + k] = file[file_place(&t, i, k)];
}

void mst_huggingface_give(const mst_huggingface_tensor *tensor, const float *weight, float *file) {
    const mst_huggingface_tensor t = *tensor;
    for (int64_t row = 0; row < t.rows; row += SQUARE)
        for (int64_t column = 0; column < t.columns; column += SQUARE)
            for (int64_t i = row; i < end_of_square(row, t.rows); i++)
                for (int64_t k = column; k < end_of_square(column, t.columns); k++)
                    file[file_place(&t, i, k)] = weight[i * t.columns + k];
}
