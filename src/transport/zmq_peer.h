/** The state that a zmq transport keeps for each of the other tasks, and the sockets to them. The transport's lock
 *  guards all of it.
 *
 *      task 0    DEALER to task 1  -- HELLO, then messages -->  ROUTER of task 1, bound at its address
 *                                  <-- WELCOME, with the name of its shm listener, if any (transport/shm.h)
 *
 *  Each task makes a connection to every task for which it has messages, so two tasks often have two connections. A
 *  message goes by the connection that its sender has made. Only a message to a task of unknown address goes back by
 *  the connection that the peer has made.
 *
 *  A DEALER is used for one connection. The states of the connection that this task makes (zmq_dialer.h), and what
 *  leads from one to the next:
 *
 *      IDLE            there is no DEALER
 *        RESOLVING       there has been a message for the peer, and the pause after the last try is over
 *      RESOLVING       a thread looks up the peer's name
 *        CONNECTING      it has an address: a DEALER is made and sends HELLO
 *        IDLE            the name is not known, or no DEALER can be made
 *      CONNECTING      the connection is made; if there is a token, CHALLENGE is awaited and answered (zmq_token.h)
 *        OPEN            WELCOME has come
 *        IDLE            the connection has ended, one side refuses the other, or no WELCOME comes within the timeout
 *      OPEN            messages and signs of life go both ways
 *        IDLE            the connection has ended, the peer is silent for longer than the timeout, sends BYE or
 *                        something that cannot be accepted, or is another process now
 *
 *  On each way to IDLE the DEALER is closed. The pause before the next try doubles from try to try, up to a second, and
 *  is short again after OPEN.
 *
 *  The states of a connection that a peer makes (zmq_listener.h):
 *
 *      pending         libzmq has accepted it; no message has identified its sender yet (zmq_pending.h)
 *        joined          HELLO has come from a task that may join: it gets WELCOME
 *        status client   ASK has come: the process is no task, and gets REPORT (zmq_status_client.h)
 *        refused         HELLO does not fit, or another process has joined as the same task
 *        ended           the handshake has failed, nothing has come, or there are too many pending connections
 *      joined          messages and signs of life go both ways
 *        refused         the peer is silent, sends something that cannot be accepted, or cannot be connected to
 *        ended           the connection has ended, the peer sends BYE, or it makes a new connection
 *
 *  A refused connection carries one more message, which says why: the peer closes it.
 *
 *  If one of the two connections with a peer breaks after it was OPEN or joined, the other one is broken too. The
 *  messages to the peer are dropped. The owner is told `connected` when the first of the two exists, and `lost` when
 *  both break. */
#ifndef MUSTER_TRANSPORT_ZMQ_PEER_H
#define MUSTER_TRANSPORT_ZMQ_PEER_H

#include "transport/endpoint.h"
#include "transport/mailbox.h"
#include "transport/open_options.h"
#include "transport/shm.h"
#include "transport/token_proof.h"
#include "transport/zmq_connect_error.h"
#include "transport/zmq_outgoing.h"

/** The state of the connection that this task makes: see above. */
typedef enum mst_zmq_state { MST_ZMQ_IDLE, MST_ZMQ_RESOLVING, MST_ZMQ_CONNECTING, MST_ZMQ_OPEN } mst_zmq_state;

enum { MST_ZMQ_HOST = 64 };

/** A connection that others have made. libzmq names it by its descriptor, but a new connection may get the same
 *  descriptor as soon as this one has ended. libzmq also reports the end of a connection later than messages of the new
 *  one. So each connection has a number, too. */
typedef struct mst_zmq_connection {
    int fd;          /**< -1: it has ended, or is unknown */
    uint64_t number; /**< from 1; 0: none */
} mst_zmq_connection;

/** The state of a DEALER that proves that it has the token of a user (zmq_token.h). */
typedef struct mst_zmq_login {
    char text[MST_TOKEN_LOGIN]; /**< "": there is no token */
    bool is_answered;           /**< the listener has proved that it has the token, and its challenge was answered */
} mst_zmq_login;

