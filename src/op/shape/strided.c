/* Copies between strided arrays, shared among the threads of the device.
 *
 * A copy is a nest of loops, each with a stride in both arrays. Loops of one element are dropped, and two loops that
 * are contiguous in both arrays are merged into one. So most copies become a few long runs. The threads share the
 * outermost loop that is long enough. If the inner strides of the two arrays are in opposite order (a transpose), the
 * two inner loops copy square tiles, so that both arrays stay in cache. */
#include "op/shape/strided.h"

#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/simd.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "op/share.h"

/* ---- runs of bytes ---- */

typedef struct memory {
    char *dst;
    const char *src;
} memory;

static mst_status copy_run(void *context, int64_t begin, int64_t end, int thread) {
    const memory *m = context;
    (void)thread;
    memcpy(m->dst + begin, m->src + begin, (size_t)(end - begin));
    return MST_OK;
}

static mst_status zero_run(void *context, int64_t begin, int64_t end, int thread) {
    const memory *m = context;
    (void)thread;
    memset(m->dst + begin, 0, (size_t)(end - begin)); /* all bits 0 is a zero of every dtype */
    return MST_OK;
}

mst_status mst_copy(const mst_kernel_args *a, void *dst, const void *src, size_t bytes) {
    memory m = {.dst = dst, .src = src};
    return dst == src ? MST_OK : mst_parallel(a, (int64_t)bytes, mst_grain_bytes((int64_t)bytes, 1), copy_run, &m);
}

mst_status mst_zero(const mst_kernel_args *a, void *dst, size_t bytes) {
    memory m = {.dst = dst};
    return mst_parallel(a, (int64_t)bytes, mst_grain_bytes((int64_t)bytes, 1), zero_run, &m);
}

mst_status mst_view_copy(const mst_kernel_args *a) {
    return mst_copy(a, a->dst[0].data, a->src[0].data, (size_t)a->src[0].count * mst_dtype_size(a->src[0].dtype));
}

/* ---- fill ---- */

typedef struct fill {
    const mst_array *dst;
    double value;
} fill;

#define FILL(T, to)                                         \
    do {                                                    \
        T *data = f->dst->data;                             \
        for (int64_t i = begin; i < end; i++) data[i] = to; \
    } while (0)

static mst_status fill_run(void *context, int64_t begin, int64_t end, int thread) {
    const fill *f = context;
    const double value = f->value;
    (void)thread;
    switch (f->dst->dtype) {
        case MST_F32: FILL(float, (float)value); break;
        case MST_F64: FILL(double, value); break;
        case MST_I32: FILL(int32_t, (int32_t)value); break;
        case MST_I64: FILL(int64_t, (int64_t)value); break;
        case MST_U8: FILL(uint8_t, (uint8_t)value); break;
        case MST_BF16: FILL(uint16_t, mst_bf16_of((float)value)); break;
        default: FILL(uint8_t, value != 0); break;
    }
    return MST_OK;
}

mst_status mst_array_fill(const mst_kernel_args *a, const mst_array *dst, double value) {
    fill f = {.dst = dst, .value = value};
    return mst_parallel(a, dst->count, mst_grain_bytes(dst->count, (int64_t)mst_dtype_size(dst->dtype)), fill_run, &f);
}

/* ---- strided copies ---- */

void mst_strides(const mst_shape *shape, int64_t *stride) {
    int64_t step = 1;
    for (int k = shape->ndim - 1; k >= 0; k--) {
        stride[k] = step;
        step *= shape->dim[k];
    }
}

int64_t mst_rows_before(const mst_shape *shape, int axis) {
    int64_t rows = 1;
    if (axis < 0) axis += shape->ndim;
    for (int k = 0; k < axis; k++) rows *= shape->dim[k];
    return rows;
}

enum { MOST_LOOPS = MST_MAX_STRIDED + 2, TILE = 32 };

typedef struct loop {
    int64_t dim, dst, src; /* number of indices; strides in dst and src, in elements */
} loop;

