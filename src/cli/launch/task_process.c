#include "cli/launch/task_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "task/task.h"

enum { INPUT, OUTPUT, ERROR, REPORT, NUM_PIPES };

typedef int pipe_ends[2]; /* read end, write end; -1: closed */

static void close_end(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

static void close_pipes(pipe_ends *pipes) {
    for (int i = 0; i < NUM_PIPES; i++)
        for (int end = 0; end < 2; end++) close_end(&pipes[i][end]);
}

/* Runs in the child until exec. If the program cannot be run, the reason goes to the pipe REPORT. A successful exec
 * closes that pipe. */
static void become(const task_spec *spec, const char *restarted, pipe_ends *pipes, int null_input, const sigset_t *mask,
                   pid_t launcher) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(EXIT_FAILURE); /* the launcher died before prctl */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    const int input = spec->reads_signals ? pipes[INPUT][0] : null_input;
    const bool ready = dup2(input, STDIN_FILENO) >= 0 && dup2(pipes[OUTPUT][1], STDOUT_FILENO) >= 0 &&
                       dup2(pipes[ERROR][1], STDERR_FILENO) >= 0 && (!spec->variable || !putenv(spec->variable)) &&
                       !(restarted ? setenv(MST_RESTARTED, restarted, true) : unsetenv(MST_RESTARTED));
    if (ready) {
        /* a failure is harmless: on other cores the program is only slower */
        if (spec->cores) (void)sched_setaffinity(0, sizeof *spec->cores, spec->cores);
        execvp(spec->arguments[0], spec->arguments);
    }
    const int reason = errno;
    const ssize_t told = write(pipes[REPORT][1], &reason, sizeof reason);
    _exit(told == sizeof reason ? EXIT_FAILURE : 127);
}

/* Waits until the child has become the program, and returns 0; if it could not, returns the errno. */
static int read_report(int descriptor) {
    int reason = 0;
    ssize_t size;
    do size = read(descriptor, &reason, sizeof reason);
    while (size < 0 && errno == EINTR);
    return size == sizeof reason ? reason : 0;
}

static mst_status start_failed(const task_spec *spec, int reason) {
    const char *hint = "";
    if (reason == ENOENT)
        return MST_FAIL(MST_NOT_FOUND, "cannot start %s: there is no program '%s'%s", spec->name, spec->arguments[0],
                        strchr(spec->arguments[0], '/') ? "" : " in the folders of PATH");
    if (reason == EMFILE || reason == ENFILE) hint = ": raise the limit of open files (ulimit -n)";
    if (reason == EACCES) hint = ": is it a program?";
    return MST_FAIL(MST_IO, "cannot start %s: '%s': %s%s", spec->name, spec->arguments[0], strerror(reason), hint);
}

static mst_status start_with(const task_spec *spec, const char *restarted, pipe_ends *pipes, const sigset_t *mask,
                             int null_input, pid_t *out) {
    for (int i = 0; i < NUM_PIPES; i++)
        if ((i != INPUT || spec->reads_signals) && pipe2(pipes[i], O_CLOEXEC)) return start_failed(spec, errno);
    for (int i = OUTPUT; i <= ERROR; i++)
        if (fcntl(pipes[i][0], F_SETFL, O_NONBLOCK)) return start_failed(spec, errno);
    const pid_t launcher = getpid(), pid = fork();
    if (pid < 0) return start_failed(spec, errno);
    if (pid == 0) become(spec, restarted, pipes, null_input, mask, launcher);
    setpgid(pid, pid); /* as in the child: a signal to the group may be sent before the child has run */
    close_end(&pipes[REPORT][1]);
    const int reason = read_report(pipes[REPORT][0]);
    if (reason) {
        waitpid(pid, NULL, 0);
        return start_failed(spec, reason);
    }
    *out = pid;
    return MST_OK;
}

mst_status task_process_start(const task_spec *spec, const char *restarted, const sigset_t *mask, int null_input,
                              task_process *out) {
    pipe_ends pipes[NUM_PIPES] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    pid_t pid = -1;
    const mst_status status = start_with(spec, restarted, pipes, mask, null_input, &pid);
    if (!status) {
        *out = (task_process){pid, pipes[INPUT][1], {pipes[OUTPUT][0], pipes[ERROR][0]}};
        pipes[INPUT][1] = pipes[OUTPUT][0] = pipes[ERROR][0] = -1;
    }
    close_pipes(pipes);
    return status;
}
