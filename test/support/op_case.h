/** One example of an op with its dtypes settled: values for the sources, a graph around it, and two ways to run it. */
#ifndef MUSTER_TEST_SUPPORT_OP_CASE_H
#define MUSTER_TEST_SUPPORT_OP_CASE_H

#include "muster/ops.h"
#include "muster/session.h"

/** What is made of the shapes that the example gives. */
typedef enum op_variant {
    OP_AS_GIVEN,
    OP_EMPTY_FIRST, /**< the first dimension of each source is 0 */
    OP_EMPTY,       /**< all dimensions are 0 */
    OP_NO_EXAMPLES, /**< the first dimension is 0: of source 0, and of others like it, as long */
    OP_NO_ROWS,     /**< likewise, of all that are as long */
    OP_ONE,         /**< all dimensions are 1 */
    OP_NUM_VARIANTS
} op_variant;

/** How the sources get into the graph. */
typedef enum op_source {
    OP_FED,      /**< placeholders of known shape */
    OP_FED_OPEN, /**< placeholders with all dimensions open */
    OP_COMPUTED, /**< what a node makes of placeholders of known shape, whose memory may be written over */
    OP_CONSTANT  /**< constants, which the plan folds */
} op_source;

enum { OP_MOST_DST = 8 };

typedef struct op_case {
    const mst_op *op;
    const mst_example *example;
    op_variant variant;
    char label[160]; /**< op, example, dtype, variant: for messages */
    mst_tensor *value[MST_EXAMPLE_SRC];
    op_source source; /**< of the graph that is built now */
    mst_graph *graph;
    mst_session *session;
    mst_value fed[MST_EXAMPLE_SRC], src[MST_EXAMPLE_SRC], out;
    int num_dst;
} op_case;

/** The dtypes, MST_DTYPE_BITs, that a source without a dtype stands for. */
static inline unsigned op_case_dtypes(const mst_op *op, const mst_example *example) {
    return example->dtypes ? example->dtypes : op->dtypes;
}
/** Makes values for the sources; DTYPE is that of the sources for which the example gives none. */
void op_case_begin(op_case *c, const mst_op *op, const mst_example *example, mst_dtype dtype, op_variant variant);
/** Makes the graph anew. The status is that of building. */
mst_status op_case_build(op_case *c, op_source source);
void op_case_end(op_case *c);

/** Calls the reference kernel with outputs that hold garbage, other garbage each time; step 0, seed 0. ALIAS >= 0:
 *  output 0 is the memory of that source. The caller releases DST. The graph must be one of known shapes. Fails with
 *  MST_INTERNAL where the kernel changed a source. */
mst_status op_case_reference(op_case *c, int alias, mst_tensor **dst);
/** Computes fetches in a session of the graph, in step 0. */
mst_status op_case_run(op_case *c, const mst_value *fetches, int num_fetches, mst_tensor **outputs);

/** Releases COUNT tensors and sets them to NULL. */
void op_case_release(mst_tensor **tensor, int count);

#endif
