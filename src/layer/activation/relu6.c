/** relu6: min(max(x, 0), 6) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_RELU6 = 2 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_relu6 = {.build = mst_relu6};
