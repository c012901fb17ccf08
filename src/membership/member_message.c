#include "membership/member_message.h"

#include <string.h>

static const uint64_t NUMBERS = UINT64_C(1) << 62; /* state numbers are below this */
static const uint32_t COUNTS = UINT32_C(1) << 31;  /* jobs and generations are below this */

/* Reads or writes a body. One function describes each body, and does both: so the two cannot differ. */
typedef struct coder {
    bool reads;
    const uint8_t *from, *end; /* the part that is left to read */
    uint8_t *to;               /* place of the next byte to write; there is always enough room */
    bool wrong;                /* what was read is not a message */
} coder;

/* ---- numbers and texts ---- */

/* Reads or writes the low SIZE bytes of VALUE. */
static uint64_t number(coder *c, uint64_t value, size_t size) {
    if (!c->reads) {
        for (size_t i = 0; i < size; i++) *c->to++ = (uint8_t)(value >> 8 * i);
        return value;
    }
    if ((size_t)(c->end - c->from) < size) {
        c->wrong = true;
        c->from = c->end;
        return 0;
    }
    value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)*c->from++ << 8 * i;
    return value;
}

/* A number of SIZE bytes, below LIMIT. */
static uint64_t below(coder *c, uint64_t value, size_t size, uint64_t limit) {
    value = number(c, value, size);
    if (value < limit) return value;
    c->wrong = true;
    return 0;
}

static void flag(coder *c, bool *value) {
    *value = below(c, !c->reads && *value, 1, 2) != 0;
}

/* The number of a state, or -1 (MST_NO_STATE). It is sent as one more, so that it is not negative. */
static void state_number(coder *c, int64_t *value) {
    *value = (int64_t)below(c, c->reads ? 0 : (uint64_t)(*value + 1), 8, NUMBERS + 1) - 1;
}

/* The number of a task, or -1; sent as one more. */
static void task(coder *c, int32_t *value, int32_t num_tasks) {
    *value = (int32_t)below(c, c->reads ? 0 : (uint64_t)(*value + 1), 4, (uint64_t)num_tasks + 1) - 1;
}

static bool is_control(char character) {
    return (character > 0 && character < ' ') || character == 0x7f;
}

/* A text in an array of SIZE bytes. */
static void text(coder *c, char *value, size_t size) {
    const size_t length = (size_t)below(c, c->reads ? 0 : strlen(value), 2, size);
    if (!c->reads) {
        for (size_t i = 0; i < length; i++) *c->to++ = is_control(value[i]) ? '?' : (uint8_t)value[i];
        return;
    }
    value[0] = '\0';
    if ((size_t)(c->end - c->from) < length) {
        c->wrong = true;
        return;
    }
    memcpy(value, c->from, length);
    value[length] = '\0';
    c->from += length;
    for (size_t i = 0; i < length; i++) c->wrong |= !value[i] || is_control(value[i]);
}

/* ---- bodies ---- */

static void known_generation(coder *c, mst_known_generation *known) {
    known->number = (uint32_t)below(c, known->number, 4, COUNTS);
    known->tasks = number(c, known->tasks, 8);
}

static void known_generations(coder *c, mst_known_generations *known) {
    known_generation(c, &known->begun);
    known->num_agreed = (int32_t)below(c, (uint64_t)known->num_agreed, 1, MST_AGREED_MOST + 1);
    for (int32_t i = 0; i < known->num_agreed; i++) known_generation(c, &known->agreed[i]);
}

static void here(coder *c, mst_member_message *m) {
    flag(c, &m->ready);
    flag(c, &m->has_run);
    flag(c, &m->all_left);
    known_generations(c, &m->known);
    m->ended = number(c, m->ended, 8);
    text(c, m->address, sizeof m->address);
    if (!m->ready) return;
    mst_member_state *state = &m->state;
    state->num_fingerprints = (int32_t)below(c, (uint64_t)state->num_fingerprints, 1, MST_FINGERPRINTS_MOST + 1);
    for (int32_t i = 0; i < state->num_fingerprints; i++) {
        text(c, state->fingerprint[i].name, sizeof state->fingerprint[i].name);
        state->fingerprint[i].hash = number(c, state->fingerprint[i].hash, 8);
        text(c, state->fingerprint[i].value, sizeof state->fingerprint[i].value);
    }
    state_number(c, &state->state_number);
    state->state_hash = number(c, state->state_hash, 8);
    state_number(c, &state->ended_at);
}

static void failure(coder *c, mst_task_failure *f, int32_t num_tasks) {
    f->code = (mst_status)below(c, (uint64_t)f->code, 1, MST_NUM_STATUS);
    c->wrong |= f->code == MST_OK;
    flag(c, &f->derived);
    task(c, &f->task, num_tasks);
    state_number(c, &f->state_number);
    text(c, f->message, sizeof f->message);
    text(c, f->node, sizeof f->node);
    text(c, f->device, sizeof f->device);
}

