/* Clipping of gradients by norm, a part of the lowering of apply_gradients. clip_norm clips by the norm of each
 * variable's gradient, clip_global_norm by the norm of all gradients together. Both need all gradients before the first
 * weight is written:
 *
 *    update (norms)   for all variables of a set: sum of squares of each unit's gradient, with its penalty
 *    clip_factors     computes from these the factor of each variable's gradient
 *    update (step)    multiplies each gradient by its factor
 *
 * clip_value needs only the element itself, so the update's kernel applies it directly (kernel/cpu/update_unit.inc).
 * The arithmetic of all three is in rule/gradient_clip.c. */
#include "base/no_memory.h"
#include "op/op.h"
#include "plan/update_lowering.h"
#include "rule/gradient_clip.h"

/* Where the sums of squares of a variable's units are. */
typedef struct clip_norms {
    int32_t source;
    int64_t first, count;
} clip_norms;

/* clip_factors: computes the factor of each variable's gradient from the sums of squares of all units. */
typedef struct clip_options {
    int zero_;
    const mst_optimizer *optimizer;
    int32_t num_variables;
    const clip_norms *norms; /* by variable */
} clip_options;

/* ---- clip_factors: f64 [units of some variables], ... -> f64 [variables] ---- */

static mst_status compute_factors(const mst_kernel_args *a) {
    const clip_options *o = a->options;
    double *squares = a->dst[0].data;
    for (int32_t v = 0; v < o->num_variables; v++) {
        const double *unit = (const double *)a->src[o->norms[v].source].data + o->norms[v].first;
        squares[v] = 0;
        for (int64_t u = 0; u < o->norms[v].count; u++) squares[v] += unit[u];
    }
    mst_clip_factors(o->optimizer, squares, o->num_variables, a->dst[0].data);
    return MST_OK;
}

static const mst_op clip_factors = {.name = "clip_factors",
                                    .num_src = MST_VARIADIC,
                                    .num_dst = 1,
                                    .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                    .options_size = sizeof(clip_options),
                                    .reference = compute_factors};

/* ---- lowering ---- */

mst_status mst_lowering_clipping(mst_lowering *l, mst_update_local *locals, int32_t num_locals) {
    const int32_t num = l->options->num_variables;
    clip_norms *norms = mst_lowering_alloc(l, (size_t)num, sizeof *norms);
    int32_t *src = mst_lowering_alloc(l, (size_t)l->num_sets, sizeof *src), count = 0, factors;
    if (!norms || !src) return MST_NO_MEMORY("for an update");
    for (int32_t i = 0; i < num_locals; i++) {
        if (!locals[i].first_of_set) continue;
        int64_t units = 0;
        for (int32_t k = 0; k < locals[i].options.num_variables; k++) {
            const int32_t v = locals[i].variable[k].number;
            norms[v] = (clip_norms){count, units, mst_num_units(*mst_lowering_shape(l, &l->variables[v]))};
            units += norms[v].count;
        }
        MST_TRY(mst_lowering_alone(l, &locals[i], MST_UPDATE_NORMS, "norms", &src[count]));
        if (l->parts) MST_TRY(mst_lowering_share_norms(l, &locals[i], &src[count]));
        count++;
    }
    const clip_options options = {.optimizer = &l->options->optimizer, .num_variables = num, .norms = norms};
    const mst_spec spec = {.dtype = MST_F64, .shape = mst_shape_make(1, (const int64_t[]){num})};
    const mst_lowered clip = {&clip_factors, "clip", &options, count,
                              src,           1,      &spec,    mst_plan_number_device(l->plan, locals[0].device[0])};
    MST_TRY(mst_lowering_node(l, &clip, &factors));
    for (int32_t i = 0; i < num_locals; i++) {
        locals[i].options.factors = (int32_t)locals[i].num_src;
        MST_TRY(mst_lowering_push(&locals[i], factors));
    }
    return MST_OK;
}
