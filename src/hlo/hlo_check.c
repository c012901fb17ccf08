/* Checks of the arguments of the functions of muster/hlo.h. Programs may define ops of their own, so the arguments may
 * be anything. */
#include <string.h>

#include "hlo/hlo_writer.h"

bool mst_hlo_is_listed(const mst_axes *axes, int axis) {
    for (int i = 0; i < axes->count; i++)
        if (axes->axis[i] == axis) return true;
    return false;
}

bool mst_hlo_is_axis(mst_lower *l, int ndim, int *axis) {
    if (*axis < -ndim || *axis >= ndim) {
        mst_hlo_fail(l, "axis %d of %d dimensions", *axis, ndim);
        return false;
    }
    if (*axis < 0) *axis += ndim;
    return true;
}

bool mst_hlo_are_axes(mst_lower *l, int ndim, mst_axes *axes) {
    if (axes->count < 0 || axes->count > ndim) {
        mst_hlo_fail(l, "%d axes of %d dimensions", axes->count, ndim);
        return false;
    }
    mst_axes seen = {.count = 0};
    for (int i = 0; i < axes->count; i++) {
        int axis = axes->axis[i];
        if (!mst_hlo_is_axis(l, ndim, &axis)) return false;
        if (mst_hlo_is_listed(&seen, axis)) {
            mst_hlo_fail(l, "axis %d twice", axis);
            return false;
        }
        seen.axis[seen.count++] = axis;
    }
    *axes = seen;
    return true;
}

bool mst_hlo_is_among(mst_lower *l, const char *what, const char *name, const char *const *names) {
    for (int i = 0; name && names[i]; i++)
        if (strcmp(names[i], name) == 0) return true;
    mst_hlo_fail(l, "there is no %s '%s'", what, name ? name : "NULL");
    return false;
}

bool mst_hlo_combines(mst_lower *l, const char *operation) {
    static const char *const names[] = {"add", "multiply", "maximum", "minimum", "and", "or", "xor", NULL};
    return mst_hlo_is_among(l, "operation that combines elements,", operation, names);
}

bool mst_hlo_is_scalar(mst_lower *l, mst_hlo x, mst_dtype dtype) {
    const mst_spec spec = mst_hlo_spec(l, x);
    if (mst_hlo_lacks(l, x)) return false;
    if (spec.shape.ndim == 0 && spec.dtype == dtype) return true;
    mst_hlo_fail(l, "a value of %d dimensions where a scalar of the same dtype must be", spec.shape.ndim);
    return false;
}

bool mst_hlo_is_shape(mst_lower *l, const mst_shape *shape) {
    if (shape->ndim < 0 || shape->ndim > MST_MAX_NDIM) {
        mst_hlo_fail(l, "a value of %d dimensions, of at most %d", shape->ndim, MST_MAX_NDIM);
        return false;
    }
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] < 0) {
            mst_hlo_fail(l, "dimension %d is %lld", i, (long long)shape->dim[i]);
            return false;
        }
    return true;
}

bool mst_hlo_can_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst,
                       const mst_spec *dst) {
    if (l->program->failure.code) return false;
    if (!operation || !*operation || strspn(operation, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(operation)) {
        mst_hlo_fail(l, "there is no operation '%s'", operation ? operation : "NULL");
        return false;
    }
    for (int i = 0; i < count; i++)
        if (mst_hlo_lacks(l, src[i])) return false;
    for (int k = 0; k < num_dst; k++)
        if (!mst_hlo_is_shape(l, &dst[k].shape)) return false;
    return true;
}
