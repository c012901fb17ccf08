/** gather_grad: dst = zeros; dst[.., indices[i], ..] += gradient[.., i, ..] for i in ascending order
 *
 *  gradient  f32, f64, i32, i64 or u8: of the output of gather
 *  indices   i32 or i64: those of the gather
 *  like      any dtype: what was gathered from; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  axis      as there
 *  fails     MST_INVALID in the run where an index is negative or too large
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis);
#endif
#include <string.h>

#include "op/index/gather.h"
#include "op/op.h"
#include "op/share.h"

static mst_status infer(mst_infer *c) {
    mst_shape part;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_gather_infer(c, &c->src[2].shape, 1, &part));
    const mst_shape *have = &c->src[0].shape;
    bool fits = have->ndim == part.ndim;
    for (int k = 0; k < part.ndim && fits; k++)
        fits = have->dim[k] < 0 || part.dim[k] < 0 || have->dim[k] == part.dim[k];
    char text[MST_SHAPE_TEXT];
    if (!fits) return mst_infer_fail(c, "gather gives shape %s", mst_shape_print(part, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[2].shape};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_gather(c->ddst[0], c->src[1], ((const mst_gather_options *)c->options)->axis);
}

/* Rows FIRST to LAST - 1 of one outer row of dst: DST is its row 0, SRC the row of its first index. A thread looks at
 * all indices and takes those of its rows, so that values of one place are added in the order of the indices. */
#define SCATTER(name, T)                                                                                      \
    static void name(const mst_gather_sizes *s, const mst_array *indices, const void *src_row, void *dst_row, \
                     int64_t first, int64_t last) {                                                           \
        const T *src = src_row;                                                                               \
        for (int64_t i = 0; i < indices->count; i++, src += s->inner) {                                       \
            const int64_t index = mst_gather_index(indices, i);                                               \
            if (index < first || index >= last) continue;                                                     \
            T *row = (T *)dst_row + index * s->inner;                                                         \
            for (int64_t j = 0; j < s->inner; j++) row[j] = (T)(row[j] + src[j]);                             \
        }                                                                                                     \
    }
SCATTER(scatter_f32, float)
SCATTER(scatter_f64, double)
SCATTER(scatter_32, uint32_t)
SCATTER(scatter_64, uint64_t)
SCATTER(scatter_8, uint8_t)

typedef struct work {
    const mst_kernel_args *args;
    mst_gather_sizes size;
} work;

static mst_status check(void *context, int64_t begin, int64_t end, int thread) {
    const work *w = context;
    (void)thread;
    return mst_gather_check(w->args, &w->args->src[1], w->size.size, begin, end);
}

/* Item i is row i of dst: row i % size of outer row i / size. */
static mst_status scatter_rows(void *context, int64_t begin, int64_t end, int thread) {
    const work *w = context;
    const mst_gather_sizes *s = &w->size;
    const mst_array *indices = &w->args->src[1], *dst = &w->args->dst[0];
    const int64_t row = s->inner * (int64_t)mst_dtype_size(dst->dtype);
    (void)thread;
    memset((char *)dst->data + begin * row, 0, (size_t)((end - begin) * row));
    while (begin < end) {
        const int64_t outer = begin / s->size, first = begin % s->size;
        const int64_t rest = s->size - first, last = first + (rest < end - begin ? rest : end - begin);
        const char *from = (const char *)w->args->src[0].data + outer * indices->count * row;
        char *to = (char *)dst->data + outer * s->size * row;
        switch (dst->dtype) {
            case MST_F32: scatter_f32(s, indices, from, to, first, last); break;
            case MST_F64: scatter_f64(s, indices, from, to, first, last); break;
            case MST_I32: scatter_32(s, indices, from, to, first, last); break;
            case MST_I64: scatter_64(s, indices, from, to, first, last); break;
            default: scatter_8(s, indices, from, to, first, last); break;
        }
        begin += last - first;
    }
    return MST_OK;
}

/* Each run looks at all indices of its outer rows: there are few more runs than threads, where not each has rows of its
 * own. */
static mst_status reference(const mst_kernel_args *a) {
    enum { RUNS_PER_THREAD = 2 };
    const mst_array *dst = &a->dst[0];
    work w = {.args = a, .size = mst_gather_loops(a, dst)};
    MST_TRY(mst_parallel(a, a->src[1].count, mst_grain(a->src[1].count, 1), check, &w));
    if (dst->count == 0) return MST_OK;
    const int64_t rows = w.size.outer * w.size.size, moved = (a->src[0].count + dst->count) / rows;
    const int64_t least = mst_grain(rows, moved), even = rows / (RUNS_PER_THREAD * a->num_threads) + 1;
    return mst_parallel(a, rows, even > least ? even : least, scatter_rows, &w);
}

static const mst_example examples[] = {
    {.name = "rows, one twice",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 0, 2}},
             {.ndim = 2, .dim = {3, 2}, .no_grad = true}},
     .expect = {(const double[]){3, 4, 0, 0, 6, 8}}},
    {.name = "columns by a matrix",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){0, 1, 1, 1}},
             {.dtype = MST_F32, .ndim = 2, .dim = {1, 3}, .no_grad = true}},
     .options = &(const mst_gather_options){.axis = 1},
     .expect = {(const double[]){1, 9, 0}}},
    {.name = "no indices",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {0}},
             {.dtype = MST_I64, .ndim = 1, .dim = {0}},
             {.ndim = 1, .dim = {2}, .no_grad = true}},
     .expect = {(const double[]){0, 0}}},
    {.name = "one index",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I32, .ndim = 0, .value = (const double[]){1}},
             {.ndim = 2, .dim = {2, 2}, .no_grad = true}}},
    {.name = "index too large",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){2}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "not the shape of the gather",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){0}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_gather_grad = {
    .name = "gather_grad",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 2,
    .fields = mst_gather_fields,
    .options_size = sizeof(mst_gather_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis) {
    return mst_call(NULL, &mst_op_gather_grad, 3, (mst_value[]){gradient, indices, like},
                    &(mst_gather_options){.axis = axis});
}
