#include "transport/zmq_curve.h"

#include <zmq.h>

static bool set_key(void *socket, int option, const unsigned char key[MST_CURVE_KEY]) {
    return zmq_setsockopt(socket, option, key, MST_CURVE_KEY) == 0;
}

static bool set_pair(void *socket, const mst_curve_pair *pair) {
    return set_key(socket, ZMQ_CURVE_PUBLICKEY, pair->public_key) &&
           set_key(socket, ZMQ_CURVE_SECRETKEY, pair->secret_key);
}

bool mst_zmq_curve_listen(mst_transport *t) {
    const int on = 1;
    return zmq_setsockopt(t->router, ZMQ_CURVE_SERVER, &on, sizeof on) == 0 &&
           set_pair(t->router, &t->options.keys.listener);
}

bool mst_zmq_curve_connect(const mst_cluster_keys *keys, void *dealer) {
    return set_key(dealer, ZMQ_CURVE_SERVERKEY, keys->listener.public_key) && set_pair(dealer, &keys->connector);
}
