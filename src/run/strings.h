/** Strings between memory domains.
 *
 *  A value of strings is an array of mst_string like any other array: the plan knows its place and size, and kernels
 *  move and compare its elements. The bytes lie outside the array, in the same memory domain. Nobody counts references
 *  to them, because each is owned by what outlives the step:
 *
 *      constants   the plan's tensors; in another domain than the host's, the plan's copy in the device's constants
 *      feeds       the caller's tensors, which the frame retains
 *      received    the device's mst_string_memory in the slot of the step, below
 *
 *  A fetch copies the bytes into the caller's tensor. What crosses carries its bytes along, and how many these are is
 *  known in the step only: string memory is the one thing that may grow in a step. It is used again by each step of the
 *  slot, so that steps with no longer strings than before allocate nothing for those they receive. */
#ifndef MUSTER_RUN_STRINGS_H
#define MUSTER_RUN_STRINGS_H

#include "device/domain.h"
#include "muster/tensor.h"

/** Bytes of the strings that a device has received in the step that is in flight. Zero-initialised is empty. */
typedef struct mst_string_memory {
    struct mst_string_block *blocks; /**< the one that is being filled first */
    int64_t most;                    /**< bytes that there may be */
    _Atomic int64_t bytes;           /**< of all blocks */
    char *host;                      /**< memory of the host that strings pass through */
    size_t host_bytes;
} mst_string_memory;

/** Whether the last step needed several blocks, which mst_string_memory_join makes one. */
bool mst_string_memory_is_split(const mst_string_memory *memory);
/** Between steps: joins the blocks into one as large as all of them, which will hold what a step like the last one
 *  receives. Frees and asks for memory of DOMAIN. MOST is how many bytes there may be. */
void mst_string_memory_join(mst_string_memory *memory, mst_domain *domain, int64_t most);
/** A step begins: nothing of what was received before is needed any more. */
void mst_string_memory_begin(mst_string_memory *memory, int64_t most);
void mst_string_memory_free(mst_string_memory *memory, mst_domain *domain);

/** Copies COUNT strings at SRC in the domain FROM to DST in the domain TO, and their bytes to MEMORY, which is of TO.
 *  *COPIED is how many bytes went over. */
MST_CHECKED mst_status mst_strings_receive(mst_string_memory *memory, mst_domain *to, void *dst, mst_domain *from,
                                           const void *src, int64_t count, int64_t *copied);
/** COUNT strings at SRC in the domain FROM as one message, *OUT, which the caller frees: their lengths, as u64, and
 *  after them their bytes. */
MST_CHECKED mst_status mst_strings_pack(mst_domain *from, const void *src, int64_t count, char **out, size_t *bytes);
/** The other way: from a message of BYTES to DST in the domain TO, and to MEMORY, which is of TO. MST_INVALID if the
 *  message is not one of COUNT strings. */
MST_CHECKED mst_status mst_strings_unpack(mst_string_memory *memory, mst_domain *to, void *dst, const void *message,
                                          size_t bytes, int64_t count);
/** Sets the elements of OUTPUT, which owns its strings, to those at SRC in the domain FROM. */
MST_CHECKED mst_status mst_strings_fetch(mst_tensor *output, mst_domain *from, const void *src, int64_t *copied);
/** Copies CONSTANT, a tensor of strings, to DST in the domain TO: elements first and bytes after them, as many as
 *  mst_tensor_all_bytes says. */
MST_CHECKED mst_status mst_strings_place(mst_domain *to, void *dst, const mst_tensor *constant);

#endif
