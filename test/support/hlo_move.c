/* The interpreter of StableHLO (support/hlo_interpreter.h): ops that make arrays or move elements, and compute
 * nothing. */
#include <string.h>

#include "support/hlo_inside.h"

/* ---- constant, iota, optimization_barrier ---- */

static bool constant_check(hlo_check *c, hlo_op *op) {
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &hlo_attribute_of(op, "value")->dense);
}

static bool constant_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *value = &hlo_attribute_of(op, "value")->dense;
    if (value->count == 1)
        hlo_set_scalar(r, op->result, value->data, hlo_type_size(value->type));
    else
        hlo_lend(r, op->result, value->data);
    return true;
}

static bool iota_check(hlo_check *c, hlo_op *op) {
    const int64_t dimension = hlo_attribute_of(op, "iota_dimension")->integer;
    if (!hlo_want_results(c, 1)) return false;
    const hlo_array *type = hlo_result_type(c, 0);
    HLO_WANT(type->type != HLO_I1, "results cannot be of type i1");
    HLO_WANT(dimension >= 0 && dimension < type->ndim, "iota_dimension is %lld, but there are %d dimensions",
             (long long)dimension, type->ndim);
    return true;
}

static bool iota_run(hlo_run_state *r, const hlo_op *op) {
    const int dimension = (int)hlo_attribute_of(op, "iota_dimension")->integer;
    const hlo_array *type = hlo_type_of_result(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    int64_t stride[HLO_MOST_DIMS];
    if (!out) return false;
    hlo_strides(type, stride);
    for (int64_t i = 0; i < type->count; i++) {
        hlo_block block;
        block.i64[0] = i / stride[dimension] % type->dim[dimension];
        if (type->type != HLO_I64) hlo_convert(&block, HLO_I64, type->type, 1);
        hlo_store(&block, type->type, out, i, 1);
    }
    return true;
}

static bool barrier_check(hlo_check *c, hlo_op *op) {
    if (!hlo_want_results(c, op->num_operands)) return false;
    for (int i = 0; i < op->num_operands; i++)
        if (!hlo_want_result(c, i, hlo_operand_type(c, i))) return false;
    return true;
}

static bool share_all(hlo_run_state *r, const hlo_op *op) {
    for (int i = 0; i < op->num_operands; i++) hlo_share(r, op->result + i, op->operand[i]);
    return true;
}

/* ---- reshape, bitcast_convert ---- */

static bool reshape_check(hlo_check *c, hlo_op *op) {
    (void)op;
    if (!hlo_want_results(c, 1)) return false;
    const hlo_array *from = hlo_operand_type(c, 0), *to = hlo_result_type(c, 0);
    HLO_WANT(from->type == to->type, "the result has another element type");
    HLO_WANT(from->count == to->count, "the result has %lld elements, the operand %lld", (long long)to->count,
             (long long)from->count);
    return true;
}

/* The type with fewer bits has one more dimension, for the parts of the other's elements. */
static bool bitcast_check(hlo_check *c, hlo_op *op) {
    (void)op;
    if (!hlo_want_results(c, 1)) return false;
    const hlo_array *from = hlo_operand_type(c, 0), *to = hlo_result_type(c, 0);
    const int from_bits = hlo_type_bits(from->type), to_bits = hlo_type_bits(to->type);
    hlo_array wide = from_bits >= to_bits ? *from : *to;
    const hlo_array *parts = from_bits >= to_bits ? to : from;
    HLO_WANT((from->type == HLO_I1) == (to->type == HLO_I1), "i1 is only cast to i1");
    if (from_bits != to_bits) {
        HLO_WANT(wide.ndim < HLO_MOST_DIMS, "there are too many dimensions");
        wide.dim[wide.ndim++] = hlo_type_bits(wide.type) / hlo_type_bits(parts->type);
    }
    HLO_WANT(hlo_same_shape(&wide, parts), "the shape of the result is not that of the operand in other parts");
    return true;
}

static bool copy_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *from = hlo_type_of(r, op, 0);
    if (hlo_type_of_result(r, op, 0)->count != 1 && from->count != 1) return share_all(r, op);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    if (out) memcpy(out, x, (size_t)from->count * hlo_type_size(from->type));
    return out != NULL;
}

