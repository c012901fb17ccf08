/* The description of the module `sentencepiece`. Its functions are in sentencepiece.cc. */
#include "module/module.h"
#include "tokenizer/sentencepiece.h"

extern const mst_module mst_module_sentencepiece;
const mst_module mst_module_sentencepiece = {.abi = MST_MODULE_ABI,
                                             .size = sizeof(mst_module),
                                             .name = "sentencepiece",
                                             .version = MST_VERSION,
                                             .interface = &mst_sentencepiece_functions};
