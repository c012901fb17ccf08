#include "transport/zmq_token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"
#include "transport/zmq_pending.h"

const char mst_zmq_token_missing[] =
    "it does not have this user's token: it was started by another user, or with another HOME, --cluster-key or "
    "--insecure: start both in the same way";

enum { NONCE = MST_TOKEN_NONCE - 1, PROOF = MST_TOKEN_PROOF - 1, TEXT = 512 /* most bytes of a HELLO */ };

/* ---- the side that connects ---- */

bool mst_zmq_token_connect(const mst_cluster_keys *keys, const char *numeric, void *dealer, mst_zmq_login *login) {
    char proof[MST_TOKEN_PROOF];
    *login = (mst_zmq_login){.is_answered = false};
    if (!mst_token_login_make(mst_clock_now(), numeric, login->text)) return false;
    mst_token_prove(keys, MST_TOKEN_LOGIN_PROOF, login->text, NULL, NULL, proof);
    return zmq_setsockopt(dealer, ZMQ_PLAIN_USERNAME, login->text, strlen(login->text)) == 0 &&
           zmq_setsockopt(dealer, ZMQ_PLAIN_PASSWORD, proof, strlen(proof)) == 0;
}

bool mst_zmq_token_is_awaited(const mst_zmq_login *login) {
    return login->text[0] && !login->is_answered;
}

bool mst_zmq_token_answer(const mst_cluster_keys *keys, mst_zmq_login *login, const void *data, size_t bytes,
                          void *dealer, mst_wire_header message, const char *text) {
    char challenge[MST_TOKEN_NONCE], proof[MST_TOKEN_PROOF], both[MST_TOKEN_PROOF + TEXT];
    if (!mst_zmq_token_is_awaited(login) || bytes != NONCE + PROOF) return false;
    memcpy(challenge, data, NONCE);
    challenge[NONCE] = '\0';
    if (!mst_token_is_proved(keys, MST_TOKEN_CHALLENGE_PROOF, login->text, challenge, NULL, (const char *)data + NONCE,
                             PROOF))
        return false;
    login->is_answered = true;
    mst_token_prove(keys, MST_TOKEN_ANSWER_PROOF, login->text, challenge, &message, proof);
    snprintf(both, sizeof both, "%s%s", proof, text);
    mst_zmq_send_text((mst_zmq_route){dealer, NULL}, message, both);
    return true;
}

/* ---- the side that listens ---- */

bool mst_zmq_token_listen(mst_transport *t) {
    const int on = 1;
    return zmq_setsockopt(t->router, ZMQ_PLAIN_SERVER, &on, sizeof on) == 0;
}

bool mst_zmq_token_is_proved(const mst_transport *t, const char *login, const void *shown, size_t size) {
    mst_token_login said;
    if (!mst_token_login_read(login, &said)) return false;
    if (strcmp(said.address, t->listen + strlen("tcp://")) != 0 && strcmp(said.address, t->known_as) != 0) return false;
    return mst_token_is_proved(&t->options.keys, MST_TOKEN_LOGIN_PROOF, login, NULL, NULL, shown, size);
}

static void send_challenge(mst_transport *t, const unsigned char *id, const char *login, const char *challenge) {
    const mst_wire_header message = {
        .kind = MST_WIRE_CHALLENGE, .from = t->options.self, .to = -1, .instance = t->options.instance};
    char proof[MST_TOKEN_PROOF], both[MST_TOKEN_NONCE + MST_TOKEN_PROOF];
    mst_token_prove(&t->options.keys, MST_TOKEN_CHALLENGE_PROOF, login, challenge, NULL, proof);
    snprintf(both, sizeof both, "%s%s", challenge, proof);
    mst_zmq_send_text((mst_zmq_route){t->router, id}, message, both);
}

mst_zmq_admission mst_zmq_token_check(mst_transport *t, const unsigned char *id, int fd, const char *login,
                                      const mst_wire_header *message, const unsigned char **data, size_t *bytes) {
    char *challenge = mst_zmq_pending_challenge(t, fd, id);
    if (!login || !challenge) return MST_ZMQ_TOO_LATE;
    if (!challenge[0]) {
        /* no random numbers now: the sender tries again */
        if (!mst_token_nonce_make(challenge)) return MST_ZMQ_TOO_LATE;
        send_challenge(t, id, login, challenge);
        return MST_ZMQ_CHALLENGED;
    }
    if (*bytes < PROOF ||
        !mst_token_is_proved(&t->options.keys, MST_TOKEN_ANSWER_PROOF, login, challenge, message, *data, PROOF))
        return MST_ZMQ_REJECTED;
    *data += PROOF;
    *bytes -= PROOF;
    return MST_ZMQ_ADMITTED;
}
