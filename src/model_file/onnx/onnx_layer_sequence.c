/* The axes of sources and outputs of recurrent operators. In ONNX the source is [steps, n, features], and the output
 * [steps, directions, n, units]. Programs that write files add nodes that move and cut these axes:
 *
 *      Keras' LSTM(5) by tf2onnx    Transpose 1 0 2, LSTM, Squeeze 1, Slice -1: along axis 0, Squeeze 0
 *      PyTorch's, two directions    Transpose 1 0 2, LSTM, Transpose 0 2 1 3, Reshape 0 0 -1, Transpose 1 0 2
 *
 * Each of these nodes changes the description of the value (mst_onnx_sequence). A layer is made only when the axes are
 * those of a layer. */
#include <string.h>

#include "model_file/onnx/onnx_layers.h"
#include "muster/layers.h"

static int find_axis(const mst_onnx_sequence *s, mst_onnx_sequence_axis axis) {
    int i = 0;
    while (i < s->ndim && s->axis[i] != axis) i++;
    return i < s->ndim ? i : -1;
}

static void remove_axis(mst_onnx_sequence *s, int at) {
    s->ndim--;
    for (int i = at; i < s->ndim; i++) s->axis[i] = s->axis[i + 1];
}

/* Which steps S has. MST_ONNX_END: S has one direction, and only the step that this direction computes last. */
static mst_onnx_steps steps_of(const mst_onnx_layers *l, const mst_onnx_sequence *s) {
    if (s->cell < 0 || (mst_onnx_cell_is_double(l, s->cell) && s->direction < 0)) return s->steps;
    const bool backwards = s->direction == 1 || mst_onnx_cell_is_backwards(l, s->cell);
    return s->steps == (backwards ? MST_ONNX_FIRST_STEP : MST_ONNX_LAST_STEP) ? MST_ONNX_END : s->steps;
}

/* Whether AXIS of S has one element. */
static bool has_one(const mst_onnx_layers *l, const mst_onnx_sequence *s, mst_onnx_sequence_axis axis) {
    if (axis == MST_ONNX_AXIS_STEPS) return s->steps != MST_ONNX_ALL_STEPS;
    return axis == MST_ONNX_AXIS_DIRECTIONS && (s->direction >= 0 || !mst_onnx_cell_is_double(l, s->cell));
}

bool mst_onnx_sequence_has_directions(const mst_onnx_layer_value *v) {
    return find_axis(&v->sequence, MST_ONNX_AXIS_DIRECTIONS) >= 0;
}

/* ---- layers ---- */

static mst_status take_element(mst_output *out, int64_t index, int axis) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &index, &tensor));
    *out = mst_take(*out, tensor, .axis = axis);
    mst_tensor_release(tensor);
    return MST_OK;
}

static mst_status make_layer(mst_onnx_layers *l, const mst_onnx_sequence *s, mst_onnx_layer_value *v) {
    const mst_onnx_steps steps = steps_of(l, s);
    if (mst_onnx_cell_is_double(l, s->cell) && s->direction >= 0)
        return MST_FAIL(MST_UNIMPLEMENTED, "one direction of a recurrent operator with two is no layer of Keras");
    if (mst_onnx_cell_is_backwards(l, s->cell) && steps != MST_ONNX_END)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "a recurrent operator from the last step to the first becomes a layer only for its end: layers "
                        "of Keras give the steps of that direction in the other order");
    v->channels = mst_onnx_cell_features(l, s->cell);
    MST_TRY(mst_onnx_cell_output(l, s->cell, steps != MST_ONNX_END, &v->out));
    if (steps == MST_ONNX_FIRST_STEP || steps == MST_ONNX_LAST_STEP)
        return take_element(&v->out, steps == MST_ONNX_FIRST_STEP ? 0 : -1, 1);
    return MST_OK;
}

/* Whether S has the axes of a layer's output: first the examples, then the units, and also the steps if they are all
 * left. *SECOND: in ONNX the units come before the steps, as channels do. */
