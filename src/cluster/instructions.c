#include "cluster/instructions.h"

#include <stdio.h>

#include "device/onednn_isa.h"

mst_status mst_instructions_limit(mst_fingerprint *list, int32_t count, uint64_t all, const char *name, char *line,
                                  size_t size) {
    const uint64_t own = mst_fingerprints_instructions(list, count);
    char mine[MST_FINGERPRINT_VALUE], common[MST_FINGERPRINT_VALUE];
    *line = '\0';
    if (!all || all == own) return MST_OK;
    mst_onednn_isa_name(own, mine, sizeof mine);
    const bool agrees = mst_onednn_limit_isa(all);
    const uint64_t used = mst_onednn_isa();
    mst_onednn_isa_name(agrees ? used : all, common, sizeof common);
    if (!agrees)
        return MST_FAIL(
            MST_INVALID,
            "%s has already computed with oneDNN and %s, but some of the tasks that it joins only have %s: set "
            "DNNL_MAX_CPU_ISA=%s in the environment of all tasks",
            name, mine, common, common);
    mst_fingerprints_set_instructions(list, count, used, common);
    snprintf(line, size, "oneDNN uses %s, which all workers have, in place of %s", common, mine);
    return MST_OK;
}
