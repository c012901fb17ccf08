/* mst_generate: text token by token.
 *
 * The model is built in a separate graph for a few tokens at a time (mst_layer_steps): once for one token, and once for
 * CHUNK tokens, for the prompt. The keys and values of attention (the KV cache) are variables. They are in the model's
 * store, which has the weights, in a separate container that is emptied at the end. If the last tokens of the prompt do
 * not fill a chunk, the chunk is padded. The cached keys and values of the padding are not read, and are overwritten by
 * the next tokens. */
#include "muster/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "model/model.h"
#include "muster/ops.h"
#include "store/store.h"
#include "tokenizer/token_ids.h"
#include "train/next_token.h"
#include "train/trainer.h"

enum { CHUNK = 32, MAX_TOKENS = 100, NAME = 32 };
static const char container[] = "generate";

/* The model for some tokens at a time. */
typedef struct part {
    int64_t num_tokens;
    mst_value fed[2]; /* tokens [1, num_tokens], and the number of the first, a scalar */
    mst_value logits; /* [1, num_tokens, vocabulary] */
    mst_value kept;   /* node that writes to all caches */
    mst_tensor *tokens, *first, *output;
} part;

typedef struct generator {
    mst_model *model;
    mst_generate_options o;
    int64_t positions, vocabulary;
    int64_t drawn; /* only tokens below this number may be drawn */
    mst_graph *graph;
    mst_session *session;
    mst_value *cache, *write; /* the caches, and the writes to them of the part that is being built */
    int64_t num_caches, cache_capacity, write_capacity;
    int64_t next_cache, num_writes;
    mst_value place; /* i32, [4]: where the part's first step is in a cache */
    part one, chunk;
    int64_t begin, done; /* the caches have the keys and values of tokens begin to begin + done - 1 of the text */
    mst_candidate *candidates;
} generator;

/* ---- the graph ---- */

/* The next cache for the part that is being built. The first part makes the caches, and the second uses the same. */
static mst_value next_cache(void *context, mst_shape shape, mst_dtype dtype) {
    generator *g = context;
    char name[NAME];
    if (g->next_cache < g->num_caches) return g->cache[g->next_cache++];
    if (mst_grow(&g->cache, sizeof *g->cache, g->num_caches + 1, &g->cache_capacity))
        return mst_value_of_last_error(g->graph);
    snprintf(name, sizeof name, "generate/cache_%lld", (long long)g->num_caches);
    const mst_value zeros = mst_broadcast_to(mst_scalar(g->graph, dtype, 0), shape);
    const mst_value made =
        mst_variable(g->graph, name, zeros, .not_trainable = true, .hidden = true, .container = container);
    g->next_cache++;
    return g->cache[g->num_caches++] = made;
}

static void keep_steps(void *context, mst_value cache, mst_value value) {
    generator *g = context;
    if (mst_grow(&g->write, sizeof *g->write, g->num_writes + 1, &g->write_capacity)) return;
    g->write[g->num_writes++] = mst_assign_slice(cache, value, g->place);
}

static mst_status build_part(generator *g, int64_t num_tokens, part *p) {
    static const double along[] = {0, 0, 1, 0}; /* [1, heads, positions, columns] */
    mst_graph *graph = g->graph;
    p->num_tokens = num_tokens;
    p->fed[0] = mst_placeholder(graph, MST_I32, MST_SHAPE(1, num_tokens), .name = "tokens");
    p->fed[1] = mst_placeholder(graph, MST_I32, (mst_shape){.ndim = 0}, .name = "first");
    g->place = mst_mul(mst_values(graph, MST_I32, MST_SHAPE(4), along), p->fed[1]);
    g->next_cache = g->num_writes = 0;
    const mst_layer_steps steps = {
        .capacity = g->positions,
        .first = p->fed[1],
        .place = mst_add(mst_range(graph, MST_I32, 0, (double)num_tokens, 1), p->fed[1]),
        .cache = next_cache,
        .keep = keep_steps,
        .context = g,
    };
    MST_TRY(mst_model_build_steps(g->model, p->fed[0], &steps, &p->logits));
    p->kept = mst_group(g->write, (int)g->num_writes);
    const mst_spec spec = mst_value_spec(p->logits);
    if (spec.shape.ndim != 3 || spec.shape.dim[1] != num_tokens || spec.shape.dim[2] < 1 || spec.dtype != MST_F32)
        return MST_FAIL(MST_INVALID,
                        "generate: the model gives no f32 logits [n, positions, vocabulary]: it is no "
                        "language model, as that of mst_gpt");
    g->vocabulary = spec.shape.dim[2];
    MST_TRY(mst_tensor_create(MST_I32, MST_SHAPE(1, num_tokens), &p->tokens));
    return mst_tensor_create(MST_I32, (mst_shape){.ndim = 0}, &p->first);
}