/* Nested loops, the last innermost. */
typedef struct nest {
    size_t element; /* bytes */
    int num, cut;   /* the number of loops, and the loop that the threads share */
    loop loop[MOST_LOOPS];
    char *dst;
    const char *src;
} nest;

/* Drops dimensions of one element, and merges neighbours that are contiguous in both arrays. */
static int merge_loops(int ndim, const int64_t *dim, const int64_t *dst_stride, const int64_t *src_stride, loop *out) {
    int n = 0;
    for (int k = 0; k < ndim; k++) {
        if (dim[k] == 1) continue;
        loop this = {dim[k], dst_stride[k], src_stride[k]};
        if (n && out[n - 1].dst == this.dim * this.dst && out[n - 1].src == this.dim * this.src) {
            this.dim *= out[n - 1].dim;
            n--;
        }
        out[n++] = this;
    }
    return n;
}

#define MST_TEMPLATE "op/shape/strided_tiles.inc"
#include "op/sizes.inc"

#define T mst_string
#define MST_NAME(name) MST_JOIN(name, 16)
#include "op/shape/strided_tiles.inc"
#undef T
#undef MST_NAME

static void copy_inner(size_t element, loop outer, loop inner, void *dst, const void *src) {
    const int64_t size = (int64_t)element;
    if (inner.dst == 1 && inner.src == 1)
        for (int64_t i = 0; i < outer.dim; i++)
            memcpy((char *)dst + i * outer.dst * size, (const char *)src + i * outer.src * size,
                   (size_t)inner.dim * element);
    else if (element == 1)
        copy_tiles_1(outer, inner, dst, src);
    else if (element == 2)
        copy_tiles_2(outer, inner, dst, src);
    else if (element == 4)
        copy_tiles_4(outer, inner, dst, src);
    else if (element == 8)
        copy_tiles_8(outer, inner, dst, src);
    else
        copy_tiles_16(outer, inner, dst, src);
}

static void copy_nest(const nest *t) {
    int64_t index[MOST_LOOPS] = {0};
    const int64_t size = (int64_t)t->element;
    char *to = t->dst;
    const char *from = t->src;
    for (;;) {
        copy_inner(t->element, t->loop[t->num - 2], t->loop[t->num - 1], to, from);
        int k = t->num - 3;
        for (; k >= 0; k--) {
            to += t->loop[k].dst * size;
            from += t->loop[k].src * size;
            if (++index[k] < t->loop[k].dim) break;
            to -= t->loop[k].dst * size * t->loop[k].dim;
            from -= t->loop[k].src * size * t->loop[k].dim;
            index[k] = 0;
        }
        if (k < 0) return;
    }
}

/* Copies indices BEGIN to END - 1 of the loop that the threads share. */
static mst_status copy_part(void *context, int64_t begin, int64_t end, int thread) {
    nest part = *(const nest *)context;
    loop *cut = &part.loop[part.cut];
    (void)thread;
    part.dst += begin * cut->dst * (int64_t)part.element;
    part.src += begin * cut->src * (int64_t)part.element;
    cut->dim = end - begin;
    copy_nest(&part);
    return MST_OK;
}

/* Chooses the loop that the threads share: the outermost that has enough indices, or else the longest. Returns the
 * grain. If the loop is one of the inner two, the grain is a multiple of TILE, so that no tile is cut. */
static int64_t choose_cut(nest *t) {
    int64_t elements = 1;
    for (int k = 0; k < t->num; k++) {
        elements *= t->loop[k].dim;
        const int64_t longest = t->loop[t->cut].dim;
        if (longest < 2 * TILE && t->loop[k].dim > longest) t->cut = k;
    }
    const int64_t dim = t->loop[t->cut].dim, grain = mst_grain_bytes(dim, elements / dim * (int64_t)t->element);
    return t->cut < t->num - 2 ? grain : mst_grain_aligned(grain, TILE);
}

