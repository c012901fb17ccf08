/* update: a device's part of an optimizer step, unit by unit (op/state/update.h).
 *
 * Units are divided among the devices of the group so that each gets about the same number of elements. The threads of
 * a device share its units in runs. If the gradient is a product or sparse, the gradient of the whole unit is first
 * computed in the thread's workspace. All other work, from the sum over shards to the copies of the new weight, is done
 * in tiles that stay in the first-level cache. */
#include "op/state/update.h"

#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "base/bf16.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "base/simd.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/product.h"
#include "rule/accumulate.h"
#include "rule/gradient_clip.h"
#include "rule/moving_average.h"
#include "rule/rule.h"
#include "tensor/buffer.h"

/* TILE: elements that are handled together. LANES: a sum of squares is computed as so many interleaved sums. */
enum { TILE = 1024, LANES = 64 };

/* Numbers and products that are prepared for one variable. */
typedef struct variable {
    int64_t count, unit, units; /* numbers of elements, of elements in a unit, of units */
    int64_t first_unit;         /* number of its first unit among all units */
    int64_t before;             /* number of elements of the variables before it */
    int64_t columns;            /* for a product or a sparse gradient: elements of a row */
    int64_t width;              /* for a sparse gradient: elements of a row of its sources, including squares */
    bool rows_only;             /* for a sparse gradient: a step does not change rows without a gradient */
    int32_t levels;             /* number of buffers that a sum over its leaves needs */
    mst_product **product;      /* for a product: the prepared product of each leaf */
} variable;

typedef struct update_state {
    const mst_update_options *options;
    const mst_rule *rule;
    variable *variables;
    int64_t units, elements;
    size_t buffer, scratchpad; /* bytes of a thread's workspace: for whole units, and for oneDNN's scratchpad */
    int num_threads;
    int64_t *order; /* with sharded state: all units, beginning with those of this task's part; else NULL */
    int64_t num_own;
} update_state;

/* The data that all units of a step share. */
typedef struct update {
    const update_state *state;
    const mst_kernel_args *args;
    const mst_array *src;
    const double *scalar;
    bool sums, only_adds; /* sums: an update uses the gradients of several steps; only_adds: this step only adds its
                             gradient to the sum */
    int64_t first, end;   /* the units of this device are `first` to `end` - 1; with sharded state these are places in
                           * `order` */
} update;

/* A unit of a variable, and the workspace of the thread that computes it. */
typedef struct unit {
    int64_t begin, count;
    int64_t elements; /* elements of its gradient: fewer than `count` if some rows have none */
    int32_t *place;   /* by row of a sparse gradient: where the row begins in buffers of the gradient; -1: the row has
                         no gradient */
    void *pad;
    int thread;
} unit;

/* The number of the source with leaf I of a variable's gradient. If the leaf has two sources, it is the first. */
static int32_t leaf_source(const mst_update_variable *v, int32_t piece, int32_t i) {
    return v->piece[piece].source + (v->kind == MST_GRADIENT_DENSE ? i : 2 * i);
}

/* Whether this step does not change rows without a gradient. A step that uses the sum over several steps changes all
 * rows. */
static bool rows_only(const update *u, const variable *known) {
    return known->rows_only && u->sums == u->only_adds;
}

/* The copy of a weight that the device itself reads. */
static int32_t own_copy(const update *u) {
    return u->args->part < u->state->options->num_copies ? u->args->part : 0;
}

/* ---- masters: the f32 values of weights that are kept in bf16 ---- */

MST_SIMD static void round_floats(uint16_t *copy, const float *master, int64_t count) {
    for (int64_t i = 0; i < count; i++) copy[i] = mst_bf16_of(master[i]);
}

static void round_copy(uint16_t *copy, const void *master, int64_t count) {
    round_floats(copy, master, count);
}

/* The values to compute with are those of the master. If the rounded master differs from the weight, the weight was
 * assigned since the last step, and its value is used. OUT may be the master. */
