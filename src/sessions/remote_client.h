/** The connection of a program with the leader of a cluster of task servers, for a session.
 *
 *  The program asks the task that it has been told of for the addresses of all tasks, as `muster top` does, and
 *  connects with the leader. It listens nowhere: answers come back by its own connection. */
#ifndef MUSTER_SESSIONS_REMOTE_CLIENT_H
#define MUSTER_SESSIONS_REMOTE_CLIENT_H

#include "messages/parcel.h"
#include "sessions/session_message.h"

typedef struct mst_remote_client mst_remote_client;

/** TARGET: "tcp://host:port", also "grpc://". KEY_FILE of the cluster; NULL: none. INSECURE: its tasks take connections
 *  of all. Waits at most SECONDS for the task
 *  to answer. MST_INVALID where TARGET is no address, MST_UNAVAILABLE where no task server of this version answers
 *  there. */
MST_CHECKED mst_status mst_remote_client_open(const char *target, const char *key_file, bool insecure, double seconds,
                                              mst_remote_client **out);
/** NULL is allowed. */
void mst_remote_client_close(mst_remote_client *client);
/** The target, as a task of the cluster. */
int32_t mst_remote_client_target(const mst_remote_client *client);
/** How often the connection was lost: a session of before is none any more. */
uint64_t mst_remote_client_losses(mst_remote_client *client);

/** Sends a message to the leader, for which no answer comes. */
void mst_remote_client_tell(mst_remote_client *client, int32_t kind, uint64_t session, uint64_t step);
/** Sends a request with the body that WRITER has, and waits for its answer, whose error is left to be read: the
 *  caller's. MST_UNAVAILABLE where the leader is lost, or there is no connection with it yet after some seconds;
 *  MST_DEADLINE. */
MST_CHECKED mst_status mst_remote_client_ask(mst_remote_client *client, int32_t kind, uint64_t session,
                                             const mst_wire_writer *writer, double seconds, mst_parcel **out);

#endif
