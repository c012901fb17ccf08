/* Attention and its gradient, block by block (Dao et al., 2022, "FlashAttention", https://arxiv.org/abs/2205.14135).
 *
 * The queries of the heads that share a key head are the rows of one matrix. A block has ROWS of these rows. In vector
 * registers each element belongs to another row: products with keys are kept as [keys, ROWS], results as [columns,
 * ROWS] ("turned" below means transposed to this form). So keys and values are read in their order in memory, and
 * maxima, sums and exponentials need no operation across a vector.
 *
 * Block sizes are constants. Sums over keys and over rows go from the first to the last. One thread computes a block of
 * rows, or in the gradient a key head. So the bits depend neither on the number of threads nor on the batch size. If
 * there are few rows, as when text is generated token by token, each row is computed separately. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/simd.h"
#include "kernel/cpu/base/attention_row.h"
#include "kernel/cpu/base/block_product.h"
#include "kernel/kernel.h"
#include "op/attention/attention.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"
#include "op/softmax/softmax.h"

enum {
    VECTOR = MST_PRODUCT_VECTOR,
    ROWS = 32,    /* rows (queries) of a block */
    KEYS = 96,    /* keys of a block */
    FEW_ROWS = 4, /* up to so many rows of a key head are computed one by one */
    ALIGN = 16,   /* alignment, in floats */
};

typedef float vector __attribute__((vector_size(VECTOR * sizeof(float))));
typedef float vector_anywhere __attribute__((vector_size(VECTOR * sizeof(float)), aligned(sizeof(float)), may_alias));

typedef struct attention_state {
    mst_attention sizes;
    int mask; /* number of the source that is the mask; 0: none */
    bool mask_of_bools;
    int64_t rows;   /* rows of a key head */
    int64_t blocks; /* blocks of rows of a key head */
    int64_t floats; /* floats in the workspace of a thread */
} attention_state;

static int64_t up_to(int64_t n, int64_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- a block of rows ---- */

/* One block: at most ROWS rows of a key head. A row "sees" a key if causal allows it to attend to that key. */
typedef struct row_block {
    const attention_state *s;
    const void *mask;      /* NULL: none */
    int64_t item;          /* the key head, numbered over [batch, key heads] */
    int64_t first, count;  /* the first row, and the number of rows */
    int64_t seen;          /* number of keys that at least one row sees */
    int64_t seen_by_all;   /* number of keys that all rows see */
    int32_t place[ROWS];   /* the number of each row's query in its head */
    int64_t mask_at[ROWS]; /* the offset of the mask of each row */
    bool one_mask;         /* all rows have the same mask */
} row_block;

static row_block row_block_make(const attention_state *s, const void *mask, int64_t item, int64_t block) {
    row_block b = {.s = s, .mask = mask, .item = item, .first = block * ROWS, .seen_by_all = s->sizes.keys};
    b.count = smaller(s->rows - b.first, ROWS);
    b.one_mask = true;
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t row = b.first + smaller(i, b.count - 1), query = row % s->sizes.queries;
        const int64_t head = item % s->sizes.key_heads * s->sizes.group + row / s->sizes.queries;
        const int64_t seen = mst_attention_seen(&s->sizes, query);
        b.place[i] = (int32_t)query;
        b.mask_at[i] = mst_attention_mask_at(&s->sizes, item / s->sizes.key_heads, head, query);
        b.one_mask &= b.mask_at[i] == b.mask_at[0];
        b.seen = seen > b.seen ? seen : b.seen;
        b.seen_by_all = smaller(seen, b.seen_by_all);
    }
    return b;
}

/* DST[column][row] = FACTOR SRC[row][column] for ROWS rows; rows from COUNT on are 0. */
MST_SIMD static void turn_rows(const float *restrict src, int64_t count, int64_t columns, float factor,
                               float *restrict dst) {
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < count; i++) dst[j * ROWS + i] = factor * src[i * columns + j];
        for (int64_t i = count; i < ROWS; i++) dst[j * ROWS + i] = 0;
    }
}

/* DST[row][column] = FACTOR[row] SRC[column][row] */
MST_SIMD static void turn_back(const float *restrict src, int64_t count, int64_t columns, const float *factor,
                               float *restrict dst) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < columns; j++) dst[i * columns + j] = factor[i] * src[j * ROWS + i];
}

