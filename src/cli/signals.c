#include "cli/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    interrupted = number;
}

int signals_caught(void) {
    return interrupted;
}

void signals_catch(void) {
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    action.sa_flags = (int)(SA_RESETHAND | (unsigned)SA_RESTART);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
