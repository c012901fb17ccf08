/** Clipping of gradients, before any rule: clip_value of each element, or a factor that depends on the norm of the
 *  gradient of one variable (clip_norm) or of all (clip_global_norm). Where in a step: docs/the-update.md. */
#ifndef MUSTER_RULE_GRADIENT_CLIP_H
#define MUSTER_RULE_GRADIENT_CLIP_H

#include <stdint.h>

#include "muster/optimizer.h"

/** clipped = gradient, at most LIMIT and at least -LIMIT; NaN stays NaN. May work in place. */
void mst_clip_value_f32(float *clipped, const float *gradient, float limit, int64_t count);
void mst_clip_value_f64(double *clipped, const double *gradient, double limit, int64_t count);

/** Whether gradients are multiplied by factors, for which all gradients must be there. */
bool mst_clips_by_norm(const mst_optimizer *optimizer);
/** FACTOR [num_variables]: by what the gradient of each variable is multiplied. SQUARES [num_variables]: the sum of
 *  squares of its elements; may be FACTOR. */
void mst_clip_factors(const mst_optimizer *optimizer, const double *squares, int32_t num_variables, double *factor);

#endif
