/* The interpreter of StableHLO (support/hlo_interpreter.h): gather and scatter, which read and write slices at
 * places given by an array of indices. */
#include <string.h>

#include "support/hlo_inside.h"

/* The array of indices without dimension VECTOR, along which the numbers of one place lie. VECTOR may be behind the
 * last dimension: then each place is one number. */
static hlo_array places_of(const hlo_array *indices, int64_t vector) {
    hlo_array places = {.type = indices->type};
    for (int i = 0; i < indices->ndim; i++)
        if (i != vector) places.dim[places.ndim++] = indices->dim[i];
    return places;
}

static bool check_vector(const hlo_check *c, const hlo_array *indices, int64_t vector, int num) {
    HLO_WANT(hlo_type_class(indices->type) & HLO_IS_INTEGER, "operand 1 is no array of integers");
    HLO_WANT(vector >= 0 && vector <= indices->ndim, "index_vector_dim is %lld, but operand 1 has %d dimensions",
             (long long)vector, indices->ndim);
    const int64_t length = vector < indices->ndim ? indices->dim[vector] : 1;
    HLO_WANT(length == num, "places have %lld numbers, but %d dimensions are named", (long long)length, num);
    return true;
}

static bool check_sorted(const hlo_check *c, const char *what, const hlo_list *list) {
    for (int i = 1; i < list->num; i++) HLO_WANT(list->at[i - 1] < list->at[i], "%s is not in order", what);
    return true;
}

/* What both ops know of the slices that they move. Of the other array (result, updates), the dimensions INSIDE are
 * those of a slice, the others those of the places. */
typedef struct slices {
    int64_t vector;
    const hlo_list *inside, *left_out, *map; /* of the other array; of the operand, twice */
    hlo_array places;
} slices;

/* The shape of the other array, which has NDIM dimensions, of which SIZE gives those of a slice */
static hlo_array combine(const slices *s, const int64_t *size, int ndim, hlo_type type) {
    hlo_array array = {.type = type, .ndim = ndim};
    for (int i = 0, inside = 0, place = 0; i < ndim; i++)
        array.dim[i] = hlo_list_has(s->inside, i) ? size[inside++] : s->places.dim[place++];
    return array;
}

/* Reads where the slice for place AT begins: a number for each dimension of the operand. */
static void read_start(const slices *s, const hlo_array *indices, const void *data, const int64_t *place,
                       int64_t *start) {
    int64_t stride[HLO_MOST_DIMS], at = 0;
    hlo_strides(indices, stride);
    for (int i = 0, k = 0; i < indices->ndim; i++)
        if (i != s->vector) at += place[k++] * stride[i];
    memset(start, 0, HLO_MOST_DIMS * sizeof *start);
    for (int i = 0; i < s->map->num; i++) {
        const int64_t step = s->vector < indices->ndim ? stride[s->vector] : 0;
        start[s->map->at[i]] = hlo_read_integer(indices->type, data, at + i * step);
    }
}

/* Strides of the other array, by dimension of a slice that is not left out, and by dimension of the places */
static void split_strides(const slices *s, const hlo_array *other, int64_t *of_slice, int64_t *of_place) {
    int64_t stride[HLO_MOST_DIMS];
    hlo_strides(other, stride);
    for (int i = 0; i < other->ndim; i++)
        if (hlo_list_has(s->inside, i))
            *of_slice++ = stride[i];
        else
            *of_place++ = stride[i];
}

static bool check_slices(const hlo_check *c, const slices *s, int ndim, int other_ndim) {
    HLO_WANT(s->inside->num + s->left_out->num == ndim,
             "a slice has %d dimensions and %d are left out, but operand 0 has %d", s->inside->num, s->left_out->num,
             ndim);
    HLO_WANT(s->inside->num + s->places.ndim == other_ndim,
             "slices of %d dimensions at places of %d make no array of %d", s->inside->num, s->places.ndim, other_ndim);
    return hlo_want_dims(c, "the list of dimensions inside a slice", s->inside, other_ndim) &&
           check_sorted(c, "the list of dimensions inside a slice", s->inside) &&
           hlo_want_dims(c, "the list of dimensions left out", s->left_out, ndim) &&
           check_sorted(c, "the list of dimensions left out", s->left_out) &&
           hlo_want_dims(c, "the map of indices", s->map, ndim);
}

/* ---- gather ---- */