/* ---- broadcast_in_dim, transpose, reverse ---- */

static bool broadcast_check(hlo_check *c, hlo_op *op) {
    const hlo_list *dims = hlo_list_of(op, "broadcast_dimensions");
    const hlo_array *from = hlo_operand_type(c, 0);
    if (!hlo_want_results(c, 1) || !hlo_want_list(c, "broadcast_dimensions", from->ndim, 0)) return false;
    const hlo_array *to = hlo_result_type(c, 0);
    HLO_WANT(from->type == to->type, "the result has another element type");
    if (!hlo_want_dims(c, "broadcast_dimensions", dims, to->ndim)) return false;
    for (int i = 0; i < from->ndim; i++)
        HLO_WANT(from->dim[i] == 1 || from->dim[i] == to->dim[dims->at[i]],
                 "dimension %d of the operand is neither 1 nor that of the result", i);
    return true;
}

static bool broadcast_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *dims = hlo_list_of(op, "broadcast_dimensions");
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    int64_t from_stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS], stride[HLO_MOST_DIMS] = {0};
    if (!out) return false;
    hlo_strides(from, from_stride);
    hlo_strides(to, to_stride);
    for (int i = 0; i < from->ndim; i++)
        if (from->dim[i] != 1) stride[dims->at[i]] = from_stride[i];
    hlo_copy(to->ndim, to->dim, out, to_stride, x, stride, hlo_type_size(to->type));
    return true;
}

static bool transpose_check(hlo_check *c, hlo_op *op) {
    const hlo_list *permutation = hlo_list_of(op, "permutation");
    const hlo_array *from = hlo_operand_type(c, 0);
    hlo_array to = *from;
    if (!hlo_want_list(c, "permutation", from->ndim, 0)) return false;
    if (!hlo_want_dims(c, "permutation", permutation, from->ndim)) return false;
    for (int i = 0; i < from->ndim; i++) to.dim[i] = from->dim[permutation->at[i]];
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &to);
}

static bool transpose_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *permutation = hlo_list_of(op, "permutation");
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const void *x = hlo_data(r, op, 0);
    void *out = hlo_new_result(r, op, 0);
    int64_t from_stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS], stride[HLO_MOST_DIMS];
    if (!out) return false;
    hlo_strides(from, from_stride);
    hlo_strides(to, to_stride);
    for (int i = 0; i < to->ndim; i++) stride[i] = from_stride[permutation->at[i]];
    hlo_copy(to->ndim, to->dim, out, to_stride, x, stride, hlo_type_size(to->type));
    return true;
}

static bool reverse_check(hlo_check *c, hlo_op *op) {
    const hlo_array *type = hlo_operand_type(c, 0);
    return hlo_want_dims(c, "dimensions", hlo_list_of(op, "dimensions"), type->ndim) && hlo_want_results(c, 1) &&
           hlo_want_result(c, 0, type);
}

static bool reverse_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *dims = hlo_list_of(op, "dimensions");
    const hlo_array *type = hlo_type_of(r, op, 0);
    const size_t size = hlo_type_size(type->type);
    const char *x = hlo_data(r, op, 0);
    char *out = hlo_new_result(r, op, 0);
    int64_t stride[HLO_MOST_DIMS], back[HLO_MOST_DIMS], first = 0;
    if (!out) return false;
    if (type->count == 0) return true;
    hlo_strides(type, stride);
    for (int i = 0; i < type->ndim; i++) {
        const bool reversed = hlo_list_has(dims, i);
        back[i] = reversed ? -stride[i] : stride[i];
        if (reversed) first += (type->dim[i] - 1) * stride[i];
    }
    hlo_copy(type->ndim, type->dim, out, stride, x + first * (int64_t)size, back, size);
    return true;
}

/* ---- slice, pad, concatenate ---- */

