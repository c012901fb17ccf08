/** Options of pooling in two dimensions, in three, and in one. */
#ifdef MST_OP_HEADER
typedef struct mst_pool2d_options {
    int zero_;
    mst_value src;
    mst_axes size;    /**< of a window: one number, or one for each axis */
    mst_axes strides; /**< from one window to the next; default: size */
    mst_window_padding padding;
    mst_axes pads;    /**< before and after each axis, instead of the option padding */
} mst_pool2d_options; /**< also for pooling in three dimensions */
typedef struct mst_pool1d_options {
    int zero_;
    mst_value src;
    int32_t size;
    int32_t stride; /**< default: size */
    mst_window_padding padding;
    mst_axes pads; /**< before and after, instead of the option padding */
} mst_pool1d_options;
#endif
