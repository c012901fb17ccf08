/* Memory that tasks share: who may read it, how long it exists, and peers that send nonsense. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/tasks.h"
#include "support/test.h"
#include "transport/memory_file.h"
#include "transport/shm_packet.h"

enum { BYTES = 300000 };

static const mst_transport_type *type;

static mst_key key_of(uint32_t generation, uint64_t run) {
    return (mst_key){.generation = generation, .run = run, .hash = 7};
}

static bool is_all(const unsigned char *data, unsigned char value) {
    for (size_t i = 0; i < BYTES; i++)
        if (data[i] != value) return false;
    return true;
}

/* ---- sending ---- */

/* Opens two tasks. The first sends the second BYTES ones from memory of its own, which is returned. */
static unsigned char *open_and_send(tasks *all, mst_timeline *sent) {
    tasks_open(all, type, 2, NULL);
    unsigned char *data = task_memory(all, 0, BYTES);
    memset(data, 1, BYTES);
    task_send(all, 0, 1, key_of(1, 1), data, BYTES, sent);
    return data;
}

static void bytes_stay_the_senders_until_they_are_copied(void **state) {
    (void)state;
    static unsigned char into[BYTES];
    tasks all;
    mst_timeline sent = {0}, got = {0};
    open_and_send(&all, &sent);
    usleep(20000);
    assert_int_equal(mst_timeline_value(&sent), 0);
    task_post(&all, 1, 0, key_of(1, 1), into, BYTES, &got);
    task_wait(&got, 1);
    task_wait(&sent, 1);
    assert_true(is_all(into, 1));
    tasks_close(&all);
}

/* Simulates a task that was stopped when the generation ended, and sends before it learns of that. */
static void bytes_that_are_written_again_in_a_later_generation_do_not_count(void **state) {
    (void)state;
    static unsigned char into[BYTES];
    tasks all;
    mst_timeline sent = {0}, got = {0};
    unsigned char *data = open_and_send(&all, &sent);
    all.type->end(all.task[0].transport);
    assert_int_equal(mst_timeline_value(&sent), 1);
    memset(data, 2, BYTES);
    task_post(&all, 1, 0, key_of(1, 1), into, BYTES, &got);
    usleep(20000);
    assert_int_equal(mst_timeline_value(&got), 0);
    for (int i = 0; i < 2; i++) {
        all.type->end(all.task[i].transport);
        all.type->begin(all.task[i].transport, 2);
    }
    assert_int_equal(mst_timeline_value(&got), 1);
    task_send(&all, 0, 1, key_of(2, 1), data, BYTES, &sent);
    task_post(&all, 1, 0, key_of(2, 1), into, BYTES, &got);
    task_wait(&got, 2);
    task_wait(&sent, 2);
    assert_true(is_all(into, 2));
    tasks_close(&all);
}

static void who_borrows_reads_the_bytes_where_they_lie(void **state) {
    (void)state;
    static unsigned char into[BYTES];
    for (int first = 0; first < 2; first++) { /* the message may come before or after its borrower */
        tasks all;
        mst_timeline sent = {0}, got = {0};
        mst_kept_part *lent = NULL;
        memset(into, 0, BYTES);
        tasks_open(&all, type, 2, NULL);
        unsigned char *data = task_memory(&all, 0, BYTES);
        memset(data, 1, BYTES);
        if (first) task_send(&all, 0, 1, key_of(1, 1), data, BYTES, &sent);
        if (first) usleep(20000);
        EXPECT_OK(all.type->borrow(all.task[1].transport, 0, key_of(1, 1), into, BYTES, &lent, &got));
        if (!first) task_send(&all, 0, 1, key_of(1, 1), data, BYTES, &sent);
        task_wait(&got, 1);
        assert_true(is_all(into, 0));
        assert_non_null(lent);
        assert_null(lent->next);
        assert_int_equal(lent->bytes, BYTES);
        assert_true(is_all(lent->data, 1));
        assert_true(mst_kept_parts_are_intact(lent, 1));
        usleep(20000);
        assert_int_equal(mst_timeline_value(&sent), 0);
        all.type->end(all.task[0].transport); /* and its sender may write it again */
        task_wait(&sent, 1);
        data[BYTES - 1] = 2;
        assert_false(mst_kept_parts_are_intact(lent, 1));
        mst_kept_parts_release(lent);
        tasks_close(&all);
    }
}