static bool slice_check(hlo_check *c, hlo_op *op) {
    const hlo_list *start = hlo_list_of(op, "start_indices"), *limit = hlo_list_of(op, "limit_indices");
    const hlo_list *step = hlo_list_of(op, "strides");
    hlo_array type = *hlo_operand_type(c, 0);
    if (!hlo_want_list(c, "start_indices", type.ndim, 0) || !hlo_want_list(c, "limit_indices", type.ndim, 0) ||
        !hlo_want_list(c, "strides", type.ndim, 1))
        return false;
    for (int i = 0; i < type.ndim; i++) {
        HLO_WANT(start->at[i] <= limit->at[i] && limit->at[i] <= type.dim[i],
                 "dimension %d: from %lld to %lld is not within %lld", i, (long long)start->at[i],
                 (long long)limit->at[i], (long long)type.dim[i]);
        const int64_t length = limit->at[i] - start->at[i];
        type.dim[i] = length / step->at[i] + (length % step->at[i] != 0);
    }
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &type);
}

static bool slice_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *start = hlo_list_of(op, "start_indices"), *step = hlo_list_of(op, "strides");
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const size_t size = hlo_type_size(from->type);
    const char *x = hlo_data(r, op, 0);
    char *out = hlo_new_result(r, op, 0);
    int64_t from_stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS], first = 0;
    if (!out) return false;
    if (to->count == 0) return true;
    hlo_strides(from, from_stride);
    hlo_strides(to, to_stride);
    for (int i = 0; i < from->ndim; i++) {
        first += start->at[i] * from_stride[i];
        from_stride[i] = to->dim[i] > 1 ? from_stride[i] * step->at[i] : 0;
    }
    hlo_copy(to->ndim, to->dim, out, to_stride, x + first * (int64_t)size, from_stride, size);
    return true;
}

static bool pad_check(hlo_check *c, hlo_op *op) {
    const hlo_list *low = hlo_list_of(op, "edge_padding_low"), *high = hlo_list_of(op, "edge_padding_high");
    const hlo_list *between = hlo_list_of(op, "interior_padding");
    hlo_array type = *hlo_operand_type(c, 0);
    const hlo_array value = hlo_scalar_of(type.type);
    if (!hlo_want_operand(c, 1, &value) || !hlo_want_list(c, "edge_padding_low", type.ndim, -HLO_MOST_BYTES) ||
        !hlo_want_list(c, "edge_padding_high", type.ndim, -HLO_MOST_BYTES) ||
        !hlo_want_list(c, "interior_padding", type.ndim, 0))
        return false;
    for (int i = 0; i < type.ndim; i++) {
        int64_t inner;
        HLO_WANT(
            !__builtin_mul_overflow(type.dim[i] ? type.dim[i] - 1 : 0, between->at[i], &inner) && inner < INT64_MAX / 2,
            "dimension %d of the result would be too large", i);
        type.dim[i] += inner + low->at[i] + high->at[i];
        HLO_WANT(type.dim[i] >= 0, "dimension %d of the result would be below 0", i);
    }
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &type);
}

static bool pad_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *low = hlo_list_of(op, "edge_padding_low"), *between = hlo_list_of(op, "interior_padding");
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const size_t size = hlo_type_size(from->type);
    const char *x = hlo_data(r, op, 0);
    char *out = hlo_new_result(r, op, 0);
    int64_t from_stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS], none[HLO_MOST_DIMS] = {0}, dim[HLO_MOST_DIMS];
    int64_t first_from = 0, first_to = 0;
    if (!out) return false;
    hlo_strides(from, from_stride);
    hlo_strides(to, to_stride);
    hlo_copy(to->ndim, to->dim, out, to_stride, hlo_data(r, op, 1), none, size);
    for (int i = 0; i < from->ndim; i++) {
        /* element k goes to low + k * step, which must be within the result */
        const int64_t step = between->at[i] + 1;
        const int64_t begin = low->at[i] >= 0 ? 0 : -(low->at[i] + 1) / step + 1;
        int64_t end = to->dim[i] <= low->at[i] ? 0 : (to->dim[i] - 1 - low->at[i]) / step + 1;
        if (end > from->dim[i]) end = from->dim[i];
        if (begin >= end) return true;
        dim[i] = end - begin;
        first_from += begin * from_stride[i];
        first_to += (low->at[i] + begin * step) * to_stride[i];
        to_stride[i] *= dim[i] > 1 ? step : 1;
    }
    hlo_copy(from->ndim, dim, out + first_to * (int64_t)size, to_stride, x + first_from * (int64_t)size, from_stride,
             size);
    return true;
}

