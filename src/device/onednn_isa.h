/** The instruction set that oneDNN uses, which is the same for the whole process. It becomes fixed when oneDNN is first
 *  asked for it, or first used. Before that it can be set once. So these functions do not ask oneDNN while the set may
 *  still have to change. */
#ifndef MUSTER_DEVICE_ONEDNN_ISA_H
#define MUSTER_DEVICE_ONEDNN_ISA_H

#include <stdbool.h>
#include <stdint.h>

/** The parts of the instruction set that oneDNN uses or will use, as bits: those that the processor has and
 *  DNNL_MAX_CPU_ISA allows. */
uint64_t mst_onednn_isa(void);
/** The name of that set: "AVX512_CORE". */
const char *mst_onednn_isa_name(uint64_t bits, char *text, int size);
/** Notes that oneDNN is used from now on, so its instruction set is fixed. */
void mst_onednn_fix_isa(void);
/** Makes oneDNN use the largest instruction set within BITS. False if oneDNN already uses another set. */
bool mst_onednn_limit_isa(uint64_t bits);

#endif
