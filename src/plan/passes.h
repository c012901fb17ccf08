/** The passes of a plan, in their order. This is the only list of them.
 *
 *  Pass NAME is mst_plan_NAME in plan/NAME.c. What a pass may assume depends on the passes before it, so the order is
 *  decided here and nowhere else. To add a pass, add its file and its line here.
 */
#ifndef MUSTER_PLAN_PASSES_H
#define MUSTER_PLAN_PASSES_H

/* clang-format off */
#define MST_PASSES(PASS)                                                                                             \
    PASS(prune)      /* imports the nodes that the fetches need, but not those that only fed values need */          \
    PASS(infer)      /* finds all dtypes and shapes from those of the feeds */                                       \
    PASS(place)      /* gives each node a device */                                                                  \
    PASS(simplify)   /* computes nodes with constant sources, merges nodes that compute the same */                  \
    PASS(autocast)   /* casts the factors of products to bf16, where this is asked for */                            \
    PASS(distribute) /* makes copies of mirrored variables, and spreads updates over devices and memory domains */   \
    PASS(commit)     /* orders the writes: no state changes before everything that can fail is done */               \
    PASS(fuse)       /* replaces several nodes by one with a fused kernel */                                         \
    PASS(norms)      /* does not store outputs of batch norms that only convolutions read */                         \
    PASS(norm_grads) /* joins both gradients of a convolution and the gradient of the batch norm after it */         \
    PASS(halve)      /* keeps in bf16 what the backward pass reads around products in bf16 */                        \
    PASS(recompute)  /* computes values of the forward pass again for the backward pass, to keep fewer of them */    \
    PASS(measure)    /* lets convolutions compute the statistics of the batch norms after them */                    \
    PASS(residual)   /* lets batch norms add the other summand at the end of a residual block */                     \
    PASS(narrow)     /* keeps in bf16 what only convolutions in bf16 read */                                         \
    PASS(select)     /* chooses the fastest kernel for each node */                                                  \
    PASS(layout)     /* puts constants into the layout that their kernel reads fastest */                            \
    PASS(cross)      /* adds a send and a receive where a value goes to another memory domain or task */             \
    PASS(programs)   /* makes programs in StableHLO of nodes; runs only if there are devices that compile */         \
    PASS(vote)       /* decides when this task promises the others that it can make the step */                      \
    PASS(schedule)   /* puts all nodes into one order, by memory and readiness */                                    \
    PASS(keep_own)   /* keeps the nodes of this task, if there are several tasks */                                  \
    PASS(partition)  /* cuts the order into a program for each device, and adds the waits between devices */         \
    PASS(memory)     /* gives each value a place in its device's arena */                                            \
    PASS(compile)    /* writes what each device does in a step as a list of actions */
/* clang-format on */

#endif