static bool concatenate_check(hlo_check *c, hlo_op *op) {
    const int64_t dimension = hlo_attribute_of(op, "dimension")->integer;
    hlo_array type = *hlo_operand_type(c, 0);
    HLO_WANT(dimension >= 0 && dimension < type.ndim, "dimension is %lld, but there are %d", (long long)dimension,
             type.ndim);
    for (int i = 1; i < op->num_operands; i++) {
        hlo_array part = *hlo_operand_type(c, i);
        HLO_WANT(part.ndim == type.ndim, "operand %d has %d dimensions, not %d", i, part.ndim, type.ndim);
        const int64_t length = part.dim[dimension];
        part.dim[dimension] = type.dim[dimension];
        HLO_WANT(hlo_same_type(&part, &type), "operand %d does not fit to operand 0", i);
        type.dim[dimension] += length; /* of arrays that are in memory */
    }
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &type);
}

static bool concatenate_run(hlo_run_state *r, const hlo_op *op) {
    const int dimension = (int)hlo_attribute_of(op, "dimension")->integer;
    const hlo_array *to = hlo_type_of_result(r, op, 0);
    const size_t size = hlo_type_size(to->type);
    int64_t to_stride[HLO_MOST_DIMS], stride[HLO_MOST_DIMS], first = 0;
    char *out = hlo_new_result(r, op, 0);
    if (!out) return false;
    hlo_strides(to, to_stride);
    for (int i = 0; i < op->num_operands; i++) {
        const hlo_array *from = hlo_type_of(r, op, i);
        hlo_strides(from, stride);
        hlo_copy(from->ndim, from->dim, out + first * (int64_t)size, to_stride, hlo_data(r, op, i), stride, size);
        first += from->dim[dimension] * to_stride[dimension];
    }
    return true;
}

/* ---- dynamic_slice, dynamic_update_slice ---- */

/* From operand FIRST on, one scalar for each dimension */
static bool check_starts(const hlo_check *c, const hlo_op *op, int first, int ndim) {
    HLO_WANT(op->num_operands == first + ndim, "it has %d operands, not %d", op->num_operands, first + ndim);
    for (int i = first; i < op->num_operands; i++) {
        const hlo_array *start = hlo_operand_type(c, i);
        HLO_WANT(start->ndim == 0 && hlo_type_class(start->type) & HLO_IS_INTEGER, "operand %d is no integer", i);
        if (i > first && !hlo_want_operand(c, i, hlo_operand_type(c, first))) return false;
    }
    return true;
}

/* Where a window of these sizes begins in the array: its start, moved so that it is inside */
static int64_t window_start(const hlo_run_state *r, const hlo_op *op, int first, const hlo_array *array,
                            const hlo_array *window, const int64_t *stride) {
    int64_t at = 0;
    for (int i = 0; i < array->ndim; i++) {
        int64_t start = hlo_read_integer(hlo_type_of(r, op, first + i)->type, hlo_data(r, op, first + i), 0);
        if (start > array->dim[i] - window->dim[i]) start = array->dim[i] - window->dim[i];
        at += (start < 0 ? 0 : start) * stride[i];
    }
    return at;
}

static bool dynamic_slice_check(hlo_check *c, hlo_op *op) {
    const hlo_list *sizes = hlo_list_of(op, "slice_sizes");
    hlo_array type = *hlo_operand_type(c, 0);
    if (!check_starts(c, op, 1, type.ndim) || !hlo_want_list(c, "slice_sizes", type.ndim, 0)) return false;
    for (int i = 0; i < type.ndim; i++) {
        HLO_WANT(sizes->at[i] <= type.dim[i], "the slice is larger than dimension %d of the operand", i);
        type.dim[i] = sizes->at[i];
    }
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, &type);
}

