/** einsum: Einstein summation: products of sources, summed over the axes whose letters are not in the output
 *
 *  equation  "ij,jk->ik": the letters of the axes of each source, and of dst. Without "->", dst has the letters that
 *            occur once, in alphabetical order, capital letters first. "..." stands for the axes without a letter;
 *            these are broadcast, and come first in dst if there is no "->". A letter that occurs twice in one source
 *            takes the diagonal of these axes. Blanks are ignored
 *  values    N values of one dtype: f32, f64, i32 or i64
 *  dst       their dtype
 *
 *  "ij->ji" transposes, "ii" is the trace, "bhqd,bhkd->bhqk" the products of queries and keys. The first two sources
 *  are multiplied, then the product and the third, and so on. The function builds it from other ops. If axes of a
 *  product are joined, at most one length may be unknown while the graph is built.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_einsum(const char *equation, const mst_value *values, int n);
#endif
#include <string.h>

#include "op/op.h"

/* Labels of axes: first those for the letters 'A' to 'z', then those for axes of "...", counted from the last axis. */
enum { FIRST_LETTER = 'A', NUM_LETTERS = 'z' - 'A' + 1, NUM_LABELS = NUM_LETTERS + MST_MAX_NDIM, MOST_VALUES = 32 };

/* Labels of axes, in the order of the axes. */
typedef struct axes {
    int count, label[MST_MAX_NDIM];
} axes;

typedef struct operand {
    mst_value value;
    axes axes;
} operand;

typedef struct einsum {
    const char *text;
    mst_graph *graph;
    int num;
    operand src[MOST_VALUES];
    axes dst;
    int num_dots;         /* the largest number of axes that "..." stands for */
    int uses[NUM_LABELS]; /* how often each label occurs in all sources */
    int64_t dim[NUM_LABELS];
} einsum;

/* ---- the equation ---- */

#define FAIL(e, ...) (mst_value_fail((e)->graph, MST_INVALID, __VA_ARGS__), false)
#define FAIL_AT(e, at, format, ...) \
    FAIL(e, "einsum '%s', character %d: " format, (e)->text, (int)((at) - (e)->text) + 1, __VA_ARGS__)

/* Not isalpha, because it accepts more letters in some locales. */
static bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int find(const axes *a, int label) {
    for (int k = 0; k < a->count; k++)
        if (a->label[k] == label) return k;
    return -1;
}

static bool append(einsum *e, const char *at, int label, axes *a) {
    if (a->count == MST_MAX_NDIM) return FAIL_AT(e, at, "more than %d axes", MST_MAX_NDIM);
    a->label[a->count++] = label;
    return true;
}

/* Reads labels from *AT to a comma, to "->" or to the end. "..." stands for DOTS axes. */
static bool read_term(einsum *e, const char **at, int dots, axes *a, bool *has_dots) {
    *has_dots = false;
    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        const char c = **at;
        if (c == ' ') continue;
        if (c == '.') {
            if (strncmp(*at, "...", 3) != 0) return FAIL_AT(e, *at, "'%c' is part of no '...'", c);
            if (*has_dots) return FAIL_AT(e, *at, "%s", "'...' a second time");
            *has_dots = true;
            for (int k = dots - 1; k >= 0; k--)
                if (!append(e, *at, NUM_LETTERS + k, a)) return false;
            *at += 2;
        } else if (!is_letter(c)) {
            return FAIL_AT(e, *at, "'%c' is no letter", c);
        } else if (!append(e, *at, c - FIRST_LETTER, a)) {
            return false;
        }
    }
    return true;
}

static int count_letters(const char *at) {
    int count = 0;
    for (; *at && *at != ',' && *at != '-'; at++) count += is_letter(*at);
    return count;
}

