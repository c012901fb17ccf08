#include "pjrt/shim_fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FAULTS = 32 };

/* ---- waiting ---- */

static _Atomic int64_t generation; /* how often faults have been set */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool shim_is_due(const shim_until *until) {
    switch (until->kind) {
        case SHIM_NOW: return true;
        case SHIM_AT: return now() >= until->at;
        case SHIM_WITHOUT_FILE: return access(until->file, F_OK) != 0;
        case SHIM_WITH_OTHER_FAULTS: return atomic_load(&generation) != until->generation;
    }
    return true;
}

void shim_wait(const shim_until *until) {
    const struct timespec moment = {.tv_nsec = 1000000};
    while (!shim_is_due(until)) nanosleep(&moment, NULL);
}

/* ---- names ---- */

#define NAME(name) "PJRT_" #name,
static const char *const names[] = {SHIM_FUNCTIONS(NAME, NAME)};
#undef NAME

const char *shim_function_name(int place) {
    return names[place];
}

int shim_find_function(const char *name) {
    for (int i = 0; i < SHIM_NUM_FUNCTIONS; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

static const char *const codes[] = {
    "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
};
enum { NUM_CODES = sizeof codes / sizeof *codes };

/* ---- the notation ---- */

typedef enum action_argument { NOTHING, SECONDS, FILE_NAME, DEVICE, BIT } action_argument;

typedef struct action {
    const char *name;
    shim_effect effect;
    shim_until_kind until;
    action_argument argument;
    PJRT_Error_Code code; /* unless another is given; PJRT_Error_Code_OK: none can be */
    const char *message;  /* unless another is given */
} action;

static const action actions[] = {
    {"fail", SHIM_FAIL, SHIM_NOW, NOTHING, PJRT_Error_Code_INTERNAL, "this call was to fail"},
    {"refuse", SHIM_REFUSE, SHIM_NOW, NOTHING, PJRT_Error_Code_INVALID_ARGUMENT, "this call was to be refused"},
    {"delay", SHIM_WAIT, SHIM_AT, SECONDS, PJRT_Error_Code_OK, NULL},
    {"hold", SHIM_WAIT, SHIM_WITHOUT_FILE, FILE_NAME, PJRT_Error_Code_OK, NULL},
    {"stuck", SHIM_WAIT, SHIM_WITH_OTHER_FAULTS, NOTHING, PJRT_Error_Code_OK, NULL},
    {"die", SHIM_DIE, SHIM_NOW, NOTHING, PJRT_Error_Code_OK, NULL},
    {"lost", SHIM_FAIL, SHIM_NOW, DEVICE, PJRT_Error_Code_UNAVAILABLE, "the device is lost"},
    {"event_fail", SHIM_EVENT, SHIM_AT, SECONDS, PJRT_Error_Code_INTERNAL, "what this call started was to fail"},
    {"event_delay", SHIM_EVENT, SHIM_AT, SECONDS, PJRT_Error_Code_OK, NULL},
    {"event_hold", SHIM_EVENT, SHIM_WITHOUT_FILE, FILE_NAME, PJRT_Error_Code_OK, NULL},
    {"event_stuck", SHIM_EVENT, SHIM_WITH_OTHER_FAULTS, NOTHING, PJRT_Error_Code_OK, NULL},
    {"flip", SHIM_FLIP, SHIM_NOW, BIT, PJRT_Error_Code_OK, NULL},
};
enum { NUM_ACTIONS = sizeof actions / sizeof *actions };

typedef struct fault {
    int place;
    int64_t first; /* the call that it meets, from 1 */
    bool goes_on;  /* it meets those after it too */
    const action *action;
    double seconds;
    int device; /* DEVICE: the identity of the one that is lost */
    size_t bit; /* BIT: the one that is wrong */
    PJRT_Error_Code code;
    char file[SHIM_MOST_TEXT], message[SHIM_MOST_TEXT];
    int64_t calls; /* that were made so far */
} fault;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fault faults[MOST_FAULTS];
static int num_faults;
static atomic_bool loses_devices;
static char reason[SHIM_MOST_TEXT]; /* what is wrong with the faults that were set last */

#define WRONG(...) (snprintf(reason, sizeof reason, __VA_ARGS__), false)

static bool read_number(const char *what, const char *text, const char *ends, double *out) {
    char *end = NULL;
    if (!text) return WRONG("%s is missing", what);
    *out = strtod(text, &end);
    if (end == text || (*end && strcmp(end, ends) != 0) || !(*out >= 0 && *out < 1e9))
        return WRONG("%s is '%s', must be a number from 0", what, text);
    return true;
}

static bool read_call(fault *x, const char *text) {
    double number;
    if (!read_number("the number of a call", text, "+", &number)) return false;
    x->first = (int64_t)number;
    x->goes_on = strchr(text, '+') != NULL;
    return x->first > 0 && (double)x->first == number ? true
                                                      : WRONG("the number of a call is '%s', must be from 1", text);
}

static bool read_action(fault *x, const char *text) {
    for (int i = 0; text && i < NUM_ACTIONS; i++)
        if (!strcmp(actions[i].name, text)) x->action = &actions[i];
    if (!x->action) return WRONG("there is no fault '%s'", text ? text : "");
    const shim_abilities can = shim_abilities_of(x->place);
    const shim_effect effect = x->action->effect;
    if ((effect == SHIM_FAIL || effect == SHIM_REFUSE) && !can.fails)
        return WRONG("%s cannot fail", shim_function_name(x->place));
    if (effect == SHIM_EVENT && !can.gives_events) return WRONG("%s gives no event", shim_function_name(x->place));
    if (effect == SHIM_FLIP && !can.copies_out) return WRONG("%s copies nothing out", shim_function_name(x->place));
    if (x->action->argument == DEVICE && !can.is_of_device)
        return WRONG("%s is not of a device", shim_function_name(x->place));
    return true;
}

static bool read_argument(fault *x, char **rest) {
    if (x->action->argument == NOTHING) return true;
    const char *text = strtok_r(NULL, " ", rest);
    if (x->action->argument == FILE_NAME) {
        if (!text || strlen(text) >= sizeof x->file)
            return WRONG("%s: the file is missing or too long", x->action->name);
        strcpy(x->file, text);
        return true;
    }
    static const char *const what[] = {[SECONDS] = "seconds", [DEVICE] = "the device", [BIT] = "the bit"};
    double number;
    if (!read_number(what[x->action->argument], text, "", &number)) return false;
    if (x->action->argument == SECONDS) x->seconds = number;
    x->device = (int)number;
    x->bit = (size_t)number;
    return true;
}

/* The code and the message that a call fails with, both of which may be left out. */
static bool read_error(fault *x, char **rest) {
    const char *text = strtok_r(NULL, " ", rest), *message = NULL;
    x->code = x->action->code;
    if (text) {
        int code = 0;
        while (code < NUM_CODES && strcmp(codes[code], text) != 0) code++;
        if (code == 0 || code == NUM_CODES || x->code == PJRT_Error_Code_OK)
            return WRONG("%s: '%s' is no code that it can have", x->action->name, text);
        x->code = (PJRT_Error_Code)code;
        message = strtok_r(NULL, "", rest);
    }
    if (x->code == PJRT_Error_Code_OK) return true;
    const int used = snprintf(x->message, sizeof x->message, "shim: %s: %s", shim_function_name(x->place),
                              message ? message : x->action->message);
    return used < (int)sizeof x->message ? true : WRONG("%s: the message is too long", x->action->name);
}

static bool read_fault(char *text, fault *x) {
    char *rest = NULL;
    const char *function = strtok_r(text, " ", &rest);
    x->place = function ? shim_find_function(function) : -1;
    if (x->place < 0) return WRONG("there is no function '%s'", function ? function : "");
    return read_call(x, strtok_r(NULL, " ", &rest)) && read_action(x, strtok_r(NULL, " ", &rest)) &&
           read_argument(x, &rest) && read_error(x, &rest);
}

/* The caller has the lock. */
static bool read_faults(char *text) {
    char *rest = NULL;
    for (char *one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        if (num_faults == MOST_FAULTS) return WRONG("there are more than %d faults", MOST_FAULTS);
        fault *x = &faults[num_faults++];
        memset(x, 0, sizeof *x);
        if (!read_fault(one, x)) return false;
        if (x->action->argument == DEVICE) atomic_store(&loses_devices, true);
    }
    return true;
}

const char *shim_faults_set(const char *text) {
    char *copy = strdup(text);
    pthread_mutex_lock(&lock);
    num_faults = 0;
    atomic_store(&loses_devices, false);
    atomic_fetch_add(&generation, 1);
    const bool is_read = copy ? read_faults(copy) : WRONG("there is no memory for the faults");
    if (!is_read) num_faults = 0;
    pthread_mutex_unlock(&lock);
    free(copy);
    return is_read ? NULL : reason;
}

/* ---- calls ---- */

bool shim_faults_lose_devices(void) {
    return atomic_load(&loses_devices);
}

/* Whether X meets this call, which is counted. A lost device fails all calls from the first on, of any function. */
static bool meets(fault *x, int place, int num_devices, const int *device) {
    const bool is_loss = x->action->argument == DEVICE;
    bool is_there = !is_loss;
    for (int i = 0; i < num_devices; i++)
        if (device[i] == x->device) is_there = true;
    if (x->place == place && is_there) x->calls++;
    if (is_loss) return is_there && x->calls >= x->first;
    return x->place == place && (x->calls == x->first || (x->goes_on && x->calls > x->first));
}

bool shim_fault_next(int place, int num_devices, const int *device, shim_fault *out) {
    bool is_met = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < num_faults; i++) {
        fault *x = &faults[i];
        if (!meets(x, place, num_devices, device) || is_met) continue;
        is_met = true;
        *out = (shim_fault){.effect = x->action->effect, .bit = x->bit, .code = x->code};
        out->until = (shim_until){x->action->until, now() + x->seconds, atomic_load(&generation), ""};
        strcpy(out->until.file, x->file);
        strcpy(out->message, x->message);
    }
    pthread_mutex_unlock(&lock);
    return is_met;
}