static void what_does_not_lie_in_shared_memory_is_lent_as_it_came(void **state) {
    (void)state;
    static unsigned char data[BYTES], into[BYTES]; /* of no file */
    tasks all;
    mst_timeline sent = {0}, got = {0};
    mst_kept_part *lent = NULL;
    tasks_open(&all, type, 2, NULL);
    memset(data, 3, BYTES);
    EXPECT_OK(all.type->borrow(all.task[1].transport, 0, key_of(1, 1), into, BYTES, &lent, &got));
    task_send(&all, 0, 1, key_of(1, 1), data, BYTES, &sent);
    task_wait(&got, 1);
    task_wait(&sent, 1);
    memset(data, 4, BYTES);
    assert_true(is_all(into, 0));
    size_t bytes = 0;
    for (const mst_kept_part *k = lent; k; bytes += k->bytes, k = k->next) {
        assert_int_equal(k->offset, bytes);
        for (size_t i = 0; i < k->bytes; i++) assert_int_equal(((const unsigned char *)k->data)[i], 3);
    }
    assert_int_equal(bytes, BYTES);
    mst_kept_parts_release(lent);
    lent = NULL;
    EXPECT_OK(all.type->borrow(all.task[1].transport, 0, key_of(1, 2), into, 0, &lent, &got)); /* and an empty one */
    task_send(&all, 0, 1, key_of(1, 2), data, 0, &sent);
    task_wait(&got, 2);
    assert_null(lent);
    tasks_close(&all);
}

/* Some are told by the thread of events, and from some moment on by the one that receives. */
static void order_of_control_messages_stays_when_they_are_told_directly(void **state) {
    (void)state;
    enum { MESSAGES = 2000 };
    tasks all;
    char text[16];
    tasks_open(&all, type, 2, NULL);
    for (int i = 0; i < MESSAGES; i++) {
        if (i == MESSAGES / 4) all.type->receiver->direct(all.task[1].transport);
        snprintf(text, sizeof text, "%d", i);
        task_say(&all, 0, 1, text);
    }
    task_told(&all.task[1], TOLD_CONTROL, 0, MESSAGES - 1);
    int number = 0;
    pthread_mutex_lock(&all.task[1].lock);
    for (const told *t = all.task[1].first; t; t = t->next) {
        if (t->kind != TOLD_CONTROL) continue;
        snprintf(text, sizeof text, "%d", number++);
        assert_string_equal(t->data, text);
    }
    pthread_mutex_unlock(&all.task[1].lock);
    assert_int_equal(number, MESSAGES);
    tasks_close(&all);
}

/* ---- receiving on the thread that waits ---- */

typedef struct waiting {
    const mst_timeline *line;
    int looks;
} waiting;

static bool until_it_is_there(void *context, int fd) {
    (void)fd;
    waiting *w = context;
    w->looks++;
    usleep(1000);
    return mst_timeline_value(w->line) == 0 && w->looks < 10000;
}

