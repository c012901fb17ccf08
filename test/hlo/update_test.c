/* An optimizer's step for one variable in StableHLO against the one that a session makes: with penalties, clipping,
 * decay, averages, gradients of several steps, weights in bf16, and rows in place of a whole gradient. */
#include <stdio.h>

#include "graph/graph.h"
#include "muster/store.h"
#include "op/list.h"
#include "op/state/sparse_gradient.h"
#include "op/state/update_hlo.h"
#include "rule/accumulate.h"
#include "rule/moving_average.h"
#include "support/hlo_folder.h"
#include "support/test.h"

enum { ROWS = 5, COLUMNS = 4, TAKEN = 4, USED = 3, STEPS = 4, MOST_STATES = 4 + MST_RULE_SLOTS };

typedef enum gradient_kind { DENSE, SPARSE, SQUARES } gradient_kind;

typedef struct update_case {
    const char *name;
    mst_optimizer optimizer;
    gradient_kind kind;
    float l1, l2;
    bool clipped;
    bool assigned; /* the weight is assigned before the last step */
    mst_dtype dtype;
} update_case;

static const update_case cases[] = {
    {.name = "sgd", .optimizer = {.rule = "sgd"}},
    {.name = "adam, l1 and l2", .optimizer = {.rule = "adam"}, .l1 = 0.1F, .l2 = 0.3F},
    {.name = "sgd, l2, clipped by value", .optimizer = {.rule = "sgd", .momentum = 0.9, .clip_value = 0.3}, .l2 = 0.5F},
    {.name = "adamw, average", .optimizer = {.rule = "adamw", .weight_decay = 0.1, .ema_decay = 0.7}},
    {.name = "nadam, by norm", .optimizer = {.rule = "nadam", .clip_norm = 0.5}, .l1 = 0.1F},
    {.name = "rmsprop, by all norms", .optimizer = {.rule = "rmsprop", .clip_global_norm = 0.5}, .l2 = 0.1F},
    {.name = "ftrl, norm too small", .optimizer = {.rule = "ftrl", .clip_norm = 50}},
    {.name = "adam, two gradients an update",
     .optimizer = {.rule = "adam", .gradient_accumulation_steps = 2, .weight_decay = 0.1, .ema_decay = 0.7},
     .l2 = 0.1F},
    {.name = "adagrad, three gradients an update, by norm",
     .optimizer = {.rule = "adagrad", .gradient_accumulation_steps = 3, .clip_norm = 0.5}},
    {.name = "momentum, two gradients an update, clipped",
     .optimizer = {.rule = "momentum", .gradient_accumulation_steps = 2, .clip_value = 0.1}},
    {.name = "adam in bf16", .optimizer = {.rule = "adam", .ema_decay = 0.7}, .l2 = 0.1F, .dtype = MST_BF16},
    {.name = "sgd in bf16, assigned", .optimizer = {.rule = "sgd"}, .assigned = true, .dtype = MST_BF16},
    {.name = "sgd of rows", .optimizer = {.rule = "sgd", .clip_value = 0.3}, .kind = SPARSE},
    {.name = "sgd of rows, clipped before",
     .optimizer = {.rule = "sgd", .clip_value = 0.3},
     .kind = SPARSE,
     .clipped = true},
    {.name = "adagrad of rows, decay and average",
     .optimizer = {.rule = "adagrad", .weight_decay = 0.1, .ema_decay = 0.7},
     .kind = SQUARES},
    {.name = "adagrad of rows, by norm", .optimizer = {.rule = "adagrad", .clip_norm = 0.5}, .kind = SQUARES},
    {.name = "adagrad of rows, by all norms",
     .optimizer = {.rule = "adagrad", .clip_global_norm = 0.5},
     .kind = SQUARES},
    {.name = "adam of rows", .optimizer = {.rule = "adam", .clip_norm = 0.5}, .kind = SQUARES},
    {.name = "adam of rows, l2", .optimizer = {.rule = "adam", .clip_norm = 0.5}, .kind = SPARSE, .l2 = 0.1F},
    {.name = "rmsprop of rows alone",
     .optimizer = {.rule = "rmsprop", .momentum = 0.5, .sparse = MST_SPARSE_TENSORFLOW, .clip_norm = 0.5},
     .kind = SPARSE},
    {.name = "momentum of rows, two gradients an update",
     .optimizer = {.rule = "momentum", .gradient_accumulation_steps = 2, .weight_decay = 0.1},
     .kind = SPARSE},
};

/* ---- what a session computes ---- */

/* The variables of an update: the weight, then its slots, average and master, those that there are. */
typedef struct states {
    int count;
    mst_tensor *value[MOST_STATES];
} states;

typedef struct run {
    const update_case *c;
    mst_optimizer optimizer;
    mst_dtype dtype; /* in which the update computes */
    mst_graph *graph;
    mst_session *session;
    mst_value weight, gradient[2]; /* or rows and numbers */
    mst_value fetch[2];            /* the train op, and the penalty */
    int num_slots;
    double state;
    mst_tensor *penalty;
} run;

