/** Options that convolutions and pooling share. */
#ifdef MST_OP_HEADER
/** The padding around the source of a convolution or a pooling. VALID: none. SAME: as many zeros as make the output
 *  ceil(size / stride) long; if their number is odd, the end gets one more than the beginning. */
typedef enum mst_window_padding { MST_PADDING_VALID = 0, MST_PADDING_SAME } mst_window_padding;
#endif
