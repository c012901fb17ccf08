/* The processes of a trial: they are made, wait until they are told to begin, and are heard to their end. */
#include "cli/doctor/doctor_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/no_memory.h"

enum { WHOLE, SECOND, NUM_PROCESSES, LINE = 1 << 16, STAGE = 64, HASH = 40 };

typedef struct process {
    pid_t pid;     /* 0: there is none, or it has ended */
    int go, lines; /* what tells it to begin, and what it writes; -1: closed */
} process;

struct doctor_trial {
    process process[NUM_PROCESSES];
};

/* ---- making them ---- */

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

/* The child: waits until it is told to begin, and ends with its work. Nothing of the parent's ends with it. */
static _Noreturn void be_child(const doctor_options *o, bool second, int go, int lines, pid_t parent) {
    char byte;
    ssize_t told;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_FAILURE); /* it died before prctl */
    do told = read(go, &byte, 1);
    while (told < 0 && errno == EINTR);
    FILE *out = told == 1 ? fdopen(lines, "w") : NULL;
    if (!out) _exit(EXIT_FAILURE);
    doctor_trial_run(o, second, out);
    fflush(out);
    _exit(EXIT_SUCCESS);
}

static mst_status start_process(doctor_trial *t, const doctor_options *o, int which) {
    process *p = &t->process[which];
    int go[2], lines[2];
    if (pipe2(go, O_CLOEXEC)) return MST_FAIL(MST_IO, "cannot make a pipe: %s", strerror(errno));
    p->go = go[1];
    if (pipe2(lines, O_CLOEXEC)) {
        close(go[0]);
        return MST_FAIL(MST_IO, "cannot make a pipe: %s", strerror(errno));
    }
    p->lines = lines[0];
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        for (int i = 0; i <= which; i++) close_end(&t->process[i].go);
        be_child(o, which == SECOND, go[0], lines[1], parent);
    }
    close(go[0]);
    close(lines[1]);
    if (pid < 0) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a process for the devices: %s", strerror(errno));
    p->pid = pid;
    return MST_OK;
}

mst_status doctor_trial_create(const doctor_options *o, doctor_trial **out) {
    doctor_trial *t = *out = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a look at devices");
    mst_status status = MST_OK;
    for (int i = 0; i < NUM_PROCESSES; i++) t->process[i] = (process){0, -1, -1};
    for (int i = 0; i < NUM_PROCESSES && !status; i++) status = start_process(t, o, i);
    if (status) {
        doctor_trial_free(t);
        *out = NULL;
    }
    return status;
}

/* Waits for the end of P, which has ended or is killed, and returns its wait status. */
static int reap(process *p, bool kills) {
    int status = 0;
    if (!p->pid) return 0;
    if (kills) kill(p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
    p->pid = 0;
    return status;
}

void doctor_trial_free(doctor_trial *t) {
    for (int i = 0; t && i < NUM_PROCESSES; i++) {
        reap(&t->process[i], true);
        close_end(&t->process[i].go);
        close_end(&t->process[i].lines);
    }
    free(t);
}

/* ---- hearing them ---- */

/* What a process has said so far. */
typedef struct heard {
    doctor_report *report;
    const char *self;
    char *accelerator; /* [size] */
    size_t size;
    char stage[STAGE], hash[HASH];
    char line[LINE]; /* the last, which may not be whole yet */
    size_t used;
} heard;

static void keep_text(const json_t *object, const char *key, char *out, size_t size) {
    const char *text = json_string_value(json_object_get(object, key));
    if (text) snprintf(out, size, "%s", text);
}

static void take_line(heard *h, size_t length) {
    json_t *value = mst_json_read(h->line, length, NULL);
    if (json_is_array(value)) doctor_report_unpack(h->report, value, h->self);
    keep_text(value, "stage", h->stage, sizeof h->stage);
    keep_text(value, "hash", h->hash, sizeof h->hash);
    keep_text(value, "accelerator", h->accelerator, h->size);
    json_decref(value);
}

static void take_lines(heard *h) {
    char *end;
    while ((end = memchr(h->line, '\n', h->used))) {
        const size_t length = (size_t)(end - h->line);
        take_line(h, length);
        h->used -= length + 1;
        memmove(h->line, end + 1, h->used);
    }
    if (h->used == sizeof h->line) h->used = 0; /* no line is so long */
}

/* Hears P to its end. False: it was silent for SECONDS, or STOP has asked to end. */
static bool hear(const process *p, heard *h, double seconds, bool (*stop)(void)) {
    enum { MILLISECONDS = 100 };
    int64_t deadline = mst_clock_after(seconds);
    for (;;) {
        struct pollfd wanted = {.fd = p->lines, .events = POLLIN};
        if (stop() || mst_clock_now() > deadline) return false;
        if (poll(&wanted, 1, MILLISECONDS) <= 0) continue;
        const ssize_t got = read(p->lines, h->line + h->used, sizeof h->line - h->used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        h->used += (size_t)got;
        take_lines(h);
        deadline = mst_clock_after(seconds);
    }
}

/* Lets process WHICH do its work. Whether it has come to its end, so that H has its hash. */
static bool run_process(doctor_trial *t, int which, const doctor_options *o, heard *h, bool (*stop)(void)) {
    static const char fix[] =
        "see whether another program has the device, and whether its driver and plugin fit together; --device-timeout "
        "gives more time";
    process *p = &t->process[which];
    snprintf(h->stage, sizeof h->stage, "beginning");
    *h->hash = '\0';
    h->used = 0;
    const bool told = write(p->go, "g", 1) == 1, has_ended = told && hear(p, h, o->device_timeout, stop);
    const int status = reap(p, !has_ended);
    if (stop()) return false;
    if (!has_ended)
        doctor_add(h->report, DOCTOR_FINDING, "accelerator", h->self, fix, "%s: %s has not ended within %g s",
                   o->devices, h->stage, o->device_timeout);
    else if (WIFSIGNALED(status))
        doctor_add(h->report, DOCTOR_FINDING, "accelerator", h->self, "install another version of the plugin or driver",
                   "%s: the plugin ended the process by signal %d (%s) while %s", o->devices, WTERMSIG(status),
                   strsignal(WTERMSIG(status)), h->stage);
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        doctor_add(h->report, DOCTOR_FINDING, "accelerator", h->self, "install another version of the plugin or driver",
                   "%s: the plugin ended the process while %s", o->devices, h->stage);
    return *h->hash != 0;
}

void doctor_check_accelerators(doctor_report *report, doctor_trial *trial, const doctor_options *o, const char *self,
                               bool (*stop)(void), char *accelerator, size_t size) {
    char first[HASH];
    heard *h = calloc(1, sizeof *h);
    report->failed |= !h;
    *accelerator = '\0';
    if (!h) return;
    *h = (heard){.report = report, .self = self, .accelerator = accelerator, .size = size};
    const bool has_ended = run_process(trial, WHOLE, o, h, stop);
    memcpy(first, h->hash, sizeof first);
    if (has_ended && run_process(trial, SECOND, o, h, stop)) {
        if (strcmp(first, h->hash) == 0)
            doctor_add(report, DOCTOR_OK, "same bits", self, NULL, "compiled anew in another process: the same bits");
        else
            doctor_add(
                report, DOCTOR_NOTE, "same bits", self, NULL,
                "compiled anew in another process: other bits: to repeat a training bit for bit, keep its folder "
                "of compiled programs (--compile-cache)");
    }
    free(h);
}