mst_status mst_strided_copy(const mst_kernel_args *a, size_t element, int ndim, const int64_t *dim, void *dst,
                            const int64_t *dst_stride, const void *src, const int64_t *src_stride) {
    nest t = {.element = element, .loop = {{1, 1, 1}, {1, 1, 1}}, .dst = dst, .src = src};
    for (int k = 0; k < ndim; k++)
        if (dim[k] == 0) return MST_OK;
    /* adds two loops of one element in front, so that there is always an inner pair */
    t.num = merge_loops(ndim, dim, dst_stride, src_stride, t.loop + 2) + 2;
    /* if the last loop is not contiguous in src, moves the loop that is contiguous in src to the last place but one */
    for (int k = 0; k < t.num - 2 && t.loop[t.num - 1].src != 1; k++)
        if (t.loop[k].src == 1 && t.loop[k].dim > 1) {
            loop contiguous = t.loop[k];
            t.loop[k] = t.loop[t.num - 2];
            t.loop[t.num - 2] = contiguous;
        }
    const int64_t grain = choose_cut(&t);
    return mst_parallel(a, t.loop[t.cut].dim, grain, copy_part, &t);
}

mst_status mst_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_shape *begin,
                          const mst_array *part, bool to_part) {
    int64_t whole_stride[MST_MAX_NDIM] = {0}, part_stride[MST_MAX_NDIM] = {0}, offset = 0;
    if (part->count == 0) return MST_OK;
    mst_strides(&whole->shape, whole_stride);
    mst_strides(&part->shape, part_stride);
    for (int k = 0; k < begin->ndim; k++) offset += begin->dim[k] * whole_stride[k];
    const size_t element = mst_dtype_size(whole->dtype);
    const mst_shape *shape = &part->shape;
    char *at = (char *)whole->data + offset * (int64_t)element;
    return to_part ? mst_strided_copy(a, element, shape->ndim, shape->dim, part->data, part_stride, at, whole_stride)
                   : mst_strided_copy(a, element, shape->ndim, shape->dim, at, whole_stride, part->data, part_stride);
}

/* ---- parts side by side ---- */

typedef struct parts {
    const mst_array *whole, *part;
    int num;
    bool to_whole;
    int64_t rows, row_bytes; /* number of rows of the whole, and bytes of each */
} parts;

/* Copies bytes FROM to TO - 1 of rows FIRST to LAST - 1 of the whole. */
static void copy_box(const parts *p, int64_t first, int64_t last, int64_t from, int64_t to) {
    const int64_t element = (int64_t)mst_dtype_size(p->whole->dtype);
    int64_t at = 0; /* where the part begins in a row */
    for (int i = 0; i < p->num && at < to; i++) {
        const int64_t bytes = p->part[i].count / p->rows * element;
        const int64_t begin = from > at ? from : at, end = to < at + bytes ? to : at + bytes;
        char *of_part = (char *)p->part[i].data + begin - at, *of_whole = (char *)p->whole->data + begin;
        for (int64_t row = first; row < last && begin < end; row++) {
            char *one = of_part + row * bytes, *other = of_whole + row * p->row_bytes;
            memcpy(p->to_whole ? other : one, p->to_whole ? one : other, (size_t)(end - begin));
        }
        at += bytes;
    }
}

/* Copies bytes BEGIN to END - 1 of the whole: the end of a row, whole rows, and the beginning of a row. */
static mst_status copy_bytes(void *context, int64_t begin, int64_t end, int thread) {
    const parts *p = context;
    const int64_t first = begin / p->row_bytes, last = end / p->row_bytes, to = end - last * p->row_bytes;
    const int64_t from = begin - first * p->row_bytes;
    (void)thread;
    if (first == last) {
        copy_box(p, first, first + 1, from, to);
        return MST_OK;
    }
    if (from) copy_box(p, first, first + 1, from, p->row_bytes);
    if (first + (from > 0) < last) copy_box(p, first + (from > 0), last, 0, p->row_bytes);
    if (to) copy_box(p, last, last + 1, 0, to);
    return MST_OK;
}