static void add_mask(const row_block *b, int64_t first, int64_t keys, float *products) {
    const int64_t step = b->s->sizes.mask_step[3];
    for (int64_t k = 0; k < keys; k++) {
        float *p = products + k * ROWS;
        const int64_t at = (first + k) * step;
        for (int i = 0; i < ROWS; i++) {
            const int64_t from = at + b->mask_at[b->one_mask ? 0 : i];
            if (!b->s->mask_of_bools)
                p[i] += ((const float *)b->mask)[from];
            else if (!((const bool *)b->mask)[from])
                p[i] = -INFINITY;
        }
    }
}

MST_SIMD static void hide_later(const int32_t *place, int64_t first, int64_t keys, float *products) {
    for (int64_t k = 0; k < keys; k++) {
        const int32_t key = (int32_t)(first + k);
        float *p = products + k * ROWS;
        for (int i = 0; i < ROWS; i++) p[i] = key > place[i] ? -INFINITY : p[i];
    }
}

/* Computes the products of keys FIRST to FIRST + KEYS - 1 with QUERY, turned and scaled, and applies the mask: [keys,
 * ROWS]. */
static void find_products(const row_block *b, const float *key, const float *query, int64_t first, int64_t keys,
                          float *products) {
    const mst_attention *s = &b->s->sizes;
    mst_block_multiply(&(const mst_block_product){.m = keys,
                                                  .n = ROWS,
                                                  .k = s->depth,
                                                  .a = key + (b->item * s->keys + first) * s->depth,
                                                  .a_row = s->depth,
                                                  .a_step = 1,
                                                  .b = query,
                                                  .b_row = ROWS,
                                                  .c = products,
                                                  .c_row = ROWS});
    if (b->mask) add_mask(b, first, keys, products);
    if (first + keys > b->seen_by_all) hide_later(b->place, first, keys, products);
}

/* ---- attention ---- */

/* For each row over the keys so far: the maximum product (`most`), the base of the exponentials (the maximum, or 0 if
 * it is -Inf), and the sum of the weights. `factor` scales earlier results to the present base. */
typedef struct running {
    float most[ROWS], base[ROWS], sum[ROWS], factor[ROWS];
} running;

/* Replaces the products p of KEYS keys by weights e^(p - base), and updates R. */
MST_SIMD static void weigh(running *r, int64_t keys, float *products) {
    float most[ROWS], sum[ROWS];
    for (int i = 0; i < ROWS; i++) most[i] = r->most[i];
    for (int64_t k = 0; k < keys; k++)
        for (int i = 0; i < ROWS; i++) most[i] = products[k * ROWS + i] > most[i] ? products[k * ROWS + i] : most[i];
    for (int i = 0; i < ROWS; i++) {
        r->base[i] = most[i] == -INFINITY ? 0 : most[i];
        r->factor[i] = mst_exp_negative(r->most[i] - r->base[i]);
        sum[i] = r->sum[i] * r->factor[i];
        r->most[i] = most[i];
    }
    for (int64_t k = 0; k < keys; k++) {
        float *p = products + k * ROWS;
        for (int i = 0; i < ROWS; i++) {
            p[i] = mst_exp_negative(p[i] - r->base[i]);
            sum[i] += p[i];
        }
    }
    for (int i = 0; i < ROWS; i++) r->sum[i] = sum[i];
}

MST_SIMD static void scale_rows(const float *factor, int64_t columns, float *result) {
    for (int64_t j = 0; j < columns; j++)
        for (int i = 0; i < ROWS; i++) result[j * ROWS + i] *= factor[i];
}