static void who_waits_may_receive_itself(void **state) {
    (void)state;
    static unsigned char into[BYTES];
    tasks all;
    mst_timeline sent = {0}, got = {0}, next = {0};
    open_and_send(&all, &sent);
    task_post(&all, 1, 0, key_of(1, 1), into, BYTES, &got);
    waiting w = {.line = &got};
    all.type->receiver->receive(all.task[1].transport, until_it_is_there, &w);
    assert_int_equal(mst_timeline_value(&got), 1);
    assert_in_range(w.looks, 1, 9999);
    assert_true(is_all(into, 1));
    task_wait(&sent, 1);
    unsigned char *data = task_memory(&all, 0, BYTES); /* the thread goes on after it */
    task_post(&all, 1, 0, key_of(1, 2), into, BYTES, &next);
    task_send(&all, 0, 1, key_of(1, 2), data, BYTES, &sent);
    task_wait(&next, 1);
    assert_true(is_all(into, 0));
    tasks_close(&all);
}

enum { EVENT_ROUNDS = 200 };

/* Advances a line of task 1's, as another of its threads does, and sends it messages by turns. */
typedef struct stirring {
    tasks *all;
    mst_timeline news, told;
    int event;
} stirring;

static void *stir(void *context) {
    stirring *s = context;
    for (uint64_t i = 1; i <= EVENT_ROUNDS; i++) {
        if (i % 7 == 0) usleep(1000); /* so that the other one sleeps */
        if (i % 2)
            mst_timeline_add(&s->news, 1);
        else
            EXPECT_OK(s->all->type->send_urgent(s->all->task[0].transport, 1, "urgent", 7));
        mst_timeline_wait(&s->told, i, MST_NEVER, false);
    }
    return NULL;
}

