/** The instructions that oneDNN uses, the same for the whole process. It fixes them when it is first asked for them, or
 *  first used; before that they can be set, once. So oneDNN is not asked here as long as they may have to change. */
#ifndef MUSTER_DEVICE_ONEDNN_ISA_H
#define MUSTER_DEVICE_ONEDNN_ISA_H

#include <stdbool.h>
#include <stdint.h>

/** A bit for each part of the set that oneDNN uses, or will: what the processor has and DNNL_MAX_CPU_ISA allows. */
uint64_t mst_onednn_isa(void);
/** What that set is called: "AVX512_CORE". */
const char *mst_onednn_isa_name(uint64_t bits, char *text, int size);
/** OneDNN is used from now on. */
void mst_onednn_fix_isa(void);
/** From now on oneDNN uses the largest set that is within BITS. False: it uses another one already. */
bool mst_onednn_limit_isa(uint64_t bits);

#endif