typedef struct mst_zmq_peer {
    int32_t task;
    /* the connection that this task makes */
    bool wanted; /* there has been a message for the peer */
    mst_zmq_state state;
    void *dealer, *monitor;
    mst_resolving *resolving;
    unsigned tries;       /* since the last success */
    int64_t next_try;     /* MST_ZMQ_IDLE: time of the next try; MST_ZMQ_CONNECTING: when this try is given up */
    int64_t dealer_heard; /* time of the last message by this connection */
    unsigned cut_short;   /* connections in a row that the peer ended before any message */
    mst_zmq_connect_error connect_error; /* why the connection has not been made yet */
    mst_zmq_login login;
    /* the connection that the peer has made */
    bool joined;
    unsigned char id[MST_ZMQ_ID]; /* of the DEALER that has joined */
    uint64_t joined_instance;
    mst_zmq_connection connection;
    int64_t router_heard; /* time of the last message by this connection */
    char host[MST_ZMQ_HOST];
    /* the peer connects to this task, but this task cannot connect to the peer */
    int64_t one_way_since; /* 0: this is not so */
    bool one_way;          /* this has been so for long */
    /* another process that has connected with the peer's number */
    uint64_t second;        /* its instance; 0: none */
    int64_t second_came;    /* time */
    bool told_second;       /* the owner was told of it */
    uint64_t list_mismatch; /* instance of the last process that was told that its list of tasks differs */
    /* what the owner was told */
    bool connected, refused;
    uint64_t instance;               /* of the last connected process */
    char doing[MST_TRANSPORT_DOING]; /* what the peer last said it was doing; "": it has said nothing */
    /* messages to it */
    mst_zmq_outgoing *first, **last;
    mst_zmq_loans loans;
    bool said_bye, finished; /* of the present connections: BYE was sent; BYE was received */
} mst_zmq_peer;

/** A process that is not a task and has asked this one for its report (zmq_status_client.h). */
typedef struct mst_zmq_status_client {
    int64_t came; /**< 0: the place is free */
    unsigned char id[MST_ZMQ_ID];
    mst_zmq_connection connection;
} mst_zmq_status_client;

/** An incoming connection whose sender is not identified yet (zmq_pending.h). */
typedef struct mst_zmq_pending {
    mst_zmq_connection connection;
    bool has_ended;                   /**< the connection has ended, but its messages may not have been read yet */
    unsigned char id[MST_ZMQ_ID];     /**< of the DEALER that was challenged */
    char challenge[MST_TOKEN_NONCE];  /**< sent to it (zmq_token.h); "": none */
    char host[MST_ZMQ_HOST], port[8]; /**< of the other end */
} mst_zmq_pending;

/** A connection that has ended; with libzmq's event and error if its handshake had failed, otherwise 0. */
typedef struct mst_zmq_broken {
    uint64_t connection;
    uint16_t handshake_end;
    int error;
} mst_zmq_broken;

enum { MST_ZMQ_STATUS_CLIENTS = 4, MST_ZMQ_STRANGERS = 16, MST_ZMQ_BROKEN = 64 };

struct mst_transport {
    mst_open_options options;
    mst_event_thread *events;
    mst_mailbox *mailbox;
    mst_shm *shm;                   /* for data to tasks of this machine; NULL: there is none */
    _Atomic int64_t sent_by_socket; /* time of the last data sent by a socket; 0: never */
    mst_zmq_peer *peers;            /* [num_tasks] */
    pthread_t thread;
    bool has_thread;
    int wake;     /* eventfd: there is something to do */
    int sockets;  /* epoll: watches `wake` and all sockets that receive */
    int rouse;    /* eventfd: wakes the thread, even if another thread receives */
    int watch;    /* epoll on which the thread sleeps: watches `rouse`, and `sockets` unless another thread receives */
    int arrivals; /* epoll on which another receiving thread sleeps: watches `sockets` and the links of `shm` */
    pthread_mutex_t lock;   /* guards all members after it, the peers and all sockets */
    pthread_cond_t changed; /* the thread that opens or closes waits for `ready`, and for peers that have finished */
    bool ready;             /* the thread listens, or cannot */
    bool closing, finished; /* it is being closed; nothing more is to be done for the peers */
    bool stopped;           /* the thread must end */
    int error;              /* errno if it could not listen */
    char listen[MST_NUMERIC_SIZE + 16]; /* endpoint */
    char known_as[MST_NUMERIC_SIZE];    /* address to which others connect, if it is forwarded to `listen`; else "" */
    void *context, *router, *monitor;
    void *authenticator;   /* if there is a cluster key or a user's token (zmq_authenticator.h); else NULL */
    mst_token_used logins; /* used if the transport has a user's token */
    char stranger[MST_ZMQ_STRANGERS][MST_ZMQ_HOST]; /* hosts whose connections were refused; "": an unknown host */
    int num_strangers;
    unsigned num_sockets; /* made so far: gives each socket its own id */
    bool more;            /* messages are left in the router */
    mst_zmq_status_client status_client[MST_ZMQ_STATUS_CLIENTS];
    mst_zmq_pending *pending; /* in order of arrival */
    int num_pending, most_pending;
    int num_excused;          /* so many pending connections may end without a report (mst_zmq_pending_excuse) */
    uint64_t num_connections; /* made by others so far */
    char gone[MST_ZMQ_HOST];  /* host of the last pending connection that has ended */
    uint16_t handshake_end;   /* event of a failed handshake, if libzmq reports the connection's end next; else 0 */
    int handshake_error;      /* the error of that handshake */
    mst_zmq_broken broken[MST_ZMQ_BROKEN]; /* connections that have ended, to be handled (zmq_broken.h) */
    int num_broken;
    int64_t next_beat;    /* time of the next signs of life */
    bool is_taken;        /* another thread receives */
    int64_t sleeps_until; /* the thread sleeps until this time at most */
};

