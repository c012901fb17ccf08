#include "cli/precision.h"

#include <stdio.h>
#include <string.h>

#include "muster/session.h"

const char *precision_name(int i) {
    return mst_precision_names[MST_FLOAT32 + i]; /* without MST_PRECISION_DEFAULT */
}

const char *precision_help(int i) {
    if (MST_FLOAT32 + i == MST_TENSORFLOAT32)
        return "on GPUs factors may be rounded to TF32, 10 bits of mantissa, on TPUs to bf16; on CPUs it is as float32";
    return MST_FLOAT32 + i == MST_MIXED_BFLOAT16
               ? "factors are rounded to bf16, sums stay f32, as do weights and all else; f32 where the processor has "
                 "no instructions for bf16"
               : NULL;
}

mst_status precision_read(const char *name, mst_precision *out) {
    if (strcmp(name, "mixed_float16") == 0)
        return MST_FAIL(MST_INVALID,
                        "--precision mixed_float16: sums and small gradients overflow f16, and processors are not "
                        "faster in it: take mixed_bfloat16");
    char list[128] = "";
    for (int i = 0; precision_name(i); i++) {
        const size_t used = strlen(list);
        if (strcmp(name, precision_name(i)) == 0) return *out = (mst_precision)(MST_FLOAT32 + i), MST_OK;
        snprintf(list + used, sizeof list - used, "%s%s",
                 !i                      ? ""
                 : precision_name(i + 1) ? ", "
                                         : " and ",
                 precision_name(i));
    }
    return MST_FAIL(MST_INVALID, "--precision '%.100s' is not known: there are %s", name, list);
}

mst_precision precision_on(mst_precision wanted, const char *device) {
    return strstr(device, "/device:CPU:") ? mst_precision_here(wanted) : wanted;
}

void precision_note(mst_precision wanted, const char *device) {
    if (precision_on(wanted, device) != wanted)
        printf("note: --precision %s: %s, so that all is computed in f32\n", mst_precision_names[wanted],
               wanted == MST_TENSORFLOAT32 ? "the devices are CPUs" : "this processor has no instructions for bf16");
}