static void who_awaits_a_line_receives_meanwhile(void **state) {
    (void)state;
    tasks all;
    stirring s = {.all = &all, .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_t thread;
    tasks_open(&all, type, 2, NULL);
    all.type->receiver->direct(all.task[1].transport);
    mst_transport *to = all.task[1].transport;
    s.news.event = s.event + 1;
    assert_false(mst_transport_await(all.type, to, &s.news, 1, mst_clock_now())); /* it is late */
    assert_int_equal(pthread_create(&thread, NULL, stir, &s), 0);
    for (uint64_t i = 1; i <= EVENT_ROUNDS; i++) {
        const uint64_t news = (i + 1) / 2;
        if (i % 2) assert_true(mst_transport_await(all.type, to, &s.news, news, MST_NEVER));
        while (i % 2 == 0 && task_count(&all.task[1], TOLD_CONTROL, 0) < (int)i / 2)
            assert_false(mst_transport_await(all.type, to, &s.news, news + 1, mst_clock_now() + 1000000));
        mst_timeline_advance(&s.told, i);
    }
    pthread_join(thread, NULL);
    int mine = 0;
    for (int i = 0; i < EVENT_ROUNDS / 2; i++)
        mine += pthread_equal(task_told(&all.task[1], TOLD_CONTROL, 0, i)->by, pthread_self()) != 0;
    assert_true(mine > 0); /* the thread of the transport has taken those that came between two waits */
    tasks_close(&all);
    close(s.event);
}

/* An urgent message goes from one task to the other. */
typedef struct urgent_send {
    tasks *all;
    int32_t from, to;
} urgent_send;

/* On the thread that receives what comes by the links, which takes nothing until this returns. */
static bool while_links_are_not_read(void *context, int fd) {
    (void)fd;
    const urgent_send *h = context;
    static const char large[MST_SHM_BYTES + 1] = "large";
    mst_transport *from = h->all->task[h->from].transport;
    EXPECT_OK(h->all->type->send_urgent(from, h->to, "urgent", 7));
    EXPECT_OK(h->all->type->send_urgent(from, h->to, large, sizeof large));
    task_say(h->all, h->from, h->to, "other");
    task_told(&h->all->task[h->to], TOLD_CONTROL, h->from, 1);
    return false;
}

static void expect_urgent(tasks *all, int32_t from, int32_t to) {
    static const char *const texts[] = {"large", "other", "urgent"};
    urgent_send h = {all, from, to};
    all->type->receiver->receive(all->task[to].transport, while_links_are_not_read, &h);
    for (int i = 0; i < 3; i++) {
        const told *t = task_told(&all->task[to], TOLD_CONTROL, from, i);
        assert_string_equal(t->data, texts[i]);
        assert_int_equal(t->bytes, i == 0 ? MST_SHM_BYTES + 1 : i == 1 ? 5 : 7);
        assert_int_equal(t->instance, 100 + from);
    }
}

/* Likewise. The peer is connected by TCP, and has not come to answer by its link. */
static bool before_a_link_is_answered(void *context, int fd) {
    (void)fd;
    tasks *all = context;
    task_say(all, 0, 1, "hello");
    task_told(&all->task[0], TOLD_CONNECTED, 1, 0);
    task_told(&all->task[1], TOLD_CONTROL, 0, 0);
    const char *route = all->type->peer_info->route(all->task[0].transport, 1);
    if (route) fail_msg("data are said to go %s", route);
    return false;
}

static void way_of_data_is_not_told_before_it_is_known(void **state) {
    (void)state;
    tasks all;
    tasks_make(&all, type, 2, NULL);
    for (int i = 0; i < 2; i++) EXPECT_OK(task_open(&all, i, 100));
    all.type->receiver->receive(all.task[1].transport, before_a_link_is_answered, &all);
    task_link(&all, 0, 1); /* waits until it is shared memory */
    tasks_close(&all);
}

/* One that is too long for it goes as others do. */
static void urgent_message_goes_by_the_link(void **state) {
    (void)state;
    tasks all;
    tasks_open(&all, type, 2, NULL);
    expect_urgent(&all, 0, 1);
    tasks_close(&all);
}

/* To a client, whose address nobody knows. */
static void urgent_message_to_who_only_connects_goes_back_by_its_link(void **state) {
    (void)state;
    tasks all;
    tasks_make(&all, type, 2, NULL);
    free((char *)(uintptr_t)all.address[1]);
    all.address[1] = NULL;
    EXPECT_OK(task_open(&all, 0, 100));
    all.options.bind = "127.0.0.1:1"; /* it is not bound */
    all.options.only_connects = true;
    EXPECT_OK(task_open(&all, 1, 101));
    task_link(&all, 1, 0);
    expect_urgent(&all, 0, 1);
    tasks_close(&all);
}

static void memory_that_is_freed_is_not_mapped_any_more(void **state) {
    (void)state;
    enum { LARGE = MST_SHM_BYTES + 1 };
    static unsigned char into[BYTES];
    tasks all;
    mst_timeline done = {0};
    tasks_open(&all, type, 2, NULL);
    for (uint64_t run = 1; run <= 5000; run++) { /* more than a peer may have mapped */
        unsigned char *data = all.type->memory->alloc(all.task[0].transport, LARGE);
        assert_non_null(data);
        data[0] = (unsigned char)run;
        task_post(&all, 1, 0, key_of(1, run), into, LARGE, &done);
        task_send(&all, 0, 1, key_of(1, run), data, LARGE, &done);
        task_wait(&done, 2 * run);
        assert_int_equal(into[0], (unsigned char)run);
        all.type->memory->free(all.task[0].transport, data);
    }
    assert_int_equal(task_count(&all.task[1], TOLD_LOST, 0), 0);
    tasks_close(&all);
}

/* ---- a sender that is a process: this program, started again ---- */

static int run_child(char **arguments) {
    tasks all = {.type = type, .count = 2, .address = {arguments[0], arguments[1]}};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (task_open(&all, 1, 101)) return 1;
    all.type->begin(all.task[1].transport, 1);
    task_link(&all, 1, 0);
    unsigned char *data = task_memory(&all, 1, BYTES);
    memset(data, 5, BYTES);
    task_send(&all, 1, 0, key_of(1, 1), data, BYTES, NULL);
    task_say(&all, 1, 0, "sent");
    for (;;) pause();
}

/* Opens task 0, and task 1 in a process that has sent data. */
static pid_t start_child(tasks *all) {
    tasks_make(all, type, 2, NULL);
    EXPECT_OK(task_open(all, 0, 100));
    all->type->begin(all->task[0].transport, 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "shm_test", "child", all->address[0], all->address[1], (char *)NULL);
        _exit(1);
    }
    task_told(&all->task[0], TOLD_CONTROL, 1, 0);
    return child;
}

