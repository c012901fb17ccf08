/* The table of oneDNN's convolution primitives, shared by shape in the whole process with a count of references. A new
 * primitive is run once, on zeros, before it is given out, like primitives of products (primitive.c). */
#include "kernel/onednn/base/convolution.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/openmp.h"
#include "kernel/onednn/base/primitive.h"
#include "tensor/buffer.h"

enum { SRC = MST_CONVOLUTION_SRC, WEIGHTS = MST_CONVOLUTION_WEIGHTS, DST = MST_CONVOLUTION_DST };
enum { OPERANDS = MST_CONVOLUTION_OPERANDS };
enum { FIRST_AXIS = 3 }; /* number of the first axis after groups, filters and channels in the weights */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mst_convolution *table;

/* The values of the windows for a primitive's descriptor. */
typedef struct windows {
    dnnl_dims_t strides, dilations, before, after;
} windows;

static windows windows_of(const mst_conv *conv) {
    windows w = {{0}, {0}, {0}, {0}};
    const int deep = mst_window_is_deep(&conv->depth);
    for (int k = 0; k < MST_WINDOW_AXES + deep; k++) {
        const mst_window *window = deep && k == 0 ? &conv->depth : &conv->window[k - deep];
        w.strides[k] = window->stride;
        w.dilations[k] = window->dilation - 1; /* oneDNN counts the elements in between: without dilation it is 0 */
        w.before[k] = window->before;
        w.after[k] = window->after;
    }
    return w;
}

static bool is_sound(const void *convolution, const_dnnl_primitive_desc_t descriptor) {
    const mst_convolution *c = convolution;
    return mst_implementation_is_sound(c->kind, &c->conv, descriptor);
}

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe_first(mst_convolution *c, const windows *w, dnnl_primitive_attr_t attributes) {
    const dnnl_engine_t engine = mst_dnnl_engine();
    mst_description *d = c->description;
    switch (c->kind) {
        case MST_CONVOLUTION:
            return dnnl_convolution_forward_primitive_desc_create(
                &c->descriptor, engine, dnnl_forward_inference, dnnl_convolution_direct, d[SRC], d[WEIGHTS], NULL,
                d[DST], w->strides, w->dilations, w->before, w->after, attributes);
        case MST_CONVOLUTION_SRC_GRAD:
            return dnnl_convolution_backward_data_primitive_desc_create(
                &c->descriptor, engine, dnnl_convolution_direct, d[SRC], d[WEIGHTS], d[DST], w->strides, w->dilations,
                w->before, w->after, NULL, attributes);
        default:
            return dnnl_convolution_backward_weights_primitive_desc_create(
                &c->descriptor, engine, dnnl_convolution_direct, d[SRC], d[WEIGHTS], NULL, d[DST], w->strides,
                w->dilations, w->before, w->after, NULL, attributes);
    }
}

static dnnl_status_t describe_primitive(mst_convolution *c, const windows *w, dnnl_primitive_attr_t attributes) {
    const dnnl_status_t status = describe_first(c, w, attributes);
    return status ? status : mst_describe_fitting(c->descriptor, is_sound, c);
}

#else

static dnnl_status_t describe_primitive(mst_convolution *c, const windows *w, dnnl_primitive_attr_t attributes) {
    mst_description *d = c->description;
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    switch (c->kind) {
        case MST_CONVOLUTION:
            status = dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct,
                                                                &d[SRC], &d[WEIGHTS], NULL, &d[DST], w->strides,
                                                                w->dilations, w->before, w->after);
            break;
        case MST_CONVOLUTION_SRC_GRAD:
            status = dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &d[SRC],
                                                                      &d[WEIGHTS], &d[DST], w->strides, w->dilations,
                                                                      w->before, w->after);
            break;
        default:
            status = dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &d[SRC],
                                                                         &d[WEIGHTS], NULL, &d[DST], w->strides,
                                                                         w->dilations, w->before, w->after);
    }
    return status ? status : mst_describe_fitting(&c->descriptor, &desc, mst_dnnl_engine(), attributes, is_sound, c);
}

#endif

/* Whether the convolution is computed as a matrix product: in bf16, 1 x 1, with stride 1, without padding. */
static bool is_product(const mst_conv *v) {
    bool pixels = v->bf16 && v->groups == 1 && !mst_window_is_deep(&v->depth);
    for (int k = 0; k < MST_WINDOW_AXES; k++)
        pixels = pixels && v->window[k].size == 1 && v->window[k].stride == 1 && v->window[k].in == v->window[k].out;
    return pixels;
}

