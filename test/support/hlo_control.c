/* The interpreter of StableHLO (support/hlo_interpreter.h): while, if, case and sort, which run regions more than
 * once, or one of several regions. */
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

/* ---- while ---- */

/* The types of value FROM and of those after it */
static const hlo_array *types_from(const hlo_check *c, int from) {
    return &c->program->value[from];
}

/* Results have the types of the operands, and follow each other. */
static bool while_check(hlo_check *c, hlo_op *op) {
    const hlo_array *types = types_from(c, op->result), truth = hlo_scalar_of(HLO_I1);
    if (!hlo_want_results(c, op->num_operands)) return false;
    for (int i = 0; i < op->num_operands; i++)
        if (!hlo_want_result(c, i, hlo_operand_type(c, i))) return false;
    return hlo_want_region(c, 0, types, op->num_operands, &truth, 1) &&
           hlo_want_region(c, 1, types, op->num_operands, types, op->num_operands);
}

/* The results hold what goes from one round to the next. */
static bool while_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_region *condition = &op->region[0], *body = &op->region[1];
    for (int i = 0; i < op->num_operands; i++) hlo_share(r, op->result + i, op->operand[i]);
    for (;;) {
        for (int i = 0; i < op->num_operands; i++) hlo_share(r, condition->first + i, op->result + i);
        if (!hlo_run_region(r, condition)) return false;
        const bool again = *(const uint8_t *)r->slot[condition->returned[0]].data;
        hlo_end_region(r, condition);
        if (!again) return true;
        for (int i = 0; i < op->num_operands; i++) hlo_share(r, body->first + i, op->result + i);
        if (!hlo_run_region(r, body)) return false;
        for (int i = 0; i < op->num_operands; i++) hlo_share(r, op->result + i, body->returned[i]);
        hlo_end_region(r, body);
    }
}

/* ---- if, case ---- */

static bool branches_check(hlo_check *c, hlo_op *op, hlo_type type) {
    const hlo_array which = hlo_scalar_of(type);
    if (!hlo_want_operand(c, 0, &which)) return false;
    for (int i = 0; i < op->num_regions; i++)
        if (!hlo_want_region(c, i, NULL, 0, types_from(c, op->result), op->num_results)) return false;
    return true;
}

static bool if_check(hlo_check *c, hlo_op *op) {
    return branches_check(c, op, HLO_I1);
}

static bool case_check(hlo_check *c, hlo_op *op) {
    return branches_check(c, op, HLO_I32);
}

static bool run_branch(hlo_run_state *r, const hlo_op *op, int64_t i) {
    const hlo_region *region = &op->region[i];
    if (!hlo_run_region(r, region)) return false;
    for (int k = 0; k < op->num_results; k++) hlo_share(r, op->result + k, region->returned[k]);
    hlo_end_region(r, region);
    return true;
}

static bool if_run(hlo_run_state *r, const hlo_op *op) {
    return run_branch(r, op, *(const uint8_t *)hlo_data(r, op, 0) ? 0 : 1);
}

/* An index that has no branch means the last one. */
static bool case_run(hlo_run_state *r, const hlo_op *op) {
    const int64_t i = hlo_read_integer(HLO_I32, hlo_data(r, op, 0), 0);
    return run_branch(r, op, i < 0 || i >= op->num_regions ? op->num_regions - 1 : i);
}

/* ---- sort ---- */

static bool sort_check(hlo_check *c, hlo_op *op) {
    const hlo_attribute *dimension = hlo_attribute_of(op, "dimension");
    const hlo_array *first = hlo_operand_type(c, 0), truth = hlo_scalar_of(HLO_I1);
    hlo_array types[2 * HLO_MOST_REDUCED];
    HLO_WANT(op->num_operands <= HLO_MOST_REDUCED, "there are more than %d arrays", HLO_MOST_REDUCED);
    if (!hlo_want_results(c, op->num_operands)) return false;
    op->variant = dimension ? (int)dimension->integer : -1;
    HLO_WANT(!dimension || dimension->integer == op->variant, "dimension is too large");
    if (op->variant < 0) op->variant += first->ndim;
    HLO_WANT(op->variant >= 0 && op->variant < first->ndim, "dimension is none of the %d", first->ndim);
    for (int i = 0; i < op->num_operands; i++) {
        HLO_WANT(hlo_same_shape(hlo_operand_type(c, i), first), "operand %d has not the shape of operand 0", i);
        if (!hlo_want_result(c, i, hlo_operand_type(c, i))) return false;
        types[2 * i] = types[2 * i + 1] = hlo_scalar_of(hlo_operand_type(c, i)->type);
    }
    return hlo_want_region(c, 0, types, 2 * op->num_operands, &truth, 1);
}

