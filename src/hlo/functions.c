/* Operations of StableHLO that have a region: reduce, windows, sort and while. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "hlo/hlo_writer.h"

static mst_spec scalar_of(mst_dtype dtype) {
    return (mst_spec){.dtype = dtype, .shape = MST_SCALAR};
}

static mst_shape without(mst_shape shape, const mst_axes *axes) {
    mst_shape left = MST_SCALAR;
    for (int i = 0; i < shape.ndim; i++)
        if (!mst_hlo_is_listed(axes, i)) left.dim[left.ndim++] = shape.dim[i];
    return left;
}

/* ---- reduce ---- */

/* Allocates BYTES bytes of zeros, which the caller frees. If memory runs out, the program gets an error, and the result
 * is NULL. */
static void *memory(mst_lower *l, size_t bytes) {
    void *data = calloc(1, bytes ? bytes : 1);
    if (!data) mst_hlo_fail(l, "cannot get memory");
    return data;
}

/* Whether the COUNT values X, at least one, have the same shape; if not, the program gets an error. */
static bool are_alike(mst_lower *l, int count, const mst_hlo *x) {
    if (count < 1 || !x) {
        mst_hlo_fail(l, "%d values where there must be some", count);
        return false;
    }
    for (int k = 0; k < count; k++) {
        if (mst_hlo_lacks(l, x[k])) return false;
        if (!mst_shape_equal(mst_hlo_spec(l, x[k]).shape, mst_hlo_spec(l, x[0]).shape)) {
            mst_hlo_fail(l, "values of several shapes where one must be");
            return false;
        }
    }
    return true;
}

void mst_hlo_reduce_all(mst_lower *l, int count, const mst_hlo *x, const mst_hlo *initial, mst_axes axes,
                        mst_hlo_function function, void *context, mst_hlo *result) {
    for (int k = 0; k < count; k++) result[k] = MST_NO_HLO;
    if (!are_alike(l, count, x) || !mst_hlo_are_axes(l, mst_hlo_spec(l, x[0]).shape.ndim, &axes)) return;
    /* types of the function's arguments: a scalar for each value, then one for each of `initial`; then types of the
     * operation's results */
    mst_spec *spec = memory(l, 3 * (size_t)count * sizeof *spec);
    mst_hlo *src = memory(l, 2 * (size_t)count * sizeof *src);
    if (spec && src) {
        for (int k = 0; k < count; k++) {
            src[k] = x[k];
            src[count + k] = initial[k];
            const mst_spec whole = mst_hlo_spec(l, x[k]);
            spec[k] = spec[count + k] = scalar_of(whole.dtype);
            spec[2 * count + k] = (mst_spec){.dtype = whole.dtype, .shape = without(whole.shape, &axes)};
        }
        mst_hlo_attributes a = {.size = 0};
        mst_hlo_attribute_axes(&a, "dimensions", &axes);
        mst_hlo_call_region(l, "reduce", mst_hlo_attributes_end(&a), 2 * count, src,
                            &(mst_hlo_region){.num_arguments = 2 * count,
                                              .argument = spec,
                                              .num_results = count,
                                              .result = spec,
                                              .function = function,
                                              .context = context},
                            count, spec + (ptrdiff_t)2 * count, result);
    }
    free(spec);
    free(src);
}

mst_hlo mst_hlo_reduce(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes) {
    if (mst_hlo_lacks(l, x) || !mst_hlo_combines(l, operation)) return MST_NO_HLO;
    if (!axes.count) return x;
    const mst_hlo first = mst_hlo_number_like(l, x, initial);
    mst_hlo result;
    mst_hlo_reduce_all(l, 1, &x, &first, axes, mst_hlo_apply, &operation, &result);
    return result;
}

mst_hlo mst_hlo_reduce_whole(mst_lower *l, const char *operation, mst_hlo x, double initial) {
    mst_axes all = {.count = mst_hlo_spec(l, x).shape.ndim};
    for (int i = 0; i < all.count; i++) all.axis[i] = i;
    return mst_hlo_reduce(l, operation, x, initial, all);
}

