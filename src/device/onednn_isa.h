/** The instruction set that oneDNN uses, which is the same for the whole process. It can be set once, before oneDNN is
 *  first used or queried; after that it is fixed. These functions therefore do not query oneDNN while the set may still
 *  have to change. */
#ifndef MUSTER_DEVICE_ONEDNN_ISA_H
#define MUSTER_DEVICE_ONEDNN_ISA_H

#include <stdbool.h>
#include <stdint.h>

/** The instructions that oneDNN uses or will use, as a set of bits: those that the processor has and the environment
 *  variables ONEDNN_MAX_CPU_ISA and DNNL_MAX_CPU_ISA allow. */
uint64_t mst_onednn_isa(void);
/** oneDNN's name of the set BITS, such as "AVX512_CORE". */
const char *mst_onednn_isa_name(uint64_t bits, char *text, int size);
/** Call it before the first use of oneDNN: from then on its instruction set is fixed. */
void mst_onednn_fix_isa(void);
/** Makes oneDNN use the largest instruction set within BITS. False if oneDNN already uses another set. */
bool mst_onednn_limit_isa(uint64_t bits);

#endif
