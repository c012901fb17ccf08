/** What all files of a parameter server do with messages: write lines to the log and to workers, send empty answers,
 *  and free a message that was handled. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_MESSAGES_H
#define MUSTER_PARAMETER_SERVER_SERVER_MESSAGES_H

#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** Writes a line to the log. */
void mst_server_say(mst_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "worker:1 at localhost:2223"; valid until the next call. */
const char *mst_server_name(mst_server *s, int32_t task);
/** Sends worker TO a message of KIND, FAILED or NOTICE, with TEXT. REQUEST: the one that it answers; 0: none. */
MST_CHECKED mst_status mst_server_send_line(mst_server *s, int32_t kind, int32_t to, uint64_t request,
                                            const char *text);
/** Tells worker TO, which has sent REQUEST, that there are no values. */
MST_CHECKED mst_status mst_server_send_empty(mst_server *s, int32_t to, uint64_t request);
/** Frees the gradients of worker W that are kept, if there are any. */
void mst_server_drop_gradients(mst_server *s, int32_t w);
/** Frees MESSAGE, which may be NULL, after its handling has returned STATUS. After an error it is only freed with the
 *  session, which may still read it (server_begin.h). */
void mst_server_end_message(mst_server *s, mst_task_message *message, mst_status status);

#endif
