#include "cli/signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    interrupted = number;
}

int signals_caught(void) {
    return interrupted;
}

static void end_at_once(int number) {
    _exit(EXIT_SIGNAL + number);
}

static void handle(void (*handler)(int)) {
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)(SA_RESETHAND | (unsigned)SA_RESTART);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void signals_catch(void) {
    handle(interrupt);
}

void signals_end_at_once(void) {
    handle(end_at_once);
}
