/** The token of a user (transport/user_token.h) with the sockets of a zmq transport at loopback addresses:
 *
 *      DEALER                                                        ROUTER
 *      PLAIN, ZeroMQ's names and passwords: login, proof  -------->  asks the door (zmq_door.h)
 *      HELLO, or ASK of who is no task                    -------->
 *      right? else this is no task of the same user       <--------  CHALLENGE: a nonce, proof
 *      the same again, behind a proof                     -------->  right? then it is taken: WELCOME, REPORT
 *
 *  What goes over a loopback address is seen by its two ends alone, so nothing is encrypted. */
#ifndef MUSTER_TRANSPORT_ZMQ_TOKEN_H
#define MUSTER_TRANSPORT_ZMQ_TOKEN_H

#include "transport/zmq_peer.h"

/** Makes the ROUTER, which is not bound yet, ask at the door. */
bool mst_zmq_token_listen(mst_transport *t);
/** Makes a DEALER, which is not connected yet, show KEYS, a token, to NUMERIC. */
bool mst_zmq_token_connect(const mst_cluster_keys *keys, const char *numeric, void *dealer, mst_zmq_login *login);
/** Whether the listener must still show the token: until then nothing but a CHALLENGE is taken of it, or a REFUSE. */
bool mst_zmq_token_is_awaited(const mst_zmq_login *login);
/** Takes a CHALLENGE of BYTES, and sends MESSAGE and TEXT once more, behind the proof. False: the listener has not
 *  shown the token. */
bool mst_zmq_token_answer(const mst_cluster_keys *keys, mst_zmq_login *login, const void *data, size_t bytes,
                          void *dealer, mst_message message, const char *text);

/** What a ROUTER does with the first words of a connection. */
typedef enum mst_zmq_entrance {
    MST_ZMQ_ADMITTED,   /**< who speaks has the token */
    MST_ZMQ_CHALLENGED, /**< it has been sent a CHALLENGE, and is to say that again */
    MST_ZMQ_REJECTED,   /**< it has not */
    MST_ZMQ_TOO_LATE    /**< its connection is not there any more */
} mst_zmq_entrance;

/** Whether MESSAGE, a HELLO or an ASK by connection FD, may be taken; then *DATA and *BYTES are what stands behind the
 *  proof. ID, LOGIN: of the DEALER, and as the door has let it in. */
mst_zmq_entrance mst_zmq_token_enter(mst_transport *t, const unsigned char *id, int fd, const char *login,
                                     const mst_message *message, const unsigned char **data, size_t *bytes);

/** Whether what is SHOWN with LOGIN proves that the other side has the token, and that it wants this task. */
bool mst_zmq_token_is_proved(const mst_transport *t, const char *login, const void *shown, size_t size);

/** What is said of a listener that has not shown the token. */
extern const char mst_zmq_token_missing[];

#endif
