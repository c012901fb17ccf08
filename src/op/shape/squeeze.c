/** squeeze: src without dimensions of 1
 *
 *  src   any shape and dtype
 *  dst   src's other dimensions; the same memory as src
 *  axes  dimensions to remove, each of size 1; negative ones count from the end. None: all of size 1; src's dimensions
 *        must then be known while the graph is built
 */
#ifdef MST_OP_HEADER
typedef struct mst_squeeze_options {
    int zero_;
    mst_value src;
    mst_axes axes; /**< none: all of size 1 */
} mst_squeeze_options;
MST_API mst_value mst_squeeze_with(mst_squeeze_options options);
#define mst_squeeze(...) mst_squeeze_with(MST_NAMED_1(mst_squeeze_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field squeeze_fields[] = {
    MST_FIELD_AXES(mst_squeeze_options, axes, "dimensions to leave out; none: all of size 1"),
    MST_FIELD_END,
};

static mst_status squeeze_infer(mst_infer *c) {
    const mst_axes *axes = &((const mst_squeeze_options *)c->options)->axes;
    const mst_shape *src = &c->src[0].shape;
    bool goes[MST_MAX_NDIM] = {false};
    if (axes->count > src->ndim)
        return mst_infer_fail(c, "%d axes for a source of %d dimensions", axes->count, src->ndim);
    for (int k = 0; k < axes->count; k++) {
        int axis;
        MST_TRY(mst_infer_axis(c, axes->axis[k], src->ndim, &axis));
        if (src->dim[axis] >= 0 && src->dim[axis] != 1)
            return mst_infer_fail(c, "dimension %d is %lld, must be 1", axis, (long long)src->dim[axis]);
        goes[axis] = true;
    }
    for (int k = 0; k < src->ndim && axes->count == 0; k++) {
        if (src->dim[k] < 0) return mst_infer_fail(c, "dimension %d is not known yet: name the axes", k);
        goes[k] = src->dim[k] == 1;
    }
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype};
    for (int k = 0; k < src->ndim; k++)
        if (!goes[k]) c->dst[0].shape.dim[c->dst[0].shape.ndim++] = src->dim[k];
    return MST_OK;
}

static mst_value squeeze_grad(mst_grad *c, int i) {
    (void)i;
    return mst_reshape_like(c->ddst[0], c->src[0]);
}

static const mst_example squeeze_examples[] = {
    {.name = "all",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {1, 2, 1}, .value = (const double[]){1, 0}}},
     .expect = {(const double[]){1, 0}}},
    {.name = "one of two",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {1, 3, 1}}},
     .options = &(const mst_squeeze_options){.axes = {.count = 1, .axis = {-1}}}},
    {.name = "to scalar", .num_src = 1, .src = {{.ndim = 2, .dim = {1, 1}}}},
    {.name = "empty",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 1}}},
     .options = &(const mst_squeeze_options){.axes = {.count = 1, .axis = {1}}}},
    {.name = "not 1",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 1}}},
     .options = &(const mst_squeeze_options){.axes = {.count = 1, .axis = {0}}},
     .fails = MST_INVALID},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {1, 1}}},
     .options = &(const mst_squeeze_options){.axes = {.count = 1, .axis = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_squeeze = {
    .name = "squeeze",
    .tf_form = "Squeeze($0; squeeze_dims=axes)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .fields = squeeze_fields,
    .options_size = sizeof(mst_squeeze_options),
    .infer = squeeze_infer,
    .grad = squeeze_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(squeeze_examples),
};

mst_value mst_squeeze_with(mst_squeeze_options options) {
    return mst_call(NULL, &mst_op_squeeze, 1, &options.src, &options);
}
