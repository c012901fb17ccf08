/** Fast kernels. A node runs a fast kernel in place of the op's reference kernel if one can compute the node.
 *
 *  There is one file for each op or family of ops, src/kernel/<engine>/<name>.c. It defines
 *  `const mst_kernel mst_kernel_<engine>_<name>`; CMake makes the table. `select` says for a node, whose shapes are all
 *  known, whether the kernel can run it. The first such kernel in the table is taken; if there is none, the reference
 *  kernel runs.
 */
#ifndef MUSTER_KERNEL_KERNEL_H
#define MUSTER_KERNEL_KERNEL_H

#include "muster/op.h"

typedef struct mst_kernel {
    const char *engine;     /**< "onednn"; the kernel runs on devices whose type lists this engine */
    const char *const *ops; /**< names of ops, ending with NULL. NULL: any op; `select` decides */
    /** The function for this node on a device of NUM_THREADS; NULL if the kernel cannot run it. */
    mst_kernel_function (*select)(const mst_infer *c, int num_threads);
    /** Makes the state that the function finds in args->state, and sets the bytes of workspace that it needs. NULL: the
     *  kernel needs neither. */
    mst_status (*prepare)(const mst_infer *c, int num_threads, void **state, size_t *workspace);
    /** Puts a constant source into the layout that the kernel reads fastest. *PACKED is a u8 tensor that belongs to the
     *  caller; the kernel reads it from now on in place of source SRC. If *PACKED is NULL, the source stays as it is.
     *  `pack` itself may be NULL: all sources then stay as they are. */
    mst_status (*pack)(void *state, int src, const mst_tensor *constant, mst_tensor **packed, size_t *workspace);
    /** Frees the state that `prepare` made. NULL: there is nothing to free. */
    void (*release)(void *state);
} mst_kernel;

/** All kernels; the list ends with NULL. CMake makes it from the files of src/kernel/. */
extern const mst_kernel *const mst_kernel_table[];

#endif