static bool is_layer(const mst_onnx_layers *l, const mst_onnx_sequence *s, bool *second) {
    const bool all_steps = s->steps == MST_ONNX_ALL_STEPS;
    const int units = find_axis(s, MST_ONNX_AXIS_UNITS), steps = find_axis(s, MST_ONNX_AXIS_STEPS);
    *second = units < steps;
    return s->ndim == 2 + all_steps && s->axis[0] == MST_ONNX_AXIS_EXAMPLES && units > 0 && (steps > 0) == all_steps &&
           (s->cell < 0 || !mst_onnx_cell_is_double(l, s->cell) || s->joined || s->direction >= 0);
}

mst_status mst_onnx_sequence_settle(mst_onnx_layers *l, mst_onnx_layer_value *v) {
    const mst_onnx_sequence s = v->sequence;
    bool second;
    if (v->merged)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "a Reshape before it makes one example of each step or pixel, and no layer of Keras does: only "
                        "dense layers and activations may follow, and a Reshape back");
    if (!s.ndim && !v->num_stacked) return MST_OK;
    if (v->num_stacked || !is_layer(l, &s, &second))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "a value has the axes of a recurrent operator, and layers take [n, steps, features]: only "
                        "operators that move and join these axes take it");
    *v = (mst_onnx_layer_value){.out = v->out, .ndim = s.ndim, .channels = v->channels, .last = second};
    return s.cell < 0 ? MST_OK : make_layer(l, &s, v);
}

/* ---- operators ---- */

mst_status mst_onnx_sequence_transpose(mst_onnx_layer_call *c, mst_onnx_layer_value x, mst_axes perm) {
    mst_onnx_sequence *s = &x.sequence, from;
    if (!s->ndim) {
        *s = (mst_onnx_sequence){.ndim = 3,
                                 .axis = {MST_ONNX_AXIS_EXAMPLES, MST_ONNX_AXIS_STEPS, MST_ONNX_AXIS_UNITS},
                                 .cell = -1,
                                 .direction = -1};
        if (x.last) s->axis[1] = MST_ONNX_AXIS_UNITS, s->axis[2] = MST_ONNX_AXIS_STEPS;
    }
    from = *s;
    for (int i = 0; i < s->ndim; i++) s->axis[i] = from.axis[perm.axis[i]];
    return mst_onnx_layer_put(c, x);
}

mst_status mst_onnx_sequence_squeeze(mst_onnx_layer_call *c, mst_onnx_layer_value x, unsigned axes) {
    for (int i = x.sequence.ndim - 1; i >= 0; i--) {
        if (!(axes >> i & 1)) continue;
        if (!has_one(c->layers, &x.sequence, x.sequence.axis[i]))
            return MST_FAIL(MST_UNIMPLEMENTED, "it removes axis %d, which may have several elements", i);
        remove_axis(&x.sequence, i);
    }
    x.ndim = x.sequence.ndim;
    return mst_onnx_layer_put(c, x);
}

/* Reduces AXIS of S to its element AT. Negative numbers count from the end. */
static mst_status pick(const mst_onnx_layers *l, mst_onnx_sequence *s, int axis, int64_t at) {
    if (has_one(l, s, s->axis[axis]) && (at == 0 || at == -1)) return MST_OK;
    if (s->axis[axis] == MST_ONNX_AXIS_DIRECTIONS && s->cell >= 0 && at >= -2 && at <= 1 &&
        !has_one(l, s, s->axis[axis])) {
        s->direction = at < 0 ? (int)at + 2 : (int)at;
        s->steps = steps_of(l, s);
        return MST_OK;
    }
    if (s->axis[axis] == MST_ONNX_AXIS_STEPS && s->cell >= 0 && (at == 0 || at == -1)) {
        s->steps = at ? MST_ONNX_LAST_STEP : MST_ONNX_FIRST_STEP;
        s->steps = steps_of(l, s);
        return MST_OK;
    }
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "of the axes of a recurrent operator it can take the first or last step, or one direction");
}

