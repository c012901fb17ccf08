/* The op update, the step of all variables on a device, in StableHLO against its kernel: nodes of random optimizers,
 * dtypes, shapes, penalties, constraints, and kinds of gradients. */
#include <stdio.h>

#include "op/state/update_hlo.h"
#include "plan/update_ops.h"
#include "rule/accumulate.h"
#include "rule/gradient_clip.h"
#include "support/hlo_folder.h"
#include "support/plan_op.h"
#include "support/test.h"

enum { NODES = 120, VARIABLES = 3, FACTORS = VARIABLES + 2, MANY_UNITS = 4 };

typedef struct update_node {
    mst_optimizer optimizer;
    mst_update_options options;
    mst_update_variable variable[VARIABLES];
    mst_gradient_piece piece[VARIABLES];
    mst_constraint_form form[VARIABLES];
    mst_dtype dtype, stored; /* in which the step computes, and of the weights */
    bool only_adds;
    unsigned seed;
    plan_op op;
} update_node;

static const mst_shards whole = {0, 1};

/* A number from 0 to N - 1. */
static unsigned pick(update_node *u, unsigned n) {
    u->seed = u->seed * 1664525u + 1013904223u;
    return (u->seed >> 16) % n;
}

static int32_t add(update_node *u, mst_dtype dtype, mst_shape shape, double low, double high) {
    return plan_op_source(&u->op, engine_random(dtype, shape, low, high, pick(u, 1u << 16)));
}

/* ---- a node ---- */

static void choose_optimizer(update_node *u, unsigned number) {
    unsigned num_rules = 1;
    while (mst_rule_table[num_rules]) num_rules++;
    const mst_rule *rule = mst_rule_table[number % num_rules];
    mst_optimizer o = {.rule = rule->name};
    if (pick(u, 3) == 0) o.ema_decay = 0.7;
    if (pick(u, 3) == 0) o.weight_decay = 0.1;
    if (pick(u, 3) == 0) o.gradient_accumulation_steps = 3;
    if (pick(u, 2) == 0) o.sparse = MST_SPARSE_TENSORFLOW;
    switch (pick(u, 5)) {
        case 0: o.clip_value = 0.3; break;
        case 1: o.clip_norm = 0.5; break;
        case 2: o.clip_global_norm = 0.5; break;
        default: break;
    }
    u->optimizer = mst_optimizer_named(rule->name, o);
    EXPECT_OK(mst_optimizer_check(&u->optimizer));
    u->options = (mst_update_options){.optimizer = &u->optimizer,
                                      .factors = -1,
                                      .num_variables = VARIABLES,
                                      .num_copies = 1,
                                      .num_slots = rule->num_slots(&u->optimizer) + mst_accumulates(&u->optimizer),
                                      .num_shards = 1,
                                      .variable = u->variable};
}

/* As the op update_scalars computes them. */
static void add_scalars(update_node *u) {
    const mst_optimizer *o = &u->optimizer;
    const mst_rule *rule = mst_rule_find(o->rule);
    const int64_t t = 1 + pick(u, 5);
    double scalar[MST_NUM_SCALARS] = {0}, state = rule->initial_state;
    for (int64_t i = 1; i <= t && rule->next_state; i++) state = rule->next_state(o, i, state);
    rule->scalars(o, o->learning_rate, t, state, scalar);
    scalar[MST_SCALAR_AVERAGE] = 0.3;
    scalar[MST_SCALAR_LEARNING_RATE] = o->learning_rate;
    u->only_adds = mst_accumulates(o) && pick(u, 2);
    scalar[MST_SCALAR_GRADIENTS] = u->only_adds ? 0 : mst_accumulates(o) ? 3 : 1;
    assert_int_equal(plan_op_source(&u->op, engine_tensor(MST_F64, MST_SHAPE(MST_NUM_SCALARS), scalar)),
                     MST_UPDATE_SCALARS);
}