/* Computes one block of rows. The workspace has the turned queries, the turned result, and the weights of a block. */
static void attend_block(const mst_kernel_args *a, int64_t item, int64_t block, float *workspace) {
    const attention_state *state = a->state;
    const mst_attention *s = &state->sizes;
    const row_block b = row_block_make(state, state->mask ? a->src[state->mask].data : NULL, item, block);
    float *query = workspace, *result = query + s->depth * ROWS, *weights = result + s->columns * ROWS;
    running r = {.sum = {0}};
    const int64_t row = item * state->rows + b.first;
    for (int i = 0; i < ROWS; i++) r.most[i] = -INFINITY;
    memset(result, 0, (size_t)(s->columns * ROWS) * sizeof *result);
    turn_rows((const float *)a->src[0].data + row * s->depth, b.count, s->depth, (float)s->scale, query);
    for (int64_t first = 0; first < b.seen; first += KEYS) {
        const int64_t keys = smaller(b.seen - first, KEYS);
        find_products(&b, a->src[1].data, query, first, keys, weights);
        weigh(&r, keys, weights);
        if (first) scale_rows(r.factor, s->columns, result);
        mst_block_multiply(
            &(const mst_block_product){.m = s->columns,
                                       .n = ROWS,
                                       .k = keys,
                                       .a = (const float *)a->src[2].data + (item * s->keys + first) * s->columns,
                                       .a_row = 1,
                                       .a_step = s->columns,
                                       .b = weights,
                                       .b_row = ROWS,
                                       .c = result,
                                       .c_row = ROWS,
                                       .adds = true});
    }
    float *log_sum = (float *)a->dst[1].data + row;
    for (int64_t i = 0; i < b.count; i++) {
        log_sum[i] = r.base[i] + logf(r.sum[i]);
        r.factor[i] = r.sum[i] == 0 ? 0 : 1 / r.sum[i];
    }
    turn_back(result, b.count, s->columns, r.factor, (float *)a->dst[0].data + row * s->columns);
}

/* ---- few rows ---- */

/* Computes one row, number AT of the key head, if there are few rows. The workspace P has one number per key. */
static void attend_row(const mst_kernel_args *a, int64_t item, int64_t at, float *p) {
    const attention_state *state = a->state;
    const mst_attention *s = &state->sizes;
    const int64_t row = item * state->rows + at, query = at % s->queries, seen = mst_attention_seen(s, query);
    const int64_t head = item % s->key_heads * s->group + at / s->queries;
    const int64_t mask_at = mst_attention_mask_at(s, item / s->key_heads, head, query);
    mst_row_products((const float *)a->src[0].data + row * s->depth,
                     (const float *)a->src[1].data + item * s->keys * s->depth, seen, s->depth, (float)s->scale, p);
    for (int64_t k = 0; k < seen && state->mask; k++) {
        const int64_t from = mask_at + k * s->mask_step[3];
        if (!state->mask_of_bools)
            p[k] += ((const float *)a->src[state->mask].data)[from];
        else if (!((const bool *)a->src[state->mask].data)[from])
            p[k] = -INFINITY;
    }
    float base;
    const float sum = mst_row_weights(p, seen, &base), factor = sum == 0 ? 0 : 1 / sum;
    float *dst = (float *)a->dst[0].data + row * s->columns;
    mst_row_add(p, (const float *)a->src[2].data + item * s->keys * s->columns, seen, s->columns, dst, true);
    for (int64_t j = 0; j < s->columns; j++) dst[j] *= factor;
    ((float *)a->dst[1].data)[row] = base + logf(sum);
}

static mst_status attend(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const attention_state *s = a->state;
    float *workspace = (float *)a->workspace + thread * s->floats;
    const bool few = s->rows <= FEW_ROWS;
    const int64_t parts = few ? s->rows : s->blocks;
    for (int64_t part = begin; part < end; part++)
        (few ? attend_row : attend_block)(a, part / parts, part % parts, workspace);
    return MST_OK;
}

static mst_status attention_run(const mst_kernel_args *a) {
    const attention_state *s = a->state;
    const int64_t items = s->sizes.batch * s->sizes.key_heads;
    const int64_t parts = items * (s->rows <= FEW_ROWS ? s->rows : s->blocks);
    const int64_t cost = s->sizes.keys * (s->sizes.depth + s->sizes.columns) / (s->rows <= FEW_ROWS ? 8 : 1);
    return mst_parallel(a, parts, mst_grain(parts, cost), attend, mst_context_of(a));
}

/* ---- the gradient ---- */

/* The arrays in the workspace of a thread. */
typedef struct back_work {
    float *query, *gradient;           /* turned: [depth, ROWS], [columns, ROWS] */
    float *query_rows, *gradient_rows; /* [ROWS, depth], [ROWS, columns], rounded up to a multiple of VECTOR */
    float *weights, *slopes;           /* [KEYS, ROWS] */
    float *dquery;                     /* turned */
    float *dkey, *dvalue;              /* [keys, depth], [keys, columns], rounded up to a multiple of VECTOR */
    int64_t depth, columns;            /* rounded up to a multiple of VECTOR */
    int64_t floats;
} back_work;

