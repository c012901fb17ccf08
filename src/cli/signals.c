#include "cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"
#include "cli/command.h"

static _Atomic int caught;
static atomic_bool ends_at_once;
static _Atomic int output = STDOUT_FILENO; /* the descriptor of standard output */
static bool has_thread;
static sigset_t waited_for; /* the signals for which the thread waits; all other threads block them */

int signals_caught(void) {
    return atomic_load(&caught);
}

bool signals_stop(void *context) {
    (void)context;
    return signals_caught() != 0;
}

void signals_move_output(int descriptor) {
    atomic_store(&output, descriptor);
}

bool signals_reader_left(void) {
    int none = 0;
    if (!mst_file_reader_left(atomic_load(&output))) return false;
    atomic_compare_exchange_strong(&caught, &none, SIGPIPE);
    return true;
}

/* Ends the process as the signal would have. The first process of a container exits instead, since the kernel does not
 * let it kill itself with a signal. */
static _Noreturn void die_of(int number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
    _exit(EXIT_SIGNAL + number);
}

static void *wait_for_signals(void *context) {
    sigset_t seen;
    int number;
    (void)context;
    sigemptyset(&seen);
    for (;;) {
        if (sigwait(&waited_for, &number)) continue;
        if (atomic_load(&ends_at_once)) _exit(EXIT_SIGNAL + number);
        if (sigismember(&seen, number)) die_of(number);
        sigaddset(&seen, number);
        atomic_store(&caught, number);
    }
}

/* Starts the thread that waits for signals. The calling thread blocks these signals, and so do the threads that it
 * starts. Threads of the library block all signals. */
static mst_status start_thread(void) {
    struct sigaction hang_up;
    pthread_t thread;
    if (has_thread) return MST_OK;
    sigemptyset(&waited_for);
    sigaddset(&waited_for, SIGINT);
    sigaddset(&waited_for, SIGTERM);
    /* nohup ignores SIGHUP, so that a program continues when its terminal is closed */
    if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaddset(&waited_for, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &waited_for, NULL);
    has_thread = mst_thread_start(&thread, wait_for_signals, NULL) == 0;
    if (has_thread) return pthread_detach(thread), MST_OK;
    pthread_sigmask(SIG_UNBLOCK, &waited_for, NULL);
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory, or a thread (ulimit -u), that waits for signals");
}

mst_status signals_catch(void) {
    signal(SIGPIPE, SIG_IGN);
    atomic_store(&ends_at_once, false);
    return start_thread();
}

mst_status signals_end_at_once(void) {
    atomic_store(&ends_at_once, true);
    return start_thread();
}

/* SIGPIPE is handled by the thread that writes, during its write. */
static void end_without_reader(int number) {
    if (mst_file_reader_left(atomic_load(&output))) _exit(EXIT_SIGNAL + number);
}

void signals_begin(void) {
    struct sigaction action = {.sa_handler = end_without_reader, .sa_flags = SA_RESTART};
    sigaction(SIGPIPE, &action, NULL);
}
