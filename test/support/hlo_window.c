/* The interpreter of StableHLO (support/hlo_interpreter.h): windows that move over an array, and the ops
 * reduce_window and select_and_scatter. */
#include <string.h>

#include "support/hlo_inside.h"

/* ---- windows ---- */

static int64_t number_of(const hlo_op *op, const char *name, int i) {
    const hlo_list *list = hlo_list_of(op, name);
    return list ? list->at[i] : 1;
}

void hlo_windows(const hlo_op *op, const char *base, const char *dilation, int ndim, hlo_window *window) {
    const hlo_attribute *padding = hlo_attribute_of(op, "padding");
    const hlo_list *size = hlo_list_of(op, "window_dimensions"), *reversal = hlo_list_of(op, "window_reversal");
    for (int i = 0; i < ndim; i++) {
        const int64_t *pads = padding ? (const int64_t *)padding->dense.data + 2 * (int64_t)i : NULL;
        window[i] = (hlo_window){
            .size = size ? size->at[i] : 0,
            .stride = number_of(op, "window_strides", i),
            .base = number_of(op, base, i),
            .dilation = number_of(op, dilation, i),
            .low = pads ? pads[0] : 0,
            .high = pads ? pads[1] : 0,
            .reversed = reversal && reversal->at[i],
        };
    }
}

bool hlo_check_windows(const hlo_check *c, const char *base, const char *dilation, int ndim) {
    const hlo_attribute *padding = hlo_attribute_of(c->op, "padding");
    if (!hlo_want_list(c, "window_dimensions", ndim, 1) || !hlo_want_list(c, "window_strides", ndim, 1) ||
        !hlo_want_list(c, base, ndim, 1) || !hlo_want_list(c, dilation, ndim, 1) ||
        !hlo_want_list(c, "window_reversal", ndim, 0))
        return false;
    if (!padding) return true;
    const hlo_array *pads = &padding->dense;
    HLO_WANT(pads->type == HLO_I64 && pads->ndim == 2 && pads->dim[0] == ndim && pads->dim[1] == 2,
             "padding is not tensor<%dx2xi64>", ndim);
    for (int64_t i = 0; i < pads->count; i++) {
        const int64_t number = ((const int64_t *)pads->data)[i];
        HLO_WANT(number >= -HLO_MOST_BYTES && number <= HLO_MOST_BYTES, "padding has %lld, which is too large",
                 (long long)number);
    }
    return true;
}

int64_t hlo_num_windows(const hlo_window *window, int64_t dim) {
    const int64_t padded = (dim ? (dim - 1) * window->base + 1 : 0) + window->low + window->high;
    const int64_t size = window->size ? (window->size - 1) * window->dilation + 1 : 0;
    return padded <= 0 || size > padded ? 0 : (padded - size) / window->stride + 1;
}

/* The place in the array of element K of window I; -1: in the padding. */
static int64_t window_place(const hlo_window *window, int64_t i, int64_t k, int64_t dim) {
    const int64_t element = window->reversed ? window->size - 1 - k : k;
    const int64_t place = i * window->stride + element * window->dilation - window->low;
    return place < 0 || place % window->base || place / window->base >= dim ? -1 : place / window->base;
}

int64_t hlo_window_offset(const hlo_window *window, int ndim, const int64_t *index, const int64_t *element,
                          const int64_t *dim, const int64_t *stride) {
    int64_t offset = 0;
    for (int i = 0; i < ndim; i++) {
        const int64_t place = window_place(&window[i], index[i], element[i], dim[i]);
        if (place < 0) return -1;
        offset += place * stride[i];
    }
    return offset;
}

/* ---- reduce_window ---- */

static bool reduce_window_check(hlo_check *c, hlo_op *op) {
    const int num = op->num_operands / 2;
    const hlo_array *first = hlo_operand_type(c, 0);
    hlo_window window[HLO_MOST_DIMS];
    HLO_WANT(op->num_operands % 2 == 0, "it has %d operands, an odd number", op->num_operands);
    if (!hlo_want_results(c, num) || !hlo_want_body(c, 0, num)) return false;
    if (!hlo_check_windows(c, "base_dilations", "window_dilations", first->ndim)) return false;
    hlo_windows(op, "base_dilations", "window_dilations", first->ndim, window);
    for (int k = 0; k < num; k++) {
        hlo_array type = *hlo_operand_type(c, k);
        const hlo_array init = hlo_scalar_of(type.type);
        HLO_WANT(hlo_same_shape(&type, first), "operand %d has not the shape of operand 0", k);
        for (int i = 0; i < type.ndim; i++) type.dim[i] = hlo_num_windows(&window[i], type.dim[i]);
        if (!hlo_want_operand(c, num + k, &init) || !hlo_want_result(c, k, &type)) return false;
    }
    return true;
}