static back_work back_work_make(const mst_attention *s, float *workspace) {
    back_work w = {.depth = up_to(s->depth, VECTOR), .columns = up_to(s->columns, VECTOR)};
    const int64_t size[] = {s->depth * ROWS, s->columns * ROWS, w.depth * ROWS,    w.columns * ROWS,   KEYS * ROWS,
                            KEYS * ROWS,     s->depth * ROWS,   s->keys * w.depth, s->keys * w.columns};
    float **const place[] = {&w.query,  &w.gradient, &w.query_rows, &w.gradient_rows, &w.weights,
                             &w.slopes, &w.dquery,   &w.dkey,       &w.dvalue};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        if (workspace) *place[i] = workspace + w.floats;
        w.floats += size[i];
    }
    return w;
}

/* Copies COUNT rows of SRC, times FACTOR, to DST, which has ROWS rows of ROOM elements. All other elements are 0. */
static void copy_rows(const float *src, int64_t count, int64_t columns, float factor, int64_t room, float *dst) {
    memset(dst, 0, (size_t)(ROWS * room) * sizeof *dst);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < columns; j++) dst[i * room + j] = factor * src[i * columns + j];
}

/* Replaces the products in WEIGHTS by weights w. Replaces SLOPES, the products gradient value^T, by the gradients of
 * the products: w (slope - mean). */
MST_SIMD static void find_slopes(const float *log_sum, const float *mean, int64_t keys, float *weights, float *slopes) {
    for (int64_t k = 0; k < keys; k++) {
        float *w = weights + k * ROWS, *s = slopes + k * ROWS;
        for (int i = 0; i < ROWS; i++) {
            w[i] = mst_exp_negative(w[i] - log_sum[i]);
            s[i] = w[i] * (s[i] - mean[i]);
        }
    }
}

/* Adds the contributions of keys FIRST to FIRST + KEYS - 1 and the rows of B to the gradients of queries, keys and
 * values. */
static void attend_back_keys(const mst_kernel_args *a, const row_block *b, const back_work *w, const float *log_sum,
                             const float *mean, int64_t first, int64_t keys) {
    const mst_attention *s = &b->s->sizes;
    const float *key = (const float *)a->src[1].data + (b->item * s->keys + first) * s->depth;
    const float *value = (const float *)a->src[2].data + (b->item * s->keys + first) * s->columns;
    find_products(b, a->src[1].data, w->query, first, keys, w->weights);
    mst_block_product p = {.m = keys, .n = ROWS, .k = s->columns, .a = value, .a_row = s->columns, .a_step = 1};
    p.b = w->gradient, p.b_row = ROWS, p.c = w->slopes, p.c_row = ROWS;
    mst_block_multiply(&p);
    find_slopes(log_sum, mean, keys, w->weights, w->slopes);
    p = (mst_block_product){.m = keys, .n = w->columns, .k = ROWS, .a = w->weights, .a_row = ROWS, .a_step = 1};
    p.b = w->gradient_rows, p.b_row = w->columns, p.c = w->dvalue + first * w->columns, p.c_row = w->columns;
    p.adds = true;
    mst_block_multiply(&p);
    p.n = w->depth, p.a = w->slopes;
    p.b = w->query_rows, p.b_row = w->depth, p.c = w->dkey + first * w->depth, p.c_row = w->depth;
    mst_block_multiply(&p);
    p = (mst_block_product){
        .m = s->depth, .n = ROWS, .k = keys, .a = key, .a_row = 1, .a_step = s->depth, .adds = true};
    p.b = w->slopes, p.b_row = ROWS, p.c = w->dquery, p.c_row = ROWS;
    mst_block_multiply(&p);
}

