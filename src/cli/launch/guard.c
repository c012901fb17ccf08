#include "cli/launch/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/no_memory.h"

/* Messages from the launcher to the guard: +P adds the process group of leader P, -P removes it. */

static void update(pid_t *group, int num_groups, pid_t message) {
    const pid_t from = message > 0 ? 0 : -message, to = message > 0 ? message : 0;
    for (int i = 0; i < num_groups; i++)
        if (group[i] == from) {
            group[i] = to;
            return;
        }
}

/* Runs the guard. It has a session of its own, so no signal of the terminal or of the launcher's group reaches it. */
static void watch(int descriptor, pid_t *group, int num_groups) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "muster-guard");
    const int null = open("/dev/null", O_RDWR);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (dup2(null, i) < 0) close(i); /* so that the launcher's output ends for its reader with the launcher */
    pid_t message;
    while (read(descriptor, &message, sizeof message) == sizeof message) update(group, num_groups, message);
    for (int i = 0; i < num_groups; i++)
        if (group[i]) kill(-group[i], SIGKILL);
    _exit(0);
}

mst_status guard_start(int num_groups, guard *out) {
    int ends[2];
    pid_t *group = calloc((size_t)num_groups, sizeof *group);
    if (!group) return MST_NO_MEMORY("for the groups of %d tasks", num_groups);
    mst_status status = MST_OK;
    if (pipe2(ends, O_CLOEXEC)) {
        status = MST_FAIL(MST_IO, "cannot make a pipe: %s", strerror(errno));
    } else {
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[1]);
            watch(ends[0], group, num_groups);
        }
        close(ends[0]);
        if (pid < 0) {
            status = MST_FAIL(MST_IO, "cannot start a process: %s", strerror(errno));
            close(ends[1]);
        } else {
            *out = (guard){pid, ends[1]};
        }
    }
    free(group);
    return status;
}

/* A write of so few bytes to a pipe is atomic. If the guard is gone, the kernel still ends the tasks with the
 * launcher. */
static void tell(const guard *guard, pid_t message) {
    (void)!write(guard->pipe, &message, sizeof message);
}

void guard_add(const guard *guard, pid_t pid) {
    tell(guard, pid);
}

void guard_remove(const guard *guard, pid_t pid) {
    tell(guard, -pid);
}

void guard_end(guard *guard) {
    close(guard->pipe);
    waitpid(guard->pid, NULL, 0);
}
