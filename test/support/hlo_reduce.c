/* The interpreter of StableHLO (support/hlo_interpreter.h): reduce, and the bodies of all reductions. A body that is
 * a single formula is recognised once, and then computed without running its ops. */
#include <string.h>

#include "support/hlo_inside.h"

/* ---- bodies ---- */

hlo_body hlo_body_of(const hlo_region *region) {
    hlo_body body = {region, region->num_returned, HLO_BODY_ANY, HLO_ADD};
    const int first = region->first;
    if (body.num != 1) return body;
    if (region->num_ops == 0 && region->returned[0] == first + 1) body.what = HLO_BODY_SECOND;
    if (region->num_ops != 1 || region->num_arguments != 2) return body;
    const hlo_op *op = &region->op[0];
    if (region->returned[0] == op->result && hlo_is_binary(op->row) && op->operand[0] == first &&
        op->operand[1] == first + 1) {
        body.what = HLO_BODY_BINARY;
        body.kind = (hlo_kind)op->row->kind;
    }
    return body;
}

static void *element(void *data, int64_t i, size_t size) {
    return (char *)data + (size_t)i * size;
}

static const void *const_element(const void *data, int64_t i, size_t size) {
    return (const char *)data + (size_t)i * size;
}

bool hlo_apply_body(hlo_run_state *r, const hlo_body *body, const hlo_type *type, void *const *acc, int64_t to,
                    const void *const *x, int64_t from) {
    const hlo_region *region = body->region;
    if (body->what == HLO_BODY_SECOND) {
        const size_t size = hlo_type_size(type[0]);
        memcpy(element(acc[0], to, size), const_element(x[0], from, size), size);
        return true;
    }
    if (body->what == HLO_BODY_BINARY) {
        hlo_block a, b;
        hlo_load(&a, type[0], acc[0], to, 1);
        hlo_load(&b, type[0], x[0], from, 1);
        hlo_binary(body->kind, type[0], &a, &b, 1);
        hlo_store(&a, type[0], acc[0], to, 1);
        return true;
    }
    for (int k = 0; k < body->num; k++) {
        const size_t size = hlo_type_size(type[k]);
        hlo_set_scalar(r, region->first + k, element(acc[k], to, size), size);
        hlo_set_scalar(r, region->first + body->num + k, const_element(x[k], from, size), size);
    }
    if (!hlo_run_region(r, region)) return false;
    for (int k = 0; k < body->num; k++) {
        const size_t size = hlo_type_size(type[k]);
        memcpy(element(acc[k], to, size), r->slot[region->returned[k]].data, size);
    }
    hlo_end_region(r, region);
    return true;
}

bool hlo_ask(hlo_run_state *r, const hlo_region *region, int num, const hlo_type *type, const void *const *x, int64_t a,
             int64_t b, bool *answer) {
    for (int k = 0; k < num; k++) {
        const size_t size = hlo_type_size(type[k]);
        hlo_set_scalar(r, region->first + 2 * k, const_element(x[k], a, size), size);
        hlo_set_scalar(r, region->first + 2 * k + 1, const_element(x[k], b, size), size);
    }
    if (!hlo_run_region(r, region)) return false;
    *answer = *(const uint8_t *)r->slot[region->returned[0]].data;
    hlo_end_region(r, region);
    return true;
}

/* ---- reduce ---- */

static bool reduce_check(hlo_check *c, hlo_op *op) {
    const hlo_list *dims = hlo_list_of(op, "dimensions");
    const int num = op->num_operands / 2;
    const hlo_array *first = hlo_operand_type(c, 0);
    HLO_WANT(op->num_operands % 2 == 0, "it has %d operands, an odd number", op->num_operands);
    if (!hlo_want_results(c, num) || !hlo_want_body(c, 0, num)) return false;
    if (!hlo_want_dims(c, "dimensions", dims, first->ndim)) return false;
    for (int k = 0; k < num; k++) {
        const hlo_array *type = hlo_operand_type(c, k), init = hlo_scalar_of(type->type);
        hlo_array result = {.type = type->type};
        HLO_WANT(hlo_same_shape(type, first), "operand %d has not the shape of operand 0", k);
        if (!hlo_want_operand(c, num + k, &init)) return false;
        for (int i = 0; i < type->ndim; i++)
            if (!hlo_list_has(dims, i)) result.dim[result.ndim++] = type->dim[i];
        if (!hlo_want_result(c, k, &result)) return false;
    }
    return true;
}

/* A line of the last dimension: into one place, or each element into its own */
static bool reduce_line(hlo_run_state *r, const hlo_body *body, const hlo_type *type, void *const *acc, int64_t to,
                        int64_t step, const void *const *x, int64_t from, int64_t length) {
    if (body->what == HLO_BODY_BINARY && step == 1) {
        for (int64_t i = 0; i < length; i += HLO_BLOCK) {
            hlo_block a, b;
            const int n = length - i < HLO_BLOCK ? (int)(length - i) : HLO_BLOCK;
            hlo_load(&a, type[0], acc[0], to + i, n);
            hlo_load(&b, type[0], x[0], from + i, n);
            hlo_binary(body->kind, type[0], &a, &b, n);
            hlo_store(&a, type[0], acc[0], to + i, n);
        }
        return true;
    }
    for (int64_t i = 0; i < length; i++)
        if (!hlo_apply_body(r, body, type, acc, to + i * step, x, from + i)) return false;
    return true;
}

void hlo_fill(void *data, int64_t count, const void *value, size_t size) {
    for (int64_t i = 0; i < count; i++) memcpy(element(data, i, size), value, size);
}

/* Elements in their order, each into the place that its index has without the dimensions reduced */
static bool reduce_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_list *dims = hlo_list_of(op, "dimensions");
    const int num = op->num_operands / 2;
    const hlo_array *from = hlo_type_of(r, op, 0), *to = hlo_type_of_result(r, op, 0);
    const hlo_body body = hlo_body_of(&op->region[0]);
    const void *x[HLO_MOST_REDUCED];
    void *acc[HLO_MOST_REDUCED];
    hlo_type type[HLO_MOST_REDUCED];
    int64_t stride[HLO_MOST_DIMS], to_stride[HLO_MOST_DIMS], index[HLO_MOST_DIMS] = {0}, at = 0;
    for (int k = 0; k < num; k++) {
        x[k] = hlo_data(r, op, k);
        acc[k] = hlo_new_result(r, op, k);
        type[k] = hlo_type_of(r, op, k)->type;
        if (!acc[k]) return false;
        hlo_fill(acc[k], to->count, hlo_data(r, op, num + k), hlo_type_size(type[k]));
    }
    if (from->count == 0) return true;
    hlo_strides(to, to_stride);
    for (int i = 0, k = 0; i < from->ndim; i++) stride[i] = hlo_list_has(dims, i) ? 0 : to_stride[k++];
    const int outer = from->ndim ? from->ndim - 1 : 0;
    const int64_t length = from->ndim ? from->dim[outer] : 1, step = from->ndim ? stride[outer] : 0;
    do {
        int64_t place = 0;
        for (int i = 0; i < outer; i++) place += index[i] * stride[i];
        if (!reduce_line(r, &body, type, acc, place, step, x, at, length)) return false;
        at += length;
    } while (hlo_next_index(outer, from->dim, index));
    return true;
}

const hlo_row hlo_reduce_rows[] = {
    {"reduce", 0, -1, 1, HLO_IS_ANY, "dimensions", reduce_check, reduce_run},
    {0},
};
