/* Messages between members: what is written is read back, and incomplete messages are refused. */
#include "membership/member_message.h"

#include <stdio.h>

#include "support/test.h"

enum { TASKS = 5 };

/* A message of KIND in which everything that it carries is set. */
static mst_member_message make_message(mst_member_kind kind, mst_member_status *member_status) {
    mst_member_message m = {
        .kind = kind, .job = 3, .generation = 4, .to = UINT64_MAX - 1, .member_status = member_status};
    switch (kind) {
        case MST_MEMBER_HERE:
            m.ready = m.all_left = true;
            snprintf(m.address, sizeof m.address, "[::1]:2222");
            m.known = (mst_known_generations){{3, 31}, 2, {{5, 7}, {8, UINT64_MAX}}};
            m.ended = 16;
            m.state = (mst_member_state){2, {{"program", 7, ""}, {"seed", UINT64_MAX, "3"}}, 1LL << 40, 99, 1LL << 39};
            break;
        case MST_MEMBER_ACKNOWLEDGE:
            m.acknowledged = MST_MEMBER_PROBE;
            m.instance = 78;
            m.started = (mst_started_exchanges){2, {{5, 1ULL << 40, 17, 2500, "dense/kernel"}, {4, 9, 16, 2600, ""}}};
            break;
        case MST_MEMBER_PROBE: m.instance = 77; break;
        case MST_MEMBER_BEGIN:
            m.source = 4;
            for (int32_t i = 0; i < TASKS; i++)
                member_status[i] = (mst_member_status){(uint64_t)i + 9, i ? i : MST_NO_STATE, i == 3, i != 2};
            m.known.begun = (mst_known_generation){3, 31};
            m.withdrawn = 2;
            m.instructions = 0x27;
            m.ended_at = 12;
            break;
        case MST_MEMBER_WAITING:
            m.ready = true;
            m.cause = MST_WAITS_FOR_MAJORITY;
            m.num_waited = m.num_listed = 2;
            m.waited[0] = (mst_waited_task){4, true};
            m.waited[1] = (mst_waited_task){1, false};
            break;
        case MST_MEMBER_FAILED:
        case MST_MEMBER_STOPS:
        case MST_MEMBER_STOPPED:
        case MST_MEMBER_LINK_LOST:
        case MST_MEMBER_END:
        case MST_MEMBER_VERDICT:
        case MST_MEMBER_NOTICE:
        case MST_MEMBER_CANNOT_JOIN:
            mst_task_failure_set(&m.failure, MST_IO, 2, 12, "the disk of %s is full", "worker:2");
            snprintf(m.failure.node, sizeof m.failure.node, "save/write");
            snprintf(m.failure.device, sizeof m.failure.device, "/job:worker/replica:0/task:2/device:CPU:0");
            break;
        default: break;
    }
    return m;
}

static void every_message_is_read_as_it_was_written(void **state) {
    (void)state;
    for (int kind = MST_MEMBER_HERE; kind < MST_MEMBER_KINDS; kind++) {
        mst_member_status member_status[TASKS] = {0}, read[TASKS] = {0};
        const mst_member_message m = make_message((mst_member_kind)kind, member_status);
        mst_member_message out;
        uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
        const size_t size = mst_member_message_encode(&m, TASKS, bytes);
        assert_in_range(size, 21, sizeof bytes);
        EXPECT_OK(mst_member_message_decode(bytes, size, TASKS, read, &out));
        out.member_status = m.member_status;
        assert_memory_equal(&out.state, &m.state, sizeof m.state);
        assert_memory_equal(&out.started, &m.started, sizeof m.started);
        assert_memory_equal(&out.failure, &m.failure, sizeof m.failure);
        assert_memory_equal(out.waited, m.waited, sizeof m.waited);
        assert_true(out.known.begun.number == m.known.begun.number && out.known.begun.tasks == m.known.begun.tasks);
        assert_int_equal(out.known.num_agreed, m.known.num_agreed);
        for (int32_t i = 0; i < m.known.num_agreed; i++)
            assert_true(out.known.agreed[i].number == m.known.agreed[i].number &&
                        out.known.agreed[i].tasks == m.known.agreed[i].tasks);
        assert_true(out.ended == m.ended && out.withdrawn == m.withdrawn && out.instructions == m.instructions &&
                    out.cause == m.cause && out.ended_at == m.ended_at);
        assert_string_equal(out.address, m.address);
        assert_true(out.kind == m.kind && out.job == m.job && out.generation == m.generation && out.to == m.to);
        assert_true(out.ready == m.ready && out.all_left == m.all_left && out.source == m.source);
        assert_true(out.instance == m.instance && out.acknowledged == m.acknowledged);
        for (int32_t i = 0; i < TASKS; i++) {
            assert_true(read[i].instance == member_status[i].instance && read[i].copies == member_status[i].copies);
            assert_true(read[i].takes_part == member_status[i].takes_part);
            assert_int_equal(read[i].state_number, member_status[i].state_number);
        }
    }
}

