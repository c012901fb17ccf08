#include "parameter_server/ps_gradients.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "parameter_server/message_body.h"
#include "parameter_server/ps_pieces.h"

/* ---- memory ---- */

static int32_t count_of(const mst_ps_gradients *g) {
    return g->num_leaves * g->copies->count;
}

/* Lays out the gradients in a block: the parts of the servers one after another, each with the layout of
 * message_body.h. There is no block if some gradients are sparse or cut. */
static mst_status lay_out(mst_ps_gradients *g) {
    const mst_ps_copies *all = g->copies;
    for (int32_t v = 0; v < all->count; v++)
        if (all->copy[v].sparse || all->copy[v].ps == MST_PS_EACH) return MST_OK;
    g->offset = calloc((size_t)count_of(g) + 1, sizeof *g->offset);
    g->begin = calloc((size_t)all->num_ps + 1, sizeof *g->begin);
    if (!g->offset || !g->begin) return MST_NO_MEMORY("for gradients");
    size_t at = 0;
    for (int32_t p = 0; p < all->num_ps; p++) {
        for (int32_t l = 0; l < g->num_leaves; l++)
            for (int32_t v = 0; v < all->count; v++) {
                if (all->copy[v].ps != p) continue;
                g->offset[l * all->count + v] = at;
                at += mst_message_body_aligned(mst_tensor_bytes(all->copy[v].value));
            }
        g->begin[p + 1] = at;
    }
    return MST_OK;
}

mst_status mst_ps_gradients_make(mst_ps_gradients *g, const mst_ps_copies *copies, int32_t num_leaves) {
    g->copies = copies;
    g->num_leaves = num_leaves;
    g->num_pieces = MST_PIECES_OF_GRADIENT * count_of(g);
    g->piece = calloc((size_t)copies->num_ps * (size_t)g->num_pieces + 1, sizeof *g->piece);
    return g->piece ? lay_out(g) : MST_NO_MEMORY("for gradients");
}

void mst_ps_gradients_free(mst_ps_gradients *g, mst_mail *mail) {
    mst_mail_block_give(mail, g->block);
    free(g->piece);
    free(g->numbers);
    free(g->offset);
    free(g->begin);
    *g = (mst_ps_gradients){.copies = NULL};
}

/* ---- computing gradients in the memory from which they are sent ---- */

static char *gradient_place(const mst_ps_gradients *g, int32_t i) {
    return (char *)mst_mail_block_data(g->block) + g->offset[i];
}

/* Gives up the block if a step that was given up still holds GRADIENT, since that step may write to the block again. */
static void leave_block(mst_ps_gradients *g, mst_mail *mail, mst_tensor *const *gradient) {
    bool is_held = false;
    for (int32_t i = 0; i < count_of(g) && g->block; i++)
        is_held |= gradient[i] && mst_tensor_data(gradient[i]) == gradient_place(g, i) &&
                   mst_tensor_references(gradient[i]) > 1;
    (is_held ? mst_mail_block_leave : mst_mail_block_give)(mail, g->block);
    g->block = NULL;
}

/* Makes gradient I a tensor in the block. */
static mst_status place_gradient(const mst_ps_gradients *g, int32_t i, mst_tensor **gradient) {
    const mst_tensor *variable = g->copies->copy[i % g->copies->count].value;
    const size_t bytes = mst_tensor_bytes(variable);
    mst_tensor *placed;
    memset(gradient_place(g, i) + bytes, 0, mst_message_body_aligned(bytes) - bytes);
    if (*gradient && mst_tensor_data(*gradient) == gradient_place(g, i) && mst_tensor_references(*gradient) == 1)
        return MST_OK;
    MST_TRY(mst_tensor_wrap(mst_tensor_dtype(variable), mst_tensor_shape(variable), gradient_place(g, i), NULL, NULL,
                            &placed));
    mst_tensor_release(*gradient);
    *gradient = placed;
    return MST_OK;
}

mst_status mst_ps_gradients_place(mst_ps_gradients *g, mst_mail *mail, mst_tensor **gradient) {
    if (!g->offset) return MST_OK;
    leave_block(g, mail, gradient);
    g->block = mst_mail_block_take(mail, g->begin[g->copies->num_ps]);
    if (!g->block) return MST_NO_MEMORY("for gradients");
    for (int32_t i = 0; i < count_of(g); i++) MST_TRY(place_gradient(g, i, &gradient[i]));
    return MST_OK;
}

