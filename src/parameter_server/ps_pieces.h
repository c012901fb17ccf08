/** The pieces of memory of which the body of gradients is made (parameter_server/parcel_body.h). */
#ifndef MUSTER_PARAMETER_SERVER_PS_PIECES_H
#define MUSTER_PARAMETER_SERVER_PS_PIECES_H

#include "parameter_server/ps_part.h"
#include "transport/transport.h"

enum { MST_PIECES_OF_GRADIENT = 3 /**< at most: numbers, rows, zeros */ };

/** Adds DATA of BYTES, and zeros behind it; returns what is behind these. */
mst_iov *mst_piece_add(mst_iov *to, const void *data, size_t bytes);
/** Adds NUMBERS, how many there are and then each, and behind them so many of ROWS, from the FIRST on. */
mst_iov *mst_piece_add_rows(mst_iov *to, const mst_tensor *rows, int64_t first, const int64_t *numbers);
/** Those of NUMBERS, which ascend, that are of rows in RANGE, counted from its first one. OUT gets how many there are,
 *  and them. Returns which of NUMBERS is the first of them, counted from 0. */
int64_t mst_piece_cut_numbers(const int64_t *numbers, mst_row_range range, int64_t *out);

#endif
