/** strided_slice: dst[i] = src[begin + i * strides], up to end but without end, as src[begin:end:strides] in Python
 *
 *  src          any shape and dtype
 *  dst          src's dtype
 *  begin, end   one number for each of the first dimensions; the other dimensions are taken whole. Negative numbers
 *               count from the end; numbers outside the dimension are limited to its ends. None: all dimensions are
 *               taken whole
 *  strides      not 0, may be negative; none: all 1
 *  begin_mask   bit k: begin[k] is ignored; the slice begins at the start of dimension k, or at its end if strides[k]
 *               is negative
 *  end_mask     bit k: end[k] is ignored; the slice goes to the other end of dimension k
 *  shrink_mask  bit k: only element begin[k] is taken, which must exist; dst does not have dimension k
 *
 *  The masks are those of TensorFlow.
 */
#ifdef MST_OP_HEADER
typedef struct mst_strided_slice_options {
    int zero_;
    mst_value src;
    mst_axes begin;
    mst_axes end;
    mst_axes strides; /**< none: all 1 */
    int begin_mask;
    int end_mask;
    int shrink_mask;
} mst_strided_slice_options;
MST_API mst_value mst_strided_slice_with(mst_strided_slice_options options);
#define mst_strided_slice(...) mst_strided_slice_with(MST_NAMED_1(mst_strided_slice_options, src, __VA_ARGS__))
#endif
#include "op/shape/strided_slice.h"

#include "graph/spec.h"
#include "op/op.h"
#include "op/shape/strided.h"

const mst_field mst_strided_slice_fields[] = {
    MST_FIELD_AXES(mst_strided_slice_options, begin, "first element along each leading dimension"),
    MST_FIELD_AXES(mst_strided_slice_options, end, "the element after the last"),
    MST_FIELD_AXES(mst_strided_slice_options, strides, "steps; none: all 1"),
    MST_FIELD_I32(mst_strided_slice_options, begin_mask, 0, 0, 0, "bit k: ignores begin[k]"),
    MST_FIELD_I32(mst_strided_slice_options, end_mask, 0, 0, 0, "bit k: ignores end[k]"),
    MST_FIELD_I32(mst_strided_slice_options, shrink_mask, 0, 0, 0, "bit k: only element begin[k], without dimension k"),
    MST_FIELD_END,
};

/* The elements of a slice along one dimension: begin, begin + step, ...; `count` elements. */
typedef struct range {
    int64_t begin, step, count;
    bool is_one; /* the dimension is removed */
} range;

/* The begin or end of a range along a dimension of SIZE elements: AT, limited to LOW and HIGH. A negative AT counts
 * from the end. */
static int64_t bound(int64_t at, int64_t size, int64_t low, int64_t high) {
    if (at < 0) at += size;
    return at < low ? low : at > high ? high : at;
}

/* The range along dimension K, which has SIZE elements. If SIZE is -1 (unknown), only is_one is valid. */
static range range_along(const mst_strided_slice_options *o, int k, int64_t size) {
    range r = {.step = k < o->strides.count ? o->strides.axis[k] : 1, .is_one = o->shrink_mask >> k & 1};
    const bool whole_begin = k >= o->begin.count || (o->begin_mask >> k & 1);
    const bool whole_end = k >= o->end.count || (o->end_mask >> k & 1);
    if (r.is_one) {
        r.begin = k < o->begin.count ? o->begin.axis[k] : 0;
        if (r.begin < 0) r.begin += size;
        r.step = 1;
        r.count = r.begin >= 0 && r.begin < size ? 1 : 0;
        return r;
    }
    const int64_t low = r.step > 0 ? 0 : -1, high = r.step > 0 ? size : size - 1;
    r.begin = whole_begin ? (r.step > 0 ? low : high) : bound(o->begin.axis[k], size, low, high);
    const int64_t end = whole_end ? (r.step > 0 ? high : low) : bound(o->end.axis[k], size, low, high);
    const int64_t length = r.step > 0 ? end - r.begin : r.begin - end, step = r.step > 0 ? r.step : -r.step;
    r.count = length > 0 ? (length + step - 1) / step : 0;
    return r;
}

