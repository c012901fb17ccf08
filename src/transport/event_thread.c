#include "transport/event_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "transport/service_thread.h"

enum { WHY_SIZE = 480, MOST_WAITING = 64 << 20 };

typedef enum event_kind { CONTROL, CONNECTED, LOST, TAKEN, LIST_MISMATCH, STRANGER, MISMATCH } event_kind;

typedef struct event {
    struct event *next;
    event_kind kind;
    int32_t task, by;
    uint64_t instance;
    mst_key key;
    char why[WHY_SIZE];
    size_t bytes;
    unsigned char data[];
} event;

struct mst_event_thread {
    mst_transport_events events;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all members after it */
    pthread_cond_t wake;
    event *first, **last;
    size_t bytes; /* of the waiting control messages */
    bool stopped;
    bool direct;  /* the thread that has received a control message passes it on */
    bool telling; /* an owner's function is being called now */
    int32_t num_tasks, num_starved;
    uint64_t *starved; /* [num_tasks] the task's instance if there was no memory for one of its events; else 0 */
};

static void tell(const mst_transport_events *to, const event *e) {
    switch (e->kind) {
        case CONTROL: to->control(to->context, e->task, e->instance, e->data, e->bytes); break;
        case CONNECTED: to->connected(to->context, e->task); break;
        case LOST: to->lost(to->context, e->task, e->instance, e->why); break;
        case TAKEN:
            if (to->taken) to->taken(to->context, e->by, e->task, e->why);
            break;
        case LIST_MISMATCH:
            if (to->list_mismatch) to->list_mismatch(to->context, e->task, e->why);
            break;
        case STRANGER:
            if (to->stranger) to->stranger(to->context, e->why);
            break;
        case MISMATCH: to->mismatch(to->context, e->task, e->key, e->why); break;
    }
}

/* Returns a task that has missed an event because there was no memory, and clears its mark. *INSTANCE: the task's
 * instance. Under the lock. */
static int32_t take_starved(mst_event_thread *t, uint64_t *instance) {
    int32_t task = 0;
    while (!t->starved[task]) task++;
    *instance = t->starved[task];
    t->starved[task] = 0;
    t->num_starved--;
    return task;
}

