/* clang -fsanitize=fuzzer,address,undefined: gradients as a parameter server reads them, and values as a worker does.
 * What is read lies in the message, and its rows are ascending rows of the variable. */
#include <string.h>

#include "memory.h"
#include "parameter_server/message_body.h"
#include "parameter_server/server_state.h"

enum { DENSE, SPARSE, NUM_VARIABLES, LEAVES = 2, ELEMENTS = 3, ROWS = 5, COLUMNS = 3 };

static mst_server_variable variables[NUM_VARIABLES] = {
    {.name = "dense", .spec = {.dtype = MST_F32}, .bytes = ELEMENTS * sizeof(float)},
    {.name = "sparse", .spec = {.dtype = MST_F32}, .is_sparse = true, .num_rows = ROWS, .columns = COLUMNS}};

/* A server of one worker, which nobody connects to: errors name the worker. */
static mst_mail *open_mail(void) {
    mst_cluster *cluster;
    mst_mail *mail;
    if (mst_cluster_from_hosts("a:1", "b:1", "ps", 0, &cluster)) abort();
    if (mst_mail_open(
            &(mst_mail_options){.cluster = cluster, .protocol = &mst_ps_protocol, .type = &mst_transport_inproc},
            &mail))
        abort();
    return mail;
}

static void check_piece(const mst_task_message *message, const mst_server_piece *piece, size_t bytes) {
    const char *begin = message->body, *end = begin + message->bytes, *at = piece->data;
    if (at < begin || at > end || (size_t)(end - at) < bytes) __builtin_trap();
    for (int64_t i = 1, last = -1; piece->number && i <= piece->number[0]; last = piece->number[i++])
        if (piece->number[i] <= last || piece->number[i] >= ROWS) __builtin_trap();
}

static void read_gradients(const mst_task_message *message) {
    static mst_mail *mail;
    if (!mail) mail = open_mail();
    mst_server_piece piece[LEAVES * NUM_VARIABLES] = {{NULL, NULL}};
    mst_server s = {.mail = mail,
                    .num_workers = 1,
                    .variables = {.at = variables, .count = NUM_VARIABLES},
                    .gradients = {.first_leaf = (int32_t[]){0, LEAVES}, .piece = piece}};
    if (mst_server_read_gradients(&s, message)) return;
    for (int i = 0; i < LEAVES * NUM_VARIABLES; i++)
        check_piece(message, &piece[i],
                    piece[i].number ? (size_t)piece[i].number[0] * COLUMNS * sizeof(float) : variables[DENSE].bytes);
}

static void read_values(const mst_task_message *message) {
    mst_message_body_rest rest = {message->body, message->bytes};
    mst_tensor *dense, *sparse;
    if (mst_tensor_create(MST_F32, MST_SHAPE(ELEMENTS), &dense)) abort();
    if (mst_tensor_create(MST_F32, MST_SHAPE(ROWS, COLUMNS), &sparse)) abort();
    if (mst_message_body_take_value(&rest, false, dense) && mst_message_body_take_value(&rest, true, sparse) &&
        rest.at + rest.bytes != (const char *)message->body + message->bytes)
        __builtin_trap();
    mst_tensor_release(dense);
    mst_tensor_release(sparse);
}

/* The body is copied, so that reading beyond it is seen, and numbers in it are aligned. */
static void read_input(const uint8_t *data, size_t size) {
    mst_task_message message = {.bytes = size, .body = malloc(size ? size : 1)};
    if (!message.body) return;
    if (size) memcpy(message.body, data, size);
    read_gradients(&message);
    read_values(&message);
    free(message.body);
}

FUZZ(read_input, 2, 1 << 20)
