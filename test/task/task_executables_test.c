/* Executables that tasks share. All tasks are in this process, and a thread carries their messages, which it may
 * lose or change. Each compilation has a number of its own, which shows where an executable comes from. */
#include "task/task_executables.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/device.h"
#include "messages/executable_message.h"
#include "muster/compile_cache.h"
#include "run/backend.h"
#include "run/errand.h"
#include "support/test.h"
#include "task/task_executables_inside.h"

enum { TASKS = 4, LARGE = 5 * MST_EXECUTABLE_PIECE / 2 };
static const char *const names[] = {"worker:0", "worker:1", "worker:2", "worker:3"};

/* ---- the network ---- */

typedef struct letter {
    struct letter *next;
    int32_t from, to;
    size_t bytes;
    unsigned char data[];
} letter;

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    letter *first, **last;
    bool ends;
    _Atomic int64_t lost;                             /* messages that are still to be lost */
    bool (*_Atomic change)(mst_executable_message *); /* false: the message is lost; NULL: nothing is changed */
    atomic_bool is_cut[TASKS];                        /* nothing comes from it or to it */
} net = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static mst_task_executables *task[TASKS];
static int32_t self[TASKS];

static mst_status post_letter(void *context, int32_t to, const void *data, size_t bytes) {
    letter *l = malloc(sizeof *l + bytes);
    assert_non_null(l);
    *l = (letter){.from = *(const int32_t *)context, .to = to, .bytes = bytes};
    memcpy(l->data, data, bytes);
    pthread_mutex_lock(&net.lock);
    *net.last = l;
    net.last = &l->next;
    pthread_cond_signal(&net.changed);
    pthread_mutex_unlock(&net.lock);
    return MST_OK;
}

static void deliver(const letter *l) {
    static unsigned char changed[MST_EXECUTABLE_MESSAGE_HEAD + MST_EXECUTABLE_PIECE];
    static unsigned char piece[MST_EXECUTABLE_PIECE];
    bool (*change)(mst_executable_message *) = atomic_load(&net.change);
    mst_executable_message m;
    if (atomic_load(&net.is_cut[l->from]) || atomic_load(&net.is_cut[l->to])) return;
    if (atomic_load(&net.lost) > 0) {
        atomic_fetch_sub(&net.lost, 1);
        return;
    }
    if (!change) {
        mst_task_executables_received(task[l->to], l->from, l->data, l->bytes);
        return;
    }
    assert_true(mst_executable_message_decode(l->data, l->bytes, &m));
    memcpy(piece, m.piece, m.bytes);
    m.piece = piece;
    if (!change(&m)) return;
    const size_t bytes = mst_executable_message_encode(&m, changed);
    mst_task_executables_received(task[l->to], l->from, changed, bytes);
}

static void *carry(void *context) {
    pthread_mutex_lock(&net.lock);
    while (!net.ends) {
        letter *l = net.first;
        if (!l) {
            pthread_cond_wait(&net.changed, &net.lock);
            continue;
        }
        if (!(net.first = l->next)) net.last = &net.first;
        pthread_mutex_unlock(&net.lock);
        deliver(l);
        free(l);
        pthread_mutex_lock(&net.lock);
    }
    pthread_mutex_unlock(&net.lock);
    return context;
}

/* ---- the compiler ---- */

static struct {
    atomic_int calls, sent; /* by a task for itself; for another one */
    atomic_bool waits;      /* until it is let go */
    atomic_bool fails, gives_nothing;
    _Atomic size_t size; /* bytes of what it makes */
    sem_t go;
} compiler;