MST_SIMD static void join_floats(float *out, const uint16_t *copy, const float *master, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        out[i] = mst_bf16_of(master[i]) == copy[i] ? master[i] : mst_bf16_value(copy[i]);
}

static void join_master(void *out, const uint16_t *copy, const void *master, int64_t count) {
    join_floats(out, copy, master, count);
}

/* ---- sparse gradients: the outputs of sum_rows are the rows, [n, width], and [1 + n]: their number, then their
 * ascending indices ---- */

/* Finds the part of row ROW that lies in the unit: *SIZE elements from element *AT on. */
static void row_part(const variable *known, const unit *x, int64_t row, int64_t *at, int64_t *size) {
    const int64_t first = row * known->columns, end = first + known->columns, unit_end = x->begin + x->count;
    *at = first > x->begin ? first : x->begin;
    *size = (end < unit_end ? end : unit_end) - *at;
}

/* Finds the entries of LIST whose rows are FIRST to LAST: entries *FROM to *TO - 1. */
static void find_rows(const mst_array *list, int64_t first, int64_t last, int64_t *from, int64_t *to) {
    const int64_t *number = (const int64_t *)list->data + 1, count = number[-1];
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (number[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (*from = low; low < count && number[low] <= last;) low++;
    *to = low;
}

/* Assigns places in the buffers to the rows of the unit that are computed (`place`). Returns the number of their
 * elements. */
static int64_t place_rows(const update *u, int32_t k, const unit *x) {
    const mst_update_variable *v = &u->state->options->variable[k];
    const variable *known = &u->state->variables[k];
    const int64_t first = x->begin / known->columns, last = (x->begin + x->count - 1) / known->columns;
    int64_t elements = 0, from, to, at, size;
    const bool few = rows_only(u, known);
    for (int64_t r = first; r <= last; r++) x->place[r - first] = few ? -1 : 0;
    for (int32_t i = 0; i < v->num_leaves * v->num_pieces && few; i++) {
        const mst_array *list = &u->src[leaf_source(v, i / v->num_leaves, i % v->num_leaves) + 1];
        find_rows(list, first, last, &from, &to);
        for (int64_t n = from; n < to; n++) x->place[((const int64_t *)list->data)[1 + n] - first] = 0;
    }
    for (int64_t r = first; r <= last; r++) {
        if (x->place[r - first] < 0) continue;
        x->place[r - first] = (int32_t)elements;
        row_part(known, x, r, &at, &size);
        elements += size;
    }
    return elements;
}

#define MST_TEMPLATE "kernel/cpu/update_unit.inc"
#include "base/floats.inc"

/* ---- preparing ---- */

/* Whether leaves I and K are products of the same shapes. */
static bool same_product(const mst_infer *c, const mst_update_variable *v, int32_t i, int32_t k) {
    const int32_t x = leaf_source(v, 0, i), y = leaf_source(v, 0, k);
    return mst_shape_equal(c->src[x].shape, c->src[y].shape) &&
           mst_shape_equal(c->src[x + 1].shape, c->src[y + 1].shape);
}

static mst_status prepare_product(const mst_infer *c, const mst_update_variable *v, variable *out, int num_threads,
                                  size_t *scratchpad) {
    out->product = calloc((size_t)v->num_leaves, sizeof *out->product);
    if (!out->product) return MST_NO_MEMORY("for a kernel");
    const mst_shape shape = c->src[v->weight].shape;
    for (int32_t i = 0; i < v->num_leaves; i++) {
        const int32_t a = leaf_source(v, 0, i);
        if (i > 0 && same_product(c, v, i, i - 1)) {
            out->product[i] = out->product[i - 1];
            continue;
        }
        mst_product_shape p = {.ndim = 2};
        mst_product_operand(&p, MST_PRODUCT_A, c->src[a].shape, true);
        mst_product_operand(&p, MST_PRODUCT_B, c->src[a + 1].shape, false);
        mst_product_operand(&p, MST_PRODUCT_C, shape, false);
        MST_TRY(mst_product_create(&p, 0, out->unit / out->columns, num_threads, c->name, &out->product[i]));
        if (mst_product_workspace(out->product[i]) > *scratchpad) *scratchpad = mst_product_workspace(out->product[i]);
    }
    return MST_OK;
}

static void release_products(const mst_update_variable *v, mst_product **product) {
    for (int32_t i = 0; product && i < v->num_leaves; i++)
        if (i == 0 || product[i] != product[i - 1]) mst_product_destroy(product[i]);
    free(product);
}

static void update_release(void *context) {
    update_state *s = context;
    if (!s) return;
    for (int32_t k = 0; s->variables && k < s->options->num_variables; k++)
        release_products(&s->options->variable[k], s->variables[k].product);
    free(s->variables);
    free(s->order);
    free(s);
}

/* Orders the units so that this task's part is divided among devices and threads separately. Its units take longer than
 * those for which other tasks send new weights. */
static mst_status order_units(update_state *s) {
    const mst_update_options *o = s->options;
    int64_t count = 0;
    if (!o->sharded) return MST_OK;
    s->order = malloc(((size_t)s->units + 1) * sizeof *s->order);
    if (!s->order) return MST_NO_MEMORY("for a kernel");
    for (int own = 1; own >= 0; own--) {
        for (int32_t k = 0; k < o->num_variables; k++)
            for (int64_t i = 0; i < s->variables[k].units; i++) {
                const int64_t at = i * s->variables[k].unit - o->variable[k].own_first;
                if ((at >= 0 && at < o->variable[k].own_count) == own)
                    s->order[count++] = s->variables[k].first_unit + i;
            }
        if (own) s->num_own = count;
    }
    return MST_OK;
}

static mst_status prepare_all(const mst_infer *c, update_state *s) {
    const mst_update_options *o = s->options;
    for (int32_t k = 0; k < o->num_variables; k++) {
        const mst_update_variable *v = &o->variable[k];
        const mst_shape shape = c->src[v->weight].shape;
        const bool whole = v->kind != MST_GRADIENT_DENSE;
        variable *out = &s->variables[k];
        *out = (variable){.count = mst_shape_count(shape),
                          .unit = mst_unit_elements(shape),
                          .units = mst_num_units(shape),
                          .first_unit = s->units,
                          .before = s->elements,
                          .levels = mst_shards_levels(v->leaf, v->num_leaves, o->num_shards)};
        out->columns = shape.ndim && out->count ? out->count / shape.dim[0] : 1;
        out->width = v->squares ? 2 * out->columns : out->columns;
        const bool can_leave_rows =
            mst_accumulates(o->optimizer) || (s->rule->rows_only && s->rule->rows_only(o->optimizer));
        out->rows_only = v->kind == MST_GRADIENT_SPARSE && can_leave_rows && v->l1 == 0 && v->l2 == 0;
        s->units += out->units;
        s->elements += out->count;
        if (v->kind == MST_GRADIENT_PRODUCT) MST_TRY(prepare_product(c, v, out, s->num_threads, &s->scratchpad));
        size_t buffer = (size_t)(out->levels + 2) * TILE * sizeof(double);
        /* room for `place`: the first and the last row of a unit may lie in it only in part, so there are two more */
        if (v->kind == MST_GRADIENT_SPARSE) buffer += (size_t)(out->unit / out->columns + 2) * sizeof(int32_t);
        const size_t levels = (size_t)out->levels * (v->squares ? 2 : 1);
        if (whole) buffer += levels * mst_align((size_t)out->unit * sizeof(double));
        if (buffer > s->buffer) s->buffer = buffer;
    }
    return MST_OK;
}

static mst_status update_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    const mst_update_options *o = c->options;
    update_state *s = calloc(1, sizeof *s);
    if (s) s->variables = calloc((size_t)o->num_variables, sizeof *s->variables);
    if (!s || !s->variables) {
        free(s);
        return MST_NO_MEMORY("for a kernel");
    }
    s->options = o;
    s->rule = mst_rule_find(o->optimizer->rule);
    s->num_threads = num_threads;
    mst_status status = prepare_all(c, s);
    if (!status) status = order_units(s);
    if (status) {
        update_release(s);
        return status;
    }
    s->buffer = mst_align(s->buffer);
    s->scratchpad = mst_align(s->scratchpad);
    *workspace = (size_t)num_threads * (s->buffer + s->scratchpad);
    *out = s;
    return MST_OK;
}

/* ---- running ---- */

/* The number of the variable to which unit U belongs. */
static int32_t find_variable(const update_state *s, int64_t u) {
    int32_t low = 0, high = s->options->num_variables;
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        *(s->variables[middle].first_unit <= u ? &low : &high) = middle;
    }
    return low;
}

