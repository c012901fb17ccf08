/** softplus: log(1 + exp(x)) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SOFTPLUS = 6 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_softplus = {.build = mst_softplus};
