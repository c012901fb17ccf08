#include "bench/bare_convolution.h"

#include <string.h>

#include "bench/bare_primitive.h"
#include "kernel/onednn/base/description.h"

enum { SRC, WEIGHTS, DST, OPERANDS };

/* A primitive of a convolution. */
typedef struct what {
    const bare_convolution *convolution;
    bare_kind kind;
    dnnl_data_type_t type;
} what;

#if DNNL_VERSION_MAJOR >= 3

static dnnl_status_t describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, bare_kind kind, mst_description *d,
                              const dnnl_dim_t *stride, const dnnl_dim_t *before, const dnnl_dim_t *after) {
    const dnnl_dims_t none = {0};
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_status_t status =
        dnnl_convolution_forward_primitive_desc_create(&forward, engine, dnnl_forward_training, direct, d[SRC],
                                                       d[WEIGHTS], NULL, d[DST], stride, none, before, after, NULL);
    if (kind == BARE_FORWARD) {
        *out = forward;
        return status;
    }
    if (!status && kind == BARE_SRC_GRAD)
        status = dnnl_convolution_backward_data_primitive_desc_create(out, engine, direct, d[SRC], d[WEIGHTS], d[DST],
                                                                      stride, none, before, after, forward, NULL);
    else if (!status)
        status = dnnl_convolution_backward_weights_primitive_desc_create(
            out, engine, direct, d[SRC], d[WEIGHTS], NULL, d[DST], stride, none, before, after, forward, NULL);
    if (forward) dnnl_primitive_desc_destroy(forward);
    return status;
}

#else

static dnnl_status_t describe(dnnl_primitive_desc_t *out, dnnl_engine_t engine, bare_kind kind, mst_description *d,
                              const dnnl_dim_t *stride, const dnnl_dim_t *before, const dnnl_dim_t *after) {
    const dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    if (kind == BARE_FORWARD)
        status = dnnl_convolution_forward_desc_init(&desc, dnnl_forward_training, direct, &d[SRC], &d[WEIGHTS], NULL,
                                                    &d[DST], stride, before, after);
    else if (kind == BARE_SRC_GRAD)
        status = dnnl_convolution_backward_data_desc_init(&desc, direct, &d[SRC], &d[WEIGHTS], &d[DST], stride, before,
                                                          after);
    else
        status = dnnl_convolution_backward_weights_desc_init(&desc, direct, &d[SRC], &d[WEIGHTS], NULL, &d[DST], stride,
                                                             before, after);
    return status ? status : dnnl_primitive_desc_create(out, &desc, NULL, engine, NULL);
}

#endif

int64_t bare_convolution_rows(const bare_convolution *c) {
    return (c->height + c->top + c->bottom - c->window_height) / c->stride + 1;
}

int64_t bare_convolution_columns(const bare_convolution *c) {
    return (c->width + c->left + c->right - c->window_width) / c->stride + 1;
}

int64_t bare_convolution_outputs(const bare_convolution *c) {
    return c->n * c->filters * bare_convolution_rows(c) * bare_convolution_columns(c);
}

/* In the layouts that the primitive likes best. */
static dnnl_status_t describe_any(dnnl_primitive_desc_t *out, dnnl_engine_t engine, const void *primitive) {
    const what *w = primitive;
    const bare_convolution *c = w->convolution;
    const dnnl_dim_t src[] = {c->n, c->channels, c->height, c->width};
    const dnnl_dim_t dst[] = {c->n, c->filters, bare_convolution_rows(c), bare_convolution_columns(c)};
    const dnnl_dim_t weights[] = {c->groups, c->filters / c->groups, c->channels / c->groups, c->window_height,
                                  c->window_width};
    const dnnl_dims_t stride = {c->stride, c->stride}, before = {c->top, c->left}, after = {c->bottom, c->right};
    const int first = c->groups == 1;
    mst_description d[OPERANDS];
    memset(d, 0, sizeof d);
    dnnl_status_t status = mst_describe_any(&d[SRC], w->type, 4, src);
    if (!status) status = mst_describe_any(&d[WEIGHTS], w->type, 5 - first, weights + first);
    if (!status) status = mst_describe_any(&d[DST], w->type, 4, dst);
    if (!status) status = describe(out, engine, w->kind, d, stride, before, after);
    for (int i = 0; i < OPERANDS; i++) mst_forget(&d[i]);
    return status;
}

double bare_convolution_seconds(const bare_convolution *convolution, bare_kind kind, dnnl_data_type_t type,
                                double seconds, bare_memory *memory) {
    static const bare_operand operands[][OPERANDS + 1] = {
        /* The output is kept for the gradients, where nothing was for long. */
        [BARE_FORWARD] = {{.argument = DNNL_ARG_SRC, .just_touched = true},
                          {.argument = DNNL_ARG_WEIGHTS},
                          {.argument = DNNL_ARG_DST, .written = true}},
        [BARE_SRC_GRAD] = {{.argument = DNNL_ARG_DIFF_SRC, .written = true, .just_touched = true},
                           {.argument = DNNL_ARG_WEIGHTS},
                           {.argument = DNNL_ARG_DIFF_DST, .just_touched = true}},
        [BARE_WEIGHTS_GRAD] = {{.argument = DNNL_ARG_SRC},
                               {.argument = DNNL_ARG_DIFF_WEIGHTS, .written = true},
                               {.argument = DNNL_ARG_DIFF_DST, .just_touched = true}},
    };
    return bare_primitive_seconds(describe_any, &(what){convolution, kind, type}, operands[kind], seconds, memory);
}