mst_status mst_strided_slice_infer(mst_infer *c, const mst_shape *whole, mst_shape *part) {
    const mst_strided_slice_options *o = c->options;
    const int32_t counts[] = {o->begin.count, o->end.count, o->strides.count};
    for (int i = 0; i < 3; i++)
        if (counts[i] < 0 || counts[i] > whole->ndim)
            return mst_infer_fail(c, "%d numbers of begin, %d of end, %d of strides for %d dimensions", counts[0],
                                  counts[1], counts[2], whole->ndim);
    *part = (mst_shape){0};
    for (int k = 0; k < whole->ndim; k++) {
        if (k < o->strides.count && o->strides.axis[k] == 0) return mst_infer_fail(c, "stride %d is 0", k);
        const range r = range_along(o, k, whole->dim[k]);
        if (r.is_one && whole->dim[k] >= 0 && r.count == 0)
            return mst_infer_fail(c, "there is no element %d in dimension %d of %lld",
                                  k < o->begin.count ? o->begin.axis[k] : 0, k, (long long)whole->dim[k]);
        if (!r.is_one) part->dim[part->ndim++] = whole->dim[k] < 0 ? -1 : r.count;
    }
    return MST_OK;
}

mst_status mst_strided_slice_copy(const mst_kernel_args *a, const mst_array *whole, const mst_array *part,
                                  bool to_part) {
    const mst_strided_slice_options *o = a->options;
    const int ndim = whole->shape.ndim;
    int64_t whole_stride[MST_MAX_NDIM], part_stride[MST_MAX_NDIM], offset = 0;
    if (part->count == 0) return MST_OK;
    mst_shape full = {.ndim = ndim}; /* the part's shape, with 1 for the dimensions that were removed */
    mst_strides(&whole->shape, whole_stride);
    for (int k = 0; k < ndim; k++) {
        const range r = range_along(o, k, whole->shape.dim[k]);
        full.dim[k] = r.count;
        offset += r.begin * whole_stride[k];
        whole_stride[k] *= r.step;
    }
    mst_strides(&full, part_stride);
    const size_t element = mst_dtype_size(whole->dtype);
    char *at = (char *)whole->data + offset * (int64_t)element;
    return to_part ? mst_strided_copy(a, element, ndim, full.dim, part->data, part_stride, at, whole_stride)
                   : mst_strided_copy(a, element, ndim, full.dim, at, whole_stride, part->data, part_stride);
}

static mst_status strided_slice_infer(mst_infer *c) {
    c->dst[0].dtype = c->src[0].dtype;
    return mst_strided_slice_infer(c, &c->src[0].shape, &c->dst[0].shape);
}

static mst_value strided_slice_grad(mst_grad *c, int i) {
    (void)i;
    return mst_strided_slice_grad(c->ddst[0], c->src[0], c->options);
}

/* The elements that a slice takes, in ascending order along each dimension. */
typedef struct rising_slice {
    mst_shape size;
    int64_t begin[MST_MAX_NDIM], end[MST_MAX_NDIM], stride[MST_MAX_NDIM];
    mst_axes falling; /* dimensions along which the slice takes them in descending order */
} rising_slice;

static rising_slice rising_slice_of(const mst_strided_slice_options *o, const mst_shape *whole) {
    rising_slice s = {.size = {.ndim = whole->ndim}};
    for (int k = 0; k < whole->ndim; k++) {
        const range r = range_along(o, k, whole->dim[k]);
        const int64_t last = r.begin + (r.count - 1) * r.step;
        s.size.dim[k] = r.count;
        s.stride[k] = 1;
        if (r.count == 0) continue;
        s.begin[k] = r.step > 0 ? r.begin : last;
        s.end[k] = (r.step > 0 ? last : r.begin) + 1;
        if (r.count == 1) continue;
        s.stride[k] = r.step > 0 ? r.step : -r.step;
        if (r.step < 0) s.falling.axis[s.falling.count++] = k;
    }
    return s;
}

