#include "parameter_server/ps_part.h"

#include <string.h>

bool mst_ps_is_cut(const mst_spec *spec, int32_t num_ps, int64_t part_bytes) {
    const int64_t bytes = mst_shape_count(spec->shape) * (int64_t)mst_dtype_size(spec->dtype);
    return part_bytes > 0 && num_ps > 1 && bytes >= part_bytes && spec->shape.ndim > 0 && spec->shape.dim[0] >= num_ps;
}

mst_row_range mst_ps_part_rows(int64_t rows, int32_t num_ps, int32_t p) {
    const int64_t first = mst_part_begin(rows, num_ps, p);
    return (mst_row_range){first, mst_part_begin(rows, num_ps, p + 1) - first};
}

bool mst_ps_keeps(const mst_ps_copies *all, int32_t v, int32_t p) {
    return all->copy[v].ps == p || all->copy[v].ps == MST_PS_EACH;
}

/* A view of the rows of server P in a cut tensor. */
static mst_status view_rows(mst_tensor *whole, int32_t num_ps, int32_t p, mst_tensor **out) {
    mst_shape shape = mst_tensor_shape(whole);
    const size_t row = mst_tensor_bytes(whole) / (size_t)shape.dim[0];
    const mst_row_range rows = mst_ps_part_rows(shape.dim[0], num_ps, p);
    shape.dim[0] = rows.count;
    return mst_tensor_wrap(mst_tensor_dtype(whole), shape, (char *)mst_tensor_data(whole) + (size_t)rows.first * row,
                           NULL, NULL, out);
}

mst_status mst_ps_part_view(const mst_ps_copies *all, int32_t v, int32_t p, mst_tensor *whole, mst_tensor **out) {
    if (all->copy[v].ps == MST_PS_EACH) return view_rows(whole, all->num_ps, p, out);
    *out = mst_tensor_retain(whole);
    return MST_OK;
}

/* ---- state ---- */

/* The cut variable to which an entry belongs; NULL: none. The entry's name is the variable's name, or, for a slot or an
 * average, that name and a suffix such as "/m". The longest name counts: with variables "w" and "w/x", the entry
 * "w/x/m" belongs to "w/x". */
static const mst_ps_copy *cut_variable_of(const mst_ps_copies *all, const mst_state_info *info) {
    const mst_ps_copy *found = NULL;
    size_t longest = 0;
    for (int32_t v = 0; v < all->count && !*info->container; v++) {
        const size_t length = strlen(all->copy[v].name);
        const char end = strncmp(info->name, all->copy[v].name, length) == 0 ? info->name[length] : 'x';
        if ((end && end != '/') || length < longest) continue;
        found = &all->copy[v];
        longest = length;
    }
    return found && found->ps == MST_PS_EACH ? found : NULL;
}

static mst_status add_part(const mst_ps_copies *all, int32_t p, const mst_state_info *info, mst_tensor *whole,
                           mst_snapshot *to) {
    mst_tensor *part;
    MST_TRY(view_rows(whole, all->num_ps, p, &part));
    const mst_status status = mst_snapshot_add(to, info->container, info->name, info->kind, part);
    mst_tensor_release(part);
    return status;
}

mst_status mst_ps_cut_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state, mst_snapshot **out) {
    MST_TRY(mst_snapshot_create(out));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(state) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        mst_tensor *value = mst_snapshot_value(state, i);
        const mst_ps_copy *of = cut_variable_of(all, &info);
        if (of && mst_shape_equal(mst_tensor_shape(value), mst_tensor_shape(of->value)))
            status = add_part(all, p, &info, value, *out);
        else
            status = mst_snapshot_add(*out, info.container, info.name, info.kind, value);
    }
    if (status) mst_snapshot_release(*out);
    return status;
}

/* Finds the entry of JOINED; makes it if there is none yet. */
static mst_status whole_entry(const mst_ps_copy *of, const mst_state_info *info, mst_dtype dtype, mst_snapshot *joined,
                              mst_tensor **out) {
    *out = mst_snapshot_find(joined, info->container, info->name);
    if (*out) return MST_OK;
    MST_TRY(mst_tensor_create(dtype, mst_tensor_shape(of->value), out));
    const mst_status status = mst_snapshot_add(joined, info->container, info->name, info->kind, *out);
    mst_tensor_release(*out); /* the snapshot holds a reference, too */
    return status;
}

static mst_status join_part(const mst_ps_copies *all, int32_t p, const mst_ps_copy *of, const mst_state_info *info,
                            const mst_tensor *value, mst_snapshot *joined) {
    mst_tensor *whole, *part;
    MST_TRY(whole_entry(of, info, mst_tensor_dtype(value), joined, &whole));
    MST_TRY(view_rows(whole, all->num_ps, p, &part));
    const bool fits = mst_tensor_dtype(value) == mst_tensor_dtype(part) &&
                      mst_shape_equal(mst_tensor_shape(value), mst_tensor_shape(part));
    if (fits) memcpy(mst_tensor_data(part), mst_tensor_data(value), mst_tensor_bytes(part));
    mst_tensor_release(part);
    if (fits) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "ps:%d has sent data that is not its part of '%s': start the same program on all tasks", (int)p,
                    info->name);
}

mst_status mst_ps_join_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state, mst_snapshot *joined) {
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_snapshot_count(state) && !status; i++) {
        const mst_state_info info = mst_snapshot_info(state, i);
        mst_tensor *value = mst_snapshot_value(state, i);
        const mst_ps_copy *of = cut_variable_of(all, &info);
        if (of)
            status = join_part(all, p, of, &info, value, joined);
        else if (!mst_snapshot_find(joined, info.container, info.name))
            status = mst_snapshot_add(joined, info.container, info.name, info.kind, value);
    }
    return status;
}
