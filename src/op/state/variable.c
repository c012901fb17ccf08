/** variable: a value that is kept from step to step
 *
 *  name     full name; not prefixed by name scopes
 *  initial  the first value, of known shape; mst_session_init_variables assigns it
 *  dst      like initial: the storage itself, not a copy
 *
 *  A reader sees the value of its phase: muster/graph.h, "what a run reads and writes".
 *  Variables are trainable by default. All variables but hidden ones are in the collection MST_VARIABLES; those that
 *  are trainable are also in MST_TRAINABLE.
 */
#ifdef MST_OP_HEADER
typedef struct mst_variable_options {
    int zero_;
    mst_graph *graph;
    const char *name;
    mst_value initial;
    bool not_trainable;
    bool hidden;           /**< in no collection, like slots and counters */
    const char *container; /**< of the entry in the store; default "" */
    int kind;              /**< mst_state_kind of the entry in the store */
    const char *mirrored;  /**< devices that keep a copy each, "/cpu:0,/cpu:1"; NULL: one value on one device */
    int join;              /**< mst_join_kind: how the values that replicas assign are joined; default: their mean */
    const char *average;   /**< name of the variable that keeps the moving average; NULL: there is none */
    float l1, l2;          /**< penalty: l1 * sum |w| + l2 / 2 * sum w^2; Keras' L2(x) is .l2 = 2 * x */
    mst_dtype dtype;       /**< set by the op */
    mst_shape shape;       /**< set by the op */
    mst_constraint constraint; /**< applied after each step that trains the variable: muster/constraint.h */
} mst_variable_options;
/** How the values that the replicas of a step assign to a variable become one: see mst_replica. */
typedef enum mst_join_kind {
    MST_JOIN_DEFAULT = 0,
    MST_JOIN_MEAN,
    MST_JOIN_SUM,
    MST_JOIN_FIRST,
    MST_JOIN_ADD /**< their sum is added to the variable */
} mst_join_kind;
MST_API mst_value mst_variable_with(mst_variable_options options);
#define mst_variable(...) mst_variable_with(MST_NAMED_3(mst_variable_options, graph, name, initial, __VA_ARGS__))
/** True if VALUE is the output of a variable. */
MST_API bool mst_is_variable(mst_value value);
/** Sets *L1 and *L2 to the penalty factors of a variable, 0 if it has none. */
MST_API void mst_variable_penalty(mst_value variable, float *l1, float *l2);
/** The constraint of a variable; of kind MST_CONSTRAINT_NONE if it has none. */
MST_API mst_constraint mst_variable_constraint(mst_value variable);
/** Replaces the constraint of VARIABLE. To be called before the first run that trains the variable. If the variable
 *  cannot have this constraint, the graph gets the error MST_INVALID. */
MST_API void mst_variable_constrain(mst_value variable, mst_constraint constraint);
/** Keeps a copy of VARIABLE on each of the devices that DEVICES names ("/cpu:0,/cpu:1"; NULL: one value on one device).
 *  To be called before the first run with the variable. */
MST_API void mst_variable_mirror(mst_value variable, const char *devices);
/** The value that the variable begins with. */
MST_API mst_value mst_variable_initial(mst_value variable);
/** Collection of the assignments that give variables their first values. */
#define MST_INITIALIZERS "initializers"
#endif
#include <stdio.h>

#include "base/argument.h"
#include "graph/graph.h"
#include "muster/store.h"
#include "op/op.h"
#include "op/state/variable.h"
#include "rule/constraint.h"

static const char *const joins[] = {"default", "mean", "sum", "first", "add", NULL};

static const mst_field variable_fields[] = {
    MST_FIELD_DTYPE(mst_variable_options, dtype, 0, "element type"),
    MST_FIELD_SHAPE(mst_variable_options, shape, "shape"),
    MST_FIELD_BOOL(mst_variable_options, not_trainable, "no gradient descent for it"),
    MST_FIELD_BOOL(mst_variable_options, hidden, "in no collection"),
    MST_FIELD_STRING(mst_variable_options, container, "of its entry in the store"),
    MST_FIELD_ENUM(mst_variable_options, kind, 0, mst_state_kind_names, "what it is for"),
    MST_FIELD_STRING(mst_variable_options, mirrored, "devices that keep a copy each"),
    MST_FIELD_ENUM(mst_variable_options, join, 0, joins, "how the values of replicas become one"),
    MST_FIELD_STRING(mst_variable_options, average, "the variable that keeps its moving average"),
    MST_FIELD_VALUE(mst_variable_options, initial, "its first value"),
    MST_FIELD_F32(mst_variable_options, l1, 0, 0, 0, "penalty: l1 * sum |w|"),
    MST_FIELD_F32(mst_variable_options, l2, 0, 0, 0, "penalty: l2 / 2 * sum w^2"),
    MST_CONSTRAINT_OP_FIELDS(mst_variable_options, constraint),
    MST_FIELD_END,
};

