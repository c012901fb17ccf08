#include "op/conv/window.h"

const char *const mst_window_paddings[] = {"valid", "same", NULL};

/* The number for AXIS in LIST, which has one number for all axes or one for each axis; 1 if LIST is empty. */
static int64_t of_axis(const mst_axes *list, int axis) {
    return list->count == 0 ? 1 : list->axis[list->count == 1 ? 0 : axis];
}

static mst_status check_list(mst_infer *c, const mst_axes *list, int num_axes, const char *what) {
    if (list->count > 1 && list->count != num_axes)
        return mst_infer_fail(c, "%d %s: give one, or one for each of the %d axes", (int)list->count, what, num_axes);
    for (int i = 0; i < list->count; i++)
        if (list->axis[i] < 1) return mst_infer_fail(c, "%s of %d: must be at least 1", what, (int)list->axis[i]);
    return MST_OK;
}

static mst_status check_pads(mst_infer *c, const mst_window_options *o, int num_axes) {
    if (o->pads.count == 0) return MST_OK;
    if (o->pads.count != 2 * num_axes)
        return mst_infer_fail(c, "%d pads: give those before and after each of the %d axes%s", (int)o->pads.count,
                              num_axes, num_axes == MST_WINDOW_AXES ? ": top, bottom, left and right" : "");
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

mst_status mst_window_infer(mst_infer *c, const mst_window_options *o, int num_axes, const int64_t *in,
                            const int64_t *size, int64_t *out) {
    MST_TRY(check_list(c, &o->strides, num_axes, "strides"));
    MST_TRY(check_list(c, &o->dilations, num_axes, "dilations"));
    MST_TRY(check_pads(c, o, num_axes));
    for (int axis = 0; axis < num_axes; axis++) {
        out[axis] = -1;
        if (size[axis] == 0) return mst_infer_fail(c, "a window without elements");
        if (size[axis] > INT32_MAX || in[axis] > INT64_MAX / 4)
            return mst_infer_fail(c, "a window of too many elements");
        if (in[axis] < 0 || size[axis] < 0) continue;
        const mst_window w = make_axis(o, axis, in[axis], size[axis]);
        out[axis] = w.out;
        if (w.out < 1 && (o->padding != MST_PADDING_SAME))
            return mst_infer_fail(c, "a window of %lld does not fit into %lld, take a larger input or padding same",
                                  (long long)((size[axis] - 1) * w.dilation + 1),
                                  (long long)(in[axis] + w.before + w.after));
    }
    return MST_OK;
}

void mst_window_make(const mst_window_options *o, int num_axes, const int64_t *in, const int64_t *size,
                     const int64_t *out, mst_window *depth, mst_window windows[MST_WINDOW_AXES]) {
    const int num_before = num_axes - MST_WINDOW_AXES;
    *depth = (mst_window){.in = 1, .out = 1, .size = 1, .stride = 1, .dilation = 1};
    for (int axis = 0; axis < num_axes; axis++) {
        mst_window *w = axis < num_before ? depth : &windows[axis - num_before];
        *w = make_axis(o, axis, in[axis], size[axis]);
        w->out = out[axis];
    }
}

mst_axes mst_window_row(int32_t number) {
    return MST_AXES(1, number ? number : 1);
}

/* A wrong number of pads is returned unchanged, and the op on pictures of one row then fails. */
mst_axes mst_window_row_pads(mst_axes pads) {
    return pads.count == MST_WINDOW_AXES ? MST_AXES(0, 0, pads.axis[0], pads.axis[1]) : pads;
}
