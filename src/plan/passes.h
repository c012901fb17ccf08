/** The passes of a plan, in their order: the one list of them.
 *
 *  Pass NAME is mst_plan_NAME in plan/NAME.c. What a pass finds and what it leaves depends on its place, so the order
 *  is decided here and nowhere else. A new pass is its file, and its line here.
 */
#ifndef MUSTER_PLAN_PASSES_H
#define MUSTER_PLAN_PASSES_H

/* clang-format off */
#define MST_PASSES(PASS)                                                                                             \
    PASS(prune)      /* import what the fetches need; what only a fed value needs is left out */                     \
    PASS(infer)      /* all dtypes and shapes, now that those of the feeds are known */                              \
    PASS(place)      /* a device for each node */                                                                    \
    PASS(simplify)   /* fold what is constant, merge what is the same */                                             \
    PASS(autocast)   /* the factors of products in bf16, if they are to be */                                        \
    PASS(distribute) /* copies of mirrored variables, and the update of variables over devices and memory domains */ \
    PASS(commit)     /* what is written when: no state changes before everything that can fail is done */            \
    PASS(fuse)       /* several nodes into one kernel */                                                             \
    PASS(norms)      /* batch norms that only convolutions read are not written to memory */                         \
    PASS(norm_grads) /* both gradients of a convolution in one, with the gradient of the batch norm after it */      \
    PASS(recompute)  /* values of the forward pass are made again where they are read, in place of being kept */     \
    PASS(measure)    /* statistics of batch norms are made by the convolution before, as it writes */                \
    PASS(residual)   /* what is added to the output of a batch norm is added by that */                              \
    PASS(narrow)     /* what only convolutions of bf16 read is kept in bf16 */                                       \
    PASS(select)     /* the fastest kernel that does each node */                                                    \
    PASS(layout)     /* constants in the layout that their kernel reads fastest */                                   \
    PASS(cross)      /* a send and a receive where a value goes to another memory domain or task */                  \
    PASS(vote)       /* when this task promises the others that it can make the step */                              \
    PASS(schedule)   /* one order for all nodes, by memory and readiness */                                          \
    PASS(keep_own)   /* what the devices of this task do, if there are several tasks */                              \
    PASS(partition)  /* the order cut by devices, and where one waits for another */                                 \
    PASS(memory)     /* a place for each value in its device's arena */                                              \
    PASS(compile)    /* what each device does in a step, as a list of actions */
/* clang-format on */

#endif