mst_hlo mst_hlo_reduce_keep(mst_lower *l, const char *operation, mst_hlo x, double initial, mst_axes axes) {
    mst_shape shape = mst_hlo_spec(l, x).shape;
    if (mst_hlo_lacks(l, x) || !mst_hlo_are_axes(l, shape.ndim, &axes)) return MST_NO_HLO;
    for (int i = 0; i < axes.count; i++) shape.dim[axes.axis[i]] = 1;
    return mst_hlo_reshape(l, mst_hlo_reduce(l, operation, x, initial, axes), shape);
}

/* ---- windows ---- */

static int64_t step_of(int64_t step) {
    return step ? step : 1;
}

/* The number of places that SIZE elements span if they lie DILATION apart; 0 for no elements. */
static int64_t dilated(int64_t size, int64_t dilation) {
    return size > 0 ? (size - 1) * step_of(dilation) + 1 : 0;
}

static bool is_window(mst_lower *l, int ndim, const mst_hlo_window *w) {
    if (!w || !ndim) {
        mst_hlo_fail(l, "a window of %d dimensions", ndim);
        return false;
    }
    for (int i = 0; i < ndim; i++)
        if (w->size[i] < 1 || w->stride[i] < 0 || w->dilation[i] < 0 || w->base_dilation[i] < 0) {
            mst_hlo_fail(l, "a window of %lld elements along axis %d, or a step of less than 0", (long long)w->size[i],
                         i);
            return false;
        }
    return true;
}

mst_hlo mst_hlo_reduce_window(mst_lower *l, const char *operation, mst_hlo x, double initial,
                              const mst_hlo_window *window) {
    const mst_spec spec = mst_hlo_spec(l, x);
    const int ndim = spec.shape.ndim;
    mst_spec dst = spec;
    if (mst_hlo_lacks(l, x) || !mst_hlo_combines(l, operation) || !is_window(l, ndim, window)) return MST_NO_HLO;
    for (int i = 0; i < ndim; i++) {
        const int64_t span = dilated(spec.shape.dim[i], window->base_dilation[i]) + window->low[i] + window->high[i];
        const int64_t size = dilated(window->size[i], window->dilation[i]);
        dst.shape.dim[i] = span < size ? 0 : (span - size) / step_of(window->stride[i]) + 1;
    }
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute_steps(&a, "base_dilations", ndim, window->base_dilation);
    mst_hlo_attribute_padding(&a, ndim, window->low, window->high);
    mst_hlo_attribute_steps(&a, "window_dilations", ndim, window->dilation);
    mst_hlo_attribute_array(&a, "window_dimensions", ndim, window->size);
    mst_hlo_attribute_steps(&a, "window_strides", ndim, window->stride);
    const mst_hlo src[] = {x, mst_hlo_number(l, spec.dtype, initial)};
    const mst_spec scalar[] = {scalar_of(spec.dtype), scalar_of(spec.dtype)};
    mst_hlo result;
    mst_hlo_call_region(l, "reduce_window", mst_hlo_attributes_end(&a), 2, src,
                        &(mst_hlo_region){.num_arguments = 2,
                                          .argument = scalar,
                                          .num_results = 1,
                                          .result = scalar,
                                          .function = mst_hlo_apply,
                                          .context = &operation},
                        1, &dst, &result);
    return result;
}

/* ---- sort ---- */

void mst_hlo_sort(mst_lower *l, int count, const mst_hlo *x, int axis, mst_hlo_function function, void *context,
                  mst_hlo *result) {
    for (int k = 0; k < count; k++) result[k] = MST_NO_HLO;
    if (!are_alike(l, count, x) || !mst_hlo_is_axis(l, mst_hlo_spec(l, x[0]).shape.ndim, &axis)) return;
    /* types of the function's arguments, two scalars for each value; then types of the operation's results */
    mst_spec *spec = memory(l, 3 * (size_t)count * sizeof *spec);
    if (!spec) return;
    for (int k = 0; k < count; k++) {
        spec[2 * count + k] = mst_hlo_spec(l, x[k]);
        spec[2 * k] = spec[2 * k + 1] = scalar_of(spec[2 * count + k].dtype);
    }
    const mst_spec answer = scalar_of(MST_BOOL);
    mst_hlo_attributes a = {.size = 0};
    mst_hlo_attribute(&a, "dimension = %d : i64", axis);
    mst_hlo_attribute(&a, "is_stable = true");
    mst_hlo_call_region(l, "sort", mst_hlo_attributes_end(&a), count, x,
                        &(mst_hlo_region){.num_arguments = 2 * count,
                                          .argument = spec,
                                          .num_results = 1,
                                          .result = &answer,
                                          .function = function,
                                          .context = context},
                        count, spec + (ptrdiff_t)2 * count, result);
    free(spec);
}

