/** Fast kernels: they run in place of an op's reference kernel if they can.
 *
 *  One file an op or family, src/kernel/<engine>/<name>.c, defines `const mst_kernel mst_kernel_<engine>_<name>`; CMake
 *  makes the table. `select` says for one node, all shapes known, whether the kernel does it. The first in the table
 *  that does is taken; if none does, the reference kernel runs.
 */
#ifndef MUSTER_KERNEL_KERNEL_H
#define MUSTER_KERNEL_KERNEL_H

#include "muster/op.h"

typedef struct mst_kernel {
    const char *engine;     /**< "onednn"; it runs on the devices whose type lists the engine */
    const char *const *ops; /**< names, ended by NULL; NULL: any op, `select` says which */
    /** The function for this node on a device of NUM_THREADS, or NULL if this kernel does not do it. */
    mst_kernel_function (*select)(const mst_infer *c, int num_threads);
    /** Makes the state that the function finds in args->state, and gives the bytes of workspace that it needs. NULL:
     *  neither is needed. */
    mst_status (*prepare)(const mst_infer *c, int num_threads, void **state, size_t *workspace);
    /** A constant source in the layout that the kernel reads fastest. *PACKED: a tensor of u8 for the caller, which
     *  STATE reads from now on in place of source SRC; NULL if the source stays as it is. NULL: sources stay. */
    mst_status (*pack)(void *state, int src, const mst_tensor *constant, mst_tensor **packed, size_t *workspace);
    /** Frees what `prepare` made. NULL: there is nothing to free. */
    void (*release)(void *state);
} mst_kernel;

/** All kernels, ended by NULL; made by CMake from the files of src/kernel/. */
extern const mst_kernel *const mst_kernel_table[];

#endif
