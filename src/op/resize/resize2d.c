/** resize2d: resizes pictures
 *
 *  src            f32 or f64, [n, height, width, channels]
 *  size           rows and columns of dst
 *  interpolation  MST_INTERPOLATION_NEAREST (default), MST_INTERPOLATION_BILINEAR, or MST_INTERPOLATION_AREA: the mean
 *                 of the pixels that an element of dst covers, each weighted by the part of it that is covered
 *  align_corners  true: corner pixels keep their places; element i of dst is at i (in - 1) / (out - 1) in src, and
 *                 areas are (in - 1) / (out - 1) long. false (default): the edges of the picture keep their places;
 *                 element i is at (i + 1/2) in / out - 1/2, as in tf.image.resize and Keras, and areas are in / out
 *                 long
 *  dst            src's dtype, [n, size, channels]
 *
 *  There is no filter against aliasing. Places are computed in f32, as in TensorFlow.
 */
#ifdef MST_OP_HEADER
typedef enum mst_interpolation {
    MST_INTERPOLATION_NEAREST = 0,
    MST_INTERPOLATION_BILINEAR,
    MST_INTERPOLATION_AREA
} mst_interpolation;
typedef struct mst_resize2d_options {
    int zero_;
    mst_value src;
    mst_axes size;
    mst_interpolation interpolation;
    bool align_corners;
} mst_resize2d_options;
MST_API mst_value mst_resize2d_with(mst_resize2d_options options);
#define mst_resize2d(...) mst_resize2d_with(MST_NAMED_2(mst_resize2d_options, src, size, __VA_ARGS__))
#endif
#include <math.h>

#include "base/simd.h"
#include "op/list.h"
#include "op/op.h"
#include "op/resize/resize.h"
#include "op/share.h"

static const char *const interpolation_names[] = {"nearest", "bilinear", "area", NULL};

const mst_field mst_resize_fields[] = {
    MST_FIELD_AXES(mst_resize2d_options, size, "rows and columns of the output"),
    MST_FIELD_ENUM(mst_resize2d_options, interpolation, MST_INTERPOLATION_NEAREST, interpolation_names,
                   "how values between pixels are computed"),
    MST_FIELD_BOOL(mst_resize2d_options, align_corners, "corner pixels keep their places"),
    MST_FIELD_END,
};

/* The index of the element at PLACE on an axis of IN elements, limited to 0 to IN - 1. */
static int64_t within(float place, int64_t in) {
    return place <= 0 ? 0 : place >= (float)(in - 1) ? in - 1 : (int64_t)place;
}

/* The pixels that the area from I SCALE to (I + 1) SCALE covers, and their weights. Pixels beyond the last are replaced
 * by the last. */
static mst_resize_place find_area(int64_t i, float scale, int64_t in) {
    const float begin = (float)i * scale, end = (float)(i + 1) * scale;
    mst_resize_place place = {.lower = within(floorf(begin), in), .upper = within(ceilf(end) - 1, in)};
    if (place.upper < place.lower) place.upper = place.lower;
    const float length = end > begin ? end - begin : 1;
    if (place.upper == place.lower) {
        place.first = 1;
        return place;
    }
    place.between = 1 / (double)length;
    place.first = ((double)place.lower + 1 - (double)begin) / (double)length;
    place.part = ((double)end - (double)place.upper) / (double)length;
    return place;
}

/* With aligned corners a single element is at 0, and its area is the whole axis. */
mst_resize_place mst_resize_find(const mst_resize2d_options *o, int64_t i, int64_t in, int64_t out) {
    const bool corners = o->align_corners && out > 1;
    const float scale = corners ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    if (o->interpolation == MST_INTERPOLATION_AREA) return find_area(i, scale, in);
    if (o->interpolation == MST_INTERPOLATION_NEAREST) {
        const float at = o->align_corners ? roundf((float)i * scale) : floorf(((float)i + 0.5F) * scale);
        return (mst_resize_place){.lower = within(at, in), .upper = within(at, in)};
    }
    const float at = o->align_corners ? (float)i * scale : ((float)i + 0.5F) * scale - 0.5F, whole = floorf(at);
    return (mst_resize_place){.lower = within(whole, in), .upper = within(ceilf(at), in), .part = (double)(at - whole)};
}