/* Checks that each letter has one length. Axes of "..." may also be 1 long. */
static bool take_lengths(einsum *e, const char *at, const operand *src) {
    const mst_shape shape = mst_value_spec(src->value).shape;
    for (int k = 0; k < src->axes.count; k++) {
        const int label = src->axes.label[k];
        int64_t *known = &e->dim[label];
        const int64_t dim = shape.dim[k];
        e->uses[label]++;
        if (label >= NUM_LETTERS || dim < 0 || *known == dim) continue;
        if (*known >= 0)
            return FAIL_AT(e, at, "'%c' is %lld long in '%s' and was %lld before", label + FIRST_LETTER, (long long)dim,
                           mst_value_name(src->value), (long long)*known);
        *known = dim;
    }
    return true;
}

static bool read_sources(einsum *e, const char **at) {
    for (int i = 0; i < e->num; i++) {
        const char *begin = *at;
        const int ndim = mst_value_spec(e->src[i].value).shape.ndim, dots = ndim - count_letters(begin);
        bool has_dots;
        if (!read_term(e, at, dots > 0 ? dots : 0, &e->src[i].axes, &has_dots)) return false;
        if (dots < 0 || (dots > 0 && !has_dots))
            return FAIL_AT(e, begin, "%d letters for the %d axes of '%s'", ndim - dots, ndim,
                           mst_value_name(e->src[i].value));
        if (dots > e->num_dots) e->num_dots = dots;
        if (!take_lengths(e, begin, &e->src[i])) return false;
        if (i < e->num - 1 && **at != ',') return FAIL_AT(e, *at, "%d sources, and letters for %d", e->num, i + 1);
        if (i < e->num - 1) (*at)++;
    }
    if (**at == ',') return FAIL_AT(e, *at, "letters for more than %d sources", e->num);
    return true;
}

static bool read_output(einsum *e, const char *at) {
    const char *begin = at + 2;
    bool has_dots;
    if (strncmp(at, "->", 2) != 0) return FAIL_AT(e, at, "%s", "'-' is part of no '->'");
    at = begin;
    if (!read_term(e, &at, e->num_dots, &e->dst, &has_dots)) return false;
    if (*at) return FAIL_AT(e, at, "'%c' in the output", *at);
    if (e->num_dots && !has_dots) return FAIL_AT(e, begin, "%s", "the output has no '...', whose axes are not summed");
    for (const char *c = begin; *c; c++) {
        if (!is_letter(*c)) continue;
        if (e->uses[*c - FIRST_LETTER] == 0) return FAIL_AT(e, c, "'%c' is in no source", *c);
        if (memchr(begin, *c, (size_t)(c - begin))) return FAIL_AT(e, c, "'%c' is in the output twice", *c);
    }
    return true;
}

static bool read_equation(einsum *e) {
    const char *at = e->text;
    if (!read_sources(e, &at)) return false;
    if (*at) return read_output(e, at);
    for (int k = e->num_dots - 1; k >= 0; k--) e->dst.label[e->dst.count++] = NUM_LETTERS + k;
    for (int label = 0; label < NUM_LETTERS; label++)
        if (e->uses[label] == 1 && !append(e, at, label, &e->dst)) return false;
    return true;
}

/* ---- operands ---- */

/* Transposes X, so that its axes have the order of ORDER, which has each of them once. */
static void arrange(operand *x, const axes *order) {
    mst_axes perm = {.count = order->count};
    bool same = true;
    for (int k = 0; k < order->count; k++) {
        perm.axis[k] = find(&x->axes, order->label[k]);
        same = same && perm.axis[k] == k;
    }
    if (!same) x->value = mst_transpose(x->value, perm);
    x->axes = *order;
}

static int count_open(const mst_shape *shape) {
    int open = 0;
    for (int k = 0; k < shape->ndim; k++) open += shape->dim[k] < 0;
    return open;
}

/* Gives *VALUE the shape SHAPE; one of its lengths may be unknown. */
static bool reshape(const einsum *e, mst_value *value, const mst_shape *shape) {
    if (count_open(shape) > 1)
        return FAIL(e, "einsum '%s': more than one length of a product is not known yet", e->text);
    *value = mst_reshape(*value, *shape);
    return true;
}

