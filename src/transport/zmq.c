/* The module `zmq`: messages between tasks through ZeroMQ, over TCP. Its type `shm` sends data to tasks of the same
 * machine through shared memory (shm.h).
 *
 * One lock guards all sockets. The thread of a transport sleeps on the file descriptors of the sockets, without the
 * lock. When it wakes, it does the work that is due (zmq_peer.c). A caller sends on its own thread, under the lock, so
 * that a message goes to libzmq without a change of threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/wake.h"
#include "module/module.h"
#include "transport/service_thread.h"
#include "transport/zmq_ask.h"
#include "transport/zmq_listener.h"
#include "transport/zmq_peer.h"
#include "transport/zmq_pending.h"
#include "transport/zmq_socket.h"

static const double MOST_SECONDS = 86400;
/* nanoseconds without data by sockets, after which all data are taken to go by links (shm.h) */
static const int64_t ONLY_LINKS = 20000000;
static const double RETURN_SECONDS = 0.5; /* time for lent memory to come back when a generation ends */

/* ---- the thread ---- */

/* Clears EVENT. The caller looks afterwards at everything for which it may have been raised. */
static void clear(int event) {
    uint64_t count;
    if (read(event, &count, sizeof count) < 0) {
        /* EVENT was not raised, or another thread has cleared it */
    }
}

/* Sleeps until something arrives, or until the time NEXT. */
static void sleep_until(const mst_transport *t, int64_t now, int64_t next) {
    struct epoll_event event;
    const int64_t left = next - now;
    if (left > 0 && epoll_wait(t->watch, &event, 1, (int)(left / 1000000) + 1) == 1 && event.data.fd == t->rouse)
        clear(t->rouse);
}

/* Runs until the transport is closed. Under the lock, which is released during sleep. */
static void run_loop(mst_transport *t) {
    while (!t->stopped) {
        clear(t->wake);
        const int64_t now = mst_clock_now(), next = mst_zmq_work(t, now);
        if (t->is_taken) mst_wake(t->wake); /* the receiving thread may wait for what was received here */
        t->sleeps_until = next;
        pthread_mutex_unlock(&t->lock);
        sleep_until(t, now, next);
        pthread_mutex_lock(&t->lock);
    }
}

static void *run_transport(void *context) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->lock);
    /* sockets are made on this thread, which may run on all cores: libzmq's threads get the cores of their starter */
    if (!mst_zmq_pending_create(t))
        t->error = ENOMEM;
    else if (!mst_zmq_listen(t))
        t->error = errno;
    t->ready = true;
    pthread_cond_broadcast(&t->changed);
    if (!t->error) run_loop(t);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- another thread that receives ---- */

/* Sets whether the thread watches the sockets. */
static void watch_sockets(const mst_transport *t, bool watches) {
    struct epoll_event event = {.events = watches ? EPOLLIN : 0, .data.fd = t->sockets};
    epoll_ctl(t->watch, EPOLL_CTL_MOD, t->sockets, &event);
}

static bool take_over(mst_transport *t) {
    pthread_mutex_lock(&t->lock);
    const bool takes = !t->is_taken;
    t->is_taken = true;
    pthread_mutex_unlock(&t->lock);
    if (!takes) return false;
    watch_sockets(t, false);
    if (t->shm) mst_shm_take_over(t->shm);
    return true;
}

static void hand_back(mst_transport *t) {
    if (t->shm) mst_shm_hand_back(t->shm);
    pthread_mutex_lock(&t->lock);
    t->is_taken = false;
    pthread_mutex_unlock(&t->lock);
    watch_sockets(t, true);
}

/* Takes what has arrived at the sockets, and does the work that is due for them. */
static void work_sockets(mst_transport *t) {
    pthread_mutex_lock(&t->lock);
    clear(t->wake);
    const int64_t now = mst_clock_now(), next = mst_zmq_work(t, now);
    if (next <= now) mst_wake(t->wake);
    if (next < t->sleeps_until) mst_wake(t->rouse);
    pthread_mutex_unlock(&t->lock);
}

static void look(mst_transport *t) {
    struct epoll_event event;
    if (t->shm) mst_shm_take(t->shm);
    if (epoll_wait(t->sockets, &event, 1, 0) == 1) work_sockets(t);
}

