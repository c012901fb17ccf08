/** Options of sort and argsort. */
#ifdef MST_OP_HEADER
typedef struct mst_sort_options {
    int zero_;
    mst_value src;
    mst_axes axis; /**< one, MST_AXES(0); none: the last */
    bool descending;
} mst_sort_options;
#endif