mst_status mst_parts_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part, int num,
                          int64_t rows, bool to_whole) {
    parts p = {.whole = whole, .part = part, .num = num, .to_whole = to_whole, .rows = rows};
    const int64_t bytes = whole->count * (int64_t)mst_dtype_size(whole->dtype);
    if (bytes == 0) return MST_OK;
    p.row_bytes = bytes / rows;
    int64_t grain = mst_grain_bytes(bytes, 1);
    if (p.row_bytes <= 2 * grain) grain = mst_grain_aligned(grain, p.row_bytes); /* whole rows, if they are short */
    return mst_parallel(a, bytes, grain, copy_bytes, &p);
}

int mst_parts_count(const void *options, int num_src) {
    (void)num_src;
    int num = options ? ((const mst_parts_options *)options)->num : 0;
    return num < 0 || num > MST_MOST_PARTS ? 0 : num;
}

mst_status mst_parts_cut(const mst_kernel_args *a) {
    const int64_t rows = mst_rows_before(&a->src[0].shape, ((const mst_parts_options *)a->options)->axis);
    return mst_parts_copy(a, &a->src[0], a->dst, a->num_dst, rows, false);
}

/* ---- inference and gradients ---- */

mst_status mst_infer_part(mst_infer *c, const mst_shape *begin, int whole, int part) {
    const mst_shape *large = &c->src[whole].shape, *small = &c->src[part].shape;
    if (small->ndim != large->ndim || begin->ndim != large->ndim)
        return mst_infer_fail(c, "begin has %d numbers, the sources %d and %d dimensions", begin->ndim,
                              c->src[0].shape.ndim, c->src[1].shape.ndim);
    for (int k = 0; k < large->ndim; k++) {
        int64_t have = large->dim[k], size = small->dim[k] < 0 ? 0 : small->dim[k];
        if (begin->dim[k] < 0 || (have >= 0 && (begin->dim[k] > have || size > have - begin->dim[k])))
            return mst_infer_fail(c, "begin %lld and size %lld do not fit dimension %d", (long long)begin->dim[k],
                                  (long long)size, k);
    }
    return MST_OK;
}

mst_status mst_infer_storable(mst_infer *c, double value, mst_dtype dtype, const char *what) {
    bool fits = true;
    switch (dtype) {
        case MST_I32: fits = value >= INT32_MIN && value <= INT32_MAX; break;
        case MST_I64: fits = value >= -0x1p63 && value < 0x1p63; break;
        case MST_U8: fits = value >= 0 && value <= UINT8_MAX; break;
        default: break;
    }
    return fits ? MST_OK : mst_infer_fail(c, "%s is %g, out of range for %s", what, value, mst_dtype_name(dtype));
}

mst_status mst_infer_sources_alike(mst_infer *c, int axis, mst_spec *out) {
    if (c->num_src < 1) return mst_infer_fail(c, "needs at least one source");
    *out = c->src[0];
    for (int i = 1; i < c->num_src; i++) {
        const mst_shape *src = &c->src[i].shape;
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        if (src->ndim != out->shape.ndim)
            return mst_infer_fail(c, "source %d has %d dimensions, source 0 has %d", i, src->ndim, out->shape.ndim);
        for (int k = 0; k < src->ndim; k++) {
            int64_t *dim = &out->shape.dim[k];
            if (k == axis) continue;
            if (src->dim[k] >= 0 && *dim >= 0 && src->dim[k] != *dim)
                return mst_infer_fail(c, "dimension %d of source %d is %lld, of those before it %lld", k, i,
                                      (long long)src->dim[k], (long long)*dim);
            if (*dim < 0) *dim = src->dim[k];
        }
    }
    return MST_OK;
}

mst_value mst_join_gradients(const mst_grad *c, mst_value (*join)(const mst_value *, int, int), int axis) {
    mst_value *part = calloc((size_t)c->num_dst, sizeof *part);
    if (!part) return MST_VALUE_NO_MEMORY(c->graph, "for a gradient of %s", c->op->name);
    for (int i = 0; i < c->num_dst; i++)
        part[i] = mst_value_is_none(c->ddst[i]) ? mst_zeros_like(c->dst[i]) : c->ddst[i];
    mst_value whole = join(part, c->num_dst, axis);
    free(part);
    return whole;
}
