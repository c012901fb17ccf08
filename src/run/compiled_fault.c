#include "run/compiled_fault.h"

#include "plan/compiled.h"
#include "run/numerics.h"

mst_status mst_compiled_fail(const mst_frame *frame, int32_t node, int32_t word, int32_t *failed) {
    const mst_plan *plan = frame->plan;
    const mst_compiled_options *o = plan->node[node].options;
    *failed = node;
    if (word < 1 || word > o->num_faults)
        return MST_FAIL(MST_INTERNAL, "program '%s': the word of faults is %d, of %d", plan->node[node].name, word,
                        o->num_faults);
    const mst_compiled_fault *fault = &o->fault[word - 1];
    *failed = fault->node;
    if (fault->value >= 0) return mst_numerics_fail(plan, fault->value, &frame->step);
    return MST_FAIL(fault->code, "%s", fault->message);
}
