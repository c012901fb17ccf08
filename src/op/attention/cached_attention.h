/** Sources, sizes and workspace, for the kernels of cached_attention. */
#ifndef MUSTER_OP_CACHED_ATTENTION_H
#define MUSTER_OP_CACHED_ATTENTION_H

#include "op/attention/attention.h"

/** Numbers of its sources after query, key and value. */
enum { MST_PAST_KEY = 3, MST_PAST_VALUE, MST_PAST };

typedef struct mst_cached_sizes {
    mst_attention sizes; /**< of the new steps */
    int64_t capacity;    /**< rows of past_key */
    int64_t past;        /**< how many of them are valid */
} mst_cached_sizes;
mst_cached_sizes mst_cached_sizes_of(const mst_kernel_args *a);
/** Bytes of workspace: one double per key, for each thread. */
size_t mst_cached_attention_workspace(const mst_infer *c, int num_threads);

#endif