/* If X has one unknown length, and another axis with the same label has a known one, sets it by a reshape. The reshape
 * fails if the lengths differ. */
static void settle_length(const einsum *e, operand *x) {
    mst_shape shape = mst_value_spec(x->value).shape;
    if (count_open(&shape) != 1) return; /* with two unknown lengths a reshape could not tell them apart */
    for (int k = 0; k < shape.ndim; k++)
        if (shape.dim[k] < 0) shape.dim[k] = e->dim[x->axes.label[k]];
    if (count_open(&shape) == 0) x->value = mst_reshape(x->value, shape);
}

/* Takes the diagonal of axes P and Q as the last axis: every (N + 1)th element of [..., N * N]. */
static bool take_diagonal(const einsum *e, operand *x, int p, int q) {
    const int label = x->axes.label[p], ndim = x->axes.count;
    const int64_t n = e->dim[label];
    mst_axes perm = {.count = ndim};
    axes left = {.count = 0};
    const mst_shape before = mst_value_spec(x->value).shape;
    if (n < 0 || n > INT16_MAX || before.dim[p] < 0 || before.dim[q] < 0)
        return FAIL(e, "einsum '%s': the length of '%c' must be known for a diagonal, and below %d", e->text,
                    label + FIRST_LETTER, INT16_MAX);
    for (int k = 0; k < ndim; k++)
        if (k != p && k != q) {
            perm.axis[left.count] = k;
            left.label[left.count++] = x->axes.label[k];
        }
    perm.axis[ndim - 2] = p;
    perm.axis[ndim - 1] = q;
    mst_value turned = mst_transpose(x->value, perm);
    mst_shape shape = mst_value_spec(turned).shape;
    shape.ndim = ndim - 1;
    shape.dim[ndim - 2] = n * n;
    if (!reshape(e, &turned, &shape)) return false;
    mst_axes zeros = {.count = ndim - 1}, strides = {.count = ndim - 1};
    for (int k = 0; k < ndim - 1; k++) strides.axis[k] = k == ndim - 2 ? (int32_t)n + 1 : 1;
    x->value =
        mst_strided_slice(turned, .begin = zeros, .end = zeros, .strides = strides, .end_mask = (1 << (ndim - 1)) - 1);
    left.label[left.count++] = label;
    x->axes = left;
    return true;
}

static bool take_diagonals(const einsum *e, operand *x) {
    for (int q = 1; q < x->axes.count; q++) {
        const int p = find(&x->axes, x->axes.label[q]);
        if (p == q) continue;
        if (!take_diagonal(e, x, p, q)) return false;
        q = 0;
    }
    return true;
}

/* Whether the output or one of the sources from I on has this label. */
static bool is_needed(const einsum *e, int label, int i) {
    if (find(&e->dst, label) >= 0) return true;
    for (; i < e->num; i++)
        if (find(&e->src[i].axes, label) >= 0) return true;
    return false;
}

/* Sums X over the axes that neither OTHER, nor the output, nor a source from I on has. */
static void sum_own(const einsum *e, operand *x, const axes *other, int i) {
    mst_axes summed = {.count = 0};
    axes left = {.count = 0};
    for (int k = 0; k < x->axes.count; k++) {
        const int label = x->axes.label[k];
        if (find(other, label) >= 0 || is_needed(e, label, i))
            left.label[left.count++] = label;
        else
            summed.axis[summed.count++] = k;
    }
    if (summed.count) x->value = mst_reduce_sum(x->value, .axes = summed);
    x->axes = left;
}

/* ---- products ---- */

/* The axes of A: first the axes that the output has, in the output's order, then the others. */
static axes in_order_of(const axes *a, const axes *output) {
    axes sorted = {.count = 0};
    for (int k = 0; k < output->count; k++)
        if (find(a, output->label[k]) >= 0) sorted.label[sorted.count++] = output->label[k];
    for (int k = 0; k < a->count; k++)
        if (find(output, a->label[k]) < 0) sorted.label[sorted.count++] = a->label[k];
    return sorted;
}

