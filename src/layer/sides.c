#include "layer/sides.h"

#include "muster/ops.h"

enum { MOST_AXES = 3 };

static const char *const forms[MOST_AXES] = {"[n, steps, channels]", "[n, height, width, channels]",
                                             "[n, depth, height, width, channels]"};
static const char *const places[MOST_AXES] = {"beginning and end", "top, bottom, left and right",
                                              "front, back, top, bottom, left and right"};

mst_status mst_sides_check(const mst_axes *sides, int num_axes, const char *layer, const char *name) {
    if (sides->count != 0 && sides->count != 2 * num_axes)
        return MST_FAIL(MST_INVALID, "%s '%s': %d sides, give %s", layer, name, (int)sides->count,
                        places[num_axes - 1]);
    for (int i = 0; i < sides->count; i++)
        if (sides->axis[i] < 0)
            return MST_FAIL(MST_INVALID, "%s '%s': %d at a side, must be 0 or more", layer, name, (int)sides->axis[i]);
    return MST_OK;
}

static int32_t side(const mst_axes *sides, int32_t all, int i) {
    return sides->count ? sides->axis[i] : all;
}

mst_value mst_sides_pad(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all) {
    mst_shape before = {.ndim = num_axes + 2}, after = before;
    if (mst_layer_want_ndim(call, num_axes + 2, forms[num_axes - 1])) return mst_layer_fail(call);
    for (int k = 0; k < num_axes; k++) {
        before.dim[k + 1] = side(sides, all, 2 * k);
        after.dim[k + 1] = side(sides, all, 2 * k + 1);
    }
    return mst_pad(call->src[0], .before = before, .after = after);
}

/* The end of a slice is a negative number, counted from the end of the axis. This cannot say that 0 elements are
 * removed. In this case a bit of `ends` says that the slice goes to the end of the axis. Bit 0 is the axis of the
 * examples, which are all kept. */
mst_value mst_sides_crop(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all) {
    mst_axes begin = {.count = num_axes + 1}, end = begin;
    int ends = 1;
    if (mst_layer_want_ndim(call, num_axes + 2, forms[num_axes - 1])) return mst_layer_fail(call);
    const mst_shape src = mst_value_spec(call->src[0]).shape;
    for (int k = 1; k <= num_axes; k++) {
        const int32_t before = side(sides, all, 2 * k - 2), after = side(sides, all, 2 * k - 1);
        if (src.dim[k] >= 0 && (int64_t)before + after >= src.dim[k]) {
            MST_FAIL(MST_INVALID, "%s '%s': %d + %d elements less than %lld along axis %d leave none", call->type->name,
                     call->name, (int)before, (int)after, (long long)src.dim[k], k);
            return mst_layer_fail(call);
        }
        begin.axis[k] = before;
        end.axis[k] = -after;
        if (after == 0) ends |= 1 << k;
    }
    return mst_strided_slice(call->src[0], .begin = begin, .end = end, .end_mask = ends);
}
