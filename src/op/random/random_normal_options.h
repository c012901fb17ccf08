/** Options of random_normal and random_truncated_normal. */
#ifdef MST_OP_HEADER
typedef struct mst_random_normal_options {
    int zero_; /**< keep first; see muster/named.h */
    mst_graph *graph;
    mst_shape shape;
    double mean;
    double stddev;   /**< default 1 */
    mst_dtype dtype; /**< default f32 */
    uint64_t seed;   /**< 0: made from the node's name */
} mst_random_normal_options;
#endif
