/* Reads the operators of ONNX that have graphs inside: If, Loop and Scan.
 *
 * The number of steps must be known while the file is read: then each step is added to the graph (onnx_inner.c). The
 * number of a step is a constant in that step. So indices, sizes and conditions that are computed from it are known
 * too, and shapes may change from step to step. Weights that pass from step to step unchanged stay one variable.
 * mst_scan would keep the graph small, but would allow none of this: in its body the number of the step is known only
 * in a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

/* A loop whose steps are being added. Values are given by their numbers (mst_onnx_add). */
typedef struct loop {
    int64_t body;
    const Muster__OnnxGraph *graph;
    size_t num_carry, num_kept; /* values passed from step to step; values of each step that become outputs */
    int64_t *input, *output;    /* of the body, in the present step */
    int64_t *kept;              /* [steps, num_kept] */
    int64_t steps, count, capacity;
} loop;

/* ---- what is known ---- */

/* Reads V, a single number or truth value. False if it is not known while the file is read. */
static bool known_number(const mst_onnx_value *v, int64_t *out) {
    if (!v->tensor || v->open || mst_tensor_count(v->tensor) != 1) return false;
    const mst_dtype dtype = mst_tensor_dtype(v->tensor);
    if (dtype == MST_I64) *out = *(const int64_t *)mst_tensor_data(v->tensor);
    if (dtype == MST_I32 || dtype == MST_BOOL) *out = (int64_t)mst_tensor_get(v->tensor, 0);
    return dtype == MST_I64 || dtype == MST_I32 || dtype == MST_BOOL;
}

/* Finds the first input of the file with an open size after axis 0, the axis of the examples. If there is none, finds
 * the first input whose axis 0 is open. Returns the axis of that size; -1: there is none. */
static int find_open_input(const mst_onnx_file *file, const char **name) {
    for (int first = 1; first >= 0; first--) {
        for (size_t i = 0; i < mst_onnx_num_inputs(file); i++) {
            mst_dtype dtype;
            mst_shape shape;
            const Muster__OnnxValue *input = mst_onnx_input(file, i);
            if (mst_onnx_spec(input, &dtype, &shape)) continue;
            *name = input->name;
            for (int axis = first; axis < shape.ndim; axis++)
                if (shape.dim[axis] < 0) return axis;
        }
    }
    return -1;
}

static mst_status unknown_steps(const mst_onnx_call *c, const char *what) {
    const char *name = NULL;
    const int axis = find_open_input(c->reader->file, &name);
    if (axis < 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "how many steps it has is not known while the model is read, since %s depends on values: only "
                        "a number of steps that follows from sizes is supported",
                        what);
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "how many steps it has is not known while the model is read, since %s depends on an open size or "
                    "on values: export the model with a number for dimension %d of its input '%.100s'%s",
                    what, axis, name,
                    axis ? ", such as the 20 of keras.Input((20, 3)) in place of keras.Input((None, 3))" : "");
}

/* ---- steps ---- */

static mst_status begin_loop(mst_onnx_call *c, size_t num_carry, size_t num_before, size_t num_more, loop *l) {
    MST_TRY(mst_onnx_inner_of(c, "body", &l->body));
    l->graph = c->reader->file->inner[l->body].graph;
    const size_t outputs = l->graph->n_output;
    if (outputs < num_before + num_carry)
        return MST_FAIL(MST_CORRUPT, "its body has %zu outputs, and must have at least %zu: export the model again",
                        outputs, num_before + num_carry);
    l->num_carry = num_carry;
    l->num_kept = outputs - num_before - num_carry;
    if (c->node->n_output > num_carry + l->num_kept)
        return MST_FAIL(MST_CORRUPT, "it has %zu outputs, and its body has only %zu for them: export the model again",
                        c->node->n_output, num_carry + l->num_kept);
    const size_t inputs = 2 + num_carry + num_more;
    l->input = mst_arena_alloc(&c->reader->arena, (inputs + outputs + 1) * sizeof *l->input);
    if (!l->input) return MST_NO_MEMORY("for a loop");
    l->output = l->input + inputs;
    return MST_OK;
}

/* Adds a step. The outputs of the body are: NUM_BEFORE others; the values for the next step, which are copied to CARRY;
 * the values of this step that become outputs of the loop, which are added to `kept`. */
