/* Runs elementwise kernels on parts of their arrays. The leading dimensions of the output are merged into one dimension
 * of rows, as long as each source varies along all of them or is broadcast along all of them. The threads share the
 * rows. Examples: if all arrays have one shape, a row is one element; in x[n, h, w, c] + bias[c], a row is a pixel. A
 * source that varies along the rows is cut like the output, and any other source is passed whole. So each part is the
 * same op on smaller arrays. */
#include "op/elements.h"

#include "op/share.h"

enum { ALIGN = 64 /* elements that a kernel's loop may take at once; parts begin at multiples of it */ };

typedef struct elements_work {
    const mst_kernel_args *args;
    mst_kernel_function kernel;
    int lead;      /* leading dimensions of the output that are merged into the rows */
    int64_t rows;  /* number of rows of the output */
    int64_t align; /* parts begin at multiples of this many rows */
} elements_work;

/* Whether an array of this shape has more than one element along dimension AXIS of the output. */
static bool runs_along(const mst_shape *shape, const mst_shape *dst, int axis) {
    const int own = axis - (dst->ndim - shape->ndim);
    return own >= 0 && shape->dim[own] != 1;
}

/* Whether each source runs along both of dimensions K and L of the output, or along neither. */
static bool alike(const mst_kernel_args *a, int k, int l) {
    const mst_shape *dst = &a->dst[0].shape;
    for (int i = 0; i < a->num_src; i++)
        if (runs_along(&a->src[i].shape, dst, k) != runs_along(&a->src[i].shape, dst, l)) return false;
    return true;
}

/* Sets `lead`, `rows` and `align`. Dimensions of size 1 can be merged with any other. */
static void find_rows(elements_work *w) {
    const mst_shape *dst = &w->args->dst[0].shape;
    int first = -1; /* the first dimension that has more than one element */
    w->rows = 1;
    for (; w->lead < dst->ndim; w->lead++) {
        if (dst->dim[w->lead] == 1) continue;
        if (first < 0) first = w->lead;
        if (!alike(w->args, first, w->lead)) break;
        w->rows *= dst->dim[w->lead];
    }
    w->align = w->lead == dst->ndim ? ALIGN : 1;
}

/* Rows BEGIN to END - 1 of WHOLE; the whole array if it does not vary along the rows. */
static mst_array part_of(const elements_work *w, const mst_array *whole, int64_t begin, int64_t end) {
    const mst_shape *dst = &w->args->dst[0].shape;
    const int inner = dst->ndim - w->lead, own = whole->shape.ndim < inner ? whole->shape.ndim : inner;
    mst_array part = *whole;
    bool runs = false;
    for (int axis = 0; axis < w->lead; axis++) runs |= runs_along(&whole->shape, dst, axis);
    part.shape = (mst_shape){.ndim = own};
    for (int k = 0; k < own; k++) part.shape.dim[k] = whole->shape.dim[whole->shape.ndim - own + k];
    if (!runs) return part;
    const int64_t unit = whole->count / w->rows; /* elements of a row */
    part.shape.ndim = own + 1;
    part.shape.dim[0] = end - begin;
    for (int k = 0; k < own; k++) part.shape.dim[k + 1] = whole->shape.dim[whole->shape.ndim - own + k];
    part.count = (end - begin) * unit;
    part.data = (char *)whole->data + (size_t)(begin * unit) * mst_dtype_size(whole->dtype);
    return part;
}

/* Runs the kernel on groups BEGIN to END - 1. A group is `align` rows. */
static mst_status elements_run(void *context, int64_t begin, int64_t end, int thread) {
    const elements_work *w = context;
    mst_array src[MST_ELEMENTS_SRC];
    (void)thread;
    begin *= w->align;
    end = end * w->align < w->rows ? end * w->align : w->rows;
    const mst_array dst = part_of(w, &w->args->dst[0], begin, end);
    for (int k = 0; k < w->args->num_src; k++) src[k] = part_of(w, &w->args->src[k], begin, end);
    mst_kernel_args args = *w->args;
    args.src = src;
    args.dst = &dst;
    args.team = NULL;
    args.num_threads = 1;
    return w->kernel(&args);
}

mst_status mst_share_elements(const mst_kernel_args *a, mst_kernel_function kernel) {
    const int64_t count = a->dst[0].count;
    elements_work w = {.args = a, .kernel = kernel};
    int64_t bytes = (int64_t)mst_dtype_size(a->dst[0].dtype); /* of an element of the largest dtype */
    for (int i = 0; i < a->num_src; i++) {
        const int64_t size = (int64_t)mst_dtype_size(a->src[i].dtype);
        if (size > bytes) bytes = size;
    }
    if (!a->team || a->num_src > MST_ELEMENTS_SRC || count * bytes <= MST_SHARED_ELEMENTS * MST_ELEMENT_BYTES)
        return kernel(a);
    find_rows(&w);
    const int64_t groups = (w.rows + w.align - 1) / w.align;
    return mst_parallel(a, groups, mst_grain_bytes(groups, count / w.rows * w.align * bytes), elements_run, &w);
}