static bool zmq_receive(mst_transport *t, bool (*goes_on)(void *context, int fd), void *context) {
    if (!take_over(t)) return false;
    do look(t);
    while (goes_on(context, t->arrivals));
    hand_back(t);
    return true;
}

/* ---- open and close ---- */

static void stop_thread(mst_transport *t) {
    if (!t->has_thread) return;
    pthread_mutex_lock(&t->lock);
    t->stopped = true;
    pthread_mutex_unlock(&t->lock);
    mst_wake(t->wake);
    pthread_join(t->thread, NULL);
}

static void zmq_free(mst_transport *t) {
    mst_shm_stop(t->shm); /* first: it may break connections with peers, and these must still exist then */
    stop_thread(t);
    mst_zmq_close_sockets(t);
    for (int32_t i = 0; t->peers && i < t->options.num_tasks; i++) {
        mst_zmq_peer *p = &t->peers[i];
        mst_zmq_drop(t, p, true);
        mst_resolve_end(p->resolving);
        pthread_cond_destroy(&p->loans.returned);
        pthread_mutex_destroy(&p->loans.lock);
    }
    mst_mailbox_destroy(t->mailbox);
    mst_shm_close(t->shm);
    mst_event_thread_stop(t->events);
    const int own[] = {t->arrivals, t->watch, t->sockets, t->rouse, t->wake};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] >= 0) close(own[i]);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t->peers);
    free(t->pending);
    mst_open_options_free(&t->options);
    free(t);
}

static mst_status make_peers(mst_transport *t) {
    const int32_t num_tasks = t->options.num_tasks;
    if (!(t->peers = calloc((size_t)num_tasks, sizeof *t->peers))) return MST_NO_MEMORY("for %d tasks", num_tasks);
    for (int32_t i = 0; i < num_tasks; i++) {
        mst_zmq_peer *p = &t->peers[i];
        p->task = i;
        p->connect_error.probe = -1;
        p->last = &p->first;
        pthread_mutex_init(&p->loans.lock, NULL);
        pthread_cond_init(&p->loans.returned, NULL);
    }
    return MST_OK;
}

/* Checks whether the options allow listening at NUMERIC, the resolved address. The socket is bound to NUMERIC, not to
 * the name, since the name may resolve to another address later. */
static mst_status check_reach(const mst_open_options *options, const char *numeric) {
    const bool is_loopback = mst_endpoint_is_loopback(numeric);
    if (options->has_token ? is_loopback : options->has_keys || options->insecure || is_loopback) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "address '%s': every machine that reaches it could join in, since nothing checks who connects: "
        "give --cluster-key FILE, which 'muster keygen FILE' makes, or --insecure where all of them are trusted",
        options->listen);
}

/* Finds out the address in numbers at which the other tasks know this task. With a token, they make their proofs for
 * that address. */
static void find_known_as(mst_transport *t) {
    const mst_open_options *o = &t->options;
    const char *address = o->address[o->self];
    if (!o->has_token || !address || strcmp(address, o->listen) == 0) return;
    /* the name cannot be resolved here: no other task can use it */
    if (mst_endpoint_resolve(address, t->known_as)) t->known_as[0] = '\0';
}

