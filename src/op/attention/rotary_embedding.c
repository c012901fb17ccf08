/** rotary_embedding: rotates pairs of elements of each position by an angle that grows with the position
 *
 *  src        f32 or f64, [..., positions, depth], depth even; the two last dimensions must be known
 *  base       the angle of pair i at position p is p base^(-2 i / depth); default 10000
 *  positions  optional: the position of each step, src's dtype, [positions]; default 0, 1, 2, ...
 *  dst        like src. A step's first half a and second half b become a cos t - b sin t and b cos t + a sin t; t are
 *             the angles
 *
 *  Products of rotated queries and keys depend only on the distance of their positions (Su et al., 2021, "RoFormer",
 *  https://arxiv.org/abs/2104.09864). Pair i is element i of both halves, as in Llama and GPT-NeoX. The function builds
 *  it from other ops.
 */
#ifdef MST_OP_HEADER
typedef struct mst_rotary_embedding_options {
    int zero_;
    mst_value src;
    double base;
    mst_value positions;
} mst_rotary_embedding_options;
MST_API mst_value mst_rotary_embedding_with(mst_rotary_embedding_options options);
#define mst_rotary_embedding(...) mst_rotary_embedding_with(MST_NAMED_1(mst_rotary_embedding_options, src, __VA_ARGS__))
#endif
#include <math.h>

#include "graph/field.h"
#include "op/op.h"

mst_value mst_rotary_embedding_with(mst_rotary_embedding_options o) {
    if (mst_value_is_none(o.src)) return o.src;
    mst_graph *graph = mst_value_graph(o.src);
    const mst_spec src = mst_value_spec(o.src);
    const int ndim = src.shape.ndim;
    const int64_t depth = ndim ? src.shape.dim[ndim - 1] : 0, steps = ndim > 1 ? src.shape.dim[ndim - 2] : -1;
    const double base = mst_number_given(o.base) ? o.base : 10000;
    if (steps < 0 || depth < 2 || depth % 2 || !(base > 0) || isinf(base))
        return mst_value_fail(graph, MST_INVALID,
                              "rotary_embedding: needs [..., positions, depth] with both known and an even depth, and "
                              "a positive base");
    const mst_value place =
        mst_value_is_none(o.positions) ? mst_range(graph, src.dtype, 0, (double)steps, 1) : o.positions;
    const mst_value pair = mst_range(graph, src.dtype, 0, (double)depth / 2, 1);
    const mst_value speed = mst_exp(mst_scale(pair, -2 * log(base) / (double)depth));
    const mst_value angle = mst_mul(mst_expand_dims(place, -1), speed);
    const mst_value cosine = mst_cos(angle), sine = mst_sin(angle);
    const mst_value a = mst_split(o.src, 2, -1), b = mst_value_output(a, 1);
    const mst_value turned[] = {mst_sub(mst_mul(a, cosine), mst_mul(b, sine)),
                                mst_add(mst_mul(b, cosine), mst_mul(a, sine))};
    return mst_concat(turned, 2, -1);
}
