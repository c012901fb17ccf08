/* The arithmetic of constraints: numbers that Keras 3 gives (its constraints called on these arrays in f32), and a
 * plain sum for each element of larger ones, in whatever parts the items are done. */
#include <math.h>
#include <string.h>

#include "rule/constraint.h"
#include "support/test.h"

enum { MOST = 12, LARGE = 20000 };

static const float matrix[] = {1, -2, 0.5f, 2, 1, -0.25f};
static const float cube[] = {-1.5f, -1.25f, -1, -0.75f, -0.5f, -0.25f, 0, 0.25f, 0.5f, 0.75f, 1, 1.25f};

static const struct {
    const char *name;
    mst_constraint constraint;
    bool is_cube; /* [2, 3, 2]; else the matrix [2, 3] */
    float wanted[MOST];
} rows[] = {
    {"NonNeg()", {.kind = MST_CONSTRAINT_NON_NEG}, false, {1, 0, 0.5f, 2, 1, 0}},
    {"MaxNorm()",
     {.kind = MST_CONSTRAINT_MAX_NORM},
     false,
     {0.89442718f, -1.78885436f, 0.49999988f, 1.78885436f, 0.89442718f, -0.24999994f}},
    {"MaxNorm(1.5, axis=1)",
     {.kind = MST_CONSTRAINT_MAX_NORM, .max_value = 1.5, .axes = {.count = 1, .axis = {1}}},
     false,
     {0.65465367f, -1.30930734f, 0.32732683f, 1.33333337f, 0.66666669f, -0.16666667f}},
    {"UnitNorm()",
     {.kind = MST_CONSTRAINT_UNIT_NORM},
     false,
     {0.44721359f, -0.89442718f, 0.89442700f, 0.89442718f, 0.44721359f, -0.44721350f}},
    {"UnitNorm(axis=[0, 1])",
     {.kind = MST_CONSTRAINT_UNIT_NORM, .axes = {.count = 2, .axis = {0, 1}}},
     true,
     {-0.68824720f, -0.59761435f, -0.45883146f, -0.35856858f, -0.22941573f, -0.11952286f, 0, 0.11952286f, 0.22941573f,
      0.35856858f, 0.45883146f, 0.59761435f}},
    {"MinMaxNorm(1, 2, rate=0.5, axis=-1)",
     {.kind = MST_CONSTRAINT_MIN_MAX_NORM,
      .min_value = 1,
      .max_value = 2,
      .rate = 0.5,
      .axes = {.count = 1, .axis = {-1}}},
     false,
     {0.93643576f, -1.87287152f, 0.46821788f, 1.88888884f, 0.94444442f, -0.23611110f}},
    {"MinMaxNorm(axis=None)",
     {.kind = MST_CONSTRAINT_MIN_MAX_NORM, .whole = true},
     false,
     {0.31139958f, -0.62279916f, 0.15569979f, 0.62279916f, 0.31139958f, -0.07784989f}},
    {"MinMaxNorm(3, 4)",
     {.kind = MST_CONSTRAINT_MIN_MAX_NORM, .min_value = 3, .max_value = 4},
     false,
     {1.34164071f, -2.68328142f, 2.68328094f, 2.68328142f, 1.34164071f, -1.34164047f}},
    {"MaxNorm(0.5, axis=[0, 2])",
     {.kind = MST_CONSTRAINT_MAX_NORM, .max_value = 0.5, .axes = {.count = 2, .axis = {0, 2}}},
     true,
     {-0.38100037f, -0.31750029f, -0.32444283f, -0.24333212f, -0.14744194f, -0.07372097f, 0, 0.06350006f, 0.16222142f,
      0.24333212f, 0.29488384f, 0.36860484f}},
};

static void small_ones_are_those_of_keras(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const mst_shape shape = rows[r].is_cube ? MST_SHAPE(2, 3, 2) : MST_SHAPE(2, 3);
        const int64_t count = mst_shape_count(shape);
        float f32[MOST];
        double f64[MOST];
        mst_constraint_form form;
        for (int64_t i = 0; i < count; i++) f64[i] = (double)(f32[i] = rows[r].is_cube ? cube[i] : matrix[i]);
        EXPECT_OK(mst_constraint_check(&rows[r].constraint, MST_F32, shape));
        mst_constraint_form_make(&rows[r].constraint, shape, &form);
        mst_constrain_f32(&form, 0, form.items, f32);
        mst_constrain_f64(&form, 0, form.items, f64);
        for (int64_t i = 0; i < count; i++)
            if (!(fabs((double)(f32[i] - rows[r].wanted[i])) < 2e-7) || !(fabs(f64[i] - (double)f32[i]) < 2e-7))
                fail_msg("%s: element %d is %.9g and %.9g, not %.9g", rows[r].name, (int)i, (double)f32[i], f64[i],
                         (double)rows[r].wanted[i]);
    }
}

/* ---- larger arrays ---- */

