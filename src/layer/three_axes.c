#include "layer/three_axes.h"

mst_status mst_three_axes_check(const mst_axes *list, const char *layer, const char *name, const char *what,
                                bool optional) {
    enum { NUM_AXES = 3 };
    if (list->count == 0 && optional) return MST_OK;
    if (list->count != 1 && list->count != NUM_AXES)
        return MST_FAIL(MST_INVALID, "%s '%s': %s of %d numbers, give one or three", layer, name, what,
                        (int)list->count);
    for (int i = 0; i < list->count; i++)
        if (list->axis[i] < 1)
            return MST_FAIL(MST_INVALID, "%s '%s': %s of %d, must be at least 1", layer, name, what,
                            (int)list->axis[i]);
    return MST_OK;
}
