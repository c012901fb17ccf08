/** softmax: exp(x) / sum(exp(x)) along the last axis */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SOFTMAX = 10 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_softmax = {.build = mst_softmax};
