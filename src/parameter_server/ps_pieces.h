/** The pieces of memory that make up the body of gradients (parameter_server/message_body.h). */
#ifndef MUSTER_PARAMETER_SERVER_PS_PIECES_H
#define MUSTER_PARAMETER_SERVER_PS_PIECES_H

#include "parameter_server/ps_part.h"
#include "transport/transport.h"

enum { MST_PIECES_OF_GRADIENT = 3 /**< at most: numbers, rows, zeros */ };

/** Adds DATA of BYTES, and zeros after it. Returns the place for the next piece. */
mst_iov *mst_piece_add(mst_iov *to, const void *data, size_t bytes);
/** Adds NUMBERS, which is a count and then that many row numbers; then as many rows of ROWS, from row FIRST on. */
mst_iov *mst_piece_add_rows(mst_iov *to, const mst_tensor *rows, int64_t first, const int64_t *numbers);
/** NUMBERS is a count and then that many ascending row numbers. Selects the row numbers in RANGE, and subtracts the
 *  first row of RANGE from each. OUT gets their count, and then the differences. Returns the index, from 0, of the
 *  first selected number. */
int64_t mst_piece_cut_numbers(const int64_t *numbers, mst_row_range range, int64_t *out);

#endif