int mst_convolution_argument(const mst_convolution *convolution, int which) {
    static const int product[][OPERANDS] = {
        [MST_CONVOLUTION] = {[SRC] = DNNL_ARG_SRC, [WEIGHTS] = DNNL_ARG_WEIGHTS, [DST] = DNNL_ARG_DST},
        [MST_CONVOLUTION_SRC_GRAD] = {[DST] = DNNL_ARG_SRC, [WEIGHTS] = DNNL_ARG_WEIGHTS, [SRC] = DNNL_ARG_DST},
        [MST_CONVOLUTION_WEIGHTS_GRAD] = {[SRC] = DNNL_ARG_SRC, [DST] = DNNL_ARG_WEIGHTS, [WEIGHTS] = DNNL_ARG_DST},
    };
    static const int plain[][OPERANDS] = {
        [MST_CONVOLUTION] = {[SRC] = DNNL_ARG_SRC, [WEIGHTS] = DNNL_ARG_WEIGHTS, [DST] = DNNL_ARG_DST},
        [MST_CONVOLUTION_SRC_GRAD] =
            {[SRC] = DNNL_ARG_DIFF_SRC, [WEIGHTS] = DNNL_ARG_WEIGHTS, [DST] = DNNL_ARG_DIFF_DST},
        [MST_CONVOLUTION_WEIGHTS_GRAD] =
            {[SRC] = DNNL_ARG_SRC, [WEIGHTS] = DNNL_ARG_DIFF_WEIGHTS, [DST] = DNNL_ARG_DIFF_DST},
    };
    if (which == OPERANDS) return DNNL_ARG_SCRATCHPAD;
    return (is_product(&convolution->conv) ? product : plain)[convolution->kind][which];
}

mst_const_description mst_convolution_description(const mst_convolution *convolution, int which) {
    if (which == OPERANDS) return dnnl_primitive_desc_query_md(convolution->descriptor, dnnl_query_scratchpad_md, 0);
    return mst_as_given(&convolution->description[which]);
}

size_t mst_convolution_scratchpad(const mst_convolution *convolution) {
    return dnnl_memory_desc_get_size(mst_convolution_description(convolution, OPERANDS));
}

size_t mst_convolution_weights_bytes(const mst_convolution *convolution) {
    return dnnl_memory_desc_get_size(mst_convolution_description(convolution, WEIGHTS));
}

/* ---- making primitives ---- */

static void destroy(mst_convolution *c) {
    for (int i = 0; i < OPERANDS; i++) mst_forget(&c->description[i]);
    mst_forget(&c->plain);
    if (c->primitive) dnnl_primitive_destroy(c->primitive);
    if (c->descriptor) dnnl_primitive_desc_destroy(c->descriptor);
    if (c->reorder) dnnl_primitive_destroy(c->reorder);
    if (c->reorder_descriptor) dnnl_primitive_desc_destroy(c->reorder_descriptor);
    free(c);
}

static dnnl_data_type_t type_of(const mst_convolution *c, int which) {
    static const int made[] = {
        [MST_CONVOLUTION] = DST, [MST_CONVOLUTION_SRC_GRAD] = SRC, [MST_CONVOLUTION_WEIGHTS_GRAD] = WEIGHTS};
    return (which == made[c->kind] ? c->conv.made_bf16 : c->conv.bf16) ? dnnl_bf16 : dnnl_f32;
}

/* Describes source, output and weights. The weights are described as they are given, and in any layout. oneDNN has
 * filters before channels, and groups before both. If there is no depth, the axes of the windows begin with rows. */
static dnnl_status_t describe_operands(mst_convolution *c) {
    const mst_conv *v = &c->conv;
    const mst_window *d = &v->depth, *h = &v->window[0], *w = &v->window[1];
    const int64_t in = v->in_channels / v->groups, out = v->out_channels / v->groups, plane = in * v->out_channels;
    const int deep = mst_window_is_deep(d), num_dims = MST_CONV2D_NDIM + deep;
    const dnnl_dim_t deep_src[] = {v->n, v->in_channels, d->in, h->in, w->in};
    const dnnl_dim_t deep_dst[] = {v->n, v->out_channels, d->out, h->out, w->out};
    const dnnl_dim_t src[] = {v->n, v->in_channels, h->in, w->in}, dst[] = {v->n, v->out_channels, h->out, w->out};
    dnnl_dim_t weights[] = {v->groups, out, in, d->size, h->size, w->size};
    dnnl_dim_t strides[] = {out, 1, v->out_channels, h->size * w->size * plane, w->size * plane, plane};
    if (!deep) {
        memmove(&weights[FIRST_AXIS], &weights[FIRST_AXIS + 1], MST_WINDOW_AXES * sizeof *weights);
        memmove(&strides[FIRST_AXIS], &strides[FIRST_AXIS + 1], MST_WINDOW_AXES * sizeof *strides);
    }
    const int first = v->groups == 1, ndim = num_dims + 1 - first;
    const dnnl_format_tag_t tag = deep ? dnnl_ndhwc : dnnl_nhwc;
    dnnl_status_t status =
        mst_describe_tagged(&c->description[SRC], type_of(c, SRC), num_dims, deep ? deep_src : src, tag);
    if (!status)
        status = mst_describe_tagged(&c->description[DST], type_of(c, DST), num_dims, deep ? deep_dst : dst, tag);
    if (!status) status = mst_describe_any(&c->description[WEIGHTS], type_of(c, WEIGHTS), ndim, weights + first);
    if (!status) status = mst_describe(&c->plain, dnnl_f32, ndim, weights + first, strides + first);
    return status;
}

