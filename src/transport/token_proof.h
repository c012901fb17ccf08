/** How the two ends of a connection prove to each other that they have the token of one user (transport/user_token.h).
 *  Neither sends the token: the listener at the port of a task may be another user's program. The connector may have
 *  recorded what others have sent.
 *
 *      connector                                                  listener
 *      login, proof of login                             -------->  made for my address, recent, not used? proof right?
 *      message                                           -------->
 *      proof right?                                      <--------  challenge, proof of login and challenge
 *      message, proof of login, challenge and its header -------->  proof right?
 *
 *  Because of the first proof the listener reads nothing from programs without the token. That proof is valid for one
 *  connection: the listener remembers the logins that it has accepted. The last proof decides: it cannot have been
 *  recorded, since the challenge is drawn for this connection. Each of the three proofs includes a word for its place,
 *  so that none can be used in place of another. Each also covers the version of the header (transport/wire_header.h).
 *  Each covers the login, and so the address to which the connector has connected: a proof for one address is not valid
 *  at another one. */
#ifndef MUSTER_TRANSPORT_TOKEN_PROOF_H
#define MUSTER_TRANSPORT_TOKEN_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "transport/cluster_key.h"
#include "transport/wire_header.h"

/** Sizes of texts, with their ends. */
enum { MST_TOKEN_NONCE = 33, MST_TOKEN_LOGIN = 160, MST_TOKEN_PROOF = 65 };

/** Which of the three proofs. */
typedef enum mst_token_place {
    MST_TOKEN_LOGIN_PROOF,
    MST_TOKEN_CHALLENGE_PROOF,
    MST_TOKEN_ANSWER_PROOF
} mst_token_place;

/** What a login says. */
typedef struct mst_token_login {
    char nonce[MST_TOKEN_NONCE];
    int64_t time;        /**< when it was made */
    const char *address; /**< numeric, "127.0.0.1:2222", for which it was made; points into the login's text */
} mst_token_login;

/** Draws a nonce. False: the system gives no random numbers. */
MST_CHECKED bool mst_token_nonce_make(char nonce[MST_TOKEN_NONCE]);
/** Makes a login for ADDRESS: a name that no two connections share. NOW is the time (base/clock.h, the same clock for
 *  all processes of a machine). False: the system gives no random numbers, or ADDRESS is too long. */
MST_CHECKED bool mst_token_login_make(int64_t now, const char *address, char login[MST_TOKEN_LOGIN]);
/** Reads a login; false if it is not one. */
MST_CHECKED bool mst_token_login_read(const char *login, mst_token_login *out);

/** The proof at PLACE of a connection with LOGIN. CHALLENGE: the nonce that the listener has drawn; NULL for the proof
 *  of the login. SENDER: the header of the message, for the proof of the answer; NULL for the other two. */
void mst_token_prove(const mst_cluster_keys *keys, mst_token_place place, const char *login, const char *challenge,
                     const mst_wire_header *sender, char proof[MST_TOKEN_PROOF]);
/** Whether SHOWN, of SIZE bytes, is the proof that mst_token_prove makes. */
MST_CHECKED bool mst_token_is_proved(const mst_cluster_keys *keys, mst_token_place place, const char *login,
                                     const char *challenge, const mst_wire_header *sender, const void *shown,
                                     size_t size);

enum { MST_TOKEN_USED = 512 };

/** The logins that a listener has accepted. It forgets the oldest when the list is full. A forgotten login is not
 *  accepted again, because `since` is then later than the time at which it was made. */
typedef struct mst_token_used {
    int64_t since; /**< logins made before this time are refused; at first the time when the listener began to listen */
    int next;      /**< place for the next one, after the oldest */
    struct {
        char nonce[MST_TOKEN_NONCE];
        int64_t time;
    } login[MST_TOKEN_USED];
} mst_token_used;

typedef enum mst_token_use_result {
    MST_TOKEN_TAKEN,
    MST_TOKEN_OUT_OF_TIME,
    MST_TOKEN_USED_BEFORE
} mst_token_use_result;

/** Accepts LOGIN, whose proof is right, at NOW. It must have been made recently and after the listener began to listen,
 *  and not have been accepted before. */
MST_CHECKED mst_token_use_result mst_token_use(mst_token_used *used, const mst_token_login *login, int64_t now);

#endif
