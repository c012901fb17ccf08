/** log_softmax: x - log(sum(exp(x))) along the last axis */
#ifdef MST_ACTIVATION_HEADER
enum { MST_LOG_SOFTMAX = 14 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_log_softmax = {.build = mst_log_softmax};