/* Describes the operands as matrices, and their product: source weights, gradient weights^T or source^T gradient. */
static dnnl_status_t describe_product(mst_convolution *c, dnnl_primitive_attr_t attributes) {
    const mst_conv *v = &c->conv;
    const int64_t in = v->in_channels, out = v->out_channels, pixels = v->n * v->window[0].in * v->window[1].in;
    const bool sums = c->kind == MST_CONVOLUTION_WEIGHTS_GRAD, back = c->kind == MST_CONVOLUTION_SRC_GRAD;
    const int src = back ? MST_PRODUCT_C : MST_PRODUCT_A, weights = sums ? MST_PRODUCT_C : MST_PRODUCT_B,
              dst = back   ? MST_PRODUCT_A
                    : sums ? MST_PRODUCT_B
                           : MST_PRODUCT_C;
    mst_product_shape s = {.ndim = 2, .bf16 = v->bf16, .packed = !sums};
    mst_product_operand(&s, src, MST_SHAPE(pixels, in), sums);
    mst_product_operand(&s, dst, MST_SHAPE(pixels, out), false);
    mst_product_operand(&s, weights, MST_SHAPE(in, out), back);
    mst_description *d = c->description, *operand[MST_PRODUCT_OPERANDS] = {NULL};
    dnnl_status_t status = mst_describe(&d[SRC], type_of(c, SRC), 2, s.dim[src], s.stride[src]);
    if (!status) status = mst_describe(&d[DST], type_of(c, DST), 2, s.dim[dst], s.stride[dst]);
    if (!status) status = mst_describe(&c->plain, dnnl_f32, 2, s.dim[weights], s.stride[weights]);
    if (!status)
        status = sums ? mst_describe(&d[WEIGHTS], dnnl_f32, 2, s.dim[weights], s.stride[weights])
                      : mst_describe_any(&d[WEIGHTS], type_of(c, WEIGHTS), 2, s.dim[weights]);
    if (status) return status;
    operand[src] = &d[SRC];
    operand[dst] = &d[DST];
    operand[weights] = &d[WEIGHTS];
    return mst_describe_product(&c->descriptor, mst_dnnl_engine(), operand[MST_PRODUCT_A], operand[MST_PRODUCT_B], NULL,
                                operand[MST_PRODUCT_C], attributes, mst_implementation_multiplies, &s);
}

static dnnl_query_t query_of_weights(const mst_convolution *c) {
    if (c->kind != MST_CONVOLUTION_WEIGHTS_GRAD) return dnnl_query_weights_md;
    return is_product(&c->conv) ? dnnl_query_dst_md : dnnl_query_diff_weights_md;
}

static dnnl_status_t make_reorder(mst_convolution *c) {
    const mst_const_description plain = mst_as_given(&c->plain), chosen = mst_as_given(&c->description[WEIGHTS]);
    if (dnnl_memory_desc_equal(plain, chosen)) return dnnl_success;
    const bool back = c->kind == MST_CONVOLUTION_WEIGHTS_GRAD;
    const dnnl_status_t status =
        mst_describe_reorder(&c->reorder_descriptor, mst_dnnl_engine(), back ? chosen : plain, back ? plain : chosen);
    return status ? status : dnnl_primitive_create(&c->reorder, c->reorder_descriptor);
}

/* Whether oneDNN uses its plain loop, which computes convolutions for which it has no fast code. */
static bool is_reference(const mst_convolution *c) {
    return mst_implementation_begins(c->descriptor, "ref");
}