/** Closes all sockets, without waiting for anything. */
void mst_zmq_close_sockets(mst_transport *t);

/** Takes messages that have arrived, makes connections that are needed, and sends waiting messages. Returns the time of
 *  the next work that is due even if nothing arrives. */
int64_t mst_zmq_work(mst_transport *t, int64_t now);
/** Sends the messages that wait for the peer, if there is a connection. */
void mst_zmq_flush(mst_transport *t, mst_zmq_peer *p);
/** Breaks both connections with the peer, and tells the owner. Messages sent from now on go by new ones. */
void mst_zmq_break(mst_transport *t, mst_zmq_peer *p, const char *why, int64_t now);
/** Writes to TEXT why there is no connection to the peer (mst_transport_type.connect_error). */
void mst_zmq_tell_connect_error(mst_transport *t, mst_zmq_peer *p, int64_t now, char *text);
/** Drops messages to the peer: all, or only data whose generation is over. */
void mst_zmq_drop(mst_transport *t, mst_zmq_peer *p, bool all);

/* ---- what the files of a peer's two connections share ---- */

enum {
    MST_ZMQ_FRAMES = 8,       /**< parts of one connection that may wait in libzmq, in each direction */
    MST_ZMQ_MOST_AT_ONCE = 64 /**< messages taken before the lock is released for other threads */
};

extern const char mst_zmq_closed_by_peer[]; /**< why a connection has ended */

int64_t mst_zmq_nanoseconds(double seconds);
/** Seconds between two signs of life. */
double mst_zmq_beat_seconds(const mst_transport *t);
/** The header of a message of KIND from this task to task TO. */
mst_wire_header mst_zmq_header_to(const mst_transport *t, int32_t to, mst_wire_kind kind);
/** Sends a message of KIND with TEXT. */
void mst_zmq_send_kind(const mst_transport *t, mst_zmq_route route, int32_t to, mst_wire_kind kind, const char *text);
/** The route by the connection that this task has made; the route by the connection that DEALER ID has made. */
mst_zmq_route mst_zmq_dealer_route(const mst_zmq_peer *p);
mst_zmq_route mst_zmq_router_route(const mst_transport *t, const unsigned char *id);
/** Sets the options of both kinds of sockets. */
void mst_zmq_set_options(const mst_transport *t, void *socket);
/** Tells the owner that there is a connection with process INSTANCE. A sign of life follows at once: it says what this
 *  task is doing. */
void mst_zmq_tell_connected(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now);
/** Tells the owner that a connection which did not exist yet was refused: once, as long as nothing changes. */
void mst_zmq_tell_refused(mst_transport *t, mst_zmq_peer *p, const char *why);
/** The peer is now process INSTANCE: breaks connections with an earlier process. */
void mst_zmq_expect_instance(mst_transport *t, mst_zmq_peer *p, uint64_t instance, int64_t now);
/** The peer closes its transport, or has seen that this one is closed. */
void mst_zmq_take_bye(mst_transport *t, mst_zmq_peer *p, mst_zmq_route back);

#endif