static mst_status compile_any(const mst_executable_source *source, void **data, size_t *size) {
    static atomic_int number;
    if (atomic_load(&compiler.waits)) sem_wait(&compiler.go);
    if (atomic_load(&compiler.fails)) return MST_FAIL(MST_INVALID, "the compiler does not like '%s'", source->text);
    if (atomic_load(&compiler.gives_nothing)) return MST_OK;
    *size = atomic_load(&compiler.size);
    char *text = calloc(1, *size);
    assert_non_null(text);
    for (size_t i = 0; i < *size; i++) text[i] = (char)(i * 7 / 5);
    snprintf(text, *size, "%d %s", atomic_fetch_add(&number, 1), source->text);
    *data = text;
    return MST_OK;
}

static mst_status compile_text(const mst_executable_source *source, void **data, size_t *size) {
    atomic_fetch_add(&compiler.sent, 1);
    return compile_any(source, data, size);
}

static mst_status compile_own(void *context, void **data, size_t *size) {
    atomic_fetch_add(&compiler.calls, 1);
    return compile_any(&((const mst_executable_order *)context)->source, data, size);
}

/* ---- calls ---- */

typedef struct making {
    int32_t task;
    mst_executable_order order;
    mst_errand *errand;
    void *data;
    size_t size;
} making;

static mst_status do_making(void *context) {
    making *m = context;
    return mst_task_executables_make(task[m->task], &m->order, &m->data, &m->size);
}
static void leave_making(void *context) {
    making *m = context;
    free(m->data);
    free(m);
}

static making *start_making(int32_t number, const char *text) {
    static const mst_errand_type type = {do_making, leave_making};
    making *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = (making){.task = number,
                  .order = {.source = {.text = text, .options = "", .plugin = "test", .kind = "test"},
                            .device_type = "TESTER",
                            .compile = compile_own}};
    m->order.context = &m->order;
    EXPECT_OK(mst_errand_start(&type, m, &m->errand));
    return m;
}

static mst_status wait_making(const making *m, double seconds) {
    return mst_errand_wait(m->errand, mst_clock_after(seconds), "compiling the program of node 'p'");
}

static void end_making(making *m) {
    mst_errand_leave(m->errand);
}

/* Makes the executable of TEXT in task NUMBER. OUT is its bytes, valid until the next test; NULL: the task has compiled
 * it itself. */
static void makes(int32_t number, const char *text, char out[64]) {
    making *m = start_making(number, text);
    EXPECT_OK(wait_making(m, 30));
    out[0] = '\0';
    if (m->data) snprintf(out, 64, "%s", (const char *)m->data);
    end_making(m);
}

/* Waits until task NUMBER has the executable of TEXT without having asked for it. */
static void wait_until_it_has(int32_t number, const char *text) {
    const mst_executable_source source = {.text = text, .options = "", .plugin = "test", .kind = "test"};
    const int64_t deadline = mst_clock_after(30);
    mst_executable_key key;
    bool has = false;
    mst_executable_key_make(&source, &key);
    while (!has && mst_clock_now() < deadline) {
        pthread_mutex_lock(&task[number]->lock);
        const mst_executable_entry *e = mst_executable_entry_find(task[number], &key);
        has = e && e->data;
        pthread_mutex_unlock(&task[number]->lock);
        usleep(1000);
    }
    assert_true(has);
}

#define EXPECT_MAKING(making, seconds, code, text)                      \
    do {                                                                \
        EXPECT_ERROR(wait_making((making), (seconds)), (code), (text)); \
    } while (0)

static int compiled(void) {
    return atomic_load(&compiler.calls) + atomic_load(&compiler.sent);
}

/* ---- the job ---- */

static void begin(int32_t source, const int32_t *member, int32_t n) {
    for (int32_t i = 0; i < n; i++) mst_task_executables_begin(task[member[i]], source, member, n);
}

static void begin_all(void) {
    static const int32_t all[] = {0, 1, 2, 3};
    begin(0, all, TASKS);
}

static void lose(int32_t lost) {
    const mst_failure failure = {.code = MST_UNAVAILABLE, .message = "worker:0 is lost"};
    atomic_store(&net.is_cut[lost], true);
    for (int32_t i = 0; i < TASKS; i++) {
        if (i == lost) continue;
        mst_task_executables_end(task[i], &failure);
        mst_task_executables_lost(task[i], lost);
    }
}

