/** The token of a user (transport/user_token.h) with the sockets of a zmq transport at loopback addresses:
 *
 *      DEALER                                                        ROUTER
 *      PLAIN, ZeroMQ's names and passwords: login, proof  -------->  asks the door (zmq_door.h)
 *      HELLO, or ASK of who is no task                    -------->
 *      right? else this is no task of the same user       <--------  WELCOME or REPORT, which begin with its proof
 *
 *  What goes over a loopback address is seen by its two ends alone, so nothing is encrypted. */
#ifndef MUSTER_TRANSPORT_ZMQ_TOKEN_H
#define MUSTER_TRANSPORT_ZMQ_TOKEN_H

#include "transport/zmq_peer.h"

/** Makes the ROUTER, which is not bound yet, ask at the door. */
bool mst_zmq_token_listen(mst_transport *t);
/** Makes a DEALER, which is not connected yet, show KEYS, a token, to NUMERIC. EXPECTED: the proof with which WELCOME,
 *  TAKEN, MISFIT or REPORT begins. */
bool mst_zmq_token_connect(const mst_cluster_keys *keys, const char *numeric, void *dealer,
                           char expected[MST_TOKEN_PROOF]);
/** Whether the BYTES of such a message at *DATA begin with it ("": nothing is expected): both then are what follows. */
bool mst_zmq_token_take(const char *expected, const unsigned char **data, size_t *bytes);

/** Whether what is SHOWN with LOGIN proves that the other side has the token. */
bool mst_zmq_token_is_proved(const mst_transport *t, const char *login, const void *shown, size_t size);
/** Whether LOGIN was made since the ROUTER listens, and not long ago. */
bool mst_zmq_token_is_in_time(const mst_transport *t, const char *login, int64_t now);

/** Sends a message of KIND by the ROUTER to the DEALER with this id, whose login is LOGIN (NULL: the transport has no
 *  token), with DATA behind the proof. */
void mst_zmq_token_send(mst_transport *t, const unsigned char *id, mst_message message, const char *login,
                        const void *data, size_t bytes);
/** What is said of a listener that has not shown the token. */
extern const char mst_zmq_token_missing[];

#endif
