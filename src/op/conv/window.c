#include "op/conv/window.h"

/* Element AXIS of LIST, which has none, one for both axes, or two. */
static int64_t of_axis(const mst_axes *list, int axis) {
    return list->count == 0 ? 1 : list->axis[list->count == 1 ? 0 : axis];
}

static mst_status check_list(mst_infer *c, const mst_axes *list, const char *what) {
    if (list->count > MST_WINDOW_AXES)
        return mst_infer_fail(c, "%d %s: give one, or one for each of the two axes", (int)list->count, what);
    for (int i = 0; i < list->count; i++)
        if (list->axis[i] < 1) return mst_infer_fail(c, "%s of %d: must be at least 1", what, (int)list->axis[i]);
    return MST_OK;
}

static mst_status check_pads(mst_infer *c, const mst_window_options *o) {
    if (o->pads.count == 0) return MST_OK;
    if (o->pads.count != 2 * MST_WINDOW_AXES)
        return mst_infer_fail(c, "%d pads: give top, bottom, left and right", (int)o->pads.count);
    if (o->padding == MST_PADDING_SAME) return mst_infer_fail(c, "pads are given, and padding 'same'");
    for (int i = 0; i < o->pads.count; i++)
        if (o->pads.axis[i] < 0) return mst_infer_fail(c, "a pad of %d: must not be negative", (int)o->pads.axis[i]);
    return MST_OK;
}

static mst_window make_axis(const mst_window_options *o, int axis, int64_t in, int64_t size) {
    mst_window w = {.in = in, .size = size};
    w.stride = of_axis(&o->strides, axis);
    w.dilation = of_axis(&o->dilations, axis);
    const int64_t reach = (size - 1) * w.dilation + 1;
    if (o->pads.count) {
        w.before = o->pads.axis[2 * axis];
        w.after = o->pads.axis[2 * axis + 1];
    }
    if (o->padding == MST_PADDING_SAME) {
        w.out = (in + w.stride - 1) / w.stride;
        const int64_t lacks = (w.out - 1) * w.stride + reach - in;
        w.before = lacks > 0 ? lacks / 2 : 0;
        w.after = lacks > 0 ? lacks - w.before : 0;
    } else {
        const int64_t room = in + w.before + w.after - reach;
        w.out = room < 0 ? 0 : room / w.stride + 1;
    }
    return w;
}

mst_status mst_window_infer(mst_infer *c, const mst_window_options *o, const int64_t *in, const int64_t *size,
                            int64_t *out) {
    MST_TRY(check_list(c, &o->strides, "strides"));
    MST_TRY(check_list(c, &o->dilations, "dilations"));
    MST_TRY(check_pads(c, o));
    for (int axis = 0; axis < MST_WINDOW_AXES; axis++) {
        out[axis] = -1;
        if (size[axis] == 0) return mst_infer_fail(c, "a window without elements");
        if (size[axis] > INT32_MAX || in[axis] > INT64_MAX / 4)
            return mst_infer_fail(c, "a window of too many elements");
        if (in[axis] < 0 || size[axis] < 0) continue;
        const mst_window w = make_axis(o, axis, in[axis], size[axis]);
        out[axis] = w.out;
        if (w.out < 1 && (o->padding != MST_PADDING_SAME))
            return mst_infer_fail(c, "a window of %lld does not fit into %lld",
                                  (long long)((size[axis] - 1) * w.dilation + 1),
                                  (long long)(in[axis] + w.before + w.after));
    }
    return MST_OK;
}

void mst_window_make(const mst_window_options *o, const int64_t *in, const int64_t *size, const int64_t *out,
                     mst_window *windows) {
    for (int axis = 0; axis < MST_WINDOW_AXES; axis++) {
        windows[axis] = make_axis(o, axis, in[axis], size[axis]);
        windows[axis].out = out[axis];
    }
}

mst_axes mst_window_row(int32_t number) {
    return MST_AXES(1, number ? number : 1);
}

/* Any other number of pads stays as it is, and is refused with those of the row. */
mst_axes mst_window_row_pads(mst_axes pads) {
    return pads.count == MST_WINDOW_AXES ? MST_AXES(0, 0, pads.axis[0], pads.axis[1]) : pads;
}