static bool dynamic_slice_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const size_t size = hlo_type_size(from->type);
    const char *x = hlo_data(r, op, 0);
    char *out = hlo_new_result(r, op, 0);
    int64_t from_stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS];
    if (!out) return false;
    hlo_strides(from, from_stride);
    hlo_strides(to, to_stride);
    const int64_t first = window_start(r, op, 1, from, to, from_stride);
    hlo_copy(to->ndim, to->dim, out, to_stride, x + first * (int64_t)size, from_stride, size);
    return true;
}

static bool dynamic_update_slice_check(hlo_check *c, hlo_op *op) {
    const hlo_array *type = hlo_operand_type(c, 0);
    HLO_WANT(op->num_operands >= 2, "it has %d operands, not 2 or more", op->num_operands);
    const hlo_array *update = hlo_operand_type(c, 1);
    HLO_WANT(update->type == type->type && update->ndim == type->ndim,
             "operand 1 has not the element type and the number of dimensions of operand 0");
    if (!check_starts(c, op, 2, type->ndim)) return false;
    for (int i = 0; i < type->ndim; i++)
        HLO_WANT(update->dim[i] <= type->dim[i], "operand 1 is larger than dimension %d of operand 0", i);
    return hlo_want_results(c, 1) && hlo_want_result(c, 0, type);
}

static bool dynamic_update_slice_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0), *update = hlo_type_of(r, op, 1);
    const size_t size = hlo_type_size(type->type);
    const void *x = hlo_data(r, op, 0), *y = hlo_data(r, op, 1);
    char *out = hlo_new_result(r, op, 0);
    int64_t stride[HLO_MOST_DIMS], update_stride[HLO_MOST_DIMS];
    if (!out) return false;
    memcpy(out, x, (size_t)type->count * size);
    hlo_strides(type, stride);
    hlo_strides(update, update_stride);
    const int64_t first = window_start(r, op, 2, type, update, stride);
    hlo_copy(update->ndim, update->dim, out + first * (int64_t)size, stride, y, update_stride, size);
    return true;
}

const hlo_row hlo_move_rows[] = {
    {"bitcast_convert", 0, 1, 0, HLO_IS_ANY, "", bitcast_check, copy_run},
    {"broadcast_in_dim", 0, 1, 0, HLO_IS_ANY, "broadcast_dimensions", broadcast_check, broadcast_run},
    {"concatenate", 0, -1, 0, HLO_IS_ANY, "dimension", concatenate_check, concatenate_run},
    {"constant", 0, 0, 0, HLO_IS_ANY, "value", constant_check, constant_run},
    {"dynamic_slice", 0, -1, 0, HLO_IS_ANY, "slice_sizes", dynamic_slice_check, dynamic_slice_run},
    {"dynamic_update_slice", 0, -1, 0, HLO_IS_ANY, "", dynamic_update_slice_check, dynamic_update_slice_run},
    {"iota", 0, 0, 0, HLO_IS_ANY, "iota_dimension", iota_check, iota_run},
    {"optimization_barrier", 0, -1, 0, HLO_IS_ANY, "", barrier_check, share_all},
    {"pad", 0, 2, 0, HLO_IS_ANY, "edge_padding_low edge_padding_high interior_padding", pad_check, pad_run},
    {"reshape", 0, 1, 0, HLO_IS_ANY, "", reshape_check, copy_run},
    {"reverse", 0, 1, 0, HLO_IS_ANY, "dimensions", reverse_check, reverse_run},
    {"slice", 0, 1, 0, HLO_IS_ANY, "start_indices limit_indices strides", slice_check, slice_run},
    {"transpose", 0, 1, 0, HLO_IS_ANY, "permutation", transpose_check, transpose_run},
    {0},
};
