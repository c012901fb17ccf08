/** toy: -x */
#ifdef MST_ACTIVATION_HEADER
enum { MST_TOY = NEXT };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_toy = {.build = mst_neg};