static mst_status add_step(mst_onnx_reader *r, loop *l, size_t num_inputs, size_t num_before, int64_t *carry) {
    if (mst_onnx_build_inner(r, l->body, l->input, num_inputs, l->output))
        return mst_error_prefix("step %lld", (long long)l->steps);
    memcpy(carry, l->output + num_before, l->num_carry * sizeof *carry);
    MST_TRY(mst_grow(&l->kept, sizeof *l->kept, l->count + (int64_t)l->num_kept, &l->capacity));
    for (size_t i = 0; i < l->num_kept; i++) l->kept[l->count++] = l->output[num_before + l->num_carry + i];
    l->steps++;
    return MST_OK;
}

/* The value of OUTPUT in step I, counted from the last step if REVERSE. */
static int64_t kept_at(const loop *l, size_t output, int64_t i, bool reverse) {
    return l->kept[(reverse ? l->steps - 1 - i : i) * (int64_t)l->num_kept + (int64_t)output];
}

/* Stacks the values of output number OUTPUT of all steps along a new axis AXIS, which counts from the end if it is
 * negative. *AT becomes the number of the result. */
static mst_status stack_kept(mst_onnx_call *c, const loop *l, size_t output, int64_t axis, bool reverse, int64_t *at) {
    mst_onnx_reader *r = c->reader;
    const int64_t first = kept_at(l, output, 0, false);
    mst_onnx_value v = {.rate = r->value[first].rate};
    int where;
    MST_TRY(mst_onnx_axis(axis, mst_onnx_shape_at(r, first).ndim + 1, &where));
    MST_TRY(mst_onnx_count_unrolled(r, l->steps));
    mst_value *part = malloc((size_t)l->steps * sizeof *part);
    if (!part) return MST_NO_MEMORY("for a loop");
    mst_status status = MST_OK;
    for (int64_t i = 0; i < l->steps && !status; i++) {
        const int64_t from = kept_at(l, output, i, reverse);
        status = mst_onnx_plain_at(r, from, &part[i]);
        if (memcmp(&r->value[from].rate, &v.rate, sizeof v.rate) != 0) v.rate = (mst_onnx_rate){1, 1, ++r->num_origins};
    }
    if (!status) v.plain = mst_stack(part, (int)l->steps, where);
    free(part);
    if (!status) status = mst_graph_check(r->graph);
    return status ? status : mst_onnx_add(r, v, at);
}

/* Sets the outputs of the node: CARRY after the last step, then the stacked values of all steps. AXIS and REVERSE have
 * one number for each stacked output; NULL: along axis 0, in the order of the steps. */
static mst_status put_outputs(mst_onnx_call *c, const loop *l, const int64_t *carry, const int64_t *axis,
                              const int64_t *reverse) {
    for (size_t i = 0; i < c->node->n_output; i++) {
        int64_t at = i < l->num_carry ? carry[i] : -1;
        const size_t k = i - l->num_carry;
        if (!mst_onnx_wants(c, i)) continue;
        if (i >= l->num_carry && !l->steps)
            return MST_FAIL(
                MST_UNIMPLEMENTED,
                "it has no steps, so the shape of its output %zu, the values of all steps, is not known: export "
                "the model with at least one step",
                i);
        if (i >= l->num_carry) MST_TRY(stack_kept(c, l, k, axis ? axis[k] : 0, reverse && reverse[k], &at));
        MST_TRY(mst_onnx_name_value(c->reader, c->node->output[i], at));
    }
    return MST_OK;
}

static mst_status add_constant(mst_onnx_reader *r, mst_dtype dtype, mst_shape shape, int64_t number, int64_t *at) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(dtype, shape, &tensor));
    if (dtype == MST_I64)
        *(int64_t *)mst_tensor_data(tensor) = number;
    else
        mst_tensor_set(tensor, 0, (double)number);
    return mst_onnx_add_tensor(r, tensor, at);
}

/* The shape of input I of the body, which is a single number: [] or [1]. */
static mst_shape shape_of_number(const Muster__OnnxGraph *graph, size_t i) {
    const Muster__OnnxType *type = i < graph->n_input ? graph->input[i]->type : NULL;
    const Muster__OnnxShape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    return shape && shape->n_dim == 1 ? MST_SHAPE(1) : MST_SCALAR;
}

static mst_status need_inputs(const mst_onnx_call *c, size_t from) {
    for (size_t i = from; i < c->node->n_input; i++)
        if (!mst_onnx_has(c, i)) return MST_FAIL(MST_CORRUPT, "its input %zu is missing: export the model again", i);
    return MST_OK;
}

/* ---- Loop ---- */

