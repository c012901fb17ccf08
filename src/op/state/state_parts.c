#include "op/state/state_parts.h"

#include "op/state/update.h"

/* Cuts a bucket into parts. The bucket consists of variables LAST down to FIRST, with COUNT elements together. Part p
 * begins with the unit that begins nearest to element p / NUM_PARTS * COUNT of the bucket. Sets BEGIN of
 * mst_state_parts for these variables. */
static void cut_bucket(const mst_shape *shape, int32_t first, int32_t last, int64_t count, int32_t num_parts,
                       int64_t *begin) {
    int64_t at = 0;   /* where the variable begins in the bucket */
    int32_t part = 1; /* the part whose beginning is computed next; earlier parts begin in earlier variables */
    for (int32_t v = last; v >= first; v--) {
        int64_t *out = begin + (int64_t)v * (num_parts + 1);
        const int64_t own = mst_shape_count(shape[v]), unit = mst_unit_elements(shape[v]);
        for (int32_t p = 0; p < part; p++) out[p] = 0;
        for (; part < num_parts; part++) {
            const int64_t wanted = (int64_t)((double)count * part / num_parts) - at; /* place in the variable */
            /* The part begins in a later variable. The last variable gets the beginnings of all parts that are left. */
            if (wanted >= own && (v > first || own == 0)) break;
            const int64_t cut = (wanted + unit / 2) / unit * unit;
            out[part] = cut < own ? cut : own;
        }
        for (int32_t p = part; p <= num_parts; p++) out[p] = own;
        at += own;
    }
}

void mst_state_parts(const mst_shape *shape, int32_t num_variables, int64_t element_bytes, int32_t num_parts,
                     int64_t *begin) {
    for (int32_t last = num_variables - 1, v; last >= 0; last = v) {
        int64_t count = 0;
        for (v = last; v >= 0 && count * element_bytes < MST_BUCKET_BYTES; v--) count += mst_shape_count(shape[v]);
        cut_bucket(shape, v + 1, last, count, num_parts, begin);
    }
}
