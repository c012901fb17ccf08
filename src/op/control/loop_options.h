/** The argument of the functions that build a step of scan and while: the inputs of the step, and room for its
 *  outputs. */
#ifdef MST_OP_HEADER
#define MST_LOOP_MOST 16 /**< most values of one kind in a loop: of carry, x, captured or y */

/** One step of a loop. It is a separate graph, which can use only the values in this struct. */
typedef struct mst_loop_step {
    mst_graph *graph;                  /**< of the step */
    mst_value carry[MST_LOOP_MOST];    /**< `next` of the step before; in the first step the option carry */
    mst_value x[MST_LOOP_MOST];        /**< this step's part of each x; none in while */
    mst_value captured[MST_LOOP_MOST]; /**< values of the outer graph, the same in each step */
    mst_value next[MST_LOOP_MOST];     /**< must be set: one for each carry, with the carry's dtype and shape */
    mst_value y[MST_LOOP_MOST];        /**< may be set: values of each step to keep; none in while */
    void *context;                     /**< the option `context` of the call */
} mst_loop_step;
#endif
