/** group_view: src with its channels in groups: [n, ..., channels] seen as [n, rows, groups, channels / groups]
 *
 *  src     two dimensions or more
 *  groups  must divide the channels
 *  dst     the same memory as src
 */
#include "op/norm/group_view.h"

#include "op/list.h"
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct group_view_options {
    int zero_;
    int32_t groups;
} group_view_options;

static const mst_field group_view_fields[] = {
    MST_FIELD_I32(group_view_options, groups, 1, 1, 1000000000, "of channels"),
    MST_FIELD_END,
};

static mst_status group_view_infer(mst_infer *c) {
    const mst_shape *src = &c->src[0].shape;
    const int32_t groups = ((const group_view_options *)c->options)->groups;
    if (src->ndim < 2) return mst_infer_fail(c, "the source needs at least two dimensions");
    const int64_t channels = src->dim[src->ndim - 1];
    int64_t rows = 1;
    if (channels % groups && channels >= 0)
        return mst_infer_fail(c, "%lld channels are no multiple of %d groups", (long long)channels, (int)groups);
    for (int i = 1; i < src->ndim - 1; i++) rows = rows < 0 || src->dim[i] < 0 ? -1 : rows * src->dim[i];
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype,
                           .shape = MST_SHAPE(src->dim[0], rows, groups, channels < 0 ? -1 : channels / groups)};
    return MST_OK;
}

static mst_value group_view_grad(mst_grad *c, int i) {
    (void)i;
    return mst_reshape_like(c->ddst[0], c->src[0]);
}

static void group_view_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_reshape(l, l->src[0], l->dst_spec[0].shape);
}

static const mst_example group_view_examples[] = {
    {.name = "two groups",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {1, 2, 4}, .value = (const double[]){1, 0, 1, 0, 0, 1, 0, 1}}},
     .options = &(const group_view_options){.groups = 2},
     .expect = {(const double[]){1, 0, 1, 0, 0, 1, 0, 1}}},
    {.name = "one group", .num_src = 1, .src = {{.ndim = 2, .dim = {2, 3}}}},
    {.name = "channels are no multiple",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const group_view_options){.groups = 2},
     .fails = MST_INVALID},
    {.name = "a row", .num_src = 1, .src = {{.ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_group_view = {
    .name = "group_view",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .fields = group_view_fields,
    .options_size = sizeof(group_view_options),
    .infer = group_view_infer,
    .grad = group_view_grad,
    .reference = mst_view_copy,
    .lower = group_view_lower,
    MST_EXAMPLES(group_view_examples),
};

mst_value mst_group_view(mst_value src, int32_t groups) {
    return mst_call(NULL, &mst_op_group_view, 1, &src, &(group_view_options){.groups = groups});
}