static void strided_slice_lower(mst_lower *l) {
    const rising_slice s = rising_slice_of(l->options, &l->src_spec[0].shape);
    mst_hlo x = mst_hlo_slice(l, l->src[0], s.begin, s.end, s.stride);
    if (s.falling.count) x = mst_hlo_reverse(l, x, s.falling);
    l->dst[0] = mst_hlo_reshape(l, x, l->dst_spec[0].shape);
}

static mst_status strided_slice_reference(const mst_kernel_args *a) {
    return mst_strided_slice_copy(a, &a->src[0], &a->dst[0], true);
}

static const mst_example strided_slice_examples[] = {
    {.name = "every other",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {5}, .value = (const double[]){1, 2, 3, 4, 5}}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {1}},
                                                   .end = {.count = 1, .axis = {5}},
                                                   .strides = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){2, 4}}},
    {.name = "backwards",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {5}, .value = (const double[]){1, 2, 3, 4, 5}}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {-2}},
                                                   .end = {.count = 1, .axis = {0}},
                                                   .strides = {.count = 1, .axis = {-2}},
                                                   .end_mask = 1},
     .expect = {(const double[]){4, 2}}},
    {.name = "reversed",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const mst_strided_slice_options){.strides = {.count = 2, .axis = {-1, -1}}},
     .expect = {(const double[]){4, 3, 2, 1}}},
    {.name = "shrink, rest whole",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options =
         &(const mst_strided_slice_options){
             .begin = {.count = 1, .axis = {-1}}, .end = {.count = 1, .axis = {0}}, .shrink_mask = 1},
     .expect = {(const double[]){4, 5, 6}}},
    {.name = "cut off at the ends",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){1, 2, 3}}},
     .options =
         &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {-9}}, .end = {.count = 1, .axis = {9}}},
     .expect = {(const double[]){1, 2, 3}}},
    {.name = "all dtypes",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {4, 3, 5}}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 3, .axis = {0, 1, -1}},
                                                   .end = {.count = 3, .axis = {4, 0, 0}},
                                                   .strides = {.count = 3, .axis = {3, 1, -2}},
                                                   .shrink_mask = 2}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "nothing",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options =
         &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {2}}, .end = {.count = 1, .axis = {1}}}},
    {.name = "stride 0",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const mst_strided_slice_options){.strides = {.count = 1, .axis = {0}}},
     .fails = MST_INVALID},
    {.name = "no such element",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options =
         &(const mst_strided_slice_options){
             .begin = {.count = 1, .axis = {3}}, .end = {.count = 1, .axis = {4}}, .shrink_mask = 1},
     .fails = MST_INVALID},
    {.name = "too many numbers",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options =
         &(const mst_strided_slice_options){.begin = {.count = 2, .axis = {0, 0}}, .end = {.count = 2, .axis = {1, 1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_strided_slice = {
    .name = "strided_slice",
    .tf_form =
        "StridedSlice($0, @begin, @end, @strides; begin_mask=@begin_mask end_mask=@end_mask "
        "shrink_axis_mask=shrink_mask ellipsis_mask=0 new_axis_mask=0 Index=i32)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .fields = mst_strided_slice_fields,
    .options_size = sizeof(mst_strided_slice_options),
    .infer = strided_slice_infer,
    .grad = strided_slice_grad,
    .reference = strided_slice_reference,
    .lower = strided_slice_lower,
    MST_EXAMPLES(strided_slice_examples),
};

mst_value mst_strided_slice_with(mst_strided_slice_options options) {
    return mst_call(NULL, &mst_op_strided_slice, 1, &options.src, &options);
}

/* ---- the gradient ---- */

/** strided_slice_grad: zeros, with gradient at the elements that the strided slice of dst would take
 *
 *  gradient  any shape and dtype: of the output of a strided_slice
 *  like      any dtype: the source of the slice; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  slice     the options of that strided_slice
 */

static mst_status strided_slice_grad_infer(mst_infer *c) {
    mst_shape part = {.ndim = 0};
    MST_TRY(mst_strided_slice_infer(c, &c->src[1].shape, &part));
    const mst_shape *have = &c->src[0].shape;
    char text[MST_SHAPE_TEXT];
    if (have->ndim != part.ndim || !mst_dims_agree(have, &part, part.ndim))
        return mst_infer_fail(c, "the slice has shape %s", mst_shape_print(part, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[1].shape};
    return MST_OK;
}

static mst_value strided_slice_grad_grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    mst_strided_slice_options o = *(const mst_strided_slice_options *)c->options;
    o.src = c->ddst[0];
    return mst_strided_slice_with(o);
}

static void strided_slice_grad_lower(mst_lower *l) {
    const mst_shape *whole = &l->dst_spec[0].shape;
    const rising_slice s = rising_slice_of(l->options, whole);
    int64_t after[MST_MAX_NDIM] = {0}, between[MST_MAX_NDIM] = {0};
    for (int k = 0; k < whole->ndim; k++) {
        after[k] = whole->dim[k] - s.end[k];
        between[k] = s.stride[k] - 1;
    }
    mst_hlo x = mst_hlo_reshape(l, l->src[0], s.size);
    if (s.falling.count) x = mst_hlo_reverse(l, x, s.falling);
    l->dst[0] = mst_hlo_pad(l, x, mst_hlo_number(l, l->src_spec[0].dtype, 0), s.begin, after, between);
}

static mst_status strided_slice_grad_reference(const mst_kernel_args *a) {
    const mst_array *dst = &a->dst[0];
    MST_TRY(mst_zero(a, dst->data, (size_t)dst->count * mst_dtype_size(dst->dtype)));
    return mst_strided_slice_copy(a, dst, &a->src[0], false);
}

static const mst_example strided_slice_grad_examples[] = {
    {.name = "every other",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){2, 4}},
             {.dtype = MST_I32, .ndim = 1, .dim = {5}}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {1}},
                                                   .end = {.count = 1, .axis = {5}},
                                                   .strides = {.count = 1, .axis = {2}}},
     .expect = {(const double[]){0, 2, 0, 4, 0}}},
    {.name = "reversed",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}, .no_grad = true}},
     .options = &(const mst_strided_slice_options){.strides = {.count = 1, .axis = {-1}}},
     .expect = {(const double[]){2, 1}}},
    {.name = "all dtypes",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 3, .dim = {4, 3, 5}, .no_grad = true}},
     .options = &(const mst_strided_slice_options){.begin = {.count = 3, .axis = {0, 1, -1}},
                                                   .end = {.count = 3, .axis = {4, 0, 0}},
                                                   .strides = {.count = 3, .axis = {3, 1, -2}},
                                                   .end_mask = 4,
                                                   .shrink_mask = 2}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "nothing",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .options =
         &(const mst_strided_slice_options){.begin = {.count = 1, .axis = {2}}, .end = {.count = 1, .axis = {1}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "not the slice's shape",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_strided_slice_grad = {
    .name = "strided_slice_grad",
    .tf_form =
        ">StridedSliceGrad(Shape($1; out_type=i32), @begin, @end, @strides, $0; T=t0 "
        "begin_mask=@begin_mask end_mask=@end_mask shrink_axis_mask=shrink_mask "
        "ellipsis_mask=0 new_axis_mask=0 Index=i32)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .shape_only = 1u << 1,
    .fields = mst_strided_slice_fields,
    .options_size = sizeof(mst_strided_slice_options),
    .infer = strided_slice_grad_infer,
    .grad = strided_slice_grad_grad,
    .reference = strided_slice_grad_reference,
    .lower = strided_slice_grad_lower,
    MST_EXAMPLES(strided_slice_grad_examples),
};

mst_value mst_strided_slice_grad(mst_value gradient, mst_value like, const mst_strided_slice_options *slice) {
    return mst_call(NULL, &mst_op_strided_slice_grad, 2, (mst_value[]){gradient, like}, slice);
}
