/** selu: scale * (x > 0 ? x : alpha * (exp(x) - 1)), with the numbers of Klambauer et al., "Self-Normalizing Neural
 *  Networks"; these numbers keep mean 0 and variance 1 */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SELU = 16 };
#endif
#include "layer/activation/activation.h"

static mst_value selu_build(mst_value x) {
    const double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
    return mst_scale(mst_select(mst_less(x, mst_zeros_like(x)), mst_scale(mst_elu(x), alpha), x), scale);
}

const mst_activation_form mst_activation_form_selu = {.build = selu_build};