static dnnl_status_t make(mst_convolution *c) {
    const windows w = windows_of(&c->conv);
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (!status) status = dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (!status && is_product(&c->conv)) {
        status = describe_product(c, attributes);
    } else if (!status) {
        status = describe_operands(c);
        if (!status) status = describe_primitive(c, &w, attributes);
    }
    if (!status && c->conv.bf16 && is_reference(c)) status = dnnl_unimplemented;
    if (!status) {
        mst_forget(&c->description[WEIGHTS]);
        memset(&c->description[WEIGHTS], 0, sizeof c->description[WEIGHTS]);
        status = mst_describe_copy(&c->description[WEIGHTS],
                                   dnnl_primitive_desc_query_md(c->descriptor, query_of_weights(c), 0));
    }
    if (!status) status = dnnl_primitive_create(&c->primitive, c->descriptor);
    if (!status) status = make_reorder(c);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    return status;
}

static dnnl_status_t run(const mst_convolution *c, void *const *data) {
    dnnl_stream_t stream = NULL;
    dnnl_exec_arg_t args[OPERANDS + 1];
    int count = 0;
    dnnl_status_t status = dnnl_stream_create(&stream, mst_dnnl_engine(), dnnl_stream_default_flags);
    for (int i = 0; i <= OPERANDS && !status; i++) {
        status = dnnl_memory_create(&args[count].memory, mst_convolution_description(c, i), mst_dnnl_engine(), data[i]);
        args[count].arg = mst_convolution_argument(c, i);
        if (!status) count++;
    }
    if (!status) status = dnnl_primitive_execute(c->primitive, stream, count, args);
    for (int i = 0; i < count; i++) dnnl_memory_destroy(args[i].memory);
    if (stream) dnnl_stream_destroy(stream);
    return status;
}

static dnnl_status_t run_first(const mst_convolution *c) {
    size_t offset[OPERANDS + 1], size = MST_ALIGNMENT;
    void *data[OPERANDS + 1];
    for (int i = 0; i <= OPERANDS; i++) {
        offset[i] = size;
        size += mst_align(dnnl_memory_desc_get_size(mst_convolution_description(c, i)));
    }
    char *zeros = calloc(size, 1); /* rounded down to an aligned address, so that the first operand still lies inside */
    if (!zeros) return dnnl_out_of_memory;
    char *first = zeros - (uintptr_t)zeros % MST_ALIGNMENT;
    for (int i = 0; i <= OPERANDS; i++) data[i] = first + offset[i];
    const dnnl_status_t status = run(c, data);
    free(zeros);
    return status;
}

static dnnl_status_t create(mst_convolution_kind kind, const mst_conv *conv, mst_convolution **out) {
    mst_convolution *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return dnnl_out_of_memory;
    c->kind = kind;
    c->conv = *conv;
    c->references = 1;
    int before; /* a primitive is made for the number of threads that will run it */
    dnnl_status_t status = mst_openmp_begin(&before) ? dnnl_out_of_memory : dnnl_success;
    if (!status) status = mst_dnnl_engine() ? make(c) : dnnl_runtime_error;
    if (!status) status = run_first(c);
    mst_openmp_end(before);
    if (status)
        destroy(c);
    else
        *out = c;
    return status;
}

/* ---- the table ---- */

static bool windows_are_equal(const mst_window *x, const mst_window *y) {
    return x->in == y->in && x->out == y->out && x->size == y->size && x->stride == y->stride &&
           x->dilation == y->dilation && x->before == y->before && x->after == y->after;
}

static bool are_equal(const mst_conv *a, const mst_conv *b) {
    bool equal = a->n == b->n && a->in_channels == b->in_channels && a->out_channels == b->out_channels &&
                 a->groups == b->groups && a->bf16 == b->bf16 && a->made_bf16 == b->made_bf16 &&
                 windows_are_equal(&a->depth, &b->depth);
    for (int k = 0; k < MST_WINDOW_AXES && equal; k++) equal = windows_are_equal(&a->window[k], &b->window[k]);
    return equal;
}

dnnl_status_t mst_convolution_get(mst_convolution_kind kind, const mst_conv *conv, mst_convolution **out) {
    dnnl_status_t status = dnnl_success;
    pthread_mutex_lock(&lock);
    mst_convolution *c = table;
    while (c && (c->kind != kind || !are_equal(&c->conv, conv))) c = c->next;
    if (c) {
        c->references++;
    } else {
        status = create(kind, conv, &c);
        if (c) {
            c->next = table;
            table = c;
        }
    }
    pthread_mutex_unlock(&lock);
    *out = c;
    return status;
}

void mst_convolution_release(mst_convolution *convolution) {
    if (!convolution) return;
    pthread_mutex_lock(&lock);
    const bool last = --convolution->references == 0;
    mst_convolution **at = &table;
    while (last && *at != convolution) at = &(*at)->next;
    if (last) *at = convolution->next;
    pthread_mutex_unlock(&lock);
    if (last) destroy(convolution);
}
