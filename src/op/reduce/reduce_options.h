/** Options of all reductions: reduce_sum, reduce_mean, reduce_max, ... */
#ifdef MST_OP_HEADER
typedef struct mst_reduce_options {
    int zero_;
    mst_value src;
    mst_axes axes;  /**< none: all */
    bool keep_dims; /**< the axes stay, as dimensions of 1 */
} mst_reduce_options;
#endif
