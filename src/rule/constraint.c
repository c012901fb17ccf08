#include "rule/constraint.h"

#include <math.h>
#include <string.h>

#include "base/bf16.h"
#include "base/simd.h"
#include "graph/field.h"

/* LANES norms are computed together, or LANES interleaved partial sums of one norm. Epsilon is
 * keras.config.epsilon(). */
enum { LANES = 64 };
#define MST_CONSTRAINT_EPSILON 1e-7

const char *const mst_constraint_names[] = {"none", "non_neg", "max_norm", "unit_norm", "min_max_norm", NULL};

/* The defaults of numbers depend on the kind. */
const mst_field mst_constraint_fields[] = {
    MST_FIELD_ENUM(mst_constraint, kind, 0, mst_constraint_names, "formula"),
    MST_FIELD_F64(mst_constraint, min_value, 0, 0, 0, "of min_max_norm"),
    MST_FIELD_F64(mst_constraint, max_value, 0, 0, 0, "of max_norm and min_max_norm"),
    MST_FIELD_F64(mst_constraint, rate, 0, 0, 0, "of min_max_norm"),
    MST_FIELD_AXES(mst_constraint, axes, "along which a norm is summed"),
    MST_FIELD_BOOL(mst_constraint, whole, "one norm of all elements"),
    MST_FIELD_END,
};

const char *mst_constraint_name(mst_constraint_kind kind) {
    return (unsigned)kind <= MST_CONSTRAINT_MIN_MAX_NORM ? mst_constraint_names[kind] : "unknown";
}

/* ---- summed axes ---- */

static double or_default(double number, double otherwise) {
    return mst_number_given(number) ? number : otherwise;
}

static bool has_norm(const mst_constraint *constraint) {
    return constraint->kind > MST_CONSTRAINT_NON_NEG;
}

/* Marks the axes along which norms are summed. False if SHAPE lacks one of them, or if one is given twice. */
static bool mark_axes(const mst_constraint *constraint, mst_shape shape, bool *summed) {
    static const mst_axes first = {.count = 1};
    const mst_axes *axes = constraint->axes.count ? &constraint->axes : &first;
    for (int i = 0; i < shape.ndim; i++) summed[i] = has_norm(constraint) && constraint->whole;
    if (!has_norm(constraint) || constraint->whole) return true;
    for (int i = 0; i < axes->count; i++) {
        const int axis = axes->axis[i] < 0 ? axes->axis[i] + shape.ndim : axes->axis[i];
        if (axis < 0 || axis >= shape.ndim || summed[axis]) return false;
        summed[axis] = true;
    }
    return true;
}

static bool is_in_range(double number) {
    return number >= 0 && number <= 1e30;
}

mst_status mst_constraint_check(const mst_constraint *constraint, mst_dtype dtype, mst_shape shape) {
    bool summed[MST_MAX_NDIM];
    char text[MST_SHAPE_TEXT];
    if ((unsigned)constraint->kind > MST_CONSTRAINT_MIN_MAX_NORM)
        return MST_FAIL(MST_INVALID, "constraint: kind is %d, must be one of mst_constraint_kind",
                        (int)constraint->kind);
    const char *name = mst_constraint_names[constraint->kind];
    if (constraint->kind == MST_CONSTRAINT_NONE) return MST_OK;
    if (!mst_dtype_is_float(dtype) && dtype != MST_BF16)
        return MST_FAIL(MST_INVALID, "constraint %s: is for floats, not %s", name, mst_dtype_name(dtype));
    if (!is_in_range(constraint->min_value) || !is_in_range(constraint->max_value) || !is_in_range(constraint->rate))
        return MST_FAIL(MST_INVALID,
                        "constraint %s: min_value %g, max_value %g and rate %g must be numbers from 0 to 1e30", name,
                        constraint->min_value, constraint->max_value, constraint->rate);
    if (constraint->axes.count < 0 || constraint->axes.count > MST_MAX_NDIM || !mark_axes(constraint, shape, summed))
        return MST_FAIL(MST_INVALID,
                        "constraint %s: each of its axes must be one of the %d of %s, and given once (default: axis 0)",
                        name, shape.ndim, mst_shape_print(shape, text, sizeof text));
    return MST_OK;
}

bool mst_constraint_sums_rows(const mst_constraint *constraint, mst_shape shape) {
    bool summed[MST_MAX_NDIM] = {false};
    return mark_axes(constraint, shape, summed) && shape.ndim && summed[0];
}

/* ---- items ---- */

/* Appends a dimension to the list DIM, which begins with the innermost one. If the last one of the list is also summed,
 * or also not summed, the two are merged. */
static void add_dim(mst_constraint_dim *dim, bool *is_summed, int32_t *count, int64_t size, int64_t stride,
                    bool summed) {
    if (size == 1) return;
    if (*count && is_summed[*count - 1] == summed) {
        dim[*count - 1].size *= size;
        return;
    }
    dim[*count] = (mst_constraint_dim){size, stride};
    is_summed[(*count)++] = summed;
}