static void *run_events(void *context) {
    mst_event_thread *t = context;
    pthread_mutex_lock(&t->lock);
    while (!t->stopped) {
        event *e = t->first;
        uint64_t instance = 0;
        int32_t starved = -1;
        if (t->telling) {
            pthread_cond_wait(&t->wake, &t->lock);
            continue;
        }
        if (e) {
            t->first = e->next;
            if (!t->first) t->last = &t->first;
            t->bytes -= e->bytes;
        } else if (t->num_starved) {
            starved = take_starved(t, &instance);
        } else {
            pthread_cond_wait(&t->wake, &t->lock);
            continue;
        }
        t->telling = true;
        pthread_mutex_unlock(&t->lock);
        if (e)
            tell(&t->events, e);
        else
            t->events.lost(t->events.context, starved, instance, "no memory for what it sent");
        free(e);
        pthread_mutex_lock(&t->lock);
        t->telling = false;
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

mst_status mst_event_thread_start(const mst_transport_events *events, int32_t num_tasks, mst_event_thread **out) {
    mst_event_thread *t = calloc(1, sizeof *t);
    uint64_t *starved = calloc((size_t)num_tasks, sizeof *starved);
    if (!t || !starved) {
        free(t);
        free(starved);
        return MST_NO_MEMORY("for the events of %d tasks", num_tasks);
    }
    t->events = *events;
    t->last = &t->first;
    t->num_tasks = num_tasks;
    t->starved = starved;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    const mst_status status = mst_service_thread_start(run_events, t, &t->thread);
    if (!status) {
        *out = t;
        return MST_OK;
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(starved);
    free(t);
    return status;
}

void mst_event_thread_stop(mst_event_thread *t) {
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->stopped = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    for (event *e = t->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t->starved);
    free(t);
}

static event *make_event(event_kind kind, int32_t task, uint64_t instance, const void *data, size_t bytes) {
    event *e = bytes <= MOST_WAITING ? malloc(sizeof *e + bytes) : NULL;
    if (!e) return NULL;
    *e = (event){.kind = kind, .task = task, .instance = instance, .bytes = bytes};
    if (bytes) memcpy(e->data, data, bytes);
    return e;
}

/* Adds E to the end of the queue. Under the lock. */
static void append(mst_event_thread *t, event *e) {
    *t->last = e;
    t->last = &e->next;
    t->bytes += e->bytes;
}

void mst_event_thread_direct(mst_event_thread *t) {
    pthread_mutex_lock(&t->lock);
    t->direct = true;
    pthread_mutex_unlock(&t->lock);
}

/* Whether the calling thread may pass its event on to the owner itself: no other event waits or is being passed on. If
 * so, the thread must call told() afterwards. */
static bool may_tell(mst_event_thread *t) {
    pthread_mutex_lock(&t->lock);
    const bool may = t->direct && !t->stopped && !t->telling && !t->first && !t->num_starved;
    t->telling |= may;
    pthread_mutex_unlock(&t->lock);
    return may;
}

static void told(mst_event_thread *t) {
    pthread_mutex_lock(&t->lock);
    t->telling = false;
    if (t->first || t->num_starved || t->stopped) pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

bool mst_event_thread_control(mst_event_thread *t, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    if (may_tell(t)) {
        t->events.control(t->events.context, from, instance, data, bytes);
        told(t);
        return true;
    }
    event *e = make_event(CONTROL, from, instance, data, bytes);
    pthread_mutex_lock(&t->lock);
    const bool fits = e && t->bytes + bytes <= MOST_WAITING;
    if (fits) append(t, e);
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    if (!fits) free(e);
    return fits;
}

/* Appends E to the queue. E is NULL if there was no memory for it. */
static void push(mst_event_thread *t, int32_t task, uint64_t instance, event *e) {
    pthread_mutex_lock(&t->lock);
    if (e) {
        append(t, e);
    } else {
        t->num_starved += !t->starved[task];
        t->starved[task] = instance ? instance : 1;
    }
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void mst_event_thread_connected(mst_event_thread *t, int32_t task, uint64_t instance) {
    push(t, task, instance, make_event(CONNECTED, task, instance, NULL, 0));
}

void mst_event_thread_lost(mst_event_thread *t, int32_t task, uint64_t instance, const char *why) {
    event *e = make_event(LOST, task, instance, NULL, 0);
    if (e) snprintf(e->why, sizeof e->why, "%s", why);
    push(t, task, instance, e);
}

void mst_event_thread_taken(mst_event_thread *t, int32_t by, int32_t task, const char *where) {
    event *e = make_event(TAKEN, task, 0, NULL, 0);
    if (!e) return;
    e->by = by;
    snprintf(e->why, sizeof e->why, "%s", where);
    push(t, task, 0, e);
}

void mst_event_thread_list_mismatch(mst_event_thread *t, int32_t task, const char *why) {
    event *e = make_event(LIST_MISMATCH, task, 0, NULL, 0);
    if (!e) return;
    snprintf(e->why, sizeof e->why, "%s", why);
    push(t, task, 0, e);
}

void mst_event_thread_stranger(mst_event_thread *t, const char *line) {
    event *e = make_event(STRANGER, 0, 0, NULL, 0);
    if (!e) return;
    snprintf(e->why, sizeof e->why, "%s", line);
    push(t, 0, 0, e);
}

void mst_event_thread_mismatch(mst_event_thread *t, int32_t task, mst_key key, const char *why) {
    event *e = make_event(MISMATCH, task, 0, NULL, 0);
    if (e) {
        e->key = key;
        snprintf(e->why, sizeof e->why, "%s", why);
    }
    push(t, task, 0, e);
}