/* One line of the arrays that are sorted together; its elements are STEP apart. */
typedef struct line {
    hlo_run_state *r;
    const hlo_region *region;
    int num;
    hlo_type type[HLO_MOST_REDUCED];
    const void *data[HLO_MOST_REDUCED];
    int64_t first, step;
} line;

/* Merges the sorted parts from BEGIN to MIDDLE and on to END. */
static bool merge(const line *l, const int64_t *from, int64_t *to, int64_t begin, int64_t middle, int64_t end) {
    int64_t a = begin, b = middle;
    for (int64_t i = begin; i < end; i++) {
        bool later_first = a == middle;
        if (a < middle && b < end &&
            !hlo_ask(l->r, l->region, l->num, l->type, l->data, l->first + from[b] * l->step,
                     l->first + from[a] * l->step, &later_first))
            return false;
        to[i] = later_first ? from[b++] : from[a++];
    }
    return true;
}

/* The places of N elements in their order, in PLACE; twice as many have room. Equal ones stay in their order. */
static bool sort_line(const line *l, int64_t *place, int64_t n) {
    int64_t *from = place, *to = place + n;
    for (int64_t i = 0; i < n; i++) from[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * width) {
            const int64_t middle = begin + width < n ? begin + width : n;
            const int64_t end = middle + width < n ? middle + width : n;
            if (!merge(l, from, to, begin, middle, end)) return false;
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != place) memcpy(place, from, (size_t)n * sizeof *place);
    return true;
}

static bool sort_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *type = hlo_type_of(r, op, 0);
    line l = {.r = r, .region = &op->region[0], .num = op->num_operands};
    int64_t stride[HLO_MOST_DIMS], index[HLO_MOST_DIMS] = {0}, dim[HLO_MOST_DIMS];
    void *out[HLO_MOST_REDUCED];
    for (int k = 0; k < l.num; k++) {
        l.type[k] = hlo_type_of(r, op, k)->type;
        l.data[k] = hlo_data(r, op, k);
        out[k] = hlo_new_result(r, op, k);
        if (!out[k]) return false;
    }
    if (type->count == 0) return true;
    const int64_t n = type->dim[op->variant];
    int64_t *place = hlo_scratch(r, 2 * n, sizeof *place);
    if (!place) return false;
    hlo_strides(type, stride);
    memcpy(dim, type->dim, sizeof dim);
    dim[op->variant] = 1;
    l.step = stride[op->variant];
    bool done;
    do {
        l.first = 0;
        for (int i = 0; i < type->ndim; i++) l.first += index[i] * stride[i];
        done = sort_line(&l, place, n);
        for (int k = 0; done && k < l.num; k++) {
            const size_t size = hlo_type_size(l.type[k]);
            for (int64_t i = 0; i < n; i++)
                memcpy((char *)out[k] + (size_t)(l.first + i * l.step) * size,
                       (const char *)l.data[k] + (size_t)(l.first + place[i] * l.step) * size, size);
        }
    } while (done && hlo_next_index(type->ndim, dim, index));
    free(place);
    return done;
}

const hlo_row hlo_control_rows[] = {
    {"case", 0, 1, -1, HLO_IS_ANY, "", case_check, case_run},
    {"if", 0, 1, 2, HLO_IS_ANY, "", if_check, if_run},
    {"sort", 0, -1, 1, HLO_IS_ANY, "dimension? is_stable?", sort_check, sort_run},
    {"while", 0, -1, 2, HLO_IS_ANY, "", while_check, while_run},
    {0},
};