static axes join_axes(const axes *a, const axes *b) {
    axes joined = *a;
    for (int k = 0; k < b->count; k++) joined.label[joined.count++] = b->label[k];
    return joined;
}

/* X with the axes ALL. Axes that X lacks are 1 long. */
static mst_value expanded(const operand *x, const axes *all) {
    operand arranged = *x;
    axes own = {.count = 0};
    for (int k = 0; k < all->count; k++)
        if (find(&x->axes, all->label[k]) >= 0) own.label[own.count++] = all->label[k];
    arrange(&arranged, &own);
    for (int k = 0; k < all->count; k++)
        if (find(&own, all->label[k]) < 0) arranged.value = mst_expand_dims(arranged.value, k);
    return arranged.value;
}

/* The axes in a product of matrices: `both` are in both factors and are not summed, `of_a` and `of_b` are in one factor
 * only, and `summed` are summed. */
typedef struct roles {
    axes both, of_a, of_b, summed;
} roles;

/* Sets *OUT to X reshaped to [both, rows, columns]. ROWS and COLUMNS are groups of axes; each group becomes one axis.
 * If X is laid out with the columns before the rows, this order is kept, and *SWAPPED is set. */
static bool as_matrices(const einsum *e, const operand *x, const roles *r, const axes *rows, const axes *columns,
                        bool *swapped, mst_value *out) {
    const axes tail = join_axes(rows, columns), turned = join_axes(columns, rows);
    const axes straight = join_axes(&r->both, &tail), across = join_axes(&r->both, &turned);
    operand matrix = *x;
    *swapped = memcmp(x->axes.label, across.label, sizeof(int) * (size_t)across.count) == 0 && columns->count > 0;
    arrange(&matrix, *swapped ? &across : &straight);
    const mst_shape shape = mst_value_spec(matrix.value).shape;
    const int count[] = {*swapped ? columns->count : rows->count, *swapped ? rows->count : columns->count};
    mst_shape joined = {.ndim = r->both.count + 2};
    for (int k = 0; k < r->both.count; k++) joined.dim[k] = shape.dim[k];
    for (int group = 0, k = r->both.count; group < 2; group++) {
        int64_t *dim = &joined.dim[r->both.count + group];
        *dim = 1;
        for (int end = k + count[group]; k < end; k++) *dim = shape.dim[k] < 0 || *dim < 0 ? -1 : *dim * shape.dim[k];
    }
    *out = matrix.value;
    if (count[0] <= 1 && count[1] <= 1) {
        if (count[0] == 0) *out = mst_expand_dims(*out, r->both.count);
        if (count[1] == 0) *out = mst_expand_dims(*out, -1);
        return true;
    }
    return reshape(e, out, &joined);
}

/* Reshapes the product from [both, rows, columns] to [both, axes of a, axes of b]. */
static bool split_groups(const einsum *e, const roles *r, const operand *a, const operand *b, mst_value *product) {
    const mst_shape of_a = mst_value_spec(a->value).shape, of_b = mst_value_spec(b->value).shape;
    if (r->of_a.count <= 1 && r->of_b.count <= 1) {
        if (r->of_b.count == 0) *product = mst_squeeze(*product, MST_AXES(-1));
        if (r->of_a.count == 0) *product = mst_squeeze(*product, MST_AXES(r->both.count));
        return true;
    }
    mst_shape shape = mst_value_spec(*product).shape;
    shape.ndim = r->both.count;
    for (int k = 0; k < r->of_a.count; k++) shape.dim[shape.ndim++] = of_a.dim[find(&a->axes, r->of_a.label[k])];
    for (int k = 0; k < r->of_b.count; k++) shape.dim[shape.ndim++] = of_b.dim[find(&b->axes, r->of_b.label[k])];
    return reshape(e, product, &shape);
}

