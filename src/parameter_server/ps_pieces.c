#include "parameter_server/ps_pieces.h"

#include "parameter_server/message_body.h"

mst_iov *mst_piece_add(mst_iov *to, const void *data, size_t bytes) {
    static const char zero[MST_MESSAGE_BODY_ALIGN] = {0};
    const size_t rest = mst_message_body_aligned(bytes) - bytes;
    *to++ = (mst_iov){data, bytes};
    *to++ = (mst_iov){zero, rest}; /* added even if there are no zeros: each step fills the same number of pieces */
    return to;
}

mst_iov *mst_piece_add_rows(mst_iov *to, const mst_tensor *rows, int64_t first, const int64_t *numbers) {
    const int64_t count = numbers[0], most = mst_tensor_shape(rows).dim[0];
    const size_t row = most ? mst_tensor_bytes(rows) / (size_t)most : 0;
    *to++ = (mst_iov){numbers, (size_t)(1 + count) * sizeof count};
    return mst_piece_add(to, (const char *)mst_tensor_data(rows) + (size_t)first * row, row * (size_t)count);
}

int64_t mst_piece_cut_numbers(const int64_t *numbers, mst_row_range range, int64_t *out) {
    int64_t first = 1, count = 0;
    while (first <= numbers[0] && numbers[first] < range.first) first++;
    for (int64_t i = first; i <= numbers[0] && numbers[i] < range.first + range.count; i++)
        out[++count] = numbers[i] - range.first;
    out[0] = count;
    return first - 1;
}
