/** StableHLO that ops with indices share. */
#ifndef MUSTER_OP_INDEX_HLO_H
#define MUSTER_OP_INDEX_HLO_H

#include "muster/hlo.h"

/** i32 if it holds all numbers below COUNT, else i64: accelerators are slow with i64. */
mst_dtype mst_index_dtype(int64_t count);
/** The indexing of a gather or scatter of whole rows: indices [n] are numbers of rows of a value [rows, columns], and
 *  parts are [n, columns]. SORTED and UNIQUE: see mst_hlo_indexing. */
mst_hlo_indexing mst_hlo_by_row(bool sorted, bool unique);
/** X, numbers of classes (u8, i32 or i64), with u8 converted to i32. */
mst_hlo mst_hlo_classes(mst_lower *l, mst_hlo x);
/** Bools: X < 0 or X >= SIZE. X is i32 or i64. */
mst_hlo mst_hlo_outside(mst_lower *l, mst_hlo x, int64_t size);
/** Source 1 of gather_last and scatter_last, the indices, as [rows, k]. Adds a fault: indices not within 0 to N - 1. */
mst_hlo mst_hlo_row_numbers(mst_lower *l, int64_t n);
/** Sorts the rows of X; a row is the last dimension. Sets *VALUES, like X, and *INDICES, i32: the place in the row
 *  where each value was. Equal elements keep their order, and NaN comes last. */
void mst_hlo_sort_rows(mst_lower *l, mst_hlo x, bool descending, mst_hlo *values, mst_hlo *indices);

/** Returns sums of rows, [batches size, columns]: zeros, with rows[b, i] added to row b size + numbers[b, i].
 *
 *  numbers  [batches, n], i32 or i64, from 0 to size - 1. The caller must add a fault for others
 *  rows     [batches, n, columns]; only one batch if there are several columns
 *
 *  Floats are added in an order that depends only on the numbers. The rows are sorted by number. Runs with the same
 *  number are added up in steps that double the number of rows in a sum. Each row of the result is written once. */
mst_hlo mst_hlo_sum_by_number(mst_lower *l, mst_hlo numbers, mst_hlo rows, int64_t size);
/** Adds up the rows that have the same number. Before: *NUMBERS [n], i32 or i64, and *ROWS [n, columns]. After:
 *  *NUMBERS [COUNT], the numbers that occur, ascending, and *ROWS [COUNT, columns], their sums. At most COUNT different
 *  numbers from 0 to NONE - 1 may occur, each at most MOST times; COUNT is at most n. Rows with the number NONE are
 *  ignored; elements after the last sum have the number NONE, and zeros. Two rows with the same number are added in
 *  their order, more rows as in mst_hlo_sum_by_number. */
void mst_hlo_sum_same(mst_lower *l, mst_hlo *numbers, mst_hlo *rows, int64_t none, int64_t most, int64_t count);

#endif
