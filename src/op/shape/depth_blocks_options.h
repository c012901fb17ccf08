/** Options of space_to_depth and depth_to_space. */
#ifdef MST_OP_HEADER
typedef struct mst_depth_blocks_options {
    int zero_;
    mst_value src;
    int32_t block_size; /**< rows and columns of a block */
} mst_depth_blocks_options;
#endif
