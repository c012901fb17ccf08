/* The end of a connection is reported for the right connection, although the system reuses its descriptor for the
 * next one. */
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "support/test.h"
#include "transport/zmq_broken.h"
#include "transport/zmq_pending.h"

enum { TASKS = 3, FD = 7 };

typedef struct fixture {
    mst_transport transport;
    mst_zmq_peer peers[TASKS];
    void *teller; /* sends what libzmq would tell */
} fixture;

static void begin(fixture *f) {
    *f = (fixture){.transport = {.options = {.num_tasks = TASKS}}};
    mst_transport *t = &f->transport;
    t->peers = f->peers;
    assert_non_null(t->context = zmq_ctx_new());
    assert_non_null(f->teller = zmq_socket(t->context, ZMQ_PAIR));
    assert_non_null(t->monitor = zmq_socket(t->context, ZMQ_PAIR));
    assert_int_equal(zmq_bind(f->teller, "inproc://events"), 0);
    assert_int_equal(zmq_connect(t->monitor, "inproc://events"), 0);
    assert_true(mst_zmq_pending_create(t));
}

static void end(fixture *f) {
    zmq_close(f->teller);
    zmq_close(f->transport.monitor);
    zmq_ctx_term(f->transport.context);
    free(f->transport.pending);
}

static void tell(fixture *f, uint16_t event, uint32_t fd) {
    unsigned char frame[sizeof event + sizeof fd];
    memcpy(frame, &event, sizeof event);
    memcpy(frame + sizeof event, &fd, sizeof fd);
    assert_int_equal(zmq_send(f->teller, frame, sizeof frame, ZMQ_SNDMORE), sizeof frame);
    assert_int_equal(zmq_send(f->teller, "", 0, 0), 0);
    mst_zmq_broken_look(&f->transport);
}

/* A connection with descriptor FD has been made, and has said that it is that of TASK. Returns its number. */
static uint64_t join(fixture *f, int task) {
    tell(f, ZMQ_EVENT_ACCEPTED, FD);
    f->peers[task].joined = true;
    f->peers[task].connection = mst_zmq_pending_identified(&f->transport, FD);
    return f->peers[task].connection.number;
}

static uint64_t visit(fixture *f, int place) {
    tell(f, ZMQ_EVENT_ACCEPTED, FD);
    f->transport.status_client[place].came = 1;
    f->transport.status_client[place].connection = mst_zmq_pending_identified(&f->transport, FD);
    return f->transport.status_client[place].connection.number;
}

static void expect_ends(const fixture *f, const uint64_t *number, int count) {
    assert_int_equal(f->transport.num_broken, count);
    for (int i = 0; i < count; i++) assert_int_equal(f->transport.broken[i].connection, number[i]);
}

/* The transport has read the ends of both connections before it handles the first. */
static void ends_of_tasks_with_one_descriptor_are_told_apart(void **state) {
    (void)state;
    for (int first = 0; first < TASKS; first++)
        for (int second = 0; second < TASKS; second++) {
            fixture f;
            uint64_t number[2];
            begin(&f);
            number[0] = join(&f, first);
            tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
            number[1] = join(&f, second);
            tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
            expect_ends(&f, number, 2);
            end(&f);
        }
}

static void ends_of_status_clients_with_one_descriptor_are_told_apart(void **state) {
    (void)state;
    fixture f;
    uint64_t number[3];
    begin(&f);
    number[0] = visit(&f, 0);
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    number[1] = visit(&f, 1);
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    number[2] = join(&f, 1);
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    expect_ends(&f, number, 3);
    end(&f);
}

/* One that has said nothing has the descriptor of a task whose end is not handled yet. */
static void end_of_a_pending_connection_is_not_that_of_a_task(void **state) {
    (void)state;
    fixture f;
    uint64_t number[3];
    begin(&f);
    number[0] = join(&f, 0);
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    tell(&f, ZMQ_EVENT_ACCEPTED, FD);
    number[1] = f.transport.pending[0].connection.number;
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    /* a pending connection that was refused after its first message is neither a task nor a status client: number 0 */
    tell(&f, ZMQ_EVENT_ACCEPTED, FD);
    mst_zmq_pending_identified(&f.transport, FD);
    tell(&f, ZMQ_EVENT_DISCONNECTED, FD);
    number[2] = 0;
    expect_ends(&f, number, 3);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_tasks_with_one_descriptor_are_told_apart),
        cmocka_unit_test(ends_of_status_clients_with_one_descriptor_are_told_apart),
        cmocka_unit_test(end_of_a_pending_connection_is_not_that_of_a_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