static roles roles_of(const einsum *e, const operand *a, const operand *b, int next) {
    roles r = {.both = {.count = 0}};
    for (int k = 0; k < a->axes.count; k++) {
        const int label = a->axes.label[k];
        axes *to = find(&b->axes, label) < 0 ? &r.of_a : is_needed(e, label, next) ? &r.both : &r.summed;
        to->label[to->count++] = label;
    }
    for (int k = 0; k < b->axes.count; k++)
        if (find(&a->axes, b->axes.label[k]) < 0) r.of_b.label[r.of_b.count++] = b->axes.label[k];
    r.both = in_order_of(&r.both, &e->dst);
    return r;
}

/* Whether the first axis of B comes before the first axis of A in the output. Then the product B A is better. */
static bool comes_later(const einsum *e, const roles *r) {
    const int a = r->of_a.count ? find(&e->dst, r->of_a.label[0]) : -1;
    const int b = r->of_b.count ? find(&e->dst, r->of_b.label[0]) : -1;
    return a >= 0 && b >= 0 && b < a;
}

/* Sets A to the product of A and B. Sources from NEXT on are multiplied later. */
static bool multiply(const einsum *e, operand *a, const operand *b, int next) {
    roles r = roles_of(e, a, b, next);
    const axes own = join_axes(&r.of_a, &r.of_b);
    if (r.both.count + own.count > MST_MAX_NDIM || r.both.count + 2 > MST_MAX_NDIM)
        return FAIL(e, "einsum '%s': a product of more than %d axes", e->text, MST_MAX_NDIM);
    const axes whole = join_axes(&r.both, &own);
    if (r.summed.count == 0) {
        const axes all = in_order_of(&whole, &e->dst);
        *a = (operand){.value = mst_mul(expanded(a, &all), expanded(b, &all)), .axes = all};
        return true;
    }
    if (comes_later(e, &r)) {
        operand other = *b;
        const operand first = *a;
        if (!multiply(e, &other, &first, next)) return false;
        *a = other;
        return true;
    }
    mst_value left, right;
    bool left_swapped, right_swapped;
    if (!as_matrices(e, a, &r, &r.of_a, &r.summed, &left_swapped, &left) ||
        !as_matrices(e, b, &r, &r.summed, &r.of_b, &right_swapped, &right))
        return false;
    mst_value product = mst_matmul(left, right, .transpose_a = left_swapped, .transpose_b = right_swapped);
    if (mst_value_is_none(product) || !split_groups(e, &r, a, b, &product)) return false;
    *a = (operand){.value = product, .axes = whole};
    return true;
}

static bool build(einsum *e, operand *out) {
    static const axes NO_AXES = {.count = 0};
    for (int i = 0; i < e->num; i++) {
        settle_length(e, &e->src[i]);
        if (!take_diagonals(e, &e->src[i])) return false;
    }
    *out = e->src[0];
    for (int i = 1; i < e->num; i++) {
        operand *next = &e->src[i];
        sum_own(e, out, &next->axes, i + 1);
        sum_own(e, next, &out->axes, i + 1);
        if (!multiply(e, out, next, i + 1)) return false;
    }
    sum_own(e, out, &NO_AXES, e->num);
    arrange(out, &e->dst);
    return true;
}

mst_value mst_einsum(const char *equation, const mst_value *values, int n) {
    einsum e = {.text = equation ? equation : "", .num = n};
    operand out;
    if (n < 1) return MST_NONE;
    for (int i = 0; i < n; i++)
        if (mst_value_is_none(values[i])) return values[i];
    e.graph = mst_value_graph(values[0]);
    if (n > MOST_VALUES)
        return mst_value_fail(e.graph, MST_INVALID, "einsum '%s': more than %d sources", e.text, MOST_VALUES);
    for (int label = 0; label < NUM_LABELS; label++) e.dim[label] = -1;
    for (int i = 0; i < n; i++) e.src[i].value = values[i];
    /* The graph keeps its first error, which says more than this one. */
    return read_equation(&e) && build(&e, &out) ? out.value
                                                : mst_value_fail(e.graph, MST_INVALID, "einsum '%s'", e.text);
}