static bool add_to(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_descriptors(mst_transport *t) {
    return (t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0 &&
           (t->rouse = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) >= 0 &&
           (t->sockets = epoll_create1(EPOLL_CLOEXEC)) >= 0 && (t->watch = epoll_create1(EPOLL_CLOEXEC)) >= 0 &&
           (t->arrivals = epoll_create1(EPOLL_CLOEXEC)) >= 0 && add_to(t->sockets, t->wake) &&
           add_to(t->watch, t->rouse) && add_to(t->watch, t->sockets) && add_to(t->arrivals, t->sockets);
}

static mst_status make_zmq(const mst_transport_options *options, mst_transport *t) {
    char numeric[MST_NUMERIC_SIZE];
    MST_TRY(mst_open_options_copy(options, &t->options));
    for (int32_t i = 0; i < t->options.num_tasks; i++)
        if (t->options.address[i]) MST_TRY(mst_endpoint_check(t->options.address[i]));
    MST_TRY(mst_endpoint_resolve(t->options.listen, numeric));
    if (t->options.has_keys && !zmq_has("curve"))
        return MST_FAIL(MST_UNAVAILABLE,
                        "this libzmq cannot encrypt, so there can be no cluster key: install one that "
                        "was built with libsodium, such as Debian's libzmq5");
    MST_TRY(check_reach(&t->options, numeric));
    snprintf(t->listen, sizeof t->listen, "tcp://%s", numeric);
    find_known_as(t);
    MST_TRY(make_peers(t));
    if (!open_descriptors(t))
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot watch sockets (%s): allow more open files (ulimit -n)",
                        strerror(errno));
    MST_TRY(mst_event_thread_start(&options->events, t->options.num_tasks, &t->events));
    return mst_mailbox_create(t->options.most_kept, t->events, &t->mailbox);
}

static mst_status listen_error(const mst_transport *t, int error) {
    const char *address = t->options.listen, *port = strrchr(address, ':') + 1;
    switch (error) {
        case EADDRINUSE:
            return MST_FAIL(MST_INVALID,
                            "address '%s': another program listens on port %s: end it, or take another port", address,
                            port);
        case EADDRNOTAVAIL:
        case ENODEV:
            return MST_FAIL(MST_INVALID,
                            "address '%s': this machine has no such address: see whether the task's number is that of "
                            "this machine, or give the address to bind",
                            address);
        case EACCES:
            return MST_FAIL(MST_INVALID, "address '%s': port %s is for the system's administrator: take one above 1023",
                            address, port);
        default:
            return MST_FAIL(MST_UNAVAILABLE, "address '%s': cannot listen on it: %s", address, zmq_strerror(error));
    }
}

static mst_status start_zmq(mst_transport *t) {
    MST_TRY(mst_service_thread_start(run_transport, t, &t->thread));
    t->has_thread = true;
    pthread_mutex_lock(&t->lock);
    while (!t->ready) pthread_cond_wait(&t->changed, &t->lock);
    const int error = t->error;
    pthread_mutex_unlock(&t->lock);
    return error ? listen_error(t, error) : MST_OK;
}

/* A peer has sent something through shared memory that cannot be accepted. */
static void refuse_shared(void *context, int32_t task, const char *why) {
    mst_transport *t = context;
    pthread_mutex_lock(&t->lock);
    mst_zmq_break(t, &t->peers[task], why, mst_clock_now());
    pthread_mutex_unlock(&t->lock);
    mst_wake(t->wake);
}

static const char *take_control(void *context, int32_t task, uint64_t instance, const void *data, size_t bytes) {
    mst_transport *t = context;
    return mst_event_thread_control(t->events, task, instance, data, bytes) ? NULL
                                                                            : "no memory for its control message";
}

static mst_status start_shm(mst_transport *t) {
    const mst_shm_options options = {.num_tasks = t->options.num_tasks,
                                     .self = t->options.self,
                                     .instance = t->options.instance,
                                     .mailbox = t->mailbox,
                                     .context = t,
                                     .refuse = refuse_shared,
                                     .control = take_control};
    MST_TRY(mst_shm_open(&options, &t->shm));
    return add_to(t->arrivals, mst_shm_links(t->shm)) ? MST_OK : MST_NO_MEMORY("to watch shared memory");
}

/* Raises the limit of descriptors. A connection of an unknown program takes a descriptor until it is ended because it
 * sends nothing; the job needs enough other descriptors meanwhile. On many systems the limit is 1,024 at first, and a
 * process may raise it far above that. */
static void allow_descriptors(void) {
    enum { ENOUGH = 1 << 16 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= ENOUGH) return;
    limit.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

static mst_status open_zmq(const mst_transport_options *options, bool shares, mst_transport **out) {
    mst_transport *t = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a transport");
    t->wake = t->rouse = t->sockets = t->watch = t->arrivals = -1;
    allow_descriptors();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    mst_status status = make_zmq(options, t);
    if (!status && shares) status = start_shm(t);
    if (!status) status = start_zmq(t);
    if (status)
        zmq_free(t);
    else
        *out = t;
    return status;
}

static mst_status zmq_open(const mst_transport_options *options, mst_transport **out) {
    return open_zmq(options, false, out);
}

static mst_status shm_open_transport(const mst_transport_options *options, mst_transport **out) {
    return open_zmq(options, true, out);
}

static void zmq_close_transport(mst_transport *t, double seconds) {
    const double limit = seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
    const struct timespec until = mst_clock_timespec((int64_t)(limit * 1e9));
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    mst_wake(t->wake);
    for (int late = seconds <= 0; !t->finished && !late;)
        late = pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&t->lock);
    zmq_free(t);
}

/* ---- messages ---- */

/* Appends O to the messages for peer TO, and sends what can be sent. Wakes the thread if a connection must be made.
 * Also wakes it if messages have arrived: libzmq may have notified only the calling thread of them, during the send. */
static void enqueue(mst_transport *t, int32_t to, mst_zmq_outgoing *o) {
    mst_zmq_peer *p = &t->peers[to];
    *p->last = o;
    p->last = &o->next;
    const bool is_new = !p->wanted;
    p->wanted = true;
    mst_zmq_flush(t, p);
    if (is_new || mst_zmq_is_readable(p->dealer ? p->dealer : t->router)) mst_wake(t->wake);
}

static mst_status zmq_control(mst_transport *t, int32_t to, const void *data, size_t bytes) {
    MST_TRY(mst_check_control(&t->options, to, bytes));
    const mst_wire_header header = {
        .kind = MST_WIRE_CONTROL, .from = t->options.self, .to = to, .instance = t->options.instance};
    mst_zmq_outgoing *o = mst_zmq_outgoing_create(&header, &(mst_iov){data, bytes}, 1, true, NULL, NULL);
    if (!o) return MST_NO_MEMORY("for a control message");
    pthread_mutex_lock(&t->lock);
    enqueue(t, to, o);
    pthread_mutex_unlock(&t->lock);
    return MST_OK;
}

static mst_status shm_send_urgent(mst_transport *t, int32_t to, const void *data, size_t bytes) {
    MST_TRY(mst_check_control(&t->options, to, bytes));
    const bool back = !t->options.address[to]; /* only the peer has made connections */
    return mst_shm_control(t->shm, to, back, data, bytes) ? MST_OK : zmq_control(t, to, data, bytes);
}

/* libzmq gives back memory lent to a ROUTER only when all connections of the ROUTER are closed. Data that go by the
 * ROUTER are therefore copied. */
static mst_status zmq_send_data(mst_transport *t, int32_t to, mst_key key, const mst_iov *piece, int n,
                                mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, to));
    if (t->shm && mst_shm_send(t->shm, to, key, piece, n, done)) return MST_OK;
    atomic_store_explicit(&t->sent_by_socket, mst_clock_now(), memory_order_relaxed);
    const bool copy = !t->options.address[to];
    const mst_wire_header header = {
        .kind = MST_WIRE_DATA, .from = t->options.self, .to = to, .instance = t->options.instance, .key = key};
    mst_status status = MST_OK;
    pthread_mutex_lock(&t->lock);
    if (!mst_mailbox_is_over(t->mailbox, key.generation)) {
        mst_zmq_outgoing *o = mst_zmq_outgoing_create(&header, piece, n, copy, done, &t->peers[to].loans);
        if (o)
            enqueue(t, to, o);
        else
            status = MST_NO_MEMORY("for a message");
    } else if (done) {
        mst_timeline_add(done, 1);
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Whether all data have gone by links for a while. Only then polling helps: messages at sockets arrive through libzmq's
 * thread. */
static bool shm_spins(mst_transport *t) {
    const int64_t sent = atomic_load_explicit(&t->sent_by_socket, memory_order_relaxed);
    return !sent || mst_clock_now() - sent > ONLY_LINKS;
}

static mst_status zmq_post(mst_transport *t, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, from));
    return mst_mailbox_post(t->mailbox, from, key, into, bytes, done);
}

