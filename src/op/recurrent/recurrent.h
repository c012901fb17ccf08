/** Recurrent cells over all steps of a sequence, forward and backward: code that lstm, gru, simple_rnn and their
 *  gradients share.
 *
 *  Another op, before this one, multiplies the inputs with the input kernel for all steps at once. This op computes the
 *  product with the recurrent kernel and the cell, step by step. Rows of the batch do not depend on one another, so a
 *  thread computes all steps of some rows (a chunk). The number of rows in a chunk depends only on the shape.
 *
 *  h are the outputs. m is the memory: numbers of each step that the gradient needs, such as the gates. There are u
 *  units, G gates, and M numbers of memory for each unit:
 *
 *      forward   src [n, steps, G u], recurrent [u, G u], bias [G u] if the cell has one
 *                -> h [n, steps, u], m [n, steps, M u]
 *      backward  recurrent transposed [G u, u], h, m, the gradient of h, and the gradient of m if there is one
 *                -> the gradient of src; h one step before (0 at the first); and, if the cell has a bias, the
 *                gradient of the product with the recurrent kernel, which is like src's
 *
 *  The last source, forward and backward, may be a mask of numbers [n, steps]. Steps where it is 0 are skipped: h and
 *  the memory are copied from the step before, and are 0 at the first step.
 */
#ifndef MUSTER_OP_RECURRENT_H
#define MUSTER_OP_RECURRENT_H

#include "muster/hlo.h"

/** The options of the ops. Activations are mst_cell_activation. */
typedef struct mst_recurrent_options {
    int zero_;
    int activation, recurrent_activation;
    bool reverse;
} mst_recurrent_options;
extern const mst_field mst_recurrent_fields[];
extern const mst_field mst_simple_rnn_fields[]; /**< without recurrent_activation, as there are no gates */
/** Names of mst_cell_activation, ended by NULL. */
extern const char *const mst_cell_activation_names[];

/** One row of the batch at one step. `product` is h_before times the recurrent kernel, [G u]. In the backward pass it
 *  is instead the gradient of h from the next step, [u]. `carry`, [u], is a gradient that the cell carries from step to
 *  step. */
typedef struct mst_cell_row {
    const void *src, *product, *bias, *h_before, *memory_before, *dh, *dmemory; /* dmemory: NULL if there is none */
    void *h, *memory, *dsrc, *dproduct, *carry;
    void *spare; /* scratch, [u] */
    int64_t units;
    int activation, recurrent_activation;
} mst_cell_row;
typedef void (*mst_cell_function)(const mst_cell_row *row);

/** All rows of the batch at one step in StableHLO. Members are as in mst_cell_row, with a first dimension n. Members
 *  that the step computes are MST_NO_HLO before. */
typedef struct mst_cell_step {
    mst_hlo src, product, bias, h_before, memory_before, dh, dmemory; /* dmemory: MST_NO_HLO if there is none */
    mst_hlo h, memory, dsrc, dproduct, carry;
    int64_t units;
    int activation, recurrent_activation;
} mst_cell_step;
typedef void (*mst_cell_lower)(mst_lower *l, mst_cell_step *step);

typedef struct mst_cell {
    int gates, memory; /* G and M */
    bool has_bias;
    bool reads_memory;                         /* the cell uses memory_before */
    mst_cell_function forward[2], backward[2]; /* for f32 and f64 */
    mst_cell_lower lower_forward, lower_backward;
} mst_cell;
extern const mst_cell mst_cell_lstm, mst_cell_gru, mst_cell_simple_rnn;

/** The cell of the op with name OP; sets *BACKWARD to whether the op is a gradient. NULL: the op has no cell. */
const mst_cell *mst_cell_of(const char *op, bool *backward);

/** The `infer` of an op with this cell, and of its gradient. */
MST_CHECKED mst_status mst_recurrent_infer(mst_infer *c, const mst_cell *cell);
MST_CHECKED mst_status mst_recurrent_grad_infer(mst_infer *c, const mst_cell *cell);

/** One run of an op. */
typedef struct mst_recurrence {
    const mst_kernel_args *args;
    const mst_cell *cell;
    bool backward;
    int64_t rows, steps, units;
    int64_t chunk;    /* rows that a thread takes together */
    size_t size;      /* bytes of an element */
    const void *mask; /* [rows, steps], NULL: none; set by mst_recurrence_run */
    /** Computes C [COUNT, columns] = A B on THREAD, for the COUNT rows of A from FIRST on. A points to row 0; its rows
     *  are steps * inner elements apart. B is the recurrent kernel. SCRATCH has `scratch` bytes. */
    mst_status (*product)(const struct mst_recurrence *r, int64_t first, int64_t count, int thread, void *scratch,
                          const void *a, void *c);
    size_t scratch; /* bytes for each thread */
} mst_recurrence;

/** The recurrence of an op with this cell and sources of shapes SRC. `product` is set to the reference kernel's. */
mst_recurrence mst_recurrence_make(const mst_cell *cell, bool backward, const mst_shape *src, mst_dtype dtype);
/** Sets *INNER and *COLUMNS to the inner dimension and the columns of the product. */
void mst_recurrence_product_shape(const mst_recurrence *r, int64_t *inner, int64_t *columns);
/** Bytes of workspace for NUM_THREADS threads. */
size_t mst_recurrence_workspace(const mst_recurrence *r, int num_threads);
MST_CHECKED mst_status mst_recurrence_run(mst_recurrence *r, const mst_kernel_args *a);

/** Writes the op in StableHLO, as a loop over the steps. */
void mst_recurrent_lower(mst_lower *l);
/** Parts FIRST to FIRST + COUNT - 1 of X, [n, parts u]. */
mst_hlo mst_cell_parts(mst_lower *l, const mst_cell_step *step, mst_hlo x, int first, int count);
/** activation(X) */
mst_hlo mst_cell_activate(mst_lower *l, int activation, mst_hlo x);
/** GRADIENT times the derivative of the activation at the point where the activation has the value Y. */
mst_hlo mst_cell_slope(mst_lower *l, int activation, mst_hlo y, mst_hlo gradient);

size_t mst_recurrent_workspace(const mst_infer *c, int num_threads);
mst_status mst_recurrent_reference(const mst_kernel_args *a);

/** Adds a node of an op with this cell. SOURCES has its sources without MASK, and room for MASK at the end. MASK may be
 *  MST_NONE. */
mst_value mst_recurrent_call(const mst_op *op, const mst_cell *cell, mst_value *sources, mst_value mask,
                             const mst_recurrent_options *options);
/** Adds a node of GRAD, the gradient op of this cell. Returns its output 0. */
mst_value mst_recurrent_grad_call(const mst_grad *c, const mst_cell *cell, const mst_op *grad);
/** The gradient of the recurrent kernel: previous^T gradient, over rows and steps. */
mst_value mst_recurrent_kernel_grad(mst_value previous, mst_value gradient, const mst_grad *c);
/** The `grad` of gradient ops: an error, as second derivatives are not implemented. */
mst_value mst_recurrent_no_second(mst_grad *c, int i);

#endif