/* ---- while ---- */

void mst_hlo_while(mst_lower *l, int count, const mst_hlo *initial, mst_hlo_function condition, mst_hlo_function body,
                   void *context, mst_hlo *result) {
    mst_hlo_program *p = l->program;
    if (count < 0 || (count && !initial)) {
        mst_hlo_fail(l, "a loop over %d values", count);
        return;
    }
    const bool takes_word = !p->no_faults;
    const int carried = count + takes_word;
    mst_spec *spec = memory(l, (size_t)(count + 1) * sizeof *spec);
    mst_hlo *src = memory(l, 2 * (size_t)(count + 1) * sizeof *src);
    for (int k = 0; k < count; k++) result[k] = MST_NO_HLO;
    if (spec && src) {
        mst_hlo *out = src + count + 1;
        for (int k = 0; k < count; k++) src[k] = initial[k];
        if (takes_word) src[count] = mst_hlo_fault_word(l);
        for (int k = 0; k < carried; k++) spec[k] = mst_hlo_spec(l, src[k]);
        const mst_spec answer = scalar_of(MST_BOOL);
        mst_hlo_begin(l, "while", carried, src, carried, spec, out);
        mst_hlo_write_region(l, &(mst_hlo_region){.num_arguments = count,
                                                  .argument = spec,
                                                  .num_results = 1,
                                                  .result = &answer,
                                                  .function = condition,
                                                  .context = context,
                                                  .takes_word = takes_word,
                                                  .is_first = true});
        mst_hlo_write_region(l, &(mst_hlo_region){.num_arguments = count,
                                                  .argument = spec,
                                                  .num_results = count,
                                                  .result = spec,
                                                  .function = body,
                                                  .context = context,
                                                  .takes_word = takes_word,
                                                  .gives_word = takes_word,
                                                  .is_last = true});
        mst_hlo_end(l, "", carried, src, carried, out);
        for (int k = 0; k < count; k++) result[k] = out[k];
        if (takes_word) p->fault_word = out[count];
    }
    free(spec);
    free(src);
}

/* ---- repeat ---- */

typedef struct repetition {
    mst_dtype dtype; /* of the step counter, the first value of the loop */
    int64_t steps;
    mst_hlo_function body;
    void *context;
} repetition;

static void has_next_step(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const repetition *r = context;
    result[0] = mst_hlo_compare(l, "LT", argument[0], mst_hlo_integer(l, r->dtype, r->steps));
}

static void make_step(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const repetition *r = context;
    r->body(l, r->context, argument, result + 1);
    result[0] = mst_hlo_binary(l, "add", argument[0], mst_hlo_integer(l, r->dtype, 1));
}

void mst_hlo_repeat(mst_lower *l, int64_t steps, int count, const mst_hlo *initial, mst_hlo_function body,
                    void *context, mst_hlo *result) {
    const mst_dtype dtype = steps > INT32_MAX ? MST_I64 : MST_I32;
    repetition r = {.dtype = dtype, .steps = steps, .body = body, .context = context};
    mst_hlo *value = memory(l, 2 * (size_t)(count + 1) * sizeof *value);
    for (int k = 0; k < count; k++) result[k] = MST_NO_HLO;
    if (value) {
        mst_hlo *last = value + count + 1;
        value[0] = mst_hlo_integer(l, dtype, 0);
        for (int k = 0; k < count; k++) value[1 + k] = initial[k];
        mst_hlo_while(l, 1 + count, value, has_next_step, make_step, &r, last);
        for (int k = 0; k < count; k++) result[k] = last[1 + k];
    }
    free(value);
}