/* ---- pieces ---- */

/* Adds the part of the gradient of V for server P. If V is cut, its row numbers are counted from the first row of the
 * part. They are written to *NUMBERS, which then points past them. */
static mst_status add_gradient(const mst_ps_copies *all, int32_t p, int32_t v, mst_tensor *const *gradient,
                               mst_iov **to, int64_t **numbers) {
    const mst_ps_copy *copy = &all->copy[v];
    mst_tensor *part;
    if (!copy->sparse) {
        MST_TRY(mst_ps_part_view(all, v, p, gradient[0], &part));
        *to = mst_piece_add(*to, mst_tensor_data(part), mst_tensor_bytes(part));
        mst_tensor_release(part);
    } else if (copy->ps != MST_PS_EACH) {
        *to = mst_piece_add_rows(*to, gradient[0], 0, mst_tensor_data(gradient[1]));
    } else {
        const int64_t rows = mst_tensor_shape(copy->value).dim[0];
        const int64_t first =
            mst_piece_cut_numbers(mst_tensor_data(gradient[1]), mst_ps_part_rows(rows, all->num_ps, p), *numbers);
        *to = mst_piece_add_rows(*to, gradient[0], first, *numbers);
        *numbers += 1 + (*numbers)[0];
    }
    return MST_OK;
}

/* Allocates memory for the row numbers of sparse gradients that are cut. */
static mst_status make_numbers(mst_ps_gradients *g, mst_tensor *const *gradient) {
    const mst_ps_copies *all = g->copies;
    size_t count = 1; /* numbers: for each gradient a count at each server, and its row numbers */
    for (int32_t l = 0; l < g->num_leaves; l++)
        for (int32_t v = 0; v < all->count; v++) {
            const mst_ps_copy *copy = &all->copy[v];
            if (copy->sparse && copy->ps == MST_PS_EACH)
                count += (size_t)all->num_ps + (size_t) * (const int64_t *)mst_tensor_data(gradient[1]);
            gradient += copy->sparse ? 2 : 1;
        }
    free(g->numbers);
    g->numbers = malloc(count * sizeof *g->numbers);
    return g->numbers ? MST_OK : MST_NO_MEMORY("for the numbers of rows");
}

/* Fills the pieces for each server, in the order that parameter_server/message_body.h gives. */
static mst_status list_pieces(mst_ps_gradients *g, mst_tensor *const *gradients) {
    const mst_ps_copies *all = g->copies;
    MST_TRY(make_numbers(g, gradients));
    int64_t *numbers = g->numbers;
    for (int32_t p = 0; p < all->num_ps; p++) {
        mst_iov *to = g->piece + (ptrdiff_t)p * g->num_pieces;
        mst_tensor *const *gradient = gradients;
        for (int32_t l = 0; l < g->num_leaves; l++)
            for (int32_t v = 0; v < all->count; v++) {
                if (mst_ps_keeps(all, v, p)) MST_TRY(add_gradient(all, p, v, gradient, &to, &numbers));
                gradient += all->copy[v].sparse ? 2 : 1;
            }
    }
    return MST_OK;
}

mst_status mst_ps_gradients_list(mst_ps_gradients *g, mst_tensor *const *gradient) {
    g->is_in_block = g->block != NULL;
    for (int32_t i = 0; i < count_of(g) && g->is_in_block; i++)
        g->is_in_block = mst_tensor_data(gradient[i]) == gradient_place(g, i);
    return g->is_in_block ? MST_OK : list_pieces(g, gradient);
}

mst_status mst_ps_gradients_send(const mst_ps_gradients *g, mst_mail *mail, int32_t p, int32_t to,
                                 const mst_task_message_head *head) {
    if (g->is_in_block)
        return mst_mail_send_block(mail, to, head, g->block, g->begin[p], g->begin[p + 1] - g->begin[p]);
    return mst_mail_send(mail, to, head, g->piece + (ptrdiff_t)p * g->num_pieces, g->num_pieces, NULL);
}