static void begin(coder *c, mst_member_message *m, int32_t num_tasks) {
    m->source = (int32_t)below(c, (uint64_t)m->source, 4, (uint64_t)num_tasks);
    c->wrong |= below(c, (uint64_t)num_tasks, 4, UINT64_MAX) != (uint64_t)num_tasks;
    for (int32_t i = 0; i < num_tasks && !c->wrong; i++) {
        m->member_status[i].instance = number(c, m->member_status[i].instance, 8);
        state_number(c, &m->member_status[i].state_number);
        flag(c, &m->member_status[i].copies);
        flag(c, &m->member_status[i].takes_part);
    }
    flag(c, &m->has_run);
    known_generation(c, &m->known.begun);
    m->withdrawn = (uint32_t)below(c, m->withdrawn, 4, COUNTS);
    m->instructions = number(c, m->instructions, 8);
    state_number(c, &m->ended_at);
}

static void waiting(coder *c, mst_member_message *m, int32_t num_tasks) {
    flag(c, &m->ready);
    m->cause = (mst_waiting_cause)below(c, m->cause, 1, MST_WAITING_CAUSES);
    m->num_waited = (int32_t)below(c, (uint64_t)m->num_waited, 4, (uint64_t)num_tasks + 1);
    m->num_listed = m->num_waited < MST_WAITING_MOST ? m->num_waited : MST_WAITING_MOST;
    for (int32_t i = 0; i < m->num_listed; i++) {
        m->waited[i].task = (int32_t)below(c, (uint64_t)m->waited[i].task, 4, (uint64_t)num_tasks);
        flag(c, &m->waited[i].present);
    }
}

static void started(coder *c, mst_started_exchanges *s) {
    s->count = (int32_t)below(c, (uint64_t)s->count, 1, MST_GROUP_LAST + 1);
    for (int32_t i = 0; i < s->count; i++) {
        mst_started_exchange *x = &s->last[i];
        x->count = number(c, x->count, 8);
        x->run = number(c, x->run, 8);
        x->exchange = (uint32_t)number(c, x->exchange, 4);
        x->milliseconds = (uint32_t)number(c, x->milliseconds, 4);
        text(c, x->name, sizeof x->name);
    }
}

static void acknowledge(coder *c, mst_member_message *m) {
    m->acknowledged = (mst_member_kind)below(c, m->acknowledged, 1, MST_MEMBER_VERDICT + 1);
    c->wrong |= m->acknowledged == 0;
    m->instance = number(c, m->instance, 8);
    if (m->acknowledged == MST_MEMBER_PROBE) started(c, &m->started);
}

static void body(coder *c, mst_member_message *m, int32_t num_tasks) {
    switch (m->kind) {
        case MST_MEMBER_HERE: here(c, m); break;
        case MST_MEMBER_ACKNOWLEDGE: acknowledge(c, m); break;
        case MST_MEMBER_LINK_LOST:
        case MST_MEMBER_FAILED:
        case MST_MEMBER_STOPS:
        case MST_MEMBER_STOPPED:
        case MST_MEMBER_END:
        case MST_MEMBER_VERDICT:
        case MST_MEMBER_NOTICE:
        case MST_MEMBER_CANNOT_JOIN: failure(c, &m->failure, num_tasks); break;
        case MST_MEMBER_BEGIN: begin(c, m, num_tasks); break;
        case MST_MEMBER_WAITING: waiting(c, m, num_tasks); break;
        case MST_MEMBER_PROBE: m->instance = number(c, m->instance, 8); break;
        case MST_MEMBER_LEFT:
        case MST_MEMBER_GO:
        case MST_MEMBER_ALL_LEFT:
        case MST_MEMBER_BYE:
        case MST_MEMBER_LEADS: break;
        default: c->wrong = true;
    }
}

/* The constants at the beginning are coded like other numbers. Each result is compared with its constant: only a number
 * that was read can differ. */
static void message(coder *c, mst_member_message *m, int32_t num_tasks) {
    static const char magic[3] = "MST";
    for (size_t i = 0; i < sizeof magic; i++) c->wrong |= number(c, (uint8_t)magic[i], 1) != (uint8_t)magic[i];
    c->wrong |= number(c, MST_MEMBER_MESSAGE_VERSION, 1) != MST_MEMBER_MESSAGE_VERSION;
    m->kind = (mst_member_kind)number(c, m->kind, 1);
    m->job = (uint32_t)below(c, m->job, 4, COUNTS);
    m->generation = (uint32_t)below(c, m->generation, 4, COUNTS);
    m->to = number(c, m->to, 8);
    if (!c->wrong) body(c, m, num_tasks);
}

/* ---- encoding and decoding ---- */

size_t mst_member_message_encode(const mst_member_message *m, int32_t num_tasks, uint8_t *dst) {
    mst_member_message copy = *m;
    coder c = {.to = dst};
    message(&c, &copy, num_tasks);
    return (size_t)(c.to - dst);
}

mst_status mst_member_message_decode(const void *data, size_t bytes, int32_t num_tasks,
                                     mst_member_status *member_status, mst_member_message *out) {
    coder c = {.reads = true, .from = data, .end = bytes ? (const uint8_t *)data + bytes : data};
    memset(out, 0, sizeof *out);
    out->member_status = member_status;
    message(&c, out, num_tasks);
    if (c.wrong) return MST_FAIL(MST_CORRUPT, "%zu bytes are no message between members of this version", bytes);
    if (c.from != c.end)
        return MST_FAIL(MST_CORRUPT, "a message between members has %zu bytes more than it should",
                        (size_t)(c.end - c.from));
    return MST_OK;
}