static slices gather_slices(const hlo_op *op, const hlo_array *indices) {
    const hlo_attribute *a = hlo_attribute_of(op, "dimension_numbers");
    return (slices){a->integer, &a->list[HLO_OFFSET_DIMS], &a->list[HLO_COLLAPSED_DIMS], &a->list[HLO_START_INDEX_MAP],
                    places_of(indices, a->integer)};
}

static bool gather_check(hlo_check *c, hlo_op *op) {
    const hlo_array *operand = hlo_operand_type(c, 0), *indices = hlo_operand_type(c, 1);
    const hlo_list *sizes = hlo_list_of(op, "slice_sizes");
    int64_t size[HLO_MOST_DIMS];
    HLO_WANT(hlo_attribute_of(op, "dimension_numbers")->kind == HLO_GATHER,
             "dimension_numbers are not those of gather");
    const slices s = gather_slices(op, indices);
    if (!check_vector(c, indices, s.vector, s.map->num) || !hlo_want_results(c, 1)) return false;
    if (!check_slices(c, &s, operand->ndim, hlo_result_type(c, 0)->ndim)) return false;
    if (!hlo_want_list(c, "slice_sizes", operand->ndim, 0)) return false;
    for (int i = 0, k = 0; i < operand->ndim; i++) {
        HLO_WANT(sizes->at[i] <= operand->dim[i], "slice_sizes is larger than dimension %d of operand 0", i);
        HLO_WANT(!hlo_list_has(s.left_out, i) || sizes->at[i] == 1, "slice_sizes of dimension %d, left out, is not 1",
                 i);
        if (!hlo_list_has(s.left_out, i)) size[k++] = sizes->at[i];
    }
    const hlo_array result = combine(&s, size, hlo_result_type(c, 0)->ndim, operand->type);
    return hlo_want_result(c, 0, &result);
}

static bool gather_run(hlo_run_state *r, const hlo_op *op) {
    const hlo_array *operand = hlo_type_of(r, op, 0), *indices = hlo_type_of(r, op, 1);
    const hlo_array *to = hlo_type_of_result(r, op, 0);
    const hlo_list *sizes = hlo_list_of(op, "slice_sizes");
    const size_t size = hlo_type_size(operand->type);
    const slices s = gather_slices(op, indices);
    const char *x = hlo_data(r, op, 0);
    const void *where = hlo_data(r, op, 1);
    char *out = hlo_new_result(r, op, 0);
    int64_t stride[HLO_MOST_DIMS], of_slice[HLO_MOST_DIMS], of_place[HLO_MOST_DIMS], slice_stride[HLO_MOST_DIMS];
    int64_t dim[HLO_MOST_DIMS], place[HLO_MOST_DIMS] = {0}, start[HLO_MOST_DIMS];
    int ndim = 0;
    if (!out) return false;
    if (to->count == 0) return true;
    hlo_strides(operand, stride);
    split_strides(&s, to, of_slice, of_place);
    for (int i = 0; i < operand->ndim; i++) {
        if (hlo_list_has(s.left_out, i)) continue;
        dim[ndim] = sizes->at[i];
        slice_stride[ndim++] = stride[i];
    }
    do {
        int64_t from = 0, at = 0;
        read_start(&s, indices, where, place, start);
        for (int i = 0; i < operand->ndim; i++) {
            const int64_t most = operand->dim[i] - sizes->at[i];
            from += (start[i] < 0 ? 0 : start[i] > most ? most : start[i]) * stride[i];
        }
        for (int i = 0; i < s.places.ndim; i++) at += place[i] * of_place[i];
        hlo_copy(ndim, dim, out + at * (int64_t)size, of_slice, x + from * (int64_t)size, slice_stride, size);
    } while (hlo_next_index(s.places.ndim, s.places.dim, place));
    return true;
}

/* ---- scatter ---- */

static slices scatter_slices(const hlo_op *op, const hlo_array *indices) {
    const hlo_attribute *a = hlo_attribute_of(op, "scatter_dimension_numbers");
    return (slices){a->integer, &a->list[HLO_UPDATE_WINDOW_DIMS], &a->list[HLO_INSERTED_DIMS],
                    &a->list[HLO_SCATTER_DIMS], places_of(indices, a->integer)};
}

