/** Options that convolutions and pooling share. */
#ifdef MST_OP_HEADER
/** What lies around the source of a convolution or a pooling: nothing, or as many zeros as make the output ceil(size /
 *  stride) long. An odd zero goes to the end. */
typedef enum mst_window_padding { MST_PADDING_VALID = 0, MST_PADDING_SAME } mst_window_padding;
#endif