static int open_job(void **state) {
    (void)state;
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
    atomic_store(&compiler.calls, 0);
    atomic_store(&compiler.sent, 0);
    atomic_store(&compiler.waits, false);
    atomic_store(&compiler.fails, false);
    atomic_store(&compiler.gives_nothing, false);
    atomic_store(&compiler.size, LARGE);
    atomic_store(&net.change, NULL);
    atomic_store(&net.lost, 0);
    sem_init(&compiler.go, 0, 0);
    net.ends = false;
    net.last = &net.first;
    for (int32_t i = 0; i < TASKS; i++) {
        self[i] = i;
        atomic_store(&net.is_cut[i], false);
        const mst_task_executables_options options = {
            .num_tasks = TASKS, .self = i, .name = names, .patience = 0.2, .send = post_letter, .context = &self[i]};
        EXPECT_OK(mst_task_executables_create(&options, &task[i]));
        mst_task_executables_open(task[i], false);
        for (int32_t k = 0; k < TASKS; k++)
            if (k != i) mst_task_executables_connected(task[i], k);
    }
    assert_int_equal(pthread_create(&net.thread, NULL, carry, NULL), 0);
    return 0;
}

static int close_job(void **state) {
    (void)state;
    for (int32_t i = 0; i < TASKS; i++) mst_task_executables_close(task[i]);
    for (int i = 0; i < 2 * TASKS; i++) sem_post(&compiler.go);
    pthread_mutex_lock(&net.lock);
    net.ends = true;
    pthread_cond_signal(&net.changed);
    pthread_mutex_unlock(&net.lock);
    pthread_join(net.thread, NULL);
    for (letter *l = net.first, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    net.first = NULL;
    for (int32_t i = 0; i < TASKS; i++) mst_task_executables_release(task[i]);
    return 0;
}

/* ---- what is shared ---- */

static void each_text_is_compiled_once(void **state) {
    (void)state;
    making *m[TASKS];
    const making *first = NULL;
    begin_all();
    for (int32_t i = TASKS; i-- > 0;) m[i] = start_making(i, "a text");
    for (int32_t i = 0; i < TASKS; i++) {
        EXPECT_OK(wait_making(m[i], 30));
        if (!m[i]->data) continue; /* it has compiled it */
        if (!first) first = m[i];
        assert_int_equal(m[i]->size, LARGE);
        assert_memory_equal(m[i]->data, first->data, LARGE);
    }
    assert_non_null(first);
    assert_int_equal(compiled(), 1);
    for (int32_t i = 0; i < TASKS; i++) end_making(m[i]);
}

static void source_compiles_a_text_that_it_does_not_have(void **state) {
    (void)state;
    char text[LARGE], got[2][64];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    begin_all();
    makes(2, text, got[0]);
    makes(3, text, got[1]);
    assert_string_equal(got[0], got[1]);
    assert_int_equal(atomic_load(&compiler.sent), 1);
    assert_int_equal(compiled(), 1);
}

static void before_the_first_generation_the_chief_is_asked(void **state) {
    (void)state;
    char got[64];
    makes(0, "a text", got);
    assert_string_equal(got, "");
    makes(1, "a text", got);
    assert_true(strlen(got) > 0);
    assert_int_equal(compiled(), 1);
}

static void without_a_connection_to_the_chief_a_task_compiles_itself(void **state) {
    (void)state;
    char got[64];
    atomic_store(&net.is_cut[0], true);
    mst_task_executables_lost(task[1], 0);
    makes(1, "a text", got);
    assert_string_equal(got, "");
    assert_int_equal(atomic_load(&compiler.calls), 1);
}

static void lost_messages_are_sent_again(void **state) {
    (void)state;
    char got[64];
    begin_all();
    atomic_store(&net.lost, 2);
    makes(1, "a text", got);
    assert_true(strlen(got) > 0);
    assert_int_equal(compiled(), 1);
    assert_int_equal(atomic_load(&net.lost), 0);
}

static void what_is_no_bytes_each_compiles_itself(void **state) {
    (void)state;
    char got[64];
    begin_all();
    atomic_store(&compiler.gives_nothing, true);
    makes(0, "a text", got);
    makes(1, "a text", got);
    assert_int_equal(atomic_load(&compiler.calls), 2);
}

static void refused_bytes_are_compiled_anew(void **state) {
    (void)state;
    begin_all();
    char got[64], again[64];
    makes(1, "a text", got);
    making *m = start_making(0, "another");
    EXPECT_OK(wait_making(m, 30));
    m->order.refused = true;
    free(m->data);
    EXPECT_OK(mst_task_executables_make(task[0], &m->order, &m->data, &m->size));
    assert_null(m->data);
    end_making(m);
    assert_int_equal(atomic_load(&compiler.calls), 2);
    makes(1, "another", again);
    assert_int_equal(atomic_load(&compiler.calls), 2);
}

/* ---- waits ---- */

static void deadline_says_who_compiles(void **state) {
    (void)state;
    begin_all();
    atomic_store(&compiler.waits, true);
    making *own = start_making(0, "a text"), *other = start_making(1, "a text");
    EXPECT_MAKING(own, 0.2, MST_DEADLINE, "compiling the program of node 'p' takes too long: it is stuck");
    EXPECT_MAKING(
        other, 0.2, MST_DEADLINE,
        "compiling the program of node 'p' takes too long: worker:1 waits for worker:0, which compiles it for "
        "all");
    sem_post(&compiler.go);
    EXPECT_OK(wait_making(own, 30));
    EXPECT_OK(wait_making(other, 30));
    assert_int_equal(compiled(), 1);
    end_making(own);
    end_making(other);
}

static void end_of_a_generation_ends_the_waits(void **state) {
    (void)state;
    begin_all();
    atomic_store(&compiler.waits, true);
    making *chief = start_making(0, "a text"), *first = start_making(1, "a text"), *second = start_making(2, "a text");
    EXPECT_MAKING(first, 0.2, MST_DEADLINE, "takes too long");
    lose(0);
    EXPECT_MAKING(first, 30, MST_UNAVAILABLE, "worker:0 is lost");
    EXPECT_MAKING(second, 30, MST_UNAVAILABLE, "worker:0 is lost");
    atomic_store(&compiler.waits, false);
    begin(1, (const int32_t[]){1, 2, 3}, 3);
    EXPECT_OK(wait_making(first, 30));
    EXPECT_OK(wait_making(second, 30));
    assert_null(first->data); /* it is the one that compiles now */
    assert_non_null(second->data);
    assert_int_equal(compiled(), 2);
    sem_post(&compiler.go);
    EXPECT_OK(wait_making(chief, 30));
    end_making(chief);
    end_making(first);
    end_making(second);
}

static void next_source_gives_what_it_was_sent(void **state) {
    (void)state;
    char got[3][64];
    begin_all();
    makes(1, "a text", got[0]);
    makes(3, "another", got[1]);
    makes(0, "that of the chief", got[2]); /* it is offered to task 1 */
    assert_string_equal(got[2], "");
    wait_until_it_has(1, "that of the chief");
    lose(0);
    begin(1, (const int32_t[]){1, 2, 3}, 3);
    makes(2, "a text", got[2]);
    assert_string_equal(got[2], got[0]);
    makes(1, "another", got[2]); /* only task 3 was sent it */
    assert_string_equal(got[2], got[1]);
    makes(2, "another", got[2]);
    assert_string_equal(got[2], got[1]);
    makes(2, "that of the chief", got[2]);
    assert_true(strlen(got[2]) > 0);
    assert_int_equal(compiled(), 3);
    makes(2, "one more", got[2]);
    assert_int_equal(compiled(), 4);
}

static void wait_ends_when_the_task_is_closed(void **state) {
    (void)state;
    begin_all();
    atomic_store(&net.is_cut[0], true);
    making *m = start_making(1, "a text");
    EXPECT_MAKING(m, 0.1, MST_DEADLINE, "worker:1 waits for worker:0");
    mst_task_executables_close(task[1]);
    EXPECT_MAKING(m, 30, MST_CANCELLED, "the task was closed");
    end_making(m);
}

static void failure_of_the_job_ends_the_wait(void **state) {
    (void)state;
    const mst_failure failure = {.code = MST_INVALID, .message = "the job has failed"};
    char got[64];
    begin_all();
    atomic_store(&net.is_cut[0], true);
    making *m = start_making(1, "a text");
    EXPECT_MAKING(m, 0.1, MST_DEADLINE, "takes too long");
    mst_task_executables_finish(task[1], &failure);
    EXPECT_MAKING(m, 30, MST_INVALID, "the job has failed");
    end_making(m);
    makes(1, "another", got); /* alone */
    assert_int_equal(atomic_load(&compiler.calls), 1);
}

static void failure_of_the_compiler_is_that_of_all(void **state) {
    (void)state;
    begin_all();
    atomic_store(&compiler.fails, true);
    making *m = start_making(1, "a text");
    EXPECT_MAKING(m, 30, MST_INVALID, "worker:0: the compiler does not like 'a text'");
    end_making(m);
    atomic_store(&compiler.fails, false);
    char got[64];
    makes(1, "a text", got); /* it is tried again */
    assert_true(strlen(got) > 0);
}

/* ---- what is refused ---- */

static bool damage_bytes(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_BYTES && m->offset) ((unsigned char *)(uintptr_t)m->piece)[100] ^= 1;
    return true;
}
static bool lengthen(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_BYTES && m->bytes) m->total = (uint64_t)MST_EXECUTABLE_MOST + 1;
    return true;
}
static bool lengthen_source(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_SOURCE) m->total = (uint64_t)MST_EXECUTABLE_SOURCE_MOST + 1;
    return true;
}
static bool damage_source(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_SOURCE) ((unsigned char *)(uintptr_t)m->piece)[45] ^= 1;
    return true;
}
static bool cut_source(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_SOURCE) m->total = m->bytes = 30;
    return true;
}

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    static const struct {
        bool (*change)(mst_executable_message *);
        mst_status code;
        const char *error;
    } cases[] = {
        {damage_bytes, MST_CORRUPT, "the compiled program that worker:0 has sent is damaged"},
        {lengthen, MST_INVALID, "a program of 1073741825 bytes is refused"},
        {lengthen_source, MST_INVALID, "worker:0: a program of 268435457 bytes is refused"},
        {damage_source, MST_CORRUPT,
         "worker:0: worker:1 has sent another program to be compiled than it has asked for"},
        {cut_source, MST_CORRUPT, "worker:0: what another task has sent to be compiled is not a program"},
    };
    begin_all();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32], got[64];
        snprintf(text, sizeof text, "text %zu", i);
        atomic_store(&net.change, cases[i].change);
        making *m = start_making(1, text);
        EXPECT_MAKING(m, 30, cases[i].code, cases[i].error);
        end_making(m);
        atomic_store(&net.change, NULL);
        makes(1, text, got); /* a good one is taken */
        assert_true(strlen(got) > 0);
    }
}

