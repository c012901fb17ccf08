#include "cli/signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    interrupted = number;
}

int signals_caught(void) {
    return interrupted;
}

bool signals_reader_left(void) {
    if (!mst_file_reader_left(STDOUT_FILENO)) return false;
    if (!interrupted) interrupted = SIGPIPE;
    return true;
}

static void end_at_once(int number) {
    _exit(EXIT_SIGNAL + number);
}

static void handle(void (*handler)(int), void (*pipe_handler)(int)) {
    signal(SIGPIPE, pipe_handler);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)(SA_RESETHAND | (unsigned)SA_RESTART);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before; /* nohup lets a program go on when its terminal is closed */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
}

void signals_catch(void) {
    handle(interrupt, SIG_IGN); /* a reader that went away is a failed write */
}

void signals_end_at_once(void) {
    handle(end_at_once, end_at_once);
}