mst_status mst_onnx_sequence_slice(mst_onnx_layer_call *c, mst_onnx_layer_value x) {
    int64_t list[4] = {0, 0, 0, 1}, one[MST_ONNX_MOST_SIZES]; /* start, end, axis, step */
    int count, axis;
    for (size_t i = 0; i < 4; i++) {
        if (!mst_onnx_layer_has(c, i + 1)) continue;
        MST_TRY(mst_onnx_layer_list(c, i + 1, one, &count));
        if (count != 1) return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a part of a layer only along one axis");
        list[i] = one[0];
    }
    const int64_t start = list[0], end = list[1];
    MST_TRY(mst_onnx_axis(list[2], x.sequence.ndim, &axis));
    const bool to_end = start == -1 && end >= INT32_MAX;
    if (list[3] != 1 || !(to_end || (start >= -2 && end == start + 1 && end != 0)))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "of the axes of a recurrent operator it can take the first or last step, or one direction");
    MST_TRY(pick(c->layers, &x.sequence, axis, start));
    return mst_onnx_layer_put(c, x);
}

/* Reads the index in input 1, a single number. *IS_SCALAR: it is a scalar, so the node removes the axis. */
static mst_status read_index(const mst_onnx_layer_call *c, int64_t *index, bool *is_scalar) {
    int64_t list[MST_ONNX_MOST_SIZES];
    mst_tensor *tensor;
    int count;
    MST_TRY(mst_onnx_layer_constant(c, 1, &tensor));
    MST_TRY(mst_onnx_layer_list(c, 1, list, &count));
    if (count != 1) return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a part of a layer only for one element");
    *index = list[0];
    *is_scalar = !mst_tensor_shape(tensor).ndim;
    return MST_OK;
}

/* X has the last steps of several operators, joined along axis 0. Replaces X by the value of the operator that has
 * element INDEX, and *INDEX by the index in that value. */
static mst_status unstack(const mst_onnx_layers *l, mst_onnx_layer_value *x, int64_t *index) {
    const mst_onnx_layer_value stack = *x;
    int64_t count = 0;
    for (int i = 0; i < stack.num_stacked; i++)
        count += 1 + mst_onnx_cell_is_double(l, l->value[stack.stacked[i]].sequence.cell);
    if (*index < 0) *index += count;
    for (int i = 0; i < stack.num_stacked; i++) {
        *x = l->value[stack.stacked[i]];
        const int64_t own = 1 + mst_onnx_cell_is_double(l, x->sequence.cell);
        if (*index >= 0 && *index < own) return MST_OK;
        *index -= own;
    }
    return MST_FAIL(MST_INVALID, "its index is not one of %lld", (long long)count);
}

mst_status mst_onnx_sequence_gather(mst_onnx_layer_call *c, mst_onnx_layer_value x, int64_t axis) {
    int64_t index;
    bool is_scalar;
    int at;
    MST_TRY(read_index(c, &index, &is_scalar));
    if (x.num_stacked && axis) return MST_FAIL(MST_UNIMPLEMENTED, "of these ends it can take one, along axis 0");
    if (x.num_stacked) MST_TRY(unstack(c->layers, &x, &index));
    MST_TRY(mst_onnx_axis(axis, x.sequence.ndim, &at));
    MST_TRY(pick(c->layers, &x.sequence, at, index));
    if (is_scalar) remove_axis(&x.sequence, at);
    x.ndim = x.sequence.ndim;
    return mst_onnx_layer_put(c, x);
}

mst_status mst_onnx_sequence_take(mst_onnx_layer_call *c, int64_t axis) {
    mst_onnx_layer_value x;
    int64_t index;
    bool is_scalar;
    int at;
    MST_TRY(mst_onnx_layer_plain(c, 0, &x));
    MST_TRY(read_index(c, &index, &is_scalar));
    MST_TRY(mst_onnx_axis(axis, x.ndim, &at));
    if (!at || !is_scalar)
        return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a layer only for one element of an axis beside the examples");
    const int64_t channels = at < x.ndim - 1 ? x.channels : 0;
    MST_TRY(take_element(&x.out, index, at));
    return mst_onnx_layer_put(
        c,
        (mst_onnx_layer_value){.out = x.out, .ndim = x.ndim - 1, .channels = channels, .not_negative = x.not_negative});
}

