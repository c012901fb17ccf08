/** Strings between memory domains.
 *
 *  A value of strings is an array of mst_string, handled like any other array. The plan has the place and the size of
 *  this array, and kernels move and compare its elements. The bytes of the strings lie outside the array, in the same
 *  memory domain. There is no reference count, because each string has an owner that outlives the step:
 *
 *      constants   the plan's tensors; in another domain than the host's, the plan's copy in the device's constants
 *      feeds       the caller's tensors, which the frame retains
 *      received    the device's mst_string_memory in the slot of the step, below
 *
 *  A fetch copies the bytes into the caller's tensor. A value that crosses to another domain takes its bytes along.
 *  Their number is known only in the step, so string memory is the only memory that may grow in a step. Each step of
 *  the slot uses it again. So a step allocates nothing for received strings if these are no longer than before. */
#ifndef MUSTER_RUN_STRINGS_H
#define MUSTER_RUN_STRINGS_H

#include "device/domain.h"
#include "muster/tensor.h"

/** Bytes of the strings that a device has received in the step in flight. All zeros: empty. */
typedef struct mst_string_memory {
    struct mst_string_block *blocks; /**< the block that is being filled comes first */
    int64_t most;                    /**< most bytes allowed */
    _Atomic int64_t bytes;           /**< bytes of all blocks */
    char *host;                      /**< host memory through which strings pass */
    size_t host_bytes;
} mst_string_memory;

/** Whether the last step needed several blocks. mst_string_memory_join replaces them by one. */
bool mst_string_memory_is_split(const mst_string_memory *memory);
/** Between steps: replaces the blocks by one as large as all of them, which is enough for a step like the last one.
 *  Frees and allocates memory of DOMAIN. MOST is the most bytes allowed. */
void mst_string_memory_join(mst_string_memory *memory, mst_domain *domain, int64_t most);
/** Begins a step: strings received before are not needed any more. MOST is the most bytes allowed. */
void mst_string_memory_begin(mst_string_memory *memory, int64_t most);
void mst_string_memory_free(mst_string_memory *memory, mst_domain *domain);

/** Copies COUNT strings at SRC in the domain FROM to DST in the domain TO, and their bytes to MEMORY, which is in TO.
 *  *COPIED is the number of bytes copied between the domains. */
MST_CHECKED mst_status mst_strings_receive(mst_string_memory *memory, mst_domain *to, void *dst, mst_domain *from,
                                           const void *src, int64_t count, int64_t *copied);
/** Packs COUNT strings at SRC in the domain FROM into one message, *OUT: their lengths as u64, then their bytes. The
 *  caller frees it. */
MST_CHECKED mst_status mst_strings_pack(mst_domain *from, const void *src, int64_t count, char **out, size_t *bytes);
/** Unpacks a message of BYTES to DST in the domain TO, and the bytes of its strings to MEMORY, which is in TO.
 *  MST_INVALID if the message is not one of COUNT strings. */
MST_CHECKED mst_status mst_strings_unpack(mst_string_memory *memory, mst_domain *to, void *dst, const void *message,
                                          size_t bytes, int64_t count);
/** Sets the elements of OUTPUT, which owns its strings, to the strings at SRC in the domain FROM. */
MST_CHECKED mst_status mst_strings_fetch(mst_tensor *output, mst_domain *from, const void *src, int64_t *copied);
/** Copies CONSTANT, a tensor of strings, to DST in the domain TO: the elements, then the bytes. Together these are
 *  mst_tensor_all_bytes. */
MST_CHECKED mst_status mst_strings_place(mst_domain *to, void *dst, const mst_tensor *constant);

#endif
