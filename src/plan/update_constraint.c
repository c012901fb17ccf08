/* Constraints of variables, a part of the lowering of apply_gradients. On CPUs a node comes after the update:
 *
 *    update (step)    all units: new weights, slots and averages
 *    constrain        the weights that have a constraint, in all copies, and their masters
 *
 * A norm may need elements of all units, which several devices compute. So the node `constrain` waits for the whole
 * update. It is another writer of the same phase, made after the update (plan/commit.c), so no reader sees the weights
 * in between. All devices of the domain run it, each for its part of the items (rule/constraint.h). Both nodes write
 * behind the gate, and neither can fail. The bits do not depend on which device does an item.
 *
 * Each domain, and each task, constrains its own copies. All have the same new weights, and so get the same values. On
 * devices that compile the program of the update applies the constraints (op/state/update_hlo.c). */
#include "base/bf16.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "op/op.h"
#include "plan/update_lowering.h"

/* A variable, and where its copies and its master are among the sources of the node. */
typedef struct constrained {
    const mst_constraint_form *form;
    int32_t weight; /* the first of num_copies */
    int32_t master; /* -1: none */
} constrained;

typedef struct constrain_options {
    int zero_;
    int32_t num_variables, num_copies;
    const constrained *variable;
} constrain_options;

/* ---- constrain: copies of the variables, masters; all are written ---- */

typedef struct work {
    const mst_kernel_args *args;
    const constrained *variable;
    int64_t first; /* item */
} work;

static mst_status constrain_items(void *context, int64_t begin, int64_t end, int thread) {
    const work *w = context;
    const constrain_options *o = w->args->options;
    const constrained *v = w->variable;
    const int32_t own = w->args->part < o->num_copies ? w->args->part : 0;
    const mst_array *copy = &w->args->src[v->weight], *from = &copy[own];
    (void)thread;
    begin += w->first;
    end += w->first;
    if (v->master >= 0) from = &w->args->src[v->master];
    if (from->dtype == MST_F64)
        mst_constrain_f64(v->form, begin, end, from->data);
    else
        mst_constrain_f32(v->form, begin, end, from->data);
    for (int32_t c = 0; c < o->num_copies; c++)
        if (v->master >= 0)
            mst_constraint_round(v->form, begin, end, from->data, copy[c].data);
        else if (c != own)
            mst_constraint_copy(v->form, begin, end, from->data, copy[c].data, mst_dtype_size(from->dtype));
    return MST_OK;
}

static mst_status constrain(const mst_kernel_args *a) {
    enum { ELEMENTS = 1 << 14 }; /* a thread takes as many items at a time as have about this many elements */
    const constrain_options *o = a->options;
    for (int32_t k = 0; k < o->num_variables; k++) {
        const mst_constraint_form *form = o->variable[k].form;
        work w = {.args = a, .variable = &o->variable[k], .first = mst_part_begin(form->items, a->num_parts, a->part)};
        const int64_t count = mst_part_begin(form->items, a->num_parts, a->part + 1) - w.first;
        const int64_t elements = form->rows * form->run / form->blocks;
        if (count) MST_TRY(mst_parallel(a, count, 1 + ELEMENTS / (elements + 1), constrain_items, &w));
    }
    return MST_OK;
}

static bool constrain_writes(const void *options, int num_src, int i) {
    (void)options, (void)num_src, (void)i;
    return true;
}

static const mst_op op_constrain = {.name = "constrain",
                                    .num_src = MST_VARIADIC,
                                    .num_dst = 0,
                                    .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                    .options_size = sizeof(constrain_options),
                                    .writes = constrain_writes,
                                    .reference = constrain};

/* ---- lowering ---- */

mst_status mst_lowering_find_constraint(mst_lowering *l, const mst_variable_update *v,
                                        const mst_constraint_form **out) {
    const mst_constraint *constraint = &mst_lowering_variable(l, v)->constraint;
    *out = NULL;
    if (constraint->kind == MST_CONSTRAINT_NONE) return MST_OK;
    mst_constraint_form *form = mst_lowering_alloc(l, 1, sizeof *form);
    if (!form) return MST_NO_MEMORY("for an update");
    mst_constraint_form_make(constraint, *mst_lowering_shape(l, v), form);
    if (form->items) *out = form;
    return MST_OK;
}

mst_status mst_lowering_constrain(mst_lowering *l, const mst_update_local *x, int32_t step) {
    const int32_t num = x->options.num_variables, copies = x->options.num_copies;
    constrain_options options = {.num_copies = copies};
    for (int32_t k = 0; k < num; k++) options.num_variables += x->variable[k].constraint != NULL;
    if (!options.num_variables || mst_plan_compiles(l->plan, &l->plan->node[step])) return MST_OK;
    constrained *variable = mst_lowering_alloc(l, (size_t)options.num_variables, sizeof *variable);
    int32_t *src = mst_lowering_alloc(l, (size_t)options.num_variables * ((size_t)copies + 1), sizeof *src);
    if (!variable || !src) return MST_NO_MEMORY("for an update");
    options.variable = variable;
    int num_src = 0;
    for (int32_t k = 0; k < num; k++) {
        const mst_update_variable *v = &x->variable[k];
        if (!v->constraint) continue;
        *variable = (constrained){.form = v->constraint, .weight = num_src, .master = -1};
        for (int32_t c = 0; c < copies; c++) src[num_src++] = x->src[v->weight + c];
        if (v->master >= 0) {
            variable->master = num_src;
            src[num_src++] = x->src[v->master];
        }
        variable++;
    }
    const mst_lowered node = {.op = &op_constrain,
                              .name = "constrain",
                              .options = &options,
                              .num_src = num_src,
                              .src = src,
                              .device = x->device[0]};
    int32_t none;
    MST_TRY(mst_lowering_node(l, &node, &none));
    const int32_t added = (int32_t)l->plan->num_nodes - 1; /* it has no output */
    l->plan->node[added].group = x->group;
    return mst_lowering_part(l, added);
}
