/** Clipping of gradients, before any rule. The option clip_value limits each element. The options clip_norm and
 *  clip_global_norm multiply a gradient by a factor. The factor depends on the norm of that gradient, or on the norm of
 *  all gradients together. docs/the-update.md shows its place in a step. */
#ifndef MUSTER_RULE_GRADIENT_CLIP_H
#define MUSTER_RULE_GRADIENT_CLIP_H

#include <stdint.h>

#include "muster/hlo.h"
#include "muster/optimizer.h"

/** clipped = gradient, at most LIMIT and at least -LIMIT; NaN stays NaN. May work in place. */
void mst_clip_value_f32(float *clipped, const float *gradient, float limit, int64_t count);
void mst_clip_value_f64(double *clipped, const double *gradient, double limit, int64_t count);

/** As mst_clip_value_f32, in StableHLO. */
mst_hlo mst_clip_value_lower(mst_lower *l, mst_hlo gradient, double limit);

/** Whether gradients are multiplied by factors, which can be computed only after all gradients. */
bool mst_clips_by_norm(const mst_optimizer *optimizer);
/** Sets FACTOR [num_variables] to the factor of each variable's gradient. SQUARES [num_variables] has the sum of the
 *  squares of each gradient's elements. SQUARES and FACTOR may be the same array. */
void mst_clip_factors(const mst_optimizer *optimizer, const double *squares, int32_t num_variables, double *factor);

#endif