static mst_status zmq_borrow(mst_transport *t, int32_t from, mst_key key, void *into, size_t bytes,
                             mst_kept_part **lent, mst_timeline *done) {
    MST_TRY(mst_check_peer(&t->options, from));
    return mst_mailbox_borrow(t->mailbox, from, key, into, bytes, lent, done);
}

static void zmq_direct(mst_transport *t) {
    mst_event_thread_direct(t->events);
}

static void zmq_begin(mst_transport *t, uint32_t generation) {
    mst_mailbox_begin(t->mailbox, generation);
    if (t->shm) mst_shm_begin(t->shm, generation);
}

/* Waits until libzmq has given back the memory that was lent for messages to P. libzmq does so when the peer has read
 * the messages. If that has not happened by DEADLINE, breaks the connection: then libzmq gives the memory back. */
static void get_back(mst_transport *t, mst_zmq_peer *p, int64_t deadline) {
    if (mst_zmq_loans_wait(&p->loans, deadline)) return;
    pthread_mutex_lock(&t->lock);
    mst_zmq_break(t, p, "it did not take what was sent to it when the generation ended", mst_clock_now());
    pthread_mutex_unlock(&t->lock);
    mst_wake(t->wake);
    mst_zmq_loans_wait(&p->loans, MST_NEVER);
}