static void add_state(run *r, states *s, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "w%s%s", *suffix ? "/" : "", suffix);
    EXPECT_OK(mst_store_get(mst_session_store(r->session), NULL, name, &s->value[s->count++]));
}

static states read_states(run *r) {
    const mst_rule *rule = mst_rule_find(r->optimizer.rule);
    states s = {.count = 0};
    add_state(r, &s, "");
    for (int k = 0; k < r->num_slots; k++) add_state(r, &s, rule->slot_name[k]);
    if (mst_accumulates(&r->optimizer)) add_state(r, &s, MST_ACCUMULATOR);
    if (r->optimizer.ema_decay > 0) add_state(r, &s, "ExponentialMovingAverage");
    if (r->c->dtype == MST_BF16) add_state(r, &s, "master");
    return s;
}

static mst_tensor *gradient_of(const run *r, unsigned step) {
    if (r->c->kind == DENSE) return engine_random(r->dtype, MST_SHAPE(ROWS, COLUMNS), -1, 1, step);
    mst_tensor *rows =
        engine_random(r->dtype, MST_SHAPE(TAKEN, r->c->kind == SQUARES ? 2 * COLUMNS : COLUMNS), 0.1, 1, step);
    for (int i = 0; i < TAKEN; i++) /* sums have a sign, those of squares have not */
        for (int k = 0; k < COLUMNS; k += 2) {
            const int64_t at = i * mst_tensor_shape(rows).dim[1] + k;
            mst_tensor_set(rows, at, -mst_tensor_get(rows, at));
        }
    return rows;
}

static mst_tensor *numbers_of(unsigned step) {
    return engine_tensor(MST_I64, MST_SHAPE(1 + TAKEN), (const double[]){USED, step % 2, 2, 4, 0});
}

static void build(run *r) {
    mst_graph *g = r->graph = engine_graph();
    const update_case *c = r->c;
    mst_tensor *first = engine_random(MST_F32, MST_SHAPE(ROWS, COLUMNS), -1, 1, 99);
    r->weight = mst_variable(g, "w", mst_cast(mst_constant(g, first), c->dtype), .l1 = c->l1, .l2 = c->l2);
    mst_value gradient;
    if (c->kind == DENSE) {
        gradient = r->gradient[0] = mst_placeholder(g, r->dtype, MST_SHAPE(ROWS, COLUMNS));
    } else {
        const int64_t width = c->kind == SQUARES ? 2 * COLUMNS : COLUMNS;
        r->gradient[0] = mst_placeholder(g, r->dtype, MST_SHAPE(TAKEN, width));
        r->gradient[1] = mst_placeholder(g, MST_I64, MST_SHAPE(1 + TAKEN));
        const mst_sparse_gradient_options options = {.squares = c->kind == SQUARES, .clipped = c->clipped};
        gradient = mst_sparse_gradient((mst_row_values){r->gradient[0], r->gradient[1]}, r->weight, &options);
    }
    r->fetch[0] = mst_apply_gradients(&r->optimizer, &gradient, &r->weight, 1, MST_NONE);
    EXPECT_OK(mst_graph_check(g));
    for (int64_t i = 0; i < g->num_nodes; i++)
        if (g->node[i]->op == &mst_op_apply_gradients) r->fetch[1] = (mst_value){g->node[i], 0};
    r->session = engine_session(g, NULL);
    mst_tensor_release(first);
}

static void make_step(run *r, mst_tensor *gradient, mst_tensor *numbers) {
    const mst_feed feeds[] = {{.value = r->gradient[0], .tensor = gradient},
                              {.value = r->gradient[1], .tensor = numbers}};
    mst_tensor *out[2] = {NULL};
    EXPECT_OK(mst_session_run(r->session, feeds, r->c->kind == DENSE ? 1 : 2, r->fetch, 2, out));
    mst_tensor_release(out[0]);
    mst_tensor_release(r->penalty);
    r->penalty = out[1];
}

/* As the op update_scalars computes them, for the step after STEP others. */
static mst_tensor *scalars_of(run *r, int64_t step) {
    const mst_optimizer *o = &r->optimizer;
    const mst_rule *rule = mst_rule_find(o->rule);
    const double rate = (double)(float)o->learning_rate;
    const int64_t added = mst_accumulates(o) ? step % o->gradient_accumulation_steps : 0;
    const int64_t gradients = mst_accumulated_mean(o, added), t = mst_accumulated_updates(o, step) + 1;
    double scalar[MST_NUM_SCALARS] = {0};
    if (rule->next_state && gradients) r->state = rule->next_state(o, t, r->state);
    rule->scalars(o, rate, t, r->state, scalar);
    scalar[MST_SCALAR_AVERAGE] = mst_moving_average_rest(o, step);
    scalar[MST_SCALAR_LEARNING_RATE] = rate;
    scalar[MST_SCALAR_GRADIENTS] = (double)gradients;
    return engine_tensor(r->dtype, MST_SHAPE(MST_NUM_SCALARS), scalar);
}

