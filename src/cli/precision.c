#include "cli/precision.h"

#include <stdio.h>
#include <string.h>

#include "muster/session.h"

mst_status precision_read(const char *name, mst_precision *out) {
    if (strcmp(name, "mixed_float16") == 0)
        return MST_FAIL(MST_INVALID,
                        "--precision mixed_float16: sums and small gradients overflow f16, and processors are not "
                        "faster in it: take mixed_bfloat16");
    for (int i = MST_FLOAT32; mst_precision_names[i]; i++) {
        if (strcmp(name, mst_precision_names[i]) != 0) continue;
        *out = (mst_precision)i;
        return MST_OK;
    }
    return MST_FAIL(MST_INVALID, "--precision '%.100s' is not known: there are float32 and mixed_bfloat16", name);
}

void precision_note(mst_precision wanted) {
    if (wanted != mst_precision_here(wanted))
        printf("note: --precision %s: this processor has no instructions for bf16, so that all is computed in f32\n",
               mst_precision_names[wanted]);
}
