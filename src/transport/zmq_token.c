#include "transport/zmq_token.h"

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/clock.h"

static const int64_t LONG_AGO = 60000000000; /* nanoseconds */

const char mst_zmq_token_missing[] =
    "it has not this user's token: it is a program of another user, or was started "
    "with another HOME, with --cluster-key or with --insecure";

bool mst_zmq_token_listen(mst_transport *t) {
    const int on = 1;
    return zmq_setsockopt(t->router, ZMQ_PLAIN_SERVER, &on, sizeof on) == 0;
}

bool mst_zmq_token_connect(const mst_cluster_keys *keys, const char *numeric, void *dealer,
                           char expected[MST_TOKEN_PROOF]) {
    char login[MST_TOKEN_LOGIN], proof[MST_TOKEN_PROOF];
    if (!mst_token_login_make(mst_clock_now(), login)) return false;
    mst_token_prove(keys, MST_TOKEN_CONNECTOR, numeric, login, proof);
    mst_token_prove(keys, MST_TOKEN_LISTENER, numeric, login, expected);
    return zmq_setsockopt(dealer, ZMQ_PLAIN_USERNAME, login, strlen(login)) == 0 &&
           zmq_setsockopt(dealer, ZMQ_PLAIN_PASSWORD, proof, strlen(proof)) == 0;
}

bool mst_zmq_token_take(const char *expected, const unsigned char **data, size_t *bytes) {
    const size_t length = strlen(expected);
    if (*bytes < length || (length && memcmp(*data, expected, length) != 0)) return false;
    *data += length;
    *bytes -= length;
    return true;
}

static const char *numeric_of(const mst_transport *t) {
    return t->listen + strlen("tcp://");
}

bool mst_zmq_token_is_proved(const mst_transport *t, const char *login, const void *shown, size_t size) {
    return mst_token_is_proved(&t->options.keys, MST_TOKEN_CONNECTOR, numeric_of(t), login, shown, size);
}

bool mst_zmq_token_is_in_time(const mst_transport *t, const char *login, int64_t now) {
    const int64_t made = mst_token_login_time(login, strlen(login));
    return made >= t->listens_since && made <= now && now - made < LONG_AGO;
}

void mst_zmq_token_send(mst_transport *t, const unsigned char *id, mst_message message, const char *login,
                        const void *data, size_t bytes) {
    const mst_zmq_route route = {t->router, id};
    char *both = NULL;
    if (!t->options.has_token) {
        mst_zmq_send_bytes(route, message, data, bytes);
        return;
    }
    if (!login || !(both = malloc(MST_TOKEN_PROOF + bytes))) return; /* the other side tries again */
    mst_token_prove(&t->options.keys, MST_TOKEN_LISTENER, numeric_of(t), login, both);
    if (bytes) memcpy(both + MST_TOKEN_PROOF - 1, data, bytes);
    mst_zmq_send_bytes(route, message, both, MST_TOKEN_PROOF - 1 + bytes);
    free(both);
}