static bool change_key(mst_executable_message *m) {
    if (m->kind == MST_EXECUTABLE_BYTES) m->key.byte[3] ^= 1;
    return true;
}

static void what_was_not_asked_for_changes_nothing(void **state) {
    (void)state;
    char got[64], wrong[] = "wrong";
    unsigned char data[MST_EXECUTABLE_MESSAGE_HEAD + sizeof wrong];
    begin_all();
    atomic_store(&net.change, change_key);
    making *m = start_making(1, "a text");
    EXPECT_MAKING(m, 0.3, MST_DEADLINE, "worker:1 waits for worker:0");
    mst_executable_message from_other = {
        .kind = MST_EXECUTABLE_BYTES, .total = sizeof wrong, .piece = wrong, .bytes = sizeof wrong};
    mst_executable_key_make(&m->order.source, &from_other.key);
    const size_t bytes = mst_executable_message_encode(&from_other, data);
    mst_task_executables_received(task[1], 2, data, bytes); /* which was not asked */
    for (size_t n = 0; n < bytes; n++) mst_task_executables_received(task[1], 0, data, n < 60 ? n : 60);
    EXPECT_MAKING(m, 0.1, MST_DEADLINE, "worker:1 waits for worker:0");
    atomic_store(&net.change, NULL);
    EXPECT_OK(wait_making(m, 30));
    assert_int_equal(m->size, LARGE);
    end_making(m);
    makes(0, "a text", got);
    assert_int_equal(compiled(), 1);
}