static void a_message_that_is_not_whole_is_refused(void **state) {
    (void)state;
    for (int kind = MST_MEMBER_HERE; kind < MST_MEMBER_KINDS; kind++) {
        mst_member_status member_status[TASKS] = {0}, read[TASKS];
        const mst_member_message m = make_message((mst_member_kind)kind, member_status);
        mst_member_message out;
        uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS) + 1] = {0};
        const size_t size = mst_member_message_encode(&m, TASKS, bytes);
        for (size_t cut = 0; cut < size; cut++)
            EXPECT_ERROR(mst_member_message_decode(bytes, cut, TASKS, read, &out), MST_CORRUPT, "no message");
        EXPECT_ERROR(mst_member_message_decode(bytes, size + 1, TASKS, read, &out), MST_CORRUPT, "1 bytes more");
    }
}

static void a_message_for_another_number_of_tasks_is_refused(void **state) {
    (void)state;
    mst_member_status member_status[TASKS] = {0}, read[TASKS + 1];
    const mst_member_message m = make_message(MST_MEMBER_BEGIN, member_status);
    mst_member_message out;
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
    const size_t size = mst_member_message_encode(&m, TASKS, bytes);
    EXPECT_ERROR(mst_member_message_decode(bytes, size, TASKS + 1, read, &out), MST_CORRUPT, "no message");
    EXPECT_ERROR(mst_member_message_decode(bytes, size, 2, read, &out), MST_CORRUPT, "no message");
}

/* A leader would take it for one of the message that is due in a phase where none is. */
static void an_acknowledgement_of_nothing_is_refused(void **state) {
    (void)state;
    mst_member_message m = make_message(MST_MEMBER_ACKNOWLEDGE, NULL), out;
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
    m.acknowledged = (mst_member_kind)0;
    const size_t size = mst_member_message_encode(&m, TASKS, bytes);
    EXPECT_ERROR(mst_member_message_decode(bytes, size, TASKS, NULL, &out), MST_CORRUPT, "no message");
}

static void control_characters_do_not_travel(void **state) {
    (void)state;
    mst_member_message m = make_message(MST_MEMBER_VERDICT, NULL), out;
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
    snprintf(m.failure.message, sizeof m.failure.message, "one\n\033[2Jtwo");
    const size_t size = mst_member_message_encode(&m, TASKS, bytes);
    EXPECT_OK(mst_member_message_decode(bytes, size, TASKS, NULL, &out));
    assert_string_equal(out.failure.message, "one??[2Jtwo");
    uint8_t *at = memchr(bytes, '?', size);
    *at = '\n';
    EXPECT_ERROR(mst_member_message_decode(bytes, size, TASKS, NULL, &out), MST_CORRUPT, "no message");
}

static void a_failure_goes_to_another_task_and_becomes_its_error(void **state) {
    (void)state;
    const mst_member_message m = make_message(MST_MEMBER_FAILED, NULL);
    const mst_failure plain = mst_task_failure_plain(&m.failure);
    EXPECT_ERROR(mst_failure_restore(&plain), MST_IO, "the disk of worker:2 is full");
    assert_string_equal(mst_error()->node, "save/write");
    assert_string_equal(mst_error()->task, "/job:worker/replica:0/task:2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_is_read_as_it_was_written),
        cmocka_unit_test(a_message_that_is_not_whole_is_refused),
        cmocka_unit_test(a_message_for_another_number_of_tasks_is_refused),
        cmocka_unit_test(an_acknowledgement_of_nothing_is_refused),
        cmocka_unit_test(control_characters_do_not_travel),
        cmocka_unit_test(a_failure_goes_to_another_task_and_becomes_its_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