static void zmq_end(mst_transport *t) {
    mst_mailbox_end(t->mailbox);
    if (t->shm) mst_shm_end(t->shm);
    pthread_mutex_lock(&t->lock);
    for (int32_t i = 0; i < t->options.num_tasks; i++) mst_zmq_drop(t, &t->peers[i], false);
    pthread_mutex_unlock(&t->lock);
    const int64_t deadline = mst_clock_after(RETURN_SECONDS);
    for (int32_t i = 0; i < t->options.num_tasks; i++) get_back(t, &t->peers[i], deadline);
}

static void *zmq_alloc(mst_transport *t, size_t bytes) {
    return t->shm ? mst_shm_alloc(t->shm, bytes) : NULL;
}

static void zmq_free_memory(mst_transport *t, void *memory) {
    mst_shm_free(t->shm, memory);
}

static const char *zmq_route(mst_transport *t, int32_t task) {
    if (t->shm && mst_shm_makes_link(t->shm, task)) return NULL;
    if (t->shm && mst_shm_has_link(t->shm, task)) return "through shared memory";
    pthread_mutex_lock(&t->lock);
    const bool is_open = t->peers[task].state == MST_ZMQ_OPEN;
    pthread_mutex_unlock(&t->lock);
    return is_open ? "over TCP" : NULL;
}

static void zmq_connect_error(mst_transport *t, int32_t task, char *text) {
    pthread_mutex_lock(&t->lock);
    mst_zmq_tell_connect_error(t, &t->peers[task], mst_clock_now(), text);
    pthread_mutex_unlock(&t->lock);
}

static void zmq_heard(mst_transport *t, int32_t task, char *text) {
    pthread_mutex_lock(&t->lock);
    snprintf(text, MST_TRANSPORT_DOING, "%s", t->peers[task].doing);
    pthread_mutex_unlock(&t->lock);
}

static bool zmq_has_ended(mst_transport *t, int32_t task) {
    return t->shm && mst_shm_has_ended(t->shm, task);
}

static const mst_transport_memory shared_memory = {.alloc = zmq_alloc, .free = zmq_free_memory};
static const mst_transport_receiver zmq_receiver = {.receive = zmq_receive, .direct = zmq_direct};
static const mst_transport_receiver shm_receiver = {.receive = zmq_receive, .direct = zmq_direct, .spins = shm_spins};
static const mst_transport_peer_info peer_info = {
    .route = zmq_route, .connect_error = zmq_connect_error, .heard = zmq_heard, .has_ended = zmq_has_ended};

#define COMMON_FUNCTIONS                                                                                          \
    .size = sizeof(mst_transport_type), .close = zmq_close_transport, .control = zmq_control, .begin = zmq_begin, \
    .end = zmq_end, .post = zmq_post, .send = zmq_send_data, .borrow = zmq_borrow, .ask = mst_zmq_ask,            \
    .peer_info = &peer_info
static const mst_transport_type types[] = {
    {COMMON_FUNCTIONS, .name = "zmq", .open = zmq_open, .receiver = &zmq_receiver},
    {COMMON_FUNCTIONS, .name = "shm", .open = shm_open_transport, .send_urgent = shm_send_urgent,
     .memory = &shared_memory, .receiver = &shm_receiver},
    {.name = NULL}};

extern const mst_module mst_module_zmq;
const mst_module mst_module_zmq = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "zmq", .version = MST_VERSION, .interface = types};
