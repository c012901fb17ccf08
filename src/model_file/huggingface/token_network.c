/* Layers are named as mst_gpt names them. So a network that mst_gpt made is written by the same code as one that was
 * read: the config is taken from the options of some layers, and the network of that config must be equal to it. */
#include "model_file/huggingface/token_network.h"

#include <stdio.h>
#include <string.h>

#include "graph/field.h"
#include "graph/options.h"
#include "model/model.h"
#include "muster/layers.h"

enum { NAME_SIZE = 64 };
#define POSITIONS "position_embedding" /* the default name */

/* ---- making ---- */

mst_status mst_huggingface_network_add(mst_model *model, const mst_gpt_network *config, int64_t positions) {
    (void)mst_gpt_network_add(model, config, positions); /* MODEL keeps its failure */
    return mst_model_check(model);
}

mst_status mst_huggingface_set_positions(mst_model *model, int64_t positions) {
    mst_gpt_network config;
    MST_TRY(mst_huggingface_network_read(model, &config));
    if (!config.is_llama && positions > config.positions)
        return MST_FAIL(MST_INVALID, "%lld positions: the network has weights for %lld", (long long)positions,
                        (long long)config.positions);
    const mst_model_node *node = &model->node[model->input[0].node];
    mst_layer_input_options *options = model->layer[node->layer].options;
    options->shape = model->input[0].row.shape = MST_SHAPE(positions);
    return MST_OK;
}

/* ---- describing ---- */

/* The name of layer PART of block I, "block_1_norm_2". */
static const char *in_block(int64_t i, const char *part, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE, "block_%lld_%s", (long long)i, part);
    return name;
}

static const mst_model_layer *find_layer(const mst_model *model, const char *name, const char *type) {
    const int64_t i = mst_names_get(&model->names, name);
    return i >= 0 && strcmp(model->layer[i].type->name, type) == 0 ? &model->layer[i] : NULL;
}

static const void *options_of(const mst_model *model, const char *name, const char *type) {
    const mst_model_layer *layer = find_layer(model, name, type);
    return layer ? layer->options : NULL;
}

static mst_status other_network(const char *what, const char *name) {
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "a folder of Hugging Face holds GPT-2 or Llama, as mst_gpt makes them, and this network is another "
                    "one: %s%s%.200s%s",
                    what, *name ? " '" : "", name, *name ? "'" : "");
}

/* The rates of the layers `dropout`: the first one may be behind the embeddings, two are in each block. */
static void read_dropout(const mst_model *model, mst_gpt_network *c) {
    int64_t count = 0;
    float first = 0, last = 0;
    for (int64_t i = 0; i < model->num_layers; i++) {
        const mst_model_layer *l = &model->layer[i];
        if (strcmp(l->type->name, "dropout") != 0) continue;
        last = ((const mst_layer_dropout_options *)l->options)->rate;
        if (!count++) first = last;
    }
    if (count % 2) c->embedding_dropout = first;
    if (count > 1) c->residual_dropout = last;
}

static mst_status read_blocks(const mst_model *model, mst_gpt_network *c) {
    char name[NAME_SIZE];
    const mst_layer_multi_head_attention_options *attention =
        options_of(model, in_block(1, "attention", name), "multi_head_attention");
    if (!attention) return other_network("it has no attention", name);
    c->heads = attention->num_heads;
    c->key_value_heads = attention->num_key_value_heads ? attention->num_key_value_heads : c->heads;
    c->head_length = attention->key_dim;
    c->rotary_base = attention->rotary_base;
    c->attention_dropout = attention->dropout;
    c->attention_bias = !attention->no_bias;
    const mst_layer_dense_options *inner = options_of(model, in_block(1, "inner", name), "dense");
    if (!inner) return other_network("it has no dense layer", name);
    c->inner = inner->units;
    c->inner_bias = !inner->no_bias;
    while (mst_names_get(&model->names, in_block(c->layers + 1, "attention", name)) >= 0) c->layers++;
    return MST_OK;
}