/* The number of elements before unit U, over all variables. */
static int64_t elements_before(const update_state *s, int64_t u) {
    if (u >= s->units) return s->elements;
    const variable *v = &s->variables[find_variable(s, u)];
    return v->before + (u - v->first_unit) * v->unit;
}

/* The first unit of part PART. It is the one that begins nearest to where the part would begin if all parts had the
 * same number of elements. */
static int64_t first_of_part(const update_state *s, int part, int num_parts) {
    const int64_t wanted = (int64_t)((double)s->elements * part / num_parts);
    int64_t low = 0, high = s->units;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (elements_before(s, middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && wanted - elements_before(s, low - 1) < elements_before(s, low) - wanted) low--;
    return low;
}

static mst_status run_units(void *context, int64_t begin, int64_t end, int thread) {
    const update *u = context;
    const update_state *s = u->state;
    char *workspace = (char *)u->args->workspace + (size_t)thread * (s->buffer + s->scratchpad);
    int32_t k = find_variable(s, u->first + begin);
    for (int64_t unit = u->first + begin; unit < u->first + end; unit++) {
        while (unit >= s->variables[k].first_unit + s->variables[k].units) k++;
        if (u->src[s->options->variable[k].weight].dtype == MST_F64)
            MST_TRY(unit_f64(u, k, unit - s->variables[k].first_unit, workspace, thread));
        else
            MST_TRY(unit_f32(u, k, unit - s->variables[k].first_unit, workspace, thread));
    }
    return MST_OK;
}

static mst_status run_ordered(void *context, int64_t begin, int64_t end, int thread) {
    const update *u = context;
    update one = *u;
    for (int64_t i = begin; i < end; i++) {
        one.first = u->state->order[u->first + i];
        MST_TRY(run_units(&one, 0, 1, thread));
    }
    return MST_OK;
}

/* Runs the device's share of the units FROM to TO - 1 of the order. */
static mst_status run_share(update *u, int64_t from, int64_t to) {
    const mst_kernel_args *a = u->args;
    u->first = from + mst_part_begin(to - from, a->num_parts, a->part);
    u->end = from + mst_part_begin(to - from, a->num_parts, a->part + 1);
    return mst_parallel(a, u->end - u->first, 1, run_ordered, u);
}

static mst_status update_run(const mst_kernel_args *a) {
    const update_state *s = a->state;
    update u = {.state = s, .args = a, .src = a->src, .scalar = a->src[MST_UPDATE_SCALARS].data};
    u.sums = mst_accumulates(s->options->optimizer);
    u.only_adds = u.scalar[MST_SCALAR_GRADIENTS] == 0;
    if (s->order) {
        MST_TRY(run_share(&u, 0, s->num_own));
        return s->options->purpose == MST_UPDATE_STAGE ? MST_OK : run_share(&u, s->num_own, s->units);
    }
    u.first = first_of_part(s, a->part, a->num_parts);
    u.end = first_of_part(s, a->part + 1, a->num_parts);
    return mst_parallel(a, u.end - u.first, 1, run_units, &u);
}

static mst_kernel_function update_choose(const mst_infer *c, int num_threads) {
    (void)c, (void)num_threads;
    return update_run;
}

const mst_kernel mst_kernel_cpu_update = {
    .engine = "cpu",
    .ops = (const char *const[]){"update", "stage_update", NULL},
    .select = update_choose,
    .prepare = update_prepare,
    .release = update_release,
};