void mst_constraint_form_make(const mst_constraint *constraint, mst_shape shape, mst_constraint_form *out) {
    const double largest = constraint->kind == MST_CONSTRAINT_MAX_NORM ? 2 : 1;
    bool summed[MST_MAX_NDIM] = {false}, is_summed[MST_MAX_NDIM] = {false};
    mst_constraint_dim dim[MST_MAX_NDIM] = {{0, 0}};
    int32_t count = 0;
    *out =
        (mst_constraint_form){.kind = constraint->kind,
                              .min_value = constraint->kind == MST_CONSTRAINT_MIN_MAX_NORM ? constraint->min_value : 0,
                              .max_value = or_default(constraint->max_value, largest),
                              .rate = or_default(constraint->rate, 1),
                              .rows = 1,
                              .run = 1};
    (void)mark_axes(constraint, shape, summed);
    int64_t stride = 1;
    for (int i = shape.ndim - 1; i >= 0; stride *= shape.dim[i--])
        add_dim(dim, is_summed, &count, shape.dim[i], stride, summed[i]);
    for (int i = 0; i < shape.ndim; i++)
        if (summed[i]) out->axes.axis[out->axes.count++] = i;
    if (mst_shape_count(shape) == 0) return;
    if (count) {
        out->run = dim[0].size;
        out->sums_run = is_summed[0];
    } else { /* the variable has a single element, whose norm is its magnitude */
        out->sums_run = true;
    }
    out->items = out->blocks = out->sums_run ? 1 : (out->run + LANES - 1) / LANES;
    for (int32_t i = count - 1; i > 0; i--) {
        *(is_summed[i] ? &out->rows : &out->items) *= dim[i].size;
        if (is_summed[i])
            out->summed[out->num_summed++] = dim[i];
        else
            out->kept[out->num_kept++] = dim[i];
    }
}

/* The offset, in elements, of combination N of indices along the dimensions DIM; the last dimension varies fastest. */
static int64_t dims_place(const mst_constraint_dim *dim, int32_t count, int64_t n) {
    int64_t place = 0;
    for (int32_t i = count - 1; i > 0; i--) {
        place += n % dim[i].size * dim[i].stride;
        n /= dim[i].size;
    }
    return count ? place + n * dim[0].stride : 0;
}

/* The offset of the first element of item N. *COUNT becomes the number of elements in each of its rows. */
static int64_t item_place(const mst_constraint_form *form, int64_t n, int64_t *count) {
    const int64_t at = n % form->blocks * LANES, rest = form->run - at;
    *count = form->sums_run || rest < LANES ? rest : LANES;
    return at + dims_place(form->kept, form->num_kept, n / form->blocks);
}

#define MST_TEMPLATE "rule/constraint.inc"
#include "base/floats.inc"

/* ---- copies ---- */

void mst_constraint_copy(const mst_constraint_form *form, int64_t begin, int64_t end, const void *from, void *to,
                         size_t element) {
    for (int64_t i = begin; i < end; i++) {
        int64_t count;
        const int64_t at = item_place(form, i, &count);
        for (int64_t r = 0; r < form->rows; r++) {
            const size_t byte = (size_t)(at + dims_place(form->summed, form->num_summed, r)) * element;
            memcpy((char *)to + byte, (const char *)from + byte, (size_t)count * element);
        }
    }
}

void mst_constraint_round(const mst_constraint_form *form, int64_t begin, int64_t end, const float *from,
                          uint16_t *to) {
    for (int64_t i = begin; i < end; i++) {
        int64_t count;
        const int64_t at = item_place(form, i, &count);
        for (int64_t r = 0; r < form->rows; r++) {
            const int64_t first = at + dims_place(form->summed, form->num_summed, r);
            for (int64_t k = first; k < first + count; k++) to[k] = mst_bf16_of(from[k]);
        }
    }
}

/* ---- StableHLO ---- */

mst_hlo mst_constraint_lower(mst_lower *l, const mst_constraint_form *form, mst_hlo w) {
    const mst_dtype dtype = mst_hlo_spec(l, w).dtype;
    if (form->kind == MST_CONSTRAINT_NON_NEG) return mst_hlo_binary(l, "maximum", w, mst_hlo_number(l, dtype, 0));
    const mst_hlo squares = mst_hlo_binary(l, "multiply", w, w);
    const mst_hlo norm = mst_hlo_unary(l, "sqrt", mst_hlo_reduce_keep(l, "add", squares, 0, form->axes));
    const mst_hlo divisor = mst_hlo_binary(l, "add", norm, mst_hlo_number(l, dtype, MST_CONSTRAINT_EPSILON));
    if (form->kind == MST_CONSTRAINT_UNIT_NORM) return mst_hlo_binary(l, "divide", w, divisor);
    mst_hlo wanted =
        mst_hlo_clamp(l, mst_hlo_number(l, dtype, form->min_value), norm, mst_hlo_number(l, dtype, form->max_value));
    if (form->kind == MST_CONSTRAINT_MIN_MAX_NORM) {
        const mst_hlo rest = mst_hlo_binary(l, "multiply", norm, mst_hlo_number(l, dtype, 1 - form->rate));
        wanted = mst_hlo_binary(l, "multiply", wanted, mst_hlo_number(l, dtype, form->rate));
        wanted = mst_hlo_binary(l, "add", wanted, rest);
    }
    return mst_hlo_binary(l, "multiply", w, mst_hlo_binary(l, "divide", wanted, divisor));
}
