/* Element by element ops of many elements: the reference kernel on as many parts of the work as the device has threads.
 *
 * Where each source has as many elements as the output, or one, a part is a range of elements; else it is a range of
 * rows along axis 0: sources that have these rows are cut like the output, those that broadcast along them are given
 * whole. So a part is the same op on smaller arrays, and an element has the bits that one thread gives it. */
#include "kernel/kernel.h"

enum {
    MAX_SRC = 8,
    LEAST = 1 << 16, /* elements; waking a team for fewer costs more than it saves */
    ALIGN = 64       /* elements that the loops of a kernel may take at once: parts begin where such a group does */
};

typedef struct cut {
    bool flat;
    int64_t count, align; /* elements, or rows, to share out */
} cut;

static cut make_cut(mst_shape dst, int num_src, const mst_shape *src) {
    const int64_t elements = mst_shape_count(dst);
    cut c = {.flat = true, .count = elements, .align = ALIGN};
    for (int i = 0; i < num_src; i++) {
        const int64_t count = mst_shape_count(src[i]);
        if (count != elements && count != 1) c.flat = false;
    }
    if (!c.flat) c = (cut){.count = dst.ndim ? dst.dim[0] : 1, .align = 1};
    return c;
}

static mst_array part_of(const cut *c, const mst_array *whole, const mst_array *dst, int64_t begin, int64_t end) {
    mst_array part = *whole;
    int64_t unit = 1; /* elements of one of what is shared out */
    if (c->flat) {
        part.shape = (mst_shape){.ndim = whole->count == 1 ? 0 : 1};
        if (whole->count == 1) return part;
    } else {
        if (whole->shape.ndim != dst->shape.ndim || whole->shape.dim[0] != dst->shape.dim[0]) return part;
        unit = whole->count / whole->shape.dim[0];
    }
    part.shape.dim[0] = end - begin;
    part.count = (end - begin) * unit;
    part.data = (char *)whole->data + (size_t)(begin * unit) * mst_dtype_size(whole->dtype);
    return part;
}

typedef struct work {
    const mst_kernel_args *args;
    cut cut;
} work;

/* Groups BEGIN to END - 1, of `align` elements or rows. */
static mst_status run_part(void *context, int64_t begin, int64_t end, int thread) {
    const work *w = context;
    const mst_kernel_args *a = w->args;
    const cut *c = &w->cut;
    (void)thread;
    begin *= c->align;
    end = end * c->align < c->count ? end * c->align : c->count;
    mst_array src[MAX_SRC], dst = part_of(c, a->dst, a->dst, begin, end);
    for (int k = 0; k < a->num_src; k++) src[k] = part_of(c, &a->src[k], a->dst, begin, end);
    mst_kernel_args args = *a;
    args.src = src;
    args.dst = &dst;
    args.team = NULL;
    args.num_threads = 1;
    return a->op->reference(&args);
}

static mst_status run(const mst_kernel_args *a) {
    mst_shape shape[MAX_SRC];
    for (int i = 0; i < a->num_src; i++) shape[i] = a->src[i].shape;
    work w = {.args = a, .cut = make_cut(a->dst[0].shape, a->num_src, shape)};
    const int64_t groups = (w.cut.count + w.cut.align - 1) / w.cut.align;
    int64_t grain = LEAST / 4 * w.cut.count / (a->dst[0].count * w.cut.align);
    return mst_parallel(a, groups, grain > 1 ? grain : 1, run_part, &w);
}

static mst_kernel_function choose(const mst_infer *c, int num_threads) {
    if (num_threads == 1 || !(c->op->flags & MST_OP_ELEMENTWISE) || c->op->workspace || c->num_src < 1 ||
        c->num_src > MAX_SRC)
        return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (!(MST_DTYPE_BIT(c->src[i].dtype) & (MST_FLOATS | MST_DTYPE_BIT(MST_BOOL)))) return NULL;
    if (mst_shape_count(c->dst[0].shape) < LEAST) return NULL;
    mst_shape shape[MAX_SRC];
    for (int i = 0; i < c->num_src; i++) shape[i] = c->src[i].shape;
    return make_cut(c->dst[0].shape, c->num_src, shape).count >= num_threads ? run : NULL;
}

const mst_kernel mst_kernel_cpu_parts = {
    .engine = "cpu",
    .select = choose,
};
