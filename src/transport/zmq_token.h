/** The token of a user (transport/user_token.h) with the sockets of a zmq transport at loopback addresses:
 *
 *      DEALER                                                        ROUTER
 *      PLAIN, ZeroMQ's names and passwords: login, proof  -------->  asks zmq_authenticator.h
 *      HELLO; ASK from a program that is not a task       -------->
 *      proof right? else not a task of the same user      <--------  CHALLENGE: a nonce, proof
 *      a proof, then the same message again               -------->  proof right? then answers: WELCOME, REPORT
 *
 *  Only the two ends see the bytes sent over a loopback address, so nothing is encrypted. */
#ifndef MUSTER_TRANSPORT_ZMQ_TOKEN_H
#define MUSTER_TRANSPORT_ZMQ_TOKEN_H

#include "transport/zmq_peer.h"

/** Makes the ROUTER, which is not bound yet, ask the authenticator. */
bool mst_zmq_token_listen(mst_transport *t);
/** Makes a DEALER, which is not connected yet, prove to the address NUMERIC that it has KEYS, a token. */
bool mst_zmq_token_connect(const mst_cluster_keys *keys, const char *numeric, void *dealer, mst_zmq_login *login);
/** Whether the listener must still prove that it has the token: until then only CHALLENGE and REFUSE are accepted. */
bool mst_zmq_token_is_awaited(const mst_zmq_login *login);
/** Takes a CHALLENGE of BYTES, and sends MESSAGE again with the proof before TEXT. False: the listener has not proved
 *  that it has the token. */
bool mst_zmq_token_answer(const mst_cluster_keys *keys, mst_zmq_login *login, const void *data, size_t bytes,
                          void *dealer, mst_wire_header message, const char *text);

/** What a ROUTER does with the first message of a connection. */
typedef enum mst_zmq_admission {
    MST_ZMQ_ADMITTED,   /**< the sender has the token */
    MST_ZMQ_CHALLENGED, /**< a CHALLENGE was sent: the sender must send its message again with the answer */
    MST_ZMQ_REJECTED,   /**< the answer is wrong: the sender does not have the token */
    MST_ZMQ_TOO_LATE    /**< the connection has ended */
} mst_zmq_admission;

/** Whether MESSAGE, a HELLO or an ASK on connection FD, may be accepted; then *DATA and *BYTES are the text after the
 *  proof. ID: of the DEALER. LOGIN: the login that the authenticator has accepted. */
mst_zmq_admission mst_zmq_token_check(mst_transport *t, const unsigned char *id, int fd, const char *login,
                                      const mst_wire_header *message, const unsigned char **data, size_t *bytes);

/** Whether the proof SHOWN with LOGIN is right, and was made for an address of this task. */
bool mst_zmq_token_is_proved(const mst_transport *t, const char *login, const void *shown, size_t size);

/** The error text for a listener that has not proved that it has the token. */
extern const char mst_zmq_token_missing[];

#endif