static void kill_child(tasks *all, pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_string_equal(task_told(&all->task[0], TOLD_LOST, 1, 0)->data, "connection closed by the peer");
}

static void bytes_of_a_task_that_was_killed_can_be_read(void **state) {
    (void)state;
    static unsigned char into[BYTES];
    tasks all;
    mst_timeline got = {0};
    const pid_t child = start_child(&all);
    usleep(20000); /* data do not wait for control messages */
    kill_child(&all, child);
    task_post(&all, 0, 1, key_of(1, 1), into, BYTES, &got);
    task_wait(&got, 1);
    assert_true(is_all(into, 5));
    tasks_close(&all);
}

/* Though the generation goes on. */
static void bytes_that_were_sent_to_a_task_that_was_killed_are_the_senders_again(void **state) {
    (void)state;
    tasks all;
    mst_timeline sent = {0};
    const pid_t child = start_child(&all);
    task_link(&all, 0, 1);
    const unsigned char *data = task_memory(&all, 0, BYTES);
    for (uint64_t run = 1; run <= 2; run++) task_send(&all, 0, 1, key_of(1, run), data, BYTES, &sent);
    usleep(20000);
    assert_int_equal(mst_timeline_value(&sent), 0);
    kill_child(&all, child);
    task_wait(&sent, 2);
    tasks_close(&all);
}

/* ---- a process that is not a peer ---- */

/* Whether this process has the socket with this number. */
static bool is_own(unsigned long inode) {
    char path[64], text[64], wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t length = readlink(path, text, sizeof text - 1);
        if (length < 0) continue;
        text[length] = '\0';
        if (strcmp(text, wanted) == 0) return true;
    }
    return false;
}

/* A connection with the listener of LINE of /proc/net/unix; -1: it is none of this process. */
static int knock(const char *line) {
    unsigned long inode = 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = strstr(line, "@muster-");
    if (!name || sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", &inode) != 1 || !is_own(inode)) return -1;
    const size_t length = strcspn(name, "\n");
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const struct timeval limit = {.tv_sec = 10};
    memcpy(address.sun_path, name, length);
    address.sun_path[0] = '\0';
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (!connect(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)))
        return fd;
    close(fd);
    return -1;
}

/* A link to task 0 as one of task 1, instance 101: at whichever listener of this process takes it. */
static int make_link(void) {
    const mst_shm_packet hello = {.kind = MST_SHM_HELLO, .from = 1, .to = 0, .instance = 101};
    mst_shm_packet answer;
    char line[512];
    int found = -1;
    FILE *sockets = fopen("/proc/net/unix", "r");
    assert_non_null(sockets);
    while (found < 0 && fgets(line, sizeof line, sockets)) {
        const int fd = knock(line);
        if (fd < 0) continue;
        if (mst_shm_packet_send(fd, &hello, -1) && recv(fd, &answer, sizeof answer, 0) > 0 && answer.from == 0)
            found = fd;
        else
            close(fd);
    }
    fclose(sockets);
    assert_true(found >= 0);
    return found;
}

/* PACKET is sent with file FD (-1: none), or followed by the bytes of PIECE (NULL: none). It must be refused with WHY,
 * and the task in whose name it was sent is then connected again. */