static bool reduce_window_run(hlo_run_state *r, const hlo_op *op) {
    const int num = op->num_operands / 2;
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const hlo_body body = hlo_body_of(&op->region[0]);
    const void *x[HLO_MOST_REDUCED];
    void *acc[HLO_MOST_REDUCED];
    hlo_type type[HLO_MOST_REDUCED];
    hlo_window window[HLO_MOST_DIMS];
    int64_t stride[HLO_MOST_DIMS], index[HLO_MOST_DIMS] = {0}, size[HLO_MOST_DIMS], place = 0;
    for (int k = 0; k < num; k++) {
        x[k] = hlo_data(r, op, k);
        acc[k] = hlo_new_result(r, op, k);
        type[k] = hlo_type_of(r, op, k)->type;
        if (!acc[k]) return false;
        hlo_fill(acc[k], to->count, hlo_data(r, op, num + k), hlo_type_size(type[k]));
    }
    if (to->count == 0) return true;
    hlo_windows(op, "base_dilations", "window_dilations", from->ndim, window);
    hlo_strides(from, stride);
    for (int i = 0; i < from->ndim; i++) size[i] = window[i].size;
    do {
        int64_t element[HLO_MOST_DIMS] = {0};
        do {
            const int64_t at = hlo_window_offset(window, from->ndim, index, element, from->dim, stride);
            if (at >= 0 && !hlo_apply_body(r, &body, type, acc, place, x, at)) return false;
        } while (hlo_next_index(from->ndim, size, element));
        place++;
    } while (hlo_next_index(to->ndim, to->dim, index));
    return true;
}

/* ---- select_and_scatter ---- */

static bool select_and_scatter_check(hlo_check *c, hlo_op *op) {
    const hlo_array *operand = hlo_operand_type(c, 0);
    const hlo_array scalar = hlo_scalar_of(operand->type), pair[2] = {scalar, scalar}, truth = hlo_scalar_of(HLO_I1);
    hlo_array source = *operand;
    hlo_window window[HLO_MOST_DIMS];
    if (!hlo_check_windows(c, "", "", operand->ndim)) return false;
    hlo_windows(op, "", "", operand->ndim, window);
    for (int i = 0; i < operand->ndim; i++) source.dim[i] = hlo_num_windows(&window[i], operand->dim[i]);
    return hlo_want_operand(c, 1, &source) && hlo_want_operand(c, 2, &scalar) &&
           hlo_want_region(c, 0, pair, 2, &truth, 1) && hlo_want_region(c, 1, pair, 2, &scalar, 1) &&
           hlo_want_results(c, 1) && hlo_want_result(c, 0, operand);
}

static bool select_and_scatter_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0), *source = hlo_type_of(r, op, 1);
    const hlo_body body = hlo_body_of(&op->region[1]);
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1), *init = hlo_data(r, op, 2);
    void *out = hlo_new_result(r, op, 0);
    hlo_window window[HLO_MOST_DIMS];
    int64_t stride[HLO_MOST_DIMS], index[HLO_MOST_DIMS] = {0}, size[HLO_MOST_DIMS], place = 0;
    if (!out) return false;
    hlo_fill(out, type->count, init, hlo_type_size(type->type));
    if (source->count == 0) return true;
    hlo_windows(op, "", "", type->ndim, window);
    hlo_strides(type, stride);
    for (int i = 0; i < type->ndim; i++) size[i] = window[i].size;
    do {
        int64_t element[HLO_MOST_DIMS] = {0}, selected = -1;
        do {
            bool keeps = false;
            const int64_t at = hlo_window_offset(window, type->ndim, index, element, type->dim, stride);
            if (at < 0) continue;
            if (selected >= 0 && !hlo_ask(r, &op->region[0], 1, &type->type, &x, selected, at, &keeps)) return false;
            if (!keeps) selected = at;
        } while (hlo_next_index(type->ndim, size, element));
        if (selected >= 0 && !hlo_apply_body(r, &body, &type->type, &out, selected, &y, place)) return false;
        place++;
    } while (hlo_next_index(source->ndim, source->dim, index));
    return true;
}

const hlo_row hlo_window_rows[] = {
    {"reduce_window", 0, -1, 1, HLO_IS_ANY,
     "window_dimensions window_strides? base_dilations? window_dilations? padding?", reduce_window_check,
     reduce_window_run},
    {"select_and_scatter", 0, 3, 2, HLO_IS_ANY, "window_dimensions window_strides? padding?", select_and_scatter_check,
     select_and_scatter_run},
    {0},
};