/* ---- what the program computes ---- */

/* limit / max(norm, limit) */
static mst_hlo factor_of(mst_lower *l, const run *r, const mst_update_hlo *u) {
    const mst_optimizer *o = &r->optimizer;
    const mst_hlo limit = mst_hlo_number(l, MST_F64, o->clip_norm > 0 ? o->clip_norm : o->clip_global_norm);
    const mst_hlo norm = mst_hlo_unary(l, "sqrt", mst_update_norm_lower(l, u));
    return mst_hlo_convert(l, mst_hlo_binary(l, "divide", limit, mst_hlo_binary(l, "maximum", norm, limit)), r->dtype);
}

static void write(hlo_case *h, const run *r, const states *before, const states *after, mst_tensor *gradient,
                  mst_tensor *numbers, const mst_tensor *scalars) {
    const mst_optimizer *o = &r->optimizer;
    const bool sums = mst_accumulates(o);
    mst_hlo scalar[MST_NUM_SCALARS], *changed[MOST_STATES];
    int n = 0;
    EXPECT_OK(mst_hlo_program_create(&h->program));
    mst_lower l = {.program = h->program, .name = "w"};
    mst_update_hlo u = {.optimizer = o,
                        .l1 = (double)r->c->l1,
                        .l2 = (double)r->c->l2,
                        .squares = r->c->kind == SQUARES,
                        .clipped = r->c->clipped,
                        .scalar = scalar};
    changed[n++] = &u.weight;
    for (int k = 0; k < r->num_slots + sums; k++) changed[n++] = &u.slot[k];
    if (o->ema_decay > 0) changed[n++] = &u.average;
    if (r->c->dtype == MST_BF16) changed[n++] = &u.master;
    assert_int_equal(n, before->count);
    for (int k = 0; k < n; k++) *changed[k] = hlo_case_argument(h, before->value[k]);
    *(r->c->kind == DENSE ? &u.gradient : &u.rows) = hlo_case_argument(h, gradient);
    if (r->c->kind != DENSE) u.numbers = hlo_case_argument(h, numbers);
    mst_update_scalars_lower(&l, hlo_case_argument(h, scalars), scalar);
    if (o->clip_norm > 0 || o->clip_global_norm > 0) u.factor = factor_of(&l, r, &u);
    mst_update_lower(&l, &u);
    for (int k = 0; k < n; k++) hlo_case_result(h, *changed[k], after->value[k]);
    hlo_case_result(h, u.penalty, r->penalty);
    hlo_case_finish(h);
}

static void check_step(run *r, unsigned step) {
    char label[96];
    snprintf(label, sizeof label, "%s, %s, step %u", r->c->name, mst_dtype_name(r->c->dtype), step);
    mst_tensor *gradient = gradient_of(r, step), *numbers = numbers_of(step);
    if (r->c->assigned && step == STEPS - 1) {
        mst_tensor *given = engine_random(r->c->dtype, MST_SHAPE(ROWS, COLUMNS), -1, 1, 77);
        EXPECT_OK(mst_session_set_variable(r->session, r->weight, given));
        mst_tensor_release(given);
    }
    states before = read_states(r);
    make_step(r, gradient, numbers);
    states after = read_states(r);
    mst_tensor *scalars = scalars_of(r, step);
    hlo_case h = {.label = label, .tolerance = r->dtype == MST_F64 ? 1e-10 : 1e-5};
    write(&h, r, &before, &after, gradient, numbers, scalars);
    hlo_folder_keep(&h);
    assert_true(hlo_case_agrees(&h));
    hlo_case_end(&h);
    op_case_release(before.value, before.count);
    op_case_release(after.value, after.count);
    mst_tensor_release(gradient);
    mst_tensor_release(numbers);
    mst_tensor_release(scalars);
}

static void check(const update_case *c) {
    const mst_rule *rule = mst_rule_find(c->optimizer.rule);
    run r = {.c = c,
             .optimizer = mst_optimizer_named(c->optimizer.rule, c->optimizer),
             .dtype = c->dtype == MST_BF16 ? MST_F32 : c->dtype,
             .state = rule->initial_state};
    r.num_slots = rule->num_slots(&r.optimizer);
    build(&r);
    for (unsigned step = 0; step < STEPS; step++) check_step(&r, step);
    mst_tensor_release(r.penalty);
    engine_end(r.graph, r.session);
}

static void an_update_is_that_of_a_session(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        update_case c = cases[i];
        if (c.dtype == MST_BF16) {
            check(&c);
            continue;
        }
        for (int is_f64 = 0; is_f64 < 2; is_f64++) {
            c.dtype = is_f64 ? MST_F64 : MST_F32;
            check(&c);
        }
    }
}

static int close_folder(void **state) {
    (void)state;
    hlo_folder_end();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_is_that_of_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, close_folder);
}