static mst_status read_ends(const mst_model *model, mst_gpt_network *c) {
    const mst_layer_embedding_options *tokens = options_of(model, MST_TOKEN_EMBEDDING, "embedding");
    const mst_layer_position_embedding_options *positions = options_of(model, POSITIONS, "position_embedding");
    const mst_layer_rms_normalization_options *rms = options_of(model, "norm", "rms_normalization");
    const mst_layer_layer_normalization_options *norm = options_of(model, "norm", "layer_normalization");
    if (!tokens) return other_network("it has no embedding", MST_TOKEN_EMBEDDING);
    if (!rms && !norm) return other_network("it has no normalization", "norm");
    c->is_llama = rms;
    c->is_untied = find_layer(model, "logits", "dense");
    c->vocabulary_size = tokens->input_dim;
    c->width = tokens->output_dim;
    c->deviation = tokens->initializer.stddev;
    c->epsilon = rms ? rms->epsilon : norm->epsilon;
    c->positions = model->input[0].row.shape.dim[0];
    if (positions && positions->sequence_length) c->positions = positions->sequence_length;
    return MST_OK;
}

/* Whether a field of options decides what is computed: initial values and seeds do not, once there are weights. */
static bool matters(const mst_field *field) {
    return field->type != MST_FIELD_TYPE_NESTED && strcmp(field->name, "seed") != 0 && strcmp(field->name, "name") != 0;
}

static bool is_alike(const mst_field *fields, const void *a, const void *b) {
    for (const mst_field *field = fields; field->name; field++) {
        const mst_field only[] = {*field, MST_FIELD_END};
        if (matters(field) && !mst_options_equal(only, a, b)) return false;
    }
    return true;
}

/* Source K of a node. Without sources for value and key, an attention uses the query for them. */
static int64_t node_source(const mst_model_node *node, int k) {
    return node->src[k < node->num_src ? k : 0];
}

/* Whether node I of both models is the same call of the same layer. */
static bool is_same_call(const mst_model *a, const mst_model *b, int64_t i) {
    const mst_model_node *x = &a->node[i], *y = &b->node[i];
    const mst_model_layer *l = &a->layer[x->layer], *m = &b->layer[y->layer];
    const int most = x->num_src > y->num_src ? x->num_src : y->num_src;
    const bool is_attention = strcmp(l->type->name, "multi_head_attention") == 0;
    if (x->layer != y->layer || l->type != m->type || strcmp(l->name, m->name) != 0) return false;
    if (x->num_src != y->num_src && !is_attention) return false;
    for (int k = 0; k < most; k++)
        if (node_source(x, k) != node_source(y, k)) return false;
    return is_alike(l->type->fields, l->options, m->options);
}

static mst_status compare_nodes(const mst_model *model, const mst_model *expected) {
    for (int64_t i = 0; i < model->num_nodes; i++)
        if (i >= expected->num_nodes || !is_same_call(model, expected, i))
            return other_network("it differs at layer", model->layer[model->node[i].layer].name);
    if (model->num_nodes == expected->num_nodes) return MST_OK;
    return other_network("it lacks layer", expected->layer[expected->node[model->num_nodes].layer].name);
}

mst_status mst_huggingface_network_read(const mst_model *model, mst_gpt_network *out) {
    mst_model *expected;
    *out = (mst_gpt_network){.is_llama = false};
    if (model->num_inputs != 1 || model->input[0].row.shape.ndim != 1)
        return other_network("its input is not one row of tokens", "");
    MST_TRY(read_ends(model, out));
    MST_TRY(read_blocks(model, out));
    read_dropout(model, out);
    MST_TRY(mst_model_create(&expected));
    mst_status status = mst_huggingface_network_add(expected, out, model->input[0].row.shape.dim[0]);
    if (!status) status = compare_nodes(model, expected);
    mst_model_destroy(expected);
    return status;
}