/* Operands: N arrays, the indices, N updates */
static bool scatter_check(hlo_check *c, hlo_op *op) {
    const int num = op->num_operands / 2;
    HLO_WANT(op->num_operands % 2 == 1 && num > 0, "it has %d operands, not 3, 5 or so on", op->num_operands);
    const hlo_array *first = hlo_operand_type(c, 0), *indices = hlo_operand_type(c, num);
    const hlo_array *update = hlo_operand_type(c, num + 1);
    const slices s = scatter_slices(op, indices);
    int64_t size[HLO_MOST_DIMS];
    if (!check_vector(c, indices, s.vector, s.map->num) || !hlo_want_results(c, num)) return false;
    if (!check_slices(c, &s, first->ndim, update->ndim) || !hlo_want_body(c, 0, num)) return false;
    for (int i = 0, k = 0; i < first->ndim; i++) {
        if (hlo_list_has(s.left_out, i)) continue;
        size[k] = update->dim[s.inside->at[k]];
        HLO_WANT(size[k] <= first->dim[i], "updates are larger than dimension %d of operand 0", i);
        k++;
    }
    for (int k = 0; k < num; k++) {
        const hlo_array *type = hlo_operand_type(c, k);
        const hlo_array updates = combine(&s, size, update->ndim, type->type);
        HLO_WANT(hlo_same_shape(type, first), "operand %d has not the shape of operand 0", k);
        if (!hlo_want_operand(c, num + 1 + k, &updates) || !hlo_want_result(c, k, type)) return false;
    }
    return true;
}

/* A slice for each place. What is out of bounds is left out. */
static bool scatter_run(hlo_run_state *r, const hlo_op *op) {
    const int num = op->num_operands / 2;
    const hlo_array *type = hlo_type_of(r, op, 0), *indices = hlo_type_of(r, op, num);
    const hlo_array *update = hlo_type_of(r, op, num + 1);
    const slices s = scatter_slices(op, indices);
    const hlo_body body = hlo_body_of(&op->region[0]);
    const void *where = hlo_data(r, op, num), *x[HLO_MOST_REDUCED];
    void *acc[HLO_MOST_REDUCED];
    hlo_type types[HLO_MOST_REDUCED];
    int64_t stride[HLO_MOST_DIMS], of_slice[HLO_MOST_DIMS], of_place[HLO_MOST_DIMS], dim[HLO_MOST_DIMS];
    int64_t place[HLO_MOST_DIMS] = {0}, start[HLO_MOST_DIMS];
    int own[HLO_MOST_DIMS]; /* by dimension of a slice: that of the operand */
    for (int k = 0; k < num; k++) {
        types[k] = hlo_type_of(r, op, k)->type;
        x[k] = hlo_data(r, op, num + 1 + k);
        acc[k] = hlo_new_result(r, op, k);
        if (!acc[k]) return false;
        memcpy(acc[k], hlo_data(r, op, k), (size_t)type->count * hlo_type_size(types[k]));
    }
    if (update->count == 0) return true;
    hlo_strides(type, stride);
    split_strides(&s, update, of_slice, of_place);
    for (int i = 0, k = 0; i < type->ndim; i++)
        if (!hlo_list_has(s.left_out, i)) own[k++] = i;
    for (int k = 0; k < s.inside->num; k++) dim[k] = update->dim[s.inside->at[k]];
    do {
        int64_t index[HLO_MOST_DIMS] = {0}, begin = 0;
        read_start(&s, indices, where, place, start);
        for (int i = 0; i < s.places.ndim; i++) begin += place[i] * of_place[i];
        do {
            int64_t to = 0, from = begin, full[HLO_MOST_DIMS];
            bool inside = true;
            memcpy(full, start, sizeof full);
            for (int k = 0; k < s.inside->num; k++) {
                from += index[k] * of_slice[k];
                inside &= !__builtin_add_overflow(full[own[k]], index[k], &full[own[k]]);
            }
            for (int i = 0; i < type->ndim; i++) {
                inside &= full[i] >= 0 && full[i] < type->dim[i];
                if (inside) to += full[i] * stride[i];
            }
            if (inside && !hlo_apply_body(r, &body, types, acc, to, x, from)) return false;
        } while (hlo_next_index(s.inside->num, dim, index));
    } while (hlo_next_index(s.places.ndim, s.places.dim, place));
    return true;
}

const hlo_row hlo_index_rows[] = {
    {"gather", 0, 2, 0, HLO_IS_ANY, "dimension_numbers slice_sizes indices_are_sorted?", gather_check, gather_run},
    {"scatter", 0, -1, 1, HLO_IS_ANY, "scatter_dimension_numbers indices_are_sorted? unique_indices?", scatter_check,
     scatter_run},
    {0},
};
