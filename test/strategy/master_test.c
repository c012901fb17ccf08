/* Weights in bf16, which the update keeps in f32 beside: they train as f32 weights would that are rounded before they
 * are used, small steps add up, and the bits do not depend on the strategy or the devices. */
#include <math.h>

#include "support/test.h"
#include "support/training.h"

#include "muster/store.h"

enum { ROWS = 48, COLUMNS = 20, BATCH = 8, STEPS = 5 };

typedef struct problem {
    mst_dtype dtype;
    mst_constraint constraint;
    mst_value w;
} problem;

/* The loss of rounded weights; where they are f32, their gradient is that of the rounded ones, as of bf16 weights. */
static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    problem *p = context;
    (void)shard;
    p->w = mst_get_variable(graph, "w", MST_SHAPE(ROWS, COLUMNS), p->dtype,
                            mst_random_uniform_initializer(.low = -1, .high = 1), .l2 = 0.01f,
                            .constraint = p->constraint);
    mst_value x = mst_random_uniform(graph, MST_SHAPE(BATCH, ROWS), .low = -1, .high = 1);
    mst_value y = mst_matmul(x, mst_cast(p->w, MST_F32));
    out->loss = mst_reduce_mean(mst_square(mst_add(y, mst_scalar(graph, MST_F32, 1))), .axes = MST_AXES(1));
}

typedef struct trained {
    mst_tensor *w, *master;
} trained;

static trained train_with(mst_constraint constraint, mst_dtype dtype, mst_optimizer optimizer, mst_strategy strategy,
                          const char *devices, double assigned) {
    trained result = {NULL, NULL};
    problem p = {.dtype = dtype, .constraint = constraint};
    mst_graph *g = engine_graph();
    mst_step_values values;
    mst_session *session = engine_session(g, devices);
    engine_build_step(g, session, &strategy, &optimizer, build_replica, &p, &values);
    for (int i = 0; i < STEPS; i++) {
        if (i == 2 && assigned != 0) {
            mst_tensor *all;
            EXPECT_OK(mst_tensor_create(dtype, MST_SHAPE(ROWS, COLUMNS), &all));
            for (int64_t k = 0; k < (int64_t)ROWS * COLUMNS; k++) mst_tensor_set(all, k, assigned);
            EXPECT_OK(mst_session_set_variable(session, p.w, all));
            mst_tensor_release(all);
        }
        EXPECT_OK(mst_session_run(session, NULL, 0, &values.train, 1, NULL));
    }
    EXPECT_OK(mst_session_get_variable(session, p.w, &result.w));
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_snapshot(mst_session_store(session), &snapshot));
    mst_tensor *master = mst_snapshot_find(snapshot, "", "w/master");
    if (master) result.master = mst_tensor_retain(master);
    mst_snapshot_release(snapshot);
    engine_end(g, session);
    return result;
}

static trained train(mst_dtype dtype, mst_optimizer optimizer, mst_strategy strategy, const char *devices,
                     double assigned) {
    return train_with((mst_constraint){.kind = MST_CONSTRAINT_NONE}, dtype, optimizer, strategy, devices, assigned);
}

static void end(trained *t) {
    mst_tensor_release(t->w);
    mst_tensor_release(t->master);
}

static const struct {
    const char *name;
    mst_optimizer optimizer;
} cases[] = {
    {"sgd", {.rule = "sgd", .learning_rate = 0.5}},
    {"momentum, averaged", {.rule = "sgd", .learning_rate = 0.1, .momentum = 0.9, .ema_decay = 0.9}},
    {"adam, clipped", {.rule = "adam", .learning_rate = 0.01, .clip_global_norm = 0.1}},
    {"ftrl, decayed", {.rule = "ftrl", .learning_rate = 0.1, .weight_decay = 0.01}},
};

static const struct {
    mst_strategy_kind kind;
    const char *devices;
} places[] = {{MST_STRATEGY_ONE, "cpu:1/1"},       {MST_STRATEGY_ONE, "cpu:1/2"},
              {MST_STRATEGY_TOWERS, "cpu:2/1"},    {MST_STRATEGY_MIRRORED, "cpu:2/1"},
              {MST_STRATEGY_MIRRORED, "cpu:4/1"},  {MST_STRATEGY_MIRRORED, "cpu:1/1,island:1/1"},
              {MST_STRATEGY_TOWERS, "island:2/1"}, {MST_STRATEGY_MIRRORED, "island:4/1"}};