/* Some of the rows are used. What follows the numbers of these is no number of a row. */
static void add_rows(update_node *u, mst_update_variable *v, mst_shape shape) {
    const mst_row_steps steps = mst_rule_row_steps(&u->optimizer, v->l1 != 0 || v->l2 != 0);
    const int64_t rows = shape.dim[0], columns = mst_shape_count(shape) / rows, n = 1 + pick(u, (unsigned)rows);
    v->kind = MST_GRADIENT_SPARSE;
    v->squares = steps.squares;
    v->clipped = steps.clip > 0;
    shape.dim[0] = n;
    const int32_t source = add(u, u->dtype, v->squares ? MST_SHAPE(n, 2 * columns) : shape, -1, 1);
    mst_tensor *values = u->op.src[source], *numbers = engine_tensor(MST_I64, MST_SHAPE(1 + n), NULL);
    for (int64_t i = 0; v->squares && i < n * columns; i++) {
        const int64_t at = i / columns * 2 * columns + columns + i % columns;
        mst_tensor_set(values, at, mst_tensor_get(values, at) * mst_tensor_get(values, at));
    }
    int64_t used = 0;
    for (int64_t row = 0; row < rows && used < n; row++)
        if (pick(u, 2)) mst_tensor_set(numbers, ++used, (double)row);
    mst_tensor_set(numbers, 0, (double)used);
    for (int64_t i = used + 1; i <= n; i++) mst_tensor_set(numbers, i, -7);
    plan_op_source(&u->op, numbers);
}

static void add_weight(update_node *u, mst_update_variable *v, mst_shape shape) {
    v->weight = add(u, u->stored, shape, -1, 1);
    v->slot = u->op.num_src;
    for (int32_t k = 0; k < u->options.num_slots; k++) add(u, u->dtype, shape, 0.1, 1);
    v->average = u->optimizer.ema_decay > 0 ? add(u, u->dtype, shape, -1, 1) : -1;
    v->master = -1;
    if (u->stored == u->dtype) return;
    const mst_tensor *weight = u->op.src[v->weight];
    v->master = add(u, u->dtype, shape, -0.001, 0.001);
    for (int64_t i = 0; i < mst_tensor_count(weight); i++) {
        mst_tensor *master = u->op.src[v->master];
        mst_tensor_set(master, i, mst_tensor_get(weight, i) * (1 + mst_tensor_get(master, i)));
    }
}

static void add_constraint(update_node *u, int32_t k, mst_shape shape) {
    const mst_constraint kinds[] = {mst_non_neg_constraint(), mst_max_norm_constraint(.max_value = 0.5),
                                    mst_unit_norm_constraint(.axes = MST_AXES(-1)),
                                    mst_min_max_norm_constraint(.min_value = 0.25, .rate = 0.5, .whole = true)};
    const mst_constraint *kind = &kinds[pick(u, 4)];
    if (pick(u, 3) || mst_shape_count(shape) == 0 || shape.ndim == 0) return;
    mst_constraint_form_make(kind, shape, &u->form[k]);
    u->variable[k].constraint = &u->form[k];
}

static void add_variable(update_node *u, int32_t k, mst_shape shape) {
    mst_update_variable *v = &u->variable[k];
    *v = (mst_update_variable){
        .number = FACTORS - 1 - k, .num_leaves = 1, .leaf = &whole, .num_pieces = 1, .piece = &u->piece[k]};
    if (pick(u, 4) == 0) v->l1 = 0.1F;
    if (pick(u, 3) == 0) v->l2 = 0.3F;
    add_weight(u, v, shape);
    u->piece[k].source = u->op.num_src;
    if (mst_shape_count(shape) > 0 && shape.ndim > 0 && pick(u, 2))
        add_rows(u, v, shape);
    else
        add(u, u->dtype, shape, -1, 1);
    add_constraint(u, k, shape);
    /* a weight that was assigned since the last step; in rows without a gradient the kernel may leave its master */
    if (v->master >= 0 && v->kind == MST_GRADIENT_DENSE && mst_shape_count(shape) > 1)
        mst_tensor_set(u->op.src[v->weight], 1, 0.5);
}