void mst_resize_find_all(const mst_resize2d_options *o, const int64_t *in, const int64_t *out,
                         mst_resize_place *place) {
    for (int axis = 0; axis < 2; axis++)
        for (int64_t i = 0; i < out[axis]; i++) *place++ = mst_resize_find(o, i, in[axis], out[axis]);
}

size_t mst_resize_workspace(int64_t rows, int64_t columns) {
    return (size_t)(rows + columns) * sizeof(mst_resize_place);
}

mst_status mst_resize_infer(mst_infer *c, mst_shape *dst) {
    const mst_resize2d_options *o = c->options;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_want_ndim(c, 0, 4));
    if (o->size.count != 2 || o->size.axis[0] < 1 || o->size.axis[1] < 1)
        return mst_infer_fail(c, "give the size as two numbers, rows and columns, of at least 1");
    *dst = c->src[0].shape;
    for (int i = 1; i < 3; i++) {
        if (dst->dim[i] == 0 && dst->dim[0] != 0 && dst->dim[3] != 0)
            return mst_infer_fail(c, "a picture without pixels");
        dst->dim[i] = o->size.axis[i - 1];
    }
    return MST_OK;
}

static mst_status resize2d_infer(mst_infer *c) {
    c->dst[0].dtype = c->src[0].dtype;
    return mst_resize_infer(c, &c->dst[0].shape);
}

static size_t resize2d_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return mst_resize_workspace(c->dst[0].shape.dim[1], c->dst[0].shape.dim[2]);
}

static mst_value resize2d_grad(mst_grad *c, int i) {
    (void)i;
    return mst_call(NULL, &mst_op_resize2d_grad, 2, (const mst_value[]){c->src[0], c->ddst[0]}, c->options);
}

#define MST_TEMPLATE "op/resize/resize_rows.inc"
#include "base/floats.inc"

/* Computes rows BEGIN to END - 1 of the output, numbered over all pictures. */
static mst_status resize2d_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    (void)thread;
    if (((const mst_resize2d_options *)a->options)->interpolation == MST_INTERPOLATION_AREA)
        (a->dst[0].dtype == MST_F32 ? resize_area_rows_f32 : resize_area_rows_f64)(a, begin, end);
    else
        (a->dst[0].dtype == MST_F32 ? resize_rows_f32 : resize_rows_f64)(a, begin, end);
    return MST_OK;
}

static mst_status resize2d_reference(const mst_kernel_args *a) {
    const int64_t *dim = a->dst[0].shape.dim, rows = dim[0] * dim[1];
    if (a->dst[0].count == 0) return MST_OK;
    mst_resize_find_all(a->options, &a->src[0].shape.dim[1], &dim[1], a->workspace);
    return mst_parallel(a, rows, mst_grain(rows, 4 * dim[2] * dim[3]), resize2d_run, mst_context_of(a));
}

#include "op/resize/resize_examples.inc"

