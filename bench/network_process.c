#include "bench/network_process.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/table.h"

typedef struct process {
    pid_t pid;
    int output; /* what it prints */
} process;

/* False where it could not be started; end_process all the same. */
static bool start_process(const char *const *arguments, process *out) {
    int ends[2];
    *out = (process){.pid = -1, .output = -1};
    if (pipe2(ends, O_CLOEXEC)) return false;
    out->output = ends[0];
    out->pid = fork();
    if (out->pid == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0) execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    return out->pid > 0;
}

/* True where it ended with exit status 0. */
static bool end_process(process *p) {
    int status = -1;
    if (p->output >= 0) close(p->output);
    return p->pid > 0 && waitpid(p->pid, &status, 0) == p->pid && status == 0;
}

double bench_first_step_seconds(const char *name) {
    const char *const arguments[] = {"muster-bench", name, "--first-step", NULL};
    const double started = bench_now();
    process p;
    char byte;
    const bool said = start_process(arguments, &p) && read(p.output, &byte, 1) == 1;
    const double took = bench_now() - started;
    return end_process(&p) && said ? took : -1;
}

/* The number that a process prints, which is all that it prints. */
static bool read_number(const process *p, double *out) {
    char text[64];
    size_t length = 0;
    ssize_t got = 0;
    while (length < sizeof text - 1 && (got = read(p->output, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    char *end;
    *out = strtod(text, &end);
    return got == 0 && end != text && *end == '\n';
}

double bench_processes_rate(const char *name, int count, double seconds) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", seconds);
    const char *const arguments[] = {"muster-bench", name, "--one-thread", "--seconds", text, NULL};
    process *all = calloc((size_t)count, sizeof *all);
    if (!all) return -1;
    bool good = true;
    double sum = 0;
    for (int i = 0; i < count; i++) good &= start_process(arguments, &all[i]);
    for (int i = 0; i < count; i++) {
        double rate = 0;
        good &= all[i].pid > 0 && read_number(&all[i], &rate);
        good &= end_process(&all[i]);
        sum += rate;
    }
    free(all);
    return good ? sum : -1;
}