static void expect_refused(const mst_shm_packet *packet, int fd, const mst_iov *piece, const char *why) {
    tasks all;
    char byte;
    mst_timeline done = {0};
    tasks_open(&all, type, 2, NULL);
    const int socket = make_link();
    if (piece)
        mst_shm_packet_send_bytes(socket, packet, piece, 1);
    else
        assert_true(mst_shm_packet_send(socket, packet, fd));
    const char *told = task_told(&all.task[0], TOLD_LOST, 1, 0)->data;
    if (!strstr(told, why)) fail_msg("'%s' instead of '%s'", told, why);
    assert_true(recv(socket, &byte, 1, 0) <= 0);
    task_told(&all.task[0], TOLD_CONNECTED, 1, 1);
    task_post(&all, 0, 1, key_of(1, 5), &byte, 1, &done);
    task_send(&all, 1, 0, key_of(1, 5), "x", 1, &done);
    task_wait(&done, 2);
    tasks_close(&all);
    close(socket);
}

/* Copies of all Unix sockets of this process that were accepted or connected to a listener. Returns how many. */
static int copy_sockets(int *copy, int most) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        int domain = 0, kind = 0;
        socklen_t size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX) continue;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) || kind != SOCK_SEQPACKET) continue;
        assert_true(count < most);
        copy[count++] = fd;
    }
    for (int i = 0; i < count; i++) assert_true((copy[i] = fcntl(copy[i], F_DUPFD_CLOEXEC, 0)) >= 0);
    return count;
}

/* As in a process that was forked: the kernel goes on to tell of a socket that somebody has open. */
static void link_that_is_closed_is_not_heard_of_any_more(void **state) {
    (void)state;
    enum { MOST = 64 };
    int copy[MOST];
    tasks all;
    char byte = 0;
    mst_timeline done = {0};
    mst_shm_packet p = {.kind = MST_SHM_DATA, .key = key_of(1, 1), .file = 1, .num_places = 1};
    p.place[0] = (mst_shm_place){4096, 100};
    tasks_open(&all, type, 2, NULL);
    const int socket = make_link();
    const int count = copy_sockets(copy, MOST);
    assert_true(mst_shm_packet_send(socket, &p, -1));
    task_told(&all.task[0], TOLD_LOST, 1, 0);
    task_told(&all.task[0], TOLD_CONNECTED, 1, 1);
    usleep(20000); /* it is closed after that */
    assert_true(mst_shm_packet_send(socket, &p, -1));
    for (uint64_t run = 2; run < 10; run++) {
        task_post(&all, 0, 1, key_of(1, run), &byte, 1, &done);
        task_send(&all, 1, 0, key_of(1, run), "x", 1, &done);
        task_wait(&done, 2 * run - 2);
    }
    assert_int_equal(task_count(&all.task[0], TOLD_LOST, 1), 1);
    for (int i = 0; i < count; i++) close(copy[i]);
    tasks_close(&all);
    close(socket);
}

static void what_a_peer_sends_is_checked(void **state) {
    (void)state;
    mst_memory_file good;
    const mst_shm_packet data = {.kind = MST_SHM_DATA, .key = key_of(1, 1), .file = 1, .num_places = 1};
    mst_shm_packet p = data;
    EXPECT_OK(mst_memory_file_make(10000, &good));
    p.place[0] = (mst_shm_place){4096, 100};
    expect_refused(&p, -1, NULL, "memory that it has not shared");
    p.place[0] = (mst_shm_place){4096, 10001};
    expect_refused(&p, good.fd, NULL, "lengths");
    p.place[0] = (mst_shm_place){14097, 0};
    expect_refused(&p, good.fd, NULL, "lengths");
    p.place[0] = (mst_shm_place){8, UINT64_MAX - 4};
    expect_refused(&p, good.fd, NULL, "lengths");
    p.num_places = 0;
    expect_refused(&p, good.fd, NULL, "lengths");
    p = data;
    p.kind = MST_SHM_SMALL;
    expect_refused(&p, -1, NULL, "wrong form");
    p.num_places = 0;
    p.num_bytes = MST_SHM_BYTES;
    const mst_iov piece = {p.bytes, MST_SHM_BYTES - 1}; /* fewer than it says */
    expect_refused(&p, -1, &piece, "wrong form");
    p = data;
    p.kind = MST_SHM_CONTROL;
    expect_refused(&p, good.fd, NULL, "wrong form");
    p.kind = MST_SHM_KINDS;
    expect_refused(&p, -1, NULL, "wrong form");
    mst_memory_file_unmap(&good);
}