static mst_status variable_infer(mst_infer *c) {
    const mst_variable_options *o = c->options;
    if (mst_shape_count(o->shape) < 0) return mst_infer_fail(c, "the shape of a variable must be known");
    if (mst_constraint_check(&o->constraint, o->dtype, o->shape)) return mst_error_prefix("variable '%s'", c->name);
    c->dst[0] = (mst_spec){.dtype = o->dtype, .shape = o->shape};
    return MST_OK;
}

static mst_status variable_reference(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_INTERNAL, "storage does not run");
}

const mst_op mst_op_variable = {
    .name = "variable",
    .tf_form = "VariableV2(; dtype=dtype shape=shape container=container shared_name='')",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_VARIABLE | MST_OP_STATEFUL,
    .fields = variable_fields,
    .options_size = sizeof(mst_variable_options),
    .infer = variable_infer,
    .reference = variable_reference,
};

mst_value mst_variable_with(mst_variable_options options) {
    mst_graph *graph = options.graph ? options.graph : mst_value_graph(options.initial);
    if (mst_value_is_none(options.initial)) {
        if (mst_value_graph(options.initial)) return options.initial;
        return mst_value_fail(graph, MST_INVALID, "variable '%s': no initial value", options.name ? options.name : "");
    }
    mst_spec spec = mst_value_spec(options.initial);
    options.graph = graph;
    options.dtype = spec.dtype;
    options.shape = spec.shape;
    mst_value variable = MST_NONE;
    mst_name_scope_enter(graph, "");
    mst_control_clear(graph);
    const mst_node *taken = options.name ? mst_graph_find(graph, options.name) : NULL;
    if (taken && (taken->op->flags & MST_OP_VARIABLE)) /* a name of another op is no error: NAME_1 */
        variable = mst_value_fail(
            graph, MST_EXISTS, "variable '%s': there is one already; mst_get_variable in a scope with reuse shares it",
            options.name);
    else
        variable = mst_call_named(graph, &mst_op_variable, options.name, 0, NULL, &options);
    if (!mst_value_is_none(variable)) {
        char name[512];
        snprintf(name, sizeof name, "%s/assign", mst_value_name(variable));
        mst_collect(graph, MST_INITIALIZERS, mst_rename(mst_assign(variable, options.initial), name));
    }
    mst_name_scope_pop(graph);
    if (!options.hidden) {
        mst_collect(graph, MST_VARIABLES, variable);
        if (!options.not_trainable) mst_collect(graph, MST_TRAINABLE, variable);
    }
    return variable;
}

bool mst_is_variable(mst_value value) {
    return !mst_value_is_none(value) && (mst_node_op(value.node)->flags & MST_OP_VARIABLE);
}

void mst_variable_mirror(mst_value variable, const char *devices) {
    if (!mst_is_variable(variable)) return;
    mst_graph *graph = mst_value_graph(variable);
    mst_variable_options *o = variable.node->options;
    const char *copy = devices ? mst_arena_string(&graph->arena, devices) : NULL;
    if (devices && !copy)
        MST_VALUE_NO_MEMORY(graph, "for the devices of a variable");
    else
        o->mirrored = copy;
}

void mst_variable_set_average(mst_value variable, mst_value average) {
    mst_variable_options *o = variable.node->options;
    o->average = mst_value_name(average);
}

mst_value mst_variable_initial(mst_value variable) {
    if (!mst_is_variable(variable)) return MST_NONE;
    return ((const mst_variable_options *)mst_node_options(variable.node))->initial;
}

void mst_variable_penalty(mst_value variable, float *l1, float *l2) {
    if (MST_IS_NULL(l1) || MST_IS_NULL(l2)) return;
    *l1 = *l2 = 0;
    if (!mst_is_variable(variable)) return;
    const mst_variable_options *o = mst_node_options(variable.node);
    *l1 = o->l1;
    *l2 = o->l2;
}

mst_constraint mst_variable_constraint(mst_value variable) {
    if (!mst_is_variable(variable)) return (mst_constraint){.kind = MST_CONSTRAINT_NONE};
    return ((const mst_variable_options *)mst_node_options(variable.node))->constraint;
}

void mst_variable_constrain(mst_value variable, mst_constraint constraint) {
    if (!mst_is_variable(variable)) return;
    mst_variable_options *o = variable.node->options;
    if (mst_constraint_check(&constraint, o->dtype, o->shape)) {
        mst_graph_keep_error(mst_value_graph(variable));
        return;
    }
    o->constraint = constraint;
}