static void part_free(part *p) {
    mst_tensor_release(p->tokens);
    mst_tensor_release(p->first);
    mst_tensor_release(p->output);
}

static mst_status build(generator *g) {
    mst_session_options session = {.devices = g->o.devices, .allow_soft_placement = true, .store = g->model->store};
    if (g->model->trainer) session.precision = g->model->trainer->options.session.precision;
    MST_TRY(mst_graph_create(&g->graph));
    g->graph->current.reuse = MST_REUSE_AUTO;
    MST_TRY(build_part(g, 1, &g->one));
    if (g->positions >= CHUNK) MST_TRY(build_part(g, CHUNK, &g->chunk));
    MST_TRY(mst_graph_check(g->graph));
    MST_TRY(mst_session_create(g->graph, &session, &g->session));
    return mst_session_init_variables(g->session);
}

/* ---- steps ---- */

/* Runs P for the COUNT tokens that follow the cached ones. Its logits are computed only if WANTS_LOGITS. */
static mst_status run_part(generator *g, part *p, const int32_t *tokens, int64_t count, bool wants_logits) {
    int32_t *to = mst_tensor_data(p->tokens);
    const mst_feed feeds[] = {{.value = p->fed[0], .tensor = p->tokens}, {.value = p->fed[1], .tensor = p->first}};
    mst_tensor *outputs[] = {NULL, p->output};
    for (int64_t i = 0; i < p->num_tokens; i++) to[i] = i < count ? tokens[i] : 0;
    *(int32_t *)mst_tensor_data(p->first) = (int32_t)g->done;
    const mst_status status =
        mst_session_run(g->session, feeds, 2, (mst_value[]){p->kept, p->logits}, wants_logits ? 2 : 1, outputs);
    p->output = outputs[1];
    if (!status) g->done += count;
    return status;
}

/* Runs the model on the tokens of TEXT that are not cached yet. *LOGITS: the logits after the last token. If TEXT is
 * longer than the caches, about the last half of it is computed anew. */
static mst_status catch_up(generator *g, const mst_token_ids *text, const float **logits) {
    if (text->count - g->begin > g->positions) {
        g->begin = text->count - (g->positions > 1 ? g->positions / 2 : 1);
        g->done = 0;
    }
    for (int64_t left; (left = text->count - g->begin - g->done) > 0;) {
        const bool fits = g->chunk.num_tokens && g->done + CHUNK <= g->positions;
        part *p = left > 1 && fits ? &g->chunk : &g->one;
        const int64_t now = left < p->num_tokens ? left : p->num_tokens;
        MST_TRY(run_part(g, p, text->id + g->begin + g->done, now, now == left));
        if (now == left) *logits = (const float *)mst_tensor_data(p->output) + (now - 1) * g->vocabulary;
    }
    return MST_OK;
}

static bool is_end(const mst_generate_options *o, int32_t token) {
    for (int64_t i = 0; i < o->num_ends; i++)
        if (o->end[i] == token) return true;
    return false;
}

/* Generates tokens after TEXT, and appends each new token to TEXT and to OUT. */
static mst_status write_on(generator *g, mst_token_ids *text, mst_token_ids *out) {
    const double began = mst_clock_seconds();
    for (int64_t i = 0; i < g->o.max_tokens; i++) {
        const float *logits = NULL;
        int32_t token;
        MST_TRY(catch_up(g, text, &logits));
        MST_TRY(mst_next_token(logits, g->drawn, &g->o, (uint64_t)i, g->candidates, &token));
        if (i == 0 && g->o.prompt_seconds) *g->o.prompt_seconds = mst_clock_seconds() - began;
        MST_TRY(mst_token_ids_append(text, &token, 1));
        MST_TRY(mst_token_ids_append(out, &token, 1));
        if ((g->o.each && !g->o.each(g->o.context, token)) || is_end(&g->o, token)) break;
    }
    return MST_OK;
}

