#include "pjrt/shim_late.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const PJRT_Api *real;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shim_late_begin(const PJRT_Api *plugin) {
    real = plugin;
}

/* ---- errors ---- */

/* Stands for a PJRT_Error, whose members nobody else knows. */
typedef struct own_error {
    PJRT_Error_Code code;
    char message[SHIM_MOST_TEXT];
    struct own_error *next;
} own_error;

static own_error *errors;
static own_error no_memory = {PJRT_Error_Code_RESOURCE_EXHAUSTED, "shim: there is no memory for an error", NULL};

PJRT_Error *shim_error_make(PJRT_Error_Code code, const char *message) {
    own_error *x = calloc(1, sizeof *x);
    if (!x) return (PJRT_Error *)&no_memory;
    x->code = code;
    strncpy(x->message, message, sizeof x->message - 1);
    pthread_mutex_lock(&lock);
    x->next = errors;
    errors = x;
    pthread_mutex_unlock(&lock);
    return (PJRT_Error *)x;
}

/* The error of this plugin that ERROR is, or NULL: it is the real plugin's. */
static own_error *find_error(const PJRT_Error *error) {
    if (error == (PJRT_Error *)&no_memory) return &no_memory;
    pthread_mutex_lock(&lock);
    own_error *x = errors;
    while (x && (const PJRT_Error *)x != error) x = x->next;
    pthread_mutex_unlock(&lock);
    return x;
}

PJRT_Error *shim_late_Error_Destroy(void *args) {
    PJRT_Error_Destroy_Args *a = args;
    own_error *x = find_error(a->error);
    if (!x) {
        real->PJRT_Error_Destroy(a);
    } else if (x != &no_memory) {
        pthread_mutex_lock(&lock);
        own_error **place = &errors;
        while (*place != x) place = &(*place)->next;
        *place = x->next;
        pthread_mutex_unlock(&lock);
        free(x);
    }
    return NULL;
}

PJRT_Error *shim_late_Error_Message(void *args) {
    PJRT_Error_Message_Args *a = args;
    const own_error *x = find_error(a->error);
    if (!x) {
        real->PJRT_Error_Message(a);
    } else {
        a->message = x->message;
        a->message_size = strlen(x->message);
    }
    return NULL;
}

PJRT_Error *shim_late_Error_GetCode(void *args) {
    PJRT_Error_GetCode_Args *a = args;
    const own_error *x = find_error(a->error);
    if (!x) return real->PJRT_Error_GetCode(a);
    a->code = x->code;
    return NULL;
}

/* ---- outcomes ---- */

/* Bytes that a copy to the host has got, and that its caller gets when the event is ready. */
typedef struct late_copy {
    void *bytes, *to; /* bytes is NULL: there are none, or the caller has got them */
    size_t size;
} late_copy;

typedef struct outcome {
    const void *object;
    shim_fault fault;
    late_copy late_copy;
    int references; /* the list is one */
    struct outcome *next;
} outcome;

static outcome *outcomes;
static atomic_int num_outcomes;

static void put(const void *object, const shim_fault *fault, const late_copy *late) {
    outcome *x = calloc(1, sizeof *x);
    if (!x) abort(); /* a test that went on would not see its fault */
    *x = (outcome){.object = object, .fault = *fault, .references = 1};
    if (late) x->late_copy = *late;
    pthread_mutex_lock(&lock);
    x->next = outcomes;
    outcomes = x;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&num_outcomes, 1);
}

void shim_outcome_put(const void *object, const shim_fault *fault) {
    put(object, fault, NULL);
}

/* With a reference for the caller; NULL: OBJECT has no outcome. */
static outcome *find(const void *object) {
    if (atomic_load(&num_outcomes) == 0) return NULL;
    pthread_mutex_lock(&lock);
    outcome *x = outcomes;
    while (x && x->object != object) x = x->next;
    if (x) x->references++;
    pthread_mutex_unlock(&lock);
    return x;
}

static void release(outcome *x) {
    if (!x) return;
    pthread_mutex_lock(&lock);
    const bool is_last = --x->references == 0;
    pthread_mutex_unlock(&lock);
    if (!is_last) return;
    free(x->late_copy.bytes);
    free(x);
}

bool shim_outcome_get(const void *object, shim_fault *out) {
    outcome *x = find(object);
    if (x) *out = x->fault;
    release(x);
    return x != NULL;
}

void shim_outcome_drop(const void *object) {
    if (atomic_load(&num_outcomes) == 0) return;
    pthread_mutex_lock(&lock);
    outcome **place = &outcomes;
    while (*place && (*place)->object != object) place = &(*place)->next;
    outcome *x = *place;
    if (x) *place = x->next;
    pthread_mutex_unlock(&lock);
    if (x) atomic_fetch_sub(&num_outcomes, 1);
    release(x);
}