static void attend_back_block(const mst_kernel_args *a, int64_t item, int64_t block, const back_work *w) {
    const attention_state *state = a->state;
    const mst_attention *s = &state->sizes;
    const row_block b = row_block_make(state, state->mask ? a->src[state->mask].data : NULL, item, block);
    const int64_t row = item * state->rows + b.first;
    const float *query = (const float *)a->src[0].data + row * s->depth;
    const float *gradient = (const float *)a->src[3].data + row * s->columns;
    float log_sum[ROWS], mean[ROWS], factor[ROWS];
    for (int64_t i = 0; i < ROWS; i++) {
        log_sum[i] = i < b.count ? ((const float *)a->src[4].data)[row + i] : INFINITY;
        if (log_sum[i] == -INFINITY) log_sum[i] = INFINITY; /* a row that sees no key: its weights become 0 */
        mean[i] = i < b.count ? ((const float *)a->src[5].data)[row + i] : 0;
        factor[i] = (float)s->scale;
    }
    turn_rows(query, b.count, s->depth, (float)s->scale, w->query);
    turn_rows(gradient, b.count, s->columns, 1, w->gradient);
    copy_rows(query, b.count, s->depth, (float)s->scale, w->depth, w->query_rows);
    copy_rows(gradient, b.count, s->columns, 1, w->columns, w->gradient_rows);
    memset(w->dquery, 0, (size_t)(s->depth * ROWS) * sizeof(float));
    for (int64_t first = 0; first < b.seen; first += KEYS)
        attend_back_keys(a, &b, w, log_sum, mean, first, smaller(b.seen - first, KEYS));
    turn_back(w->dquery, b.count, s->depth, factor, (float *)a->dst[0].data + row * s->depth);
}

static mst_status attend_back(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const attention_state *state = a->state;
    const mst_attention *s = &state->sizes;
    const back_work w = back_work_make(s, (float *)a->workspace + thread * state->floats);
    for (int64_t item = begin; item < end; item++) {
        float *dkey = (float *)a->dst[1].data + item * s->keys * s->depth;
        float *dvalue = (float *)a->dst[2].data + item * s->keys * s->columns;
        memset(w.dkey, 0, (size_t)(s->keys * (w.depth + w.columns)) * sizeof(float)); /* and dvalue, behind it */
        for (int64_t block = 0; block < state->blocks; block++) attend_back_block(a, item, block, &w);
        for (int64_t k = 0; k < s->keys; k++) {
            memcpy(dkey + k * s->depth, w.dkey + k * w.depth, (size_t)s->depth * sizeof(float));
            memcpy(dvalue + k * s->columns, w.dvalue + k * w.columns, (size_t)s->columns * sizeof(float));
        }
    }
    return MST_OK;
}

static mst_status attention_grad_run(const mst_kernel_args *a) {
    const attention_state *s = a->state;
    const int64_t items = s->sizes.batch * s->sizes.key_heads;
    const int64_t cost = s->rows * s->sizes.keys * (s->sizes.depth + s->sizes.columns) / VECTOR;
    return mst_parallel(a, items, mst_grain(items, cost), attend_back, mst_context_of(a));
}

/* ---- the table ---- */

static mst_kernel_function attention_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[0].dtype != MST_F32 || c->src[1].shape.dim[2] > INT32_MAX) return NULL;
    for (int i = 0; i < 3; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return c->op == &mst_op_scaled_dot_product_attention ? attention_run : attention_grad_run;
}

static mst_status attention_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    attention_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const bool forward = c->op == &mst_op_scaled_dot_product_attention;
    const int mask = forward ? 3 : 6;
    s->mask = c->num_src > mask ? mask : 0;
    s->mask_of_bools = s->mask && c->src[mask].dtype == MST_BOOL;
    s->sizes = mst_attention_of(c->options, c->src, s->mask);
    s->rows = s->sizes.group * s->sizes.queries;
    s->blocks = (s->rows + ROWS - 1) / ROWS;
    if (!forward)
        s->floats = back_work_make(&s->sizes, NULL).floats;
    else if (s->rows <= FEW_ROWS)
        s->floats = s->sizes.keys;
    else
        s->floats = (s->sizes.depth + s->sizes.columns + KEYS) * ROWS;
    s->floats = up_to(s->floats, ALIGN);
    *workspace = (size_t)num_threads * (size_t)s->floats * sizeof(float);
    *out = s;
    return MST_OK;
}

static void attention_release(void *context) {
    free(context);
}

const mst_kernel mst_kernel_cpu_attention = {
    .engine = "cpu",
    .ops = (const char *const[]){"scaled_dot_product_attention", "scaled_dot_product_attention_grad", NULL},
    .select = attention_choose,
    .prepare = attention_prepare,
    .release = attention_release,
};