/* ---- options ---- */

static mst_status take_options(const mst_generate_options *given, mst_generate_options *o) {
    if (given) *o = *given;
    if (!o->max_tokens) o->max_tokens = MAX_TOKENS;
    if (!mst_number_given(o->temperature)) o->temperature = 1;
    if (o->top_p == 0) o->top_p = 1;
    if (o->max_tokens < 0)
        return MST_FAIL(MST_INVALID, "generate: max_tokens %lld must be at least 1", (long long)o->max_tokens);
    if (!(o->temperature >= 0 && o->temperature <= 1e6))
        return MST_FAIL(MST_INVALID, "generate: temperature %g must be 0 to 1e6", o->temperature);
    if (o->top_k < 0) return MST_FAIL(MST_INVALID, "generate: top_k %lld must be at least 1", (long long)o->top_k);
    if (!(o->top_p > 0 && o->top_p <= 1))
        return MST_FAIL(MST_INVALID, "generate: top_p %g must be above 0 and at most 1", o->top_p);
    return MST_OK;
}

static mst_status check_prompt(const generator *g, const int32_t *prompt, int64_t count) {
    if (count < 1) return MST_FAIL(MST_INVALID, "generate: the prompt is empty: begin with one token at least");
    for (int64_t i = 0; i < count; i++)
        if (prompt[i] < 0 || prompt[i] >= g->vocabulary)
            return MST_FAIL(MST_INVALID, "generate: token %lld of the prompt is %d, the model's tokens are 0 to %lld",
                            (long long)i, (int)prompt[i], (long long)g->vocabulary - 1);
    return MST_OK;
}

/* Sets the model of G. MODEL must take tokens [n, positions], with a known number of positions. */
static mst_status take_model(mst_model *model, generator *g) {
    MST_TRY(mst_model_check(model));
    const mst_model_input *input = model->input;
    if (model->num_inputs != 1 || input->row.dtype == MST_NO_DTYPE || input->row.shape.ndim != 1 ||
        input->row.shape.dim[0] < 1)
        return MST_FAIL(MST_INVALID,
                        "generate: the model takes no tokens [n, positions] with positions that are known: "
                        "it is no language model, as that of mst_gpt");
    g->model = model;
    g->positions = input->row.shape.dim[0];
    return MST_OK;
}

static void generator_free(generator *g) {
    mst_session_destroy(g->session);
    mst_graph_destroy(g->graph);
    part_free(&g->one);
    part_free(&g->chunk);
    free(g->cache);
    free(g->write);
    free(g->candidates);
}

static mst_status generate(generator *g, const int32_t *prompt, int64_t num_prompt, mst_token_ids *out) {
    mst_token_ids text = {.count = 0};
    MST_TRY(build(g));
    MST_TRY(check_prompt(g, prompt, num_prompt));
    g->drawn = g->o.vocabulary > 0 && g->o.vocabulary < g->vocabulary ? g->o.vocabulary : g->vocabulary;
    g->candidates = calloc((size_t)g->vocabulary, sizeof *g->candidates);
    if (!g->candidates) return MST_NO_MEMORY("for %lld tokens", (long long)g->vocabulary);
    mst_status status = mst_token_ids_append(&text, prompt, num_prompt);
    if (!status) status = write_on(g, &text, out);
    free(text.id);
    return status;
}

mst_status mst_generate(mst_model *model, const int32_t *prompt, int64_t num_prompt,
                        const mst_generate_options *options, mst_token_ids *out) {
    generator g = {.model = NULL};
    if (MST_IS_NULL(model) || MST_IS_NULL(prompt) || MST_IS_NULL(out)) return MST_INVALID;
    MST_TRY(take_options(options, &g.o));
    MST_TRY(take_model(model, &g));
    const mst_status status = generate(&g, prompt, num_prompt, out);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    generator_free(&g);
    const mst_status cleared = mst_store_clear_container(model->store, container);
    return status ? mst_failure_restore(&failure) : cleared;
}