static void random_messages_do_no_harm(void **state) {
    (void)state;
    enum { MESSAGES = 20000 };
    unsigned char data[MST_EXECUTABLE_MESSAGE_HEAD + 64];
    uint64_t random = 1;
    char got[64];
    begin_all();
    making *m = start_making(1, "a text");
    for (int i = 0; i < MESSAGES; i++) {
        mst_executable_message message = {.piece = "0123456789012345678901234567890123456789"};
        random = random * 6364136223846793005 + 1442695040888963407;
        message.kind = (mst_executable_message_kind)(random >> 60);
        message.bytes = random >> 40 & 31;
        message.offset = random >> 50 & 3 ? random >> 30 & 63 : random;
        message.total = random >> 52 & 3 ? random >> 20 & 63 : random;
        mst_executable_key_make(&m->order.source, &message.key);
        message.key.byte[0] ^= (unsigned char)(random >> 58 & 1);
        const size_t bytes = mst_executable_message_encode(&message, data);
        mst_task_executables_received(task[random >> 33 & 1], (int32_t)(random >> 35 & 3), data, bytes);
    }
    (void)wait_making(m, 5); /* it may have been told anything by the other task */
    end_making(m);
    makes(2, "another", got);
    assert_true(strlen(got) > 0);
}

/* ---- main ---- */