/* Input 0 is the largest number of steps, input 1 the condition for the first step; both are optional. The inputs of
 * the body are the number of the step, the condition, and the carried values. Its outputs are the condition for the
 * next step, the next carried values, and the values that are stacked. Without input 1, conditions are ignored. */
static mst_status run_loop(mst_onnx_call *c, loop *l) {
    mst_onnx_reader *r = c->reader;
    int64_t steps = INT64_MAX, goes_on = 1;
    const bool has_steps = mst_onnx_has(c, 0), has_condition = mst_onnx_has(c, 1);
    int64_t *carry = l->input + 2;
    if (has_steps && !known_number(mst_onnx_value_of(c, 0), &steps)) return unknown_steps(c, "their number");
    if (has_condition && !known_number(mst_onnx_value_of(c, 1), &goes_on)) return unknown_steps(c, "its condition");
    for (size_t i = 0; i < l->num_carry; i++) carry[i] = mst_onnx_number_of(c, 2 + i);
    const int64_t each = 1 + (int64_t)(l->graph->n_node + l->graph->n_input + l->graph->n_output);
    if (has_steps && !has_condition && steps > MST_ONNX_MOST_UNROLLED / each)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it has %lld steps of %lld nodes and values, and at most %d are supported in all loops of a "
                        "model: export the model with fewer steps",
                        (long long)steps, (long long)each, MST_ONNX_MOST_UNROLLED);
    MST_TRY(add_constant(r, MST_BOOL, shape_of_number(l->graph, 1), 1, &l->input[1]));
    while (l->steps < steps && goes_on) {
        MST_TRY(add_constant(r, MST_I64, shape_of_number(l->graph, 0), l->steps, &l->input[0]));
        MST_TRY(add_step(r, l, 2 + l->num_carry, 1, carry));
        if (!has_condition || l->steps == steps) continue;
        if (!known_number(&r->value[l->output[0]], &goes_on)) return unknown_steps(c, "its condition after a step");
    }
    return put_outputs(c, l, carry, NULL, NULL);
}

static mst_status read_loop(mst_onnx_call *c) {
    loop l = {.body = -1};
    if (c->node->n_input < 2)
        return MST_FAIL(MST_CORRUPT, "it has %zu inputs, and must have at least 2: export the model again",
                        c->node->n_input);
    MST_TRY(need_inputs(c, 2));
    MST_TRY(begin_loop(c, c->node->n_input - 2, 1, 0, &l));
    const mst_status status = run_loop(c, &l);
    free(l.kept);
    return status;
}

/* ---- Scan ---- */

/* The numbers of the attribute NAME, one for each of COUNT values; 0 where the attribute is missing. */
static mst_status read_each(mst_onnx_call *c, const char *name, size_t count, int64_t *list) {
    int have;
    memset(list, 0, MST_ONNX_MOST_LIST * sizeof *list);
    MST_TRY(mst_onnx_ints(c, name, list, &have));
    return !have || (size_t)have == count
               ? MST_OK
               : MST_FAIL(MST_CORRUPT, "its attribute %s has %d numbers, and must have %zu: export the model again",
                          name, have, count);
}

/* The first inputs of a Scan are the carried values. The last NUM_PARTS inputs have one part for each step, along an
 * axis. The outputs of the body are the next carried values, then the values that are stacked. */
typedef struct scan {
    size_t num_parts;
    int64_t axis[MST_ONNX_MOST_LIST], reverse[MST_ONNX_MOST_LIST]; /* for each input with parts */
    int64_t kept_axis[MST_ONNX_MOST_LIST], kept_reverse[MST_ONNX_MOST_LIST];
} scan;

static mst_status count_steps(const mst_onnx_call *c, const loop *l, scan *s, int64_t *steps) {
    for (size_t i = 0; i < s->num_parts; i++) {
        int axis;
        const mst_shape shape = mst_onnx_shape(c, l->num_carry + i);
        MST_TRY(mst_onnx_axis(s->axis[i], shape.ndim, &axis));
        s->axis[i] = axis;
        if (shape.dim[axis] < 0) return unknown_steps(c, "their number");
        if (i && shape.dim[axis] != *steps)
            return MST_FAIL(MST_INVALID,
                            "its inputs %zu and %zu have %lld and %lld steps, and must have the same number",
                            l->num_carry, l->num_carry + i, (long long)*steps, (long long)shape.dim[axis]);
        *steps = shape.dim[axis];
    }
    return MST_OK;
}

