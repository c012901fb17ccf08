/** What ops of indices share as StableHLO. */
#ifndef MUSTER_OP_INDEX_HLO_H
#define MUSTER_OP_INDEX_HLO_H

#include "muster/hlo.h"

/** i32 if it holds all numbers below COUNT, else i64: accelerators are slow with i64. */
mst_dtype mst_index_dtype(int64_t count);
/** Indices are numbers of rows, [n], of a value [rows, columns]; parts are [n, columns]. SORTED and UNIQUE are the
 *  promises of these names in mst_hlo_indexing. */
mst_hlo_indexing mst_hlo_by_row(bool sorted, bool unique);
/** Numbers of classes, u8, i32 or i64: u8 becomes i32. */
mst_hlo mst_hlo_classes(mst_lower *l, mst_hlo x);
/** The bools X < 0 or X >= SIZE; X is i32 or i64. */
mst_hlo mst_hlo_outside(mst_lower *l, mst_hlo x, int64_t size);
/** The indices of gather_last and scatter_last, source 1, as [rows, k]; a fault if they are not within 0 to N - 1. */
mst_hlo mst_hlo_row_numbers(mst_lower *l, int64_t n);
/** Sorts the rows, which are the last dimension, of X: values are like X, and indices, i32, say where they
 *  were in their rows. Equal elements keep their order, and NaN comes last. */
void mst_hlo_sort_rows(mst_lower *l, mst_hlo x, bool descending, mst_hlo *values, mst_hlo *indices);

/** [batches size, columns], zeros, to which the rows are added: rows[b, i, ...] to row number b size + numbers[b, i].
 *
 *  numbers  [batches, n], i32 or i64. What lies outside of 0 to size - 1 must be a fault
 *  rows     [batches, n, columns]; only one batch if there are several columns
 *
 *  Floats are added in an order that depends on the numbers alone: the rows are sorted, the sums of runs of one number
 *  are made by doubling their length, and each row is written once. */
mst_hlo mst_hlo_sum_by_number(mst_lower *l, mst_hlo numbers, mst_hlo rows, int64_t size);
/** Adds up the rows of each number: *NUMBERS [n], i32 or i64, and *ROWS [n, columns] become the numbers that occur,
 *  ascending, and the sums, COUNT of each. At most COUNT of the numbers 0 to NONE - 1 may occur, each at most MOST
 *  times; COUNT is at most n. Rows of the number NONE are not there: what follows the last sum has that number, and
 *  zeros. Two rows of one number are added in their order, more by doubling the length of runs. */
void mst_hlo_sum_same(mst_lower *l, mst_hlo *numbers, mst_hlo *rows, int64_t none, int64_t most, int64_t count);

#endif