static const mst_example resize2d_examples[] = {
    {.name = "twice",
     .num_src = 1,
     .src = {PICTURE(1, 2, 1, 5)},
     .options = OPTIONS(2, 4, .interpolation = MST_INTERPOLATION_NEAREST),
     .expect = {(const double[]){1, 1, 5, 5, 1, 1, 5, 5}}},
    {.name = "bilinear",
     .num_src = 1,
     .src = {PICTURE(1, 2, 1, 5)},
     .options = OPTIONS(1, 4, .interpolation = MST_INTERPOLATION_BILINEAR),
     .expect = {(const double[]){1, 2, 4, 5}}},
    {.name = "bilinear, aligned corners",
     .num_src = 1,
     .src = {PICTURE(2, 2, 1, 5, 3, 7)},
     .options = OPTIONS(3, 3, .interpolation = MST_INTERPOLATION_BILINEAR, .align_corners = true),
     .expect = {(const double[]){1, 3, 5, 2, 4, 6, 3, 5, 7}}},
    {.name = "nearest, aligned corners", /* at 0, 0.75, 1.5, 2.25, 3 */
     .num_src = 1,
     .src = {PICTURE(1, 4, 1, 2, 3, 4)},
     .options = OPTIONS(1, 5, .align_corners = true),
     .expect = {(const double[]){1, 2, 3, 3, 4}}},
    {.name = "smaller",
     .num_src = 1,
     .src = {PICTURE(1, 4, 1, 2, 3, 4)},
     .options = OPTIONS(1, 2, .interpolation = MST_INTERPOLATION_BILINEAR),
     .expect = {(const double[]){1.5, 3.5}}},
    {.name = "one pixel, aligned corners",
     .num_src = 1,
     .src = {PICTURE(1, 3, 1, 2, 3)},
     .options = OPTIONS(1, 1, .interpolation = MST_INTERPOLATION_BILINEAR, .align_corners = true),
     .expect = {(const double[]){1}}},
    {.name = "area, smaller", /* an element covers 3 / 2 pixels */
     .num_src = 1,
     .src = {PICTURE(1, 3, 3, 6, 9)},
     .options = OPTIONS(1, 2, .interpolation = MST_INTERPOLATION_AREA),
     .expect = {(const double[]){4, 8}}},
    {.name = "area, blocks",
     .num_src = 1,
     .src = {PICTURE(2, 4, 1, 2, 3, 4, 5, 6, 7, 8)},
     .options = OPTIONS(1, 2, .interpolation = MST_INTERPOLATION_AREA),
     .expect = {(const double[]){3.5, 5.5}}},
    {.name = "area, larger", /* an element covers 2 / 4 of a pixel */
     .num_src = 1,
     .src = {PICTURE(1, 2, 1, 5)},
     .options = OPTIONS(1, 4, .interpolation = MST_INTERPOLATION_AREA),
     .expect = {(const double[]){1, 1, 5, 5}}},
    {.name = "area, aligned corners", /* pixels 0 to 2, then pixel 3 three times */
     .num_src = 1,
     .src = {PICTURE(1, 4, 1, 2, 6, 4)},
     .options = OPTIONS(1, 2, .interpolation = MST_INTERPOLATION_AREA, .align_corners = true),
     .expect = {(const double[]){3, 4}}},
    {.name = "area, channels",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {2, 7, 5, 3}}},
     .options = OPTIONS(3, 4, .interpolation = MST_INTERPOLATION_AREA)},
    {.name = "channels",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {2, 3, 4, 3}}},
     .options = OPTIONS(5, 3, .interpolation = MST_INTERPOLATION_BILINEAR)},
    {.name = "no size", .num_src = 1, .src = {PICTURE(1, 2, 1, 5)}, .fails = MST_INVALID},
    {.name = "a size of 0",
     .num_src = 1,
     .src = {PICTURE(1, 2, 1, 5)},
     .options = OPTIONS(0, 2, .align_corners = true),
     .fails = MST_INVALID},
    {.name = "pictures without pixels",
     .num_src = 1,
     .src = {{.ndim = 4, .dim = {1, 0, 2, 1}}},
     .options = OPTIONS(1, 2, .align_corners = true),
     .fails = MST_INVALID},
    {.name = "a matrix",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = OPTIONS(2, 2, .align_corners = true),
     .fails = MST_INVALID},
};

const mst_op mst_op_resize2d = {
    .name = "resize2d",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_resize_fields,
    .options_size = sizeof(mst_resize2d_options),
    .infer = resize2d_infer,
    .grad = resize2d_grad,
    .workspace = resize2d_workspace,
    .reference = resize2d_reference,
    .lower = mst_resize_lower,
    MST_EXAMPLES(resize2d_examples),
};

mst_value mst_resize2d_with(mst_resize2d_options options) {
    return mst_call(NULL, &mst_op_resize2d, 1, &options.src, &options);
}