/* What the event with the outcome X gives when it is ready: its error, or NULL and the bytes of its copy. */
static PJRT_Error *deliver(outcome *x) {
    if (x->fault.code != PJRT_Error_Code_OK) return shim_error_make(x->fault.code, x->fault.message);
    pthread_mutex_lock(&lock);
    if (x->late_copy.bytes) memcpy(x->late_copy.to, x->late_copy.bytes, x->late_copy.size);
    free(x->late_copy.bytes);
    x->late_copy.bytes = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void destroy_error(PJRT_Error *error) {
    PJRT_Error_Destroy_Args a = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error};
    if (error) shim_late_Error_Destroy(&a);
}

PJRT_Error *shim_late_to_host(PJRT_Buffer_ToHostBuffer_Args *args, const shim_fault *fault) {
    late_copy late = {malloc(args->dst_size + 1), args->dst, args->dst_size};
    if (!late.bytes) return shim_error_make(PJRT_Error_Code_RESOURCE_EXHAUSTED, "shim: there is no memory for a copy");
    args->dst = late.bytes;
    PJRT_Error *error = real->PJRT_Buffer_ToHostBuffer(args);
    args->dst = late.to;
    if (!error) { /* the bytes must be there before the event can be destroyed, and they with it */
        PJRT_Event_Await_Args a = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = args->event};
        destroy_error(real->PJRT_Event_Await(&a)); /* the event keeps it */
        if (fault->effect == SHIM_FLIP && fault->bit / 8 < late.size)
            ((unsigned char *)late.bytes)[fault->bit / 8] ^= (unsigned char)(1u << fault->bit % 8);
        put(args->event, fault, &late);
    } else {
        free(late.bytes);
    }
    return error;
}

/* ---- events ---- */

PJRT_Error *shim_late_Event_IsReady(void *args) {
    PJRT_Event_IsReady_Args *a = args;
    PJRT_Error *error = real->PJRT_Event_IsReady(a);
    outcome *x = error ? NULL : find(a->event);
    if (x && a->is_ready) {
        a->is_ready = shim_is_due(&x->fault.until);
        if (a->is_ready) destroy_error(deliver(x));
    }
    release(x);
    return error;
}

PJRT_Error *shim_late_Event_Error(void *args) {
    PJRT_Event_Error_Args *a = args;
    outcome *x = find(a->event);
    PJRT_Error *error = NULL;
    if (x && !shim_is_due(&x->fault.until))
        error = shim_error_make(PJRT_Error_Code_FAILED_PRECONDITION, "shim: PJRT_Event_Error: the event is not ready");
    if (!error) error = real->PJRT_Event_Error(a);
    if (x && !error) error = deliver(x);
    release(x);
    return error;
}

PJRT_Error *shim_late_Event_Await(void *args) {
    PJRT_Event_Await_Args *a = args;
    outcome *x = find(a->event);
    PJRT_Error *error = real->PJRT_Event_Await(a);
    if (x) {
        shim_wait(&x->fault.until);
        if (!error) error = deliver(x);
    }
    release(x);
    return error;
}

/* A callback that comes when an outcome is due. */
typedef struct late_callback {
    PJRT_Event_OnReadyCallback callback;
    void *user_arg;
    outcome *outcome;
    PJRT_Error *error; /* of the real plugin */
} late_callback;

static void *call_back(void *argument) {
    late_callback *x = argument;
    shim_wait(&x->outcome->fault.until);
    PJRT_Error *error = x->error ? x->error : deliver(x->outcome);
    x->callback(error, x->user_arg);
    release(x->outcome);
    free(x);
    return NULL;
}

/* The real plugin's callback must not wait: a thread does, which no signal reaches. */
static void call_back_late(PJRT_Error *error, void *argument) {
    late_callback *x = argument;
    pthread_t thread;
    sigset_t all, before;
    x->error = error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, call_back, x))
        call_back(x);
    else
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

PJRT_Error *shim_late_Event_OnReady(void *args) {
    PJRT_Event_OnReady_Args *a = args;
    outcome *x = find(a->event);
    if (!x) return real->PJRT_Event_OnReady(a);
    late_callback *late = calloc(1, sizeof *late);
    if (!late) {
        release(x);
        return shim_error_make(PJRT_Error_Code_RESOURCE_EXHAUSTED, "shim: there is no memory for a callback");
    }
    *late = (late_callback){a->callback, a->user_arg, x, NULL};
    PJRT_Event_OnReady_Args own = {PJRT_Event_OnReady_Args_STRUCT_SIZE, a->extension_start, a->event, call_back_late,
                                   late};
    PJRT_Error *error = real->PJRT_Event_OnReady(&own);
    if (error) {
        release(x);
        free(late);
    }
    return error;
}