static void bits_do_not_depend_on_the_strategy(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int assigned = 0; assigned < 2; assigned++) {
            trained first = {NULL, NULL};
            for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
                if (engine_has_other_bits(places[p].devices)) continue;
                trained t = train(MST_BF16, cases[c].optimizer, (mst_strategy){.kind = places[p].kind, .num_shards = 4},
                                  places[p].devices, assigned * 0.25);
                assert_int_equal(mst_tensor_dtype(t.w), MST_BF16);
                assert_int_equal(mst_tensor_dtype(t.master), MST_F32);
                if (p == 0) {
                    first = t;
                    continue;
                }
                if (!engine_same_bits(t.master, first.master) || !engine_same_bits(t.w, first.w))
                    fail_msg("%s on %s: other bits", cases[c].name, places[p].devices);
                end(&t);
            }
            end(&first);
        }
}

/* The master has the constrained values, and the weight is it, rounded. */
static void masters_are_constrained(void **state) {
    (void)state;
    const mst_constraint norm = mst_max_norm_constraint(.max_value = 0.5);
    trained first = {NULL, NULL};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        if (engine_has_other_bits(places[p].devices)) continue;
        trained t = train_with(norm, MST_BF16, cases[1].optimizer,
                               (mst_strategy){.kind = places[p].kind, .num_shards = 4}, places[p].devices, 0);
        if (p && (!engine_same_bits(t.master, first.master) || !engine_same_bits(t.w, first.w)))
            fail_msg("on %s: other bits", places[p].devices);
        if (p)
            end(&t);
        else
            first = t;
    }
    for (int c = 0; c < COLUMNS; c++) {
        double sum = 0;
        for (int r = 0; r < ROWS; r++) {
            const double master = mst_tensor_get(first.master, r * COLUMNS + c);
            assert_true(fabs(mst_tensor_get(first.w, r * COLUMNS + c) - master) <= ldexp(fabs(master), -8));
            sum += master * master;
        }
        assert_true(sqrt(sum) < 0.5 + 1e-6);
    }
    end(&first);
}

/* The weight is its master, rounded to the nearest, and half as large. */
static void weight_is_the_rounded_master(void **state) {
    (void)state;
    trained t = train(MST_BF16, cases[0].optimizer, (mst_strategy){.num_shards = 2}, "cpu:1/1", 0);
    assert_int_equal(mst_tensor_bytes(t.w) * 2, mst_tensor_bytes(t.master));
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        const double master = mst_tensor_get(t.master, i), w = mst_tensor_get(t.w, i);
        assert_true(fabs(w - master) <= ldexp(fabs(master), -8));
    }
    end(&t);
}

/* y = 1 with steps of 2^-12, too small for bf16 near 1: after 64 of them the weight has moved by 2^-6. */
static void small_steps_add_up(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value w = mst_variable(g, "w", mst_cast(mst_scalar(g, MST_F32, 1), MST_BF16));
    mst_value loss = mst_mul(mst_cast(w, MST_F32), mst_scalar(g, MST_F32, -1));
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0x1p-12);
    mst_value train = mst_minimize(&sgd, loss, NULL, 0, MST_NONE);
    mst_session *session = engine_session(g, "cpu:1/1");
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_init_variables(session));
    for (int i = 0; i < 64; i++) EXPECT_OK(mst_session_run(session, NULL, 0, &train, 1, NULL));
    mst_tensor *got;
    EXPECT_OK(mst_session_get_variable(session, w, &got));
    assert_true(mst_tensor_get(got, 0) == 1 + 0x1p-6);
    mst_tensor_release(got);
    engine_end(g, session);
}

/* What is assigned to a weight counts, not the master that it had. */
static void assigned_weight_is_the_new_master(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        trained kept = train(MST_BF16, cases[c].optimizer, (mst_strategy){.num_shards = 2}, "cpu:1/1", 0);
        trained set = train(MST_BF16, cases[c].optimizer, (mst_strategy){.num_shards = 2}, "cpu:1/1", 40);
        for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
            assert_true(fabs(mst_tensor_get(kept.w, i)) < 20);
            if (c == 2) assert_true(fabs(mst_tensor_get(set.w, i) - 40) < 1); /* Adam's steps are small */
        }
        end(&kept);
        end(&set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_the_strategy), cmocka_unit_test(masters_are_constrained),
        cmocka_unit_test(weight_is_the_rounded_master),       cmocka_unit_test(small_steps_add_up),
        cmocka_unit_test(assigned_weight_is_the_new_master),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
