/** How the two ends of a connection show each other that they have the token of one user (transport/user_token.h),
 *  without sending it: whoever listens at the port of a task may be another user's program, and who connects may have
 *  recorded what others have sent.
 *
 *      connector                                               listener
 *      login, proof of login                        -------->  at an address of mine, new, not old? right?
 *      a word                                       -------->
 *      right?                                       <--------  challenge, proof of login and challenge
 *      the word, proof of login, challenge and sender ------>  right?
 *
 *  The first proof keeps strangers from sending anything that is read. It is good for one connection: the listener
 *  remembers the logins that it has taken. The last one counts: nobody can have recorded it, since the challenge is
 *  drawn for the connection. Each proof has a word of its own for its place, so that none is another one's, and covers
 *  the version of the messages (transport/message.h) and by the login the address to which the connector has connected:
 *  what is shown at one address is not what another one asks for. */
#ifndef MUSTER_TRANSPORT_TOKEN_PROOF_H
#define MUSTER_TRANSPORT_TOKEN_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "transport/cluster_key.h"
#include "transport/message.h"

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
    const char *address; /**< in numbers, "127.0.0.1:2222", for which it was made; in the login's text */
} mst_token_login;

/** Draws a nonce. False: the system gives no random numbers. */
MST_CHECKED bool mst_token_nonce_make(char nonce[MST_TOKEN_NONCE]);
/** A login for ADDRESS: a name that no two connections have, made at NOW (base/clock.h, which all processes of a
 *  machine have in common). */
MST_CHECKED bool mst_token_login_make(int64_t now, const char *address, char login[MST_TOKEN_LOGIN]);
/** Reads one; false: it is none. */
MST_CHECKED bool mst_token_login_read(const char *login, mst_token_login *out);

/** The proof at PLACE of a connection with LOGIN. CHALLENGE: the nonce that the listener has drawn; NULL for the
 *  login's own. SENDER: the header of the message that an answer is in front of; NULL for the others. */
void mst_token_prove(const mst_cluster_keys *keys, mst_token_place place, const char *login, const char *challenge,
                     const mst_message *sender, char proof[MST_TOKEN_PROOF]);
/** Whether SHOWN, of SIZE bytes, is that. */
MST_CHECKED bool mst_token_is_proved(const mst_cluster_keys *keys, mst_token_place place, const char *login,
                                     const char *challenge, const mst_message *sender, const void *shown, size_t size);

enum { MST_TOKEN_USED = 512 };

/** The logins that a listener has taken. Of those that it has forgotten none is taken again: it knows until when they
 *  were made. */
typedef struct mst_token_used {
    int64_t since; /**< none that was made before counts; at first when the listener has begun to listen */
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

/** Takes LOGIN, whose proof is right, at NOW: it must have been made since the listener listens, not long ago, and not
 *  have been taken before. */
MST_CHECKED mst_token_use_result mst_token_use(mst_token_used *used, const mst_token_login *login, int64_t now);

#endif
