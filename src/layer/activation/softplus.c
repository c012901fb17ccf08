/** softplus: log(1 + exp(x)) */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_SOFTPLUS = 6 };
#endif

const mst_activation_form mst_activation_form_softplus = {.build = mst_softplus};
