/** softmax: exp(x) / sum(exp(x)) along the last axis */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_SOFTMAX = 10 };
#endif

const mst_activation_form mst_activation_form_softmax = {.build = mst_softmax};