static mst_status take_parts(mst_onnx_call *c, loop *l, const scan *s, int64_t steps) {
    mst_onnx_reader *r = c->reader;
    for (size_t i = 0; i < s->num_parts; i++) {
        const int64_t from = mst_onnx_number_of(c, l->num_carry + i);
        mst_onnx_value v = {.rate = r->value[from].rate};
        MST_TRY(mst_onnx_part(r, from, (int)s->axis[i], s->reverse[i] ? steps - 1 - l->steps : l->steps, &v.plain));
        MST_TRY(mst_onnx_add(r, v, &l->input[l->num_carry + i]));
    }
    return MST_OK;
}

static mst_status run_scan(mst_onnx_call *c, loop *l, scan *s) {
    int64_t steps = 0;
    if (l->num_kept > MST_ONNX_MOST_LIST)
        return MST_FAIL(MST_UNIMPLEMENTED, "it keeps %zu values of each step, and at most %d are supported",
                        l->num_kept, MST_ONNX_MOST_LIST);
    MST_TRY(read_each(c, "scan_input_axes", s->num_parts, s->axis));
    MST_TRY(read_each(c, "scan_input_directions", s->num_parts, s->reverse));
    MST_TRY(read_each(c, "scan_output_axes", l->num_kept, s->kept_axis));
    MST_TRY(read_each(c, "scan_output_directions", l->num_kept, s->kept_reverse));
    MST_TRY(count_steps(c, l, s, &steps));
    for (size_t i = 0; i < l->num_carry; i++) l->input[i] = mst_onnx_number_of(c, i);
    while (l->steps < steps) {
        MST_TRY(take_parts(c, l, s, steps));
        MST_TRY(add_step(c->reader, l, l->num_carry + s->num_parts, 0, l->input));
    }
    return put_outputs(c, l, l->input, s->kept_axis, s->kept_reverse);
}

static mst_status read_scan(mst_onnx_call *c) {
    loop l = {.body = -1};
    scan s = {.num_parts = 0};
    const int64_t parts = mst_onnx_int(c, "num_scan_inputs", 0);
    if (parts < 1 || parts > MST_ONNX_MOST_LIST || (size_t)parts > c->node->n_input)
        return MST_FAIL(MST_INVALID,
                        "its attribute num_scan_inputs is %lld, and it has %zu inputs: 1 to %d of these can be scanned",
                        (long long)parts, c->node->n_input, MST_ONNX_MOST_LIST);
    MST_TRY(need_inputs(c, 0));
    s.num_parts = (size_t)parts;
    MST_TRY(begin_loop(c, c->node->n_input - s.num_parts, 0, s.num_parts, &l));
    const mst_status status = run_scan(c, &l, &s);
    free(l.kept);
    return status;
}

/* ---- If ---- */

static mst_status read_if(mst_onnx_call *c) {
    mst_onnx_reader *r = c->reader;
    int64_t condition, then_graph, else_graph;
    MST_TRY(mst_onnx_inner_of(c, "then_branch", &then_graph));
    MST_TRY(mst_onnx_inner_of(c, "else_branch", &else_graph));
    if (!mst_onnx_has(c, 0)) return MST_FAIL(MST_CORRUPT, "its input 0 is missing: export the model again");
    if (!known_number(mst_onnx_value_of(c, 0), &condition))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "its condition '%.100s' is not known while the model is read: only a constant, or one that "
                        "follows from fixed sizes, is supported: export the model without the condition",
                        c->node->input[0]);
    const int64_t chosen = condition ? then_graph : else_graph;
    const size_t outputs = r->file->inner[chosen].graph->n_output;
    if (c->node->n_output > outputs)
        return MST_FAIL(MST_CORRUPT, "it has %zu outputs, and its graph has %zu: export the model again",
                        c->node->n_output, outputs);
    int64_t *output = mst_arena_alloc(&r->arena, (outputs + 1) * sizeof *output);
    if (!output) return MST_NO_MEMORY("for a model");
    MST_TRY(mst_onnx_build_inner(r, chosen, NULL, 0, output));
    for (size_t i = 0; i < c->node->n_output; i++)
        if (mst_onnx_wants(c, i)) MST_TRY(mst_onnx_name_value(r, c->node->output[i], output[i]));
    return MST_OK;
}

const mst_onnx_op mst_onnx_loop_ops[] = {
    {"If", .read = read_if, .has_graphs = true},
    {"Loop", .read = read_loop, .has_graphs = true},
    {"Scan", .read = read_scan, .has_graphs = true},
    {0},
};