static void build(update_node *u, unsigned number, const mst_shape *shape) {
    static const mst_dtype stored[] = {MST_F32, MST_F64, MST_BF16};
    if (!u->stored) u->stored = stored[pick(u, 3)];
    u->dtype = u->stored == MST_BF16 ? MST_F32 : u->stored;
    choose_optimizer(u, number);
    add_scalars(u);
    if (mst_clips_by_norm(&u->optimizer)) u->options.factors = add(u, MST_F64, MST_SHAPE(FACTORS), 0.2, 1);
    int64_t units = 0;
    for (int32_t k = 0; k < VARIABLES; k++) {
        add_variable(u, k, shape[k]);
        units += mst_num_units(shape[k]);
    }
    u->op.op = &mst_op_update;
    u->op.options = &u->options;
    u->op.num_dst = 1;
    u->op.dst[0].shape = MST_SHAPE(units);
}

/* ---- kernel and program ---- */

/* On CPUs another node does it, after the kernel. */
static void constrain(const update_node *u, plan_op *after) {
    for (int32_t k = 0; k < VARIABLES; k++) {
        const mst_update_variable *v = &u->variable[k];
        if (!v->constraint) continue;
        void *w = mst_tensor_data(after->src[v->master >= 0 ? v->master : v->weight]);
        if (u->dtype == MST_F64)
            mst_constrain_f64(v->constraint, 0, v->constraint->items, w);
        else
            mst_constrain_f32(v->constraint, 0, v->constraint->items, w);
    }
}

/* The sums of the variables in their first units. */
static void gather_units(const update_node *u, mst_tensor *units) {
    int64_t first = 0;
    for (int32_t k = 0; k < VARIABLES; k++) {
        const int64_t count = mst_num_units(mst_tensor_shape(u->op.src[u->variable[k].weight]));
        for (int64_t i = first + 1; i < first + count; i++) {
            mst_tensor_set(units, first, mst_tensor_get(units, first) + mst_tensor_get(units, i));
            mst_tensor_set(units, i, 0);
        }
        first += count;
    }
}

/* Weights of bf16 are compared as what their masters, which are compared themselves, are rounded to. */
static mst_hlo is_rounded(mst_lower *l, mst_hlo weight, mst_hlo master) {
    const mst_hlo same = mst_hlo_compare(l, "EQ", mst_hlo_convert(l, master, MST_BF16), weight);
    return mst_hlo_reduce_whole(l, "and", same, 1);
}

static void check(update_node *u, mst_update_purpose purpose, const char *name) {
    char label[160];
    mst_tensor *dst[1], *yes = engine_tensor(MST_BOOL, MST_SCALAR, (const double[]){1});
    plan_op after = u->op;
    plan_op_lower l;
    mst_hlo written[PLAN_OP_MOST_SRC] = {MST_NO_HLO};
    u->options.purpose = purpose;
    u->op.dst[0].dtype = after.dst[0].dtype = purpose == MST_UPDATE_NORMS ? MST_F64 : u->dtype;
    snprintf(label, sizeof label, "%s, %s, %s, purpose %d", name, u->optimizer.rule, mst_dtype_name(u->stored),
             (int)purpose);
    for (int i = 0; i < after.num_src; i++) {
        const hlo_value value = hlo_value_of(u->op.src[i]);
        EXPECT_OK(mst_tensor_copy(value.spec.dtype, value.spec.shape, value.data, &after.src[i]));
    }
    EXPECT_OK(plan_op_run(&after, dst));
    if (purpose == MST_UPDATE_STEP) constrain(u, &after);
    gather_units(u, dst[0]);
    hlo_case h = {.label = label, .tolerance = u->dtype == MST_F64 ? 1e-10 : 1e-5};
    plan_op_begin(&u->op, &h, &l);
    mst_update_node_lower(&l.lower, written);
    for (int i = 0; i < u->op.num_src; i++) {
        assert_int_equal(written[i].id > 0, mst_op_update.writes(&u->options, u->op.num_src, i));
        if (written[i].id && u->stored == u->dtype) hlo_case_result(&h, written[i], after.src[i]);
    }
    for (int32_t k = 0; k < VARIABLES && u->stored != u->dtype && purpose == MST_UPDATE_STEP; k++) {
        const mst_update_variable *v = &u->variable[k];
        hlo_case_result(&h, is_rounded(&l.lower, written[v->weight], written[v->master]), yes);
        for (int32_t i = v->slot; i <= v->master; i++) hlo_case_result(&h, written[i], after.src[i]);
    }
    hlo_case_result(&h, l.dst[0], dst[0]);
    hlo_case_finish(&h);
    if (mst_tensor_count(dst[0]) < MANY_UNITS) hlo_folder_keep(&h);
    assert_true(hlo_case_agrees(&h));
    hlo_case_end(&h);
    op_case_release(dst, 1);
    op_case_release(&yes, 1);
    plan_op_end(&after);
}

