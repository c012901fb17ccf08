/** The connection of a program with the leader of a cluster of task servers, for a session.
 *
 *  The program is given the address of one task. It asks that task for the addresses of all tasks, as `muster top`
 *  does, and connects to the leader. It does not listen: answers come back by its own connection. */
#ifndef MUSTER_SESSIONS_REMOTE_CLIENT_H
#define MUSTER_SESSIONS_REMOTE_CLIENT_H

#include "messages/task_message.h"
#include "sessions/session_message.h"

typedef struct mst_remote_client mst_remote_client;

/** TARGET: "tcp://host:port" or "grpc://host:port". KEY_FILE: of the cluster; NULL: none. INSECURE: the tasks of the
 *  cluster accept connections from everybody. Waits for the task to answer, SECONDS at most. MST_INVALID if TARGET is
 *  not an address; MST_UNAVAILABLE if no task server of this version answers there. */
MST_CHECKED mst_status mst_remote_client_open(const char *target, const char *key_file, bool insecure, double seconds,
                                              mst_remote_client **out);
/** NULL is allowed. */
void mst_remote_client_close(mst_remote_client *client);
/** The number in the cluster of the task at the target. */
int32_t mst_remote_client_target(const mst_remote_client *client);
/** How often the connection was lost: each loss ends all earlier sessions. */
uint64_t mst_remote_client_losses(mst_remote_client *client);

/** Sends a message to the leader. There is no answer. */
void mst_remote_client_tell(mst_remote_client *client, int32_t kind, uint64_t session, uint64_t step);
/** Sends a request with the body that WRITER has, and waits for its answer, which belongs to the caller. The caller
 *  must read the error in it. MST_UNAVAILABLE if the leader is lost, or if there is still no connection with it after
 *  10 s; MST_DEADLINE if it has not answered after SECONDS. */
MST_CHECKED mst_status mst_remote_client_ask(mst_remote_client *client, int32_t kind, uint64_t session,
                                             const mst_wire_writer *writer, double seconds, mst_task_message **out);

#endif
