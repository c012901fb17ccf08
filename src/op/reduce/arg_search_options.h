/** Options of argmax and argmin. */
#ifdef MST_OP_HEADER
typedef struct mst_arg_search_options {
    int zero_;
    mst_value src;
    int axis;        /**< default 0 */
    mst_dtype dtype; /**< of the result, default i64 */
} mst_arg_search_options;
#endif