static void check_node(update_node *u, const char *name) {
    check(u, MST_UPDATE_STEP, name);
    check(u, MST_UPDATE_NORMS, name);
    check(u, MST_UPDATE_PENALTIES, name);
    plan_op_end(&u->op);
}

static void nodes_agree_with_the_kernel(void **state) {
    (void)state;
    const mst_shape shapes[] = {MST_SHAPE(5, 4), MST_SHAPE(7), MST_SCALAR, MST_SHAPE(0, 4), MST_SHAPE(3, 2, 2)};
    for (unsigned i = 0; i < NODES; i++) {
        char name[32];
        mst_shape shape[VARIABLES];
        update_node u = {.seed = i + 1};
        snprintf(name, sizeof name, "node %u", i);
        for (int k = 0; k < VARIABLES; k++) shape[k] = shapes[pick(&u, sizeof shapes / sizeof *shapes)];
        build(&u, i, shape);
        check_node(&u, name);
    }
}

static void variables_of_many_units_agree(void **state) {
    (void)state;
    const mst_shape shape[VARIABLES] = {MST_SHAPE(300, 200), MST_SHAPE(3), MST_SHAPE(60000)};
    for (unsigned i = 0; i < 2; i++) {
        update_node u = {.seed = i + 1, .stored = MST_F64};
        build(&u, i, shape);
        check_node(&u, "many units");
    }
}

static void a_node_without_elements_has_no_units(void **state) {
    (void)state;
    const mst_shape shape[VARIABLES] = {MST_SHAPE(0), MST_SHAPE(0, 3), MST_SHAPE(2, 0)};
    update_node u = {.seed = 1};
    build(&u, 0, shape);
    check_node(&u, "no elements");
}

/* ---- what programs do not do ---- */

static void expect_failure(update_node *u, bool with_written, const char *says) {
    hlo_case h = {.label = says};
    plan_op_lower l;
    const char *text;
    mst_hlo written[PLAN_OP_MOST_SRC] = {MST_NO_HLO};
    u->op.dst[0].dtype = u->dtype;
    plan_op_begin(&u->op, &h, &l);
    if (with_written)
        mst_update_node_lower(&l.lower, written);
    else
        mst_op_update.lower(&l.lower);
    EXPECT_ERROR(mst_hlo_program_finish(h.program, &text), MST_INTERNAL, says);
    hlo_case_end(&h);
}

static void what_a_program_cannot_do_is_an_error(void **state) {
    (void)state;
    const mst_shape shape[VARIABLES] = {MST_SHAPE(3), MST_SHAPE(3), MST_SHAPE(3)};
    update_node u = {.seed = 1};
    build(&u, 0, shape);
    expect_failure(&u, false, "update 'node' as StableHLO: its new weights have no place to go");
    u.options.num_copies = 2;
    expect_failure(&u, true, "has 2 copies of each weight");
    u.options.num_copies = 1;
    u.options.sharded = true;
    expect_failure(&u, true, "tasks share the slots");
    u.options.sharded = false;
    u.variable[1].num_leaves = 2;
    expect_failure(&u, true, "the gradient of variable 3 is a product or in several parts");
    u.variable[1].num_leaves = 1;
    u.variable[1].num_pieces = 2;
    expect_failure(&u, true, "the gradient of variable 3 is a product or in several parts");
    u.variable[1].num_pieces = 1;
    u.variable[1].kind = MST_GRADIENT_PRODUCT;
    expect_failure(&u, true, "the gradient of variable 3 is a product or in several parts");
    plan_op_end(&u.op);
}

static int close_folder(void **state) {
    (void)state;
    hlo_folder_end();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_agree_with_the_kernel),
        cmocka_unit_test(variables_of_many_units_agree),
        cmocka_unit_test(a_node_without_elements_has_no_units),
        cmocka_unit_test(what_a_program_cannot_do_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, close_folder);
}