static int register_tester(void **state) {
    static mst_device_type type;
    static mst_backend backend;
    (void)state;
    const mst_device_type *cpu = mst_device_type_find("cpu", 3);
    type = *cpu;
    backend = *cpu->backend;
    backend.compile_text = compile_text;
    type.name = "TESTER";
    type.backend = &backend;
    EXPECT_OK(mst_device_type_register(&type));
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_job, close_job)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_text_is_compiled_once),
        TEST(source_compiles_a_text_that_it_does_not_have),
        TEST(before_the_first_generation_the_chief_is_asked),
        TEST(without_a_connection_to_the_chief_a_task_compiles_itself),
        TEST(lost_messages_are_sent_again),
        TEST(what_is_no_bytes_each_compiles_itself),
        TEST(refused_bytes_are_compiled_anew),
        TEST(deadline_says_who_compiles),
        TEST(end_of_a_generation_ends_the_waits),
        TEST(next_source_gives_what_it_was_sent),
        TEST(wait_ends_when_the_task_is_closed),
        TEST(failure_of_the_job_ends_the_wait),
        TEST(failure_of_the_compiler_is_that_of_all),
        TEST(what_is_wrong_is_refused),
        TEST(what_was_not_asked_for_changes_nothing),
        TEST(random_messages_do_no_harm),
    };
    return cmocka_run_group_tests(tests, register_tester, NULL);
}