/* Reading what a file has lost would be a SIGBUS. */
static void file_that_can_shrink_or_has_holes_is_refused(void **state) {
    (void)state;
    mst_shm_packet p = {.kind = MST_SHM_DATA, .key = key_of(1, 1), .file = 1, .num_places = 1};
    p.place[0] = (mst_shm_place){4096, 100};
    const int open = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(open, 100000), 0);
    expect_refused(&p, open, NULL, "not sealed");
    assert_int_equal(fcntl(open, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    expect_refused(&p, open, NULL, "not all allocated");
    close(open);
    const int small = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(small, 100), 0);
    assert_int_equal(fcntl(small, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    expect_refused(&p, small, NULL, "no header");
    close(small);
    const int other = socket(AF_UNIX, SOCK_STREAM, 0);
    expect_refused(&p, other, NULL, "not sealed");
    close(other);
}

static void others_cannot_write_to_a_file(void **state) {
    (void)state;
    mst_memory_file file, mapped;
    EXPECT_OK(mst_memory_file_make(BYTES, &file));
    unsigned char *data = (unsigned char *)mst_memory_file_data(&file);
    assert_true(is_all(data, 0));
    assert_true(mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0) == MAP_FAILED);
    assert_int_equal(ftruncate(file.fd, 0), -1);
    assert_null(mst_memory_file_map(file.fd, &mapped));
    memset(data, 3, BYTES);
    mst_memory_file_unmap(&file);
    assert_true(is_all((unsigned char *)mst_memory_file_data(&mapped), 3));
    mst_memory_file_unmap(&mapped);
    EXPECT_ERROR(mst_memory_file_make(SIZE_MAX, &file), MST_OUT_OF_MEMORY, "other processes");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_stay_the_senders_until_they_are_copied),
        cmocka_unit_test(bytes_that_are_written_again_in_a_later_generation_do_not_count),
        cmocka_unit_test(who_borrows_reads_the_bytes_where_they_lie),
        cmocka_unit_test(what_does_not_lie_in_shared_memory_is_lent_as_it_came),
        cmocka_unit_test(order_of_control_messages_stays_when_they_are_told_directly),
        cmocka_unit_test(who_waits_may_receive_itself),
        cmocka_unit_test(who_awaits_a_line_receives_meanwhile),
        cmocka_unit_test(way_of_data_is_not_told_before_it_is_known),
        cmocka_unit_test(urgent_message_goes_by_the_link),
        cmocka_unit_test(urgent_message_to_who_only_connects_goes_back_by_its_link),
        cmocka_unit_test(memory_that_is_freed_is_not_mapped_any_more),
        cmocka_unit_test(bytes_of_a_task_that_was_killed_can_be_read),
        cmocka_unit_test(bytes_that_were_sent_to_a_task_that_was_killed_are_the_senders_again),
        cmocka_unit_test(link_that_is_closed_is_not_heard_of_any_more),
        cmocka_unit_test(what_a_peer_sends_is_checked),
        cmocka_unit_test(file_that_can_shrink_or_has_holes_is_refused),
        cmocka_unit_test(others_cannot_write_to_a_file),
    };
    const mst_status status = mst_transport_find("shm", &type);
    if (status == MST_UNAVAILABLE) {
        print_error("shared memory is not tested: %s\n", mst_error()->message);
        return 0;
    }
    if (status) return 1;
    if (argc == 4 && strcmp(argv[1], "child") == 0) return run_child(argv + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
