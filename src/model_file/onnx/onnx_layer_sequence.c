/* The axes of what recurrent operators take and give. ONNX has the steps first, [steps, n, features], and gives [steps,
 * directions, n, units]; programs move and cut these axes until they have what they want:
 *
 *      Keras' LSTM(5) by tf2onnx    Transpose 1 0 2, LSTM, Squeeze 1, Slice -1: along axis 0, Squeeze 0
 *      PyTorch's, two directions    Transpose 1 0 2, LSTM, Transpose 0 2 1 3, Reshape 0 0 -1, Transpose 1 0 2
 *
 * The description of a sequence follows them, and no layer is made before the axes are those of a layer. */
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

/* The steps of S, if one is left: the first or last one is the end of the direction that computes it last. */
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

/* ---- layers ---- */

static mst_status take_step(mst_output *out, int64_t index) {
    mst_tensor *tensor;
    MST_TRY(mst_tensor_copy(MST_I64, MST_SCALAR, &index, &tensor));
    *out = mst_take(*out, tensor, .axis = 1);
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
        return take_step(&v->out, steps == MST_ONNX_FIRST_STEP ? 0 : -1);
    return MST_OK;
}

mst_status mst_onnx_sequence_settle(mst_onnx_layers *l, mst_onnx_layer_value *v) {
    const mst_onnx_sequence s = v->sequence;
    if (!s.ndim) return MST_OK;
    const int last = s.ndim - 1;
    const bool has_steps = s.ndim == 3 && s.axis[1] == MST_ONNX_AXIS_STEPS;
    if (last < 1 || s.axis[0] != MST_ONNX_AXIS_EXAMPLES || s.axis[last] != MST_ONNX_AXIS_UNITS ||
        (last != 1 && !has_steps) || has_steps != (s.steps == MST_ONNX_ALL_STEPS) ||
        (s.cell >= 0 && mst_onnx_cell_is_double(l, s.cell) && !s.joined && s.direction < 0))
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "a value has the axes of a recurrent operator, and layers take [n, steps, features]: only "
                        "operators that move and join these axes take it");
    *v = (mst_onnx_layer_value){.out = v->out, .ndim = s.ndim, .channels = v->channels};
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

/* Leaves the element AT of AXIS: 0, 1 or, the last one, -1. */
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

mst_status mst_onnx_sequence_gather(mst_onnx_layer_call *c, mst_onnx_layer_value x, int64_t axis) {
    int64_t at[MST_ONNX_MOST_SIZES];
    mst_tensor *index;
    int count, axis_of_x;
    MST_TRY(mst_onnx_layer_constant(c, 1, &index));
    MST_TRY(mst_onnx_layer_list(c, 1, at, &count));
    MST_TRY(mst_onnx_axis(axis, x.sequence.ndim, &axis_of_x));
    if (count != 1) return MST_FAIL(MST_UNIMPLEMENTED, "it becomes a part of a layer only for one element");
    MST_TRY(pick(c->layers, &x.sequence, axis_of_x, at[0]));
    if (!mst_tensor_shape(index).ndim) remove_axis(&x.sequence, axis_of_x);
    x.ndim = x.sequence.ndim;
    return mst_onnx_layer_put(c, x);
}

/* Joins the directions and the units, which are the last axes. */
mst_status mst_onnx_sequence_reshape(mst_onnx_layer_call *c, mst_onnx_layer_value x, const int64_t *list, int count) {
    mst_onnx_sequence *s = &x.sequence;
    const int last = s->ndim - 1;
    bool good = count == last && last > 0 && s->axis[last] == MST_ONNX_AXIS_UNITS &&
                s->axis[last - 1] == MST_ONNX_AXIS_DIRECTIONS && s->direction < 0;
    for (int i = 0; good && i < count - 1; i++) /* sizes that stay, and the examples, which may be any number */
        good = s->axis[i] == MST_ONNX_AXIS_EXAMPLES || list[i] == 0 || list[i] > 1 || list[i] == MST_ONNX_UNKNOWN;
    if (good) good = list[count - 1] == -1 || list[count - 1] == mst_onnx_cell_features(c->layers, s->cell);
    if (!good)
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "of the axes of a recurrent operator it can join the directions and the units, if they are last");
    remove_axis(s, last - 1);
    s->joined = true;
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
