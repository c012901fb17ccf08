#include "run/numerics.h"

mst_status mst_numerics_fail(const mst_plan *plan, int32_t value, const mst_step *step) {
    const mst_plan_node *node = &plan->node[plan->value[value].node];
    const mst_spec *spec = &plan->value[value].spec;
    const bool is_variable = mst_plan_is_variable(plan, value);
    const int64_t number = step->number; /* run n of a plan that counts no steps has the number -1 - n */
    char shape[MST_SHAPE_TEXT];
    MST_FAIL(MST_NUMERICS, "%s '%s' %s a NaN or Inf in %s%s, the first in %s %lld",
             is_variable ? "variable" : node->op->name, node->name, is_variable ? "holds" : "made",
             mst_dtype_name(spec->dtype), mst_shape_print(spec->shape, shape, sizeof shape),
             number < 0 ? "run" : "step", (long long)(number < 0 ? -1 - number : number));
    return mst_error_at(node->name, NULL);
}