mst_status mst_onnx_sequence_stack(mst_onnx_layer_call *c) {
    const Muster__OnnxNode *node = c->onnx.node;
    mst_onnx_layer_value stack = {.ndim = 3, .num_stacked = (int)node->n_input};
    if (node->n_input > MST_ONNX_MOST_SIZES)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it puts the ends of %zu recurrent operators together: at most %d become layers", node->n_input,
                        MST_ONNX_MOST_SIZES);
    for (size_t i = 0; i < node->n_input; i++) {
        const int64_t at = mst_names_get(&c->layers->names, node->input[i]);
        const mst_onnx_sequence *s = at < 0 ? NULL : &c->layers->value[at].sequence;
        if (!s || s->ndim != 3 || s->cell < 0 || s->axis[0] != MST_ONNX_AXIS_DIRECTIONS || s->direction >= 0 ||
            s->axis[1] != MST_ONNX_AXIS_EXAMPLES)
            return MST_FAIL(MST_UNIMPLEMENTED, "along axis 0 it can put only ends of recurrent operators together");
        stack.stacked[i] = at;
    }
    return mst_onnx_layer_put(c, stack);
}

/* Supports two kinds of Reshape: one that joins the directions and the units, if these are the last axes, and one that
 * removes the axis of a single direction. */
mst_status mst_onnx_sequence_reshape(mst_onnx_layer_call *c, mst_onnx_layer_value x, const int64_t *list, int count) {
    mst_onnx_sequence *s = &x.sequence;
    const int last = s->ndim - 1, directions = find_axis(s, MST_ONNX_AXIS_DIRECTIONS);
    const bool joins = directions == last - 1 && s->axis[last] == MST_ONNX_AXIS_UNITS && s->direction < 0;
    bool good = count == last && directions >= 0 && s->axis[last] == MST_ONNX_AXIS_UNITS &&
                (joins || has_one(c->layers, s, MST_ONNX_AXIS_DIRECTIONS));
    for (int i = 0; good && i < count - 1; i++) { /* sizes that stay, and the examples, which may be any number */
        const mst_onnx_sequence_axis axis = s->axis[i < directions ? i : i + 1];
        good = axis == MST_ONNX_AXIS_EXAMPLES || (list[i] == 0 && i < directions) || list[i] > 1 ||
               list[i] <= MST_ONNX_UNKNOWN;
    }
    if (good) {
        const int64_t all = mst_onnx_cell_features(c->layers, s->cell);
        good = list[count - 1] == -1 || list[count - 1] == (joins || s->direction < 0 ? all : all / 2);
    }
    if (!good)
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "of the axes of a recurrent operator it can join the directions and the units, if they are last");
    remove_axis(s, directions);
    s->joined |= joins;
    x.ndim = s->ndim;
    return mst_onnx_layer_put(c, x);
}

mst_status mst_onnx_sequence_concat(mst_onnx_layer_call *c, int64_t axis) {
    mst_onnx_layer_value a, b;
    MST_TRY(mst_onnx_layer_raw(c, 0, &a));
    MST_TRY(mst_onnx_layer_raw(c, 1, &b));
    mst_onnx_sequence *s = &a.sequence;
    const mst_onnx_sequence *t = &b.sequence;
    int at;
    MST_TRY(mst_onnx_axis(axis, s->ndim, &at));
    if (c->onnx.node->n_input != 2 || s->ndim != t->ndim || s->cell < 0 || s->cell != t->cell || s->direction != 0 ||
        t->direction != 1 || memcmp(s->axis, t->axis, (size_t)s->ndim * sizeof *s->axis) != 0 ||
        s->axis[at] != MST_ONNX_AXIS_UNITS || find_axis(s, MST_ONNX_AXIS_DIRECTIONS) >= 0 || s->steps != t->steps)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "of what recurrent operators give it can join both directions of one, forwards first, along "
                        "the units");
    s->direction = -1;
    s->joined = true;
    return mst_onnx_layer_put(c, a);
}