/* The norm to which element AT of W belongs, summed plainly. */
static double norm_of(const double *w, mst_shape shape, const bool *summed, int64_t at) {
    double sum = 0;
    for (int64_t i = 0, count = mst_shape_count(shape); i < count; i++) {
        int64_t x = i, y = at;
        bool shares = true;
        for (int d = shape.ndim - 1; d >= 0; x /= shape.dim[d], y /= shape.dim[d], d--)
            shares &= summed[d] || x % shape.dim[d] == y % shape.dim[d];
        if (shares) sum += w[i] * w[i];
    }
    return sqrt(sum);
}

static void expect_unit_norms(mst_shape shape, unsigned axes) {
    static double whole[LARGE], parts[LARGE], before[LARGE];
    static double copy[LARGE];
    const int64_t count = mst_shape_count(shape);
    mst_constraint c = {.kind = MST_CONSTRAINT_UNIT_NORM};
    bool summed[MST_MAX_NDIM] = {false};
    for (int d = 0; d < shape.ndim; d++)
        if (axes >> d & 1) summed[c.axes.axis[c.axes.count++] = d] = true;
    assert_true(count <= LARGE);
    for (int64_t i = 0; i < count; i++) parts[i] = whole[i] = before[i] = sin((double)i * 0.7) + 0.01;
    mst_constraint_form form;
    EXPECT_OK(mst_constraint_check(&c, MST_F64, shape));
    mst_constraint_form_make(&c, shape, &form);
    mst_constrain_f64(&form, 0, form.items, whole);
    memset(copy, 0, sizeof copy);
    for (int64_t i = 0; i < form.items; i++) { /* the last first */
        mst_constrain_f64(&form, form.items - 1 - i, form.items - i, parts);
        mst_constraint_copy(&form, i, i + 1, whole, copy, sizeof *copy);
    }
    assert_memory_equal(whole, parts, (size_t)count * sizeof *whole);
    assert_memory_equal(whole, copy, (size_t)count * sizeof *whole);
    for (int64_t i = 0; i < count; i += 1 + count / 97) {
        const double wanted = before[i] / (1e-7 + norm_of(before, shape, summed, i));
        if (!(fabs(whole[i] - wanted) < 1e-12)) fail_msg("axes %x: element %d of %d", axes, (int)i, (int)count);
    }
}

static void every_axis_of_every_shape(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{3, 3, 16, 32}, {1, 70, 1, 130}, {5, 1, 7, 1}, {2, 3, 4, 65}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int ndim = 1; ndim <= 4; ndim++)
            for (unsigned axes = 1; axes < 1u << ndim; axes++) expect_unit_norms(mst_shape_make(ndim, shapes[s]), axes);
}

static void empty_variables_have_no_items(void **state) {
    (void)state;
    const mst_constraint c = mst_max_norm_constraint(.max_value = 1);
    mst_constraint_form form;
    mst_constraint_form_make(&c, MST_SHAPE(0, 3), &form);
    assert_int_equal(form.items, 0);
}

static void nan_stays_nan(void **state) {
    (void)state;
    const mst_constraint kinds[] = {mst_non_neg_constraint(), mst_max_norm_constraint(), mst_unit_norm_constraint(),
                                    mst_min_max_norm_constraint()};
    for (int k = 0; k < 4; k++) {
        float w[] = {NAN, 1};
        mst_constraint_form form;
        mst_constraint_form_make(&kinds[k], MST_SHAPE(1, 2), &form);
        mst_constrain_f32(&form, 0, form.items, w);
        assert_true(isnan(w[0]) && !isnan(w[1]));
    }
}

static void what_cannot_be_is_an_error(void **state) {
    (void)state;
    const mst_constraint axis = mst_unit_norm_constraint(.axes = MST_AXES(2)),
                         twice = mst_unit_norm_constraint(.axes = MST_AXES(1, -1)),
                         below = mst_max_norm_constraint(.max_value = -1), first = mst_max_norm_constraint(),
                         none = {.kind = (mst_constraint_kind)9};
    EXPECT_ERROR(mst_constraint_check(&axis, MST_F32, MST_SHAPE(2, 3)), MST_INVALID, "one of the 2 of [2, 3]");
    EXPECT_ERROR(mst_constraint_check(&twice, MST_F32, MST_SHAPE(2, 3)), MST_INVALID, "given once");
    EXPECT_ERROR(mst_constraint_check(&below, MST_F32, MST_SHAPE(2, 3)), MST_INVALID, "max_value -1");
    EXPECT_ERROR(mst_constraint_check(&first, MST_F32, MST_SCALAR), MST_INVALID, "one of the 0 of");
    EXPECT_ERROR(mst_constraint_check(&first, MST_I32, MST_SHAPE(2)), MST_INVALID, "is for floats, not i32");
    EXPECT_ERROR(mst_constraint_check(&none, MST_F32, MST_SHAPE(2)), MST_INVALID, "kind is 9");
    assert_true(mst_constraint_sums_rows(&first, MST_SHAPE(2, 3)));
    assert_false(mst_constraint_sums_rows(&twice, MST_SHAPE(2, 3, 4)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones_are_those_of_keras), cmocka_unit_test(every_axis_of_every_shape),
        cmocka_unit_test(empty_variables_have_no_items), cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(what_cannot_be_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
