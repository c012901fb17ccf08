/** Activations in recurrent cells. */
#ifdef MST_OP_HEADER
typedef enum mst_cell_activation {
    MST_CELL_DEFAULT = 0,
    MST_CELL_TANH,
    MST_CELL_SIGMOID,
    MST_CELL_RELU,
    MST_CELL_LINEAR
} mst_cell_activation;
#endif
