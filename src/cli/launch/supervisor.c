/* A task is in one of three states:
 *
 *                  time to start                    exit status 0, or it was told to end
 *      WAITING ------------------> RUNNING -----------------------------------------------> ENDED
 *         ^                           |                                                       ^
 *         |                           | lost: ended by a signal, or with another status       |
 *         |      can be restarted     v      cannot                                           |
 *         +-------------------------- ? ------------------> the job fails with this task -----+
 *
 * The job goes on until every task has ended:
 *
 *      a task fails, or output cannot be written:   all are told to end; no task is started any more
 *      SIGINT, SIGTERM or SIGHUP comes:             it is passed on to all; no task is started any more; a second
 *                                                   SIGINT or SIGTERM kills all
 *      all that serve have ended with status 0:     the job has ended too: a task that works is not started again
 *      all tasks that work have ended:              tasks that serve (ps) get one second to end by themselves, then
 *                                                   they are told to end; a task that follows (evaluator) gets some
 *                                                   minutes, then it counts as failed
 *
 * A task is told to end by SIGTERM, then by SIGKILL when the grace time is over. Each task is a process group of its
 * own. Signals are sent to the group, so a Ctrl-C of the terminal reaches each process once. When the leader of a group
 * has ended, the rest of the group is killed. Signals arrive through a signalfd, so that one call of poll waits for
 * signals, pipes and times. */
#include "cli/launch/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/launch/guard.h"
#include "cli/launch/task_lines.h"
#include "cli/launch/task_process.h"

/* progress_seconds: a task that runs so long after a restart has made progress. serve_seconds: how long tasks that
 * serve may run after the work has ended. longest_pause: the longest time before a restart. In seconds. */
static const double progress_seconds = 5, serve_seconds = 1, longest_pause = 60;

/* Stream 0 is standard output, stream 1 standard error. POLL_*: where the entries of each kind begin in `poll`. */
enum { NUM_STREAMS = 2, POLL_SIGNALS = 0, POLL_SINKS = 1, POLL_STREAMS = POLL_SINKS + NUM_STREAMS, LAST_LINE = 512 };

typedef enum task_state { WAITING, RUNNING, ENDED } task_state;

typedef struct supervised_task {
    const task_spec *spec;
    task_state state;
    bool told_to_end, ended_well;     /* ended_well: with exit status 0, without being told to */
    int num_starts, without_progress; /* restarts in a row that were followed by an early loss */
    int64_t due, started, kill_at;    /* when to start it, when it was started, when to kill it (mst_clock_now) */
    task_process process;
    task_lines stream[NUM_STREAMS];
    int log;                   /* descriptor of its log file; -1: none */
    char last_line[LAST_LINE]; /* of standard error */
} supervised_task;

struct supervisor {
    supervisor_options options;
    supervised_task *task;
    int num_tasks, restarts_left;
    int name_width;          /* of the longest name of a task */
    struct pollfd *poll;     /* what the loop waits for (fill_poll) */
    int signals, null_input; /* descriptors: the signalfd, and /dev/null */
    sigset_t mask;           /* the signal mask of the launcher before, and of the tasks */
    guard guard;
    line_sink sink[NUM_STREAMS];
    bool is_ending, is_killed; /* is_ending: no task is started any more; is_killed: a second signal came */
    int caught;                /* the first signal that came */
    int64_t serve_until;       /* when tasks that serve are told to end; MST_NEVER: tasks that work are left */
    int64_t follow_until;      /* when tasks that follow count as failed */
    supervisor_result result;
};

/* ---- what the launcher says ---- */

__attribute__((format(printf, 2, 3))) static mst_status say(supervisor *s, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return line_sink_add(&s->sink[0], line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* Describes the wait status STATUS: "failed with exit status 3", "was killed by signal 9 (Killed)". */
static const char *describe_end(int status, char *text, size_t size) {
    if (WIFSIGNALED(status))
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "failed with exit status %d", WEXITSTATUS(status));
    return text;
}

/* ---- signals to tasks ---- */

static const char *signal_name(int number) {
    return number == SIGINT ? "INT\n" : number == SIGHUP ? "HUP\n" : "TERM\n";
}

static void signal_task(const supervised_task *t, int number) {
    if (t->state != RUNNING) return;
    if (t->process.input < 0 || number == SIGKILL) {
        kill(-t->process.pid, number);
    } else {
        const char *name = signal_name(number);
        (void)!write(t->process.input, name, strlen(name)); /* fails if the task is ending already */
    }
}

static void tell_to_end(const supervisor *s, supervised_task *t) {
    if (t->state == WAITING) t->state = ENDED;
    if (t->state == ENDED || t->told_to_end) return;
    signal_task(t, SIGTERM);
    t->told_to_end = true;
    t->kill_at = mst_clock_after(s->options.grace);
}

/* The exit status and message of the first failure are those of the job. */
static void fail_job(supervisor *s, int exit_status, const char *message) {
    if (!s->result.exit_status) {
        s->result.exit_status = exit_status;
        snprintf(s->result.message, sizeof s->result.message, "%s", message);
    }
    s->is_ending = true;
    for (int i = 0; i < s->num_tasks; i++) tell_to_end(s, &s->task[i]);
}

static void pass_on(supervisor *s, int number) {
    if (s->caught && number != SIGHUP) {
        s->is_killed = true;
        number = SIGKILL;
    }
    if (!s->caught) s->caught = number;
    s->is_ending = true;
    for (int i = 0; i < s->num_tasks; i++) {
        signal_task(&s->task[i], number);
        if (s->task[i].state == WAITING) s->task[i].state = ENDED;
    }
}

static void read_signals(supervisor *s) {
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD) pass_on(s, (int)info.ssi_signo);
}

/* ---- start ---- */

static void open_stream(supervisor *s, supervised_task *t, int i) {
    static const int colors[] = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
    task_lines *lines = &t->stream[i];
    const int color = colors[(size_t)(t - s->task) % (sizeof colors / sizeof *colors)];
    *lines = (task_lines){.descriptor = t->process.output[i], .sink = &s->sink[i], .log = &t->log};
    if (i == 1) lines->last = t->last_line, lines->last_size = sizeof t->last_line;
    if (s->sink[i].colored)
        snprintf(lines->prefix, sizeof lines->prefix, "\033[%dm%-*s |\033[0m ", color, s->name_width, t->spec->name);
    else
        snprintf(lines->prefix, sizeof lines->prefix, "%-*s | ", s->name_width, t->spec->name);
}

/* The value of MST_RESTARTED (task/task.h) for task T: the name of a worker that has ended well without T, or "" if
 * none has. NULL, not set: T is started for the first time, T does not work, or the job has servers. With servers,
 * workers may end before the others. */
static const char *told_when_restarted(const supervisor *s, const supervised_task *t) {
    const char *ended = "";
    if (t->num_starts == 0 || t->spec->part != TASK_WORKS) return NULL;
    for (int i = s->num_tasks - 1; i >= 0; i--) {
        const supervised_task *other = &s->task[i];
        if (other->spec->part == TASK_SERVES) return NULL;
        if (other->spec->part == TASK_WORKS && other->ended_well) ended = other->spec->name;
    }
    return ended;
}

static mst_status start(supervisor *s, supervised_task *t) {
    MST_TRY(task_process_start(t->spec, told_when_restarted(s, t), &s->mask, s->null_input, &t->process));
    guard_add(&s->guard, t->process.pid);
    *t->last_line = '\0';
    for (int i = 0; i < NUM_STREAMS; i++) open_stream(s, t, i);
    t->state = RUNNING;
    t->started = mst_clock_now();
    t->num_starts++;
    return MST_OK;
}

static void start_due(supervisor *s) {
    for (int i = 0; i < s->num_tasks; i++) {
        supervised_task *t = &s->task[i];
        if (t->state == WAITING && t->due <= mst_clock_now() && start(s, t))
            fail_job(s, EXIT_FAILED, mst_error()->message);
    }
}

/* ---- end ---- */

/* Whether all servers have ended by themselves, as they do when the job has ended. */
static bool service_has_ended(const supervisor *s) {
    int num_serve = 0;
    for (int i = 0; i < s->num_tasks; i++) {
        if (s->task[i].spec->part != TASK_SERVES) continue;
        if (!s->task[i].ended_well) return false;
        num_serve++;
    }
    return num_serve > 0;
}

static const char in_vain[] = "not started again, since the parameter servers have ended, and with them the job";

static void fail_with(supervisor *s, const supervised_task *t, int status) {
    char end[128], again[64] = "", message[sizeof s->result.message];
    const char *line = t->last_line;
    if (strncmp(line, "error: ", 7) == 0) line += 7;
    if (t->num_starts > 1)
        snprintf(again, sizeof again, ", having been started again %d time%s", t->num_starts - 1,
                 t->num_starts > 2 ? "s" : "");
    const bool is_over = t->spec->part == TASK_WORKS && s->restarts_left > 0 && service_has_ended(s);
    snprintf(message, sizeof message, "%s %s%s%s%s%s%s", t->spec->name, describe_end(status, end, sizeof end), again,
             is_over ? ", and is " : "", is_over ? in_vain : "", *line ? ": " : "", line);
    fail_job(s, WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status), message);
}

static bool can_be_restarted(const supervisor *s, const supervised_task *t, int status) {
    const bool is_usage = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE; /* it would fail the same way again */
    const bool is_needed = t->spec->part != TASK_SERVES || s->serve_until == MST_NEVER;
    const bool is_over = t->spec->part == TASK_WORKS && service_has_ended(s);
    return !is_usage && s->restarts_left > 0 && is_needed && !is_over &&
           t->without_progress <= s->options.restarts_without_progress;
}

static mst_status restart(supervisor *s, supervised_task *t, int status) {
    char end[128], after[32] = "";
    const double pause = t->without_progress ? fmin(ldexp(1, t->without_progress - 1), longest_pause) : 0;
    s->restarts_left--;
    t->state = WAITING;
    t->due = mst_clock_after(pause);
    if (pause > 0) snprintf(after, sizeof after, " in %.0f s", pause);
    return say(s, "%s %s: it is started again%s (%d restart%s left)", t->spec->name,
               describe_end(status, end, sizeof end), after, s->restarts_left, s->restarts_left == 1 ? "" : "s");
}

/* Handles the end of the process of T, whose group has been killed already. */
static mst_status task_ended(supervisor *s, supervised_task *t, int status) {
    guard_remove(&s->guard, t->process.pid);
    if (t->process.input >= 0) close(t->process.input);
    t->state = ENDED;
    t->kill_at = MST_NEVER;
    for (int i = 0; i < NUM_STREAMS; i++) MST_TRY(task_lines_finish(&t->stream[i]));
    const bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE;
    t->ended_well = is_well && !t->told_to_end;
    if (is_well || t->told_to_end || s->is_ending) return MST_OK;
    const bool is_early = t->num_starts > 1 && (double)(mst_clock_now() - t->started) < progress_seconds * 1e9;
    t->without_progress = is_early ? t->without_progress + 1 : 0;
    if (can_be_restarted(s, t, status)) return restart(s, t, status);
    fail_with(s, t, status);
    return MST_OK;
}

static supervised_task *find_task(const supervisor *s, pid_t pid) {
    for (int i = 0; i < s->num_tasks; i++)
        if (s->task[i].state == RUNNING && s->task[i].process.pid == pid) return &s->task[i];
    return NULL;
}

/* Handles all children that have ended. The group of a task is killed before its leader is waited for, since only until
 * then the number of the group cannot be reused. Children that are not tasks belong to the program that became this one
 * by exec. If this is the first process of a container, they may also be orphans of tasks. */
static mst_status reap(supervisor *s) {
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
        int status = 0;
        supervised_task *t = find_task(s, info.si_pid);
        if (t) kill(-info.si_pid, SIGKILL);
        waitpid(info.si_pid, &status, 0);
        if (t) MST_TRY(task_ended(s, t, status));
        info.si_pid = 0;
    }
    return MST_OK;
}

/* ---- the loop ---- */

static bool all_have_ended(const supervisor *s) {
    for (int i = 0; i < s->num_tasks; i++)
        if (s->task[i].state != ENDED) return false;
    return true;
}

static bool work_has_ended(const supervisor *s) {
    for (int i = 0; i < s->num_tasks; i++)
        if (s->task[i].state != ENDED && s->task[i].spec->part == TASK_WORKS) return false;
    return true;
}

static bool goes_on(const supervisor *s) {
    if (!all_have_ended(s)) return true;
    return !s->is_killed && (line_sink_is_pending(&s->sink[0]) || line_sink_is_pending(&s->sink[1]));
}

/* The time by which T must have ended; MST_NEVER if it has none, has ended, or was told to end. */
static int64_t end_of(const supervisor *s, const supervised_task *t) {
    if (t->state == ENDED || t->told_to_end) return MST_NEVER;
    return t->spec->part == TASK_SERVES ? s->serve_until : t->spec->part == TASK_FOLLOWS ? s->follow_until : MST_NEVER;
}

/* Whether T waits for a restart that would be useless, since the servers have ended. */
static bool is_too_late(const supervisor *s, const supervised_task *t) {
    return t->state == WAITING && t->spec->part == TASK_WORKS && service_has_ended(s);
}

static void fail_too_late(supervisor *s, const supervised_task *t) {
    char message[256];
    snprintf(message, sizeof message, "%s is %s", t->spec->name, in_vain);
    fail_job(s, EXIT_FAILED, message);
}

/* Acts on a task T that has not ended in time. A server is told to end. For an evaluator the job fails, since its work
 * is not finished. */
static void end_late(supervisor *s, supervised_task *t) {
    char message[256];
    if (t->spec->part == TASK_SERVES) {
        tell_to_end(s, t);
        return;
    }
    snprintf(message, sizeof message,
             "%s has not ended in the %g s after all workers had: see what it says that it waits for, or give it more "
             "time with --evaluator-timeout",
             t->spec->name, s->options.follow);
    fail_job(s, EXIT_FAILED, message);
}

/* Does everything whose time has come. */
static void act_on_time(supervisor *s) {
    const int64_t now = mst_clock_now();
    if (s->serve_until == MST_NEVER && work_has_ended(s)) {
        s->serve_until = mst_clock_after(serve_seconds);
        s->follow_until = mst_clock_after(s->options.follow);
    }
    for (int i = 0; i < s->num_tasks; i++) {
        supervised_task *t = &s->task[i];
        const bool is_needless = t->spec->part == TASK_SERVES && s->serve_until != MST_NEVER && t->state == WAITING;
        if (is_needless || end_of(s, t) <= now) end_late(s, t);
        if (is_too_late(s, t)) fail_too_late(s, t);
        if (t->kill_at <= now) {
            signal_task(t, SIGKILL);
            t->kill_at = MST_NEVER;
        }
    }
    start_due(s);
}

/* Milliseconds until act_on_time has something to do; -1: never. */
static int time_left(const supervisor *s) {
    int64_t next = MST_NEVER;
    for (int i = 0; i < s->num_tasks; i++) {
        const supervised_task *t = &s->task[i];
        if (t->state == WAITING && t->due < next) next = t->due;
        if (t->kill_at < next) next = t->kill_at;
        if (end_of(s, t) < next) next = end_of(s, t);
    }
    if (next == MST_NEVER) return -1;
    const int64_t nanoseconds = next - mst_clock_now();
    return nanoseconds > 0 ? (int)fmin((double)nanoseconds / 1e6 + 1, 1e6) : 0;
}

/* Fills s->poll and returns the number of entries. Poll ignores entries with a descriptor of -1. */
static int fill_poll(const supervisor *s) {
    int count = POLL_STREAMS;
    s->poll[POLL_SIGNALS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    for (int i = 0; i < NUM_STREAMS; i++)
        s->poll[POLL_SINKS + i] =
            (struct pollfd){.fd = line_sink_is_pending(&s->sink[i]) ? s->sink[i].descriptor : -1, .events = POLLOUT};
    for (int k = 0; k < s->num_tasks; k++)
        for (int i = 0; i < NUM_STREAMS; i++) {
            const supervised_task *t = &s->task[k];
            const bool read = t->state == RUNNING && !line_sink_is_full(&s->sink[i]);
            s->poll[count++] = (struct pollfd){.fd = read ? t->stream[i].descriptor : -1, .events = POLLIN};
        }
    return count;
}

static mst_status handle_poll(supervisor *s) {
    for (int i = 0; i < NUM_STREAMS; i++) {
        if (s->poll[POLL_SINKS + i].revents) line_sink_write(&s->sink[i]);
        if (!s->sink[i].error || s->result.exit_status) continue;
        char message[128];
        snprintf(message, sizeof message, "standard %s: %s: nothing more could be written", i ? "error" : "output",
                 strerror(s->sink[i].error));
        fail_job(s, EXIT_FAILED, message);
    }
    for (int k = 0; k < s->num_tasks; k++)
        for (int i = 0; i < NUM_STREAMS; i++)
            if (s->poll[POLL_STREAMS + NUM_STREAMS * k + i].revents) MST_TRY(task_lines_read(&s->task[k].stream[i]));
    if (s->poll[POLL_SIGNALS].revents) read_signals(s);
    return reap(s);
}

mst_status supervisor_run(supervisor *s, supervisor_result *result) {
    for (act_on_time(s); goes_on(s); act_on_time(s)) {
        if (poll(s->poll, (nfds_t)fill_poll(s), time_left(s)) < 0 && errno != EINTR)
            return MST_FAIL(MST_IO, "cannot wait for the tasks: %s", strerror(errno));
        MST_TRY(handle_poll(s));
    }
    if (s->caught && !s->result.exit_status) {
        s->result.exit_status = EXIT_SIGNAL + s->caught;
        snprintf(s->result.message, sizeof s->result.message, "ended by signal %d (%s), which all tasks got", s->caught,
                 strsignal(s->caught));
    }
    *result = s->result;
    return MST_OK;
}

int supervisor_restarts(const supervisor *s, int i) {
    return s->task[i].num_starts - 1;
}

/* ---- opening and closing ---- */

/* Receives signals only through the signalfd, until supervisor_close. SIGINT and SIGTERM are received even if they were
 * ignored, as in background processes of a shell. A SIGHUP that was ignored stays ignored, so that nohup works. */
static mst_status open_signals(supervisor *s) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigaddset(&mask, SIGCHLD);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN); /* if a reader has left, the write fails */
    sigprocmask(SIG_BLOCK, &mask, &s->mask);
    s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals < 0 ? MST_FAIL(MST_IO, "cannot receive signals: %s", strerror(errno)) : MST_OK;
}

/* Opens /dev/null. Also makes sure that descriptors 0, 1 and 2 are open, so that no later file gets one of them. */
static mst_status open_null_input(supervisor *s) {
    do s->null_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (s->null_input >= 0 && s->null_input <= STDERR_FILENO);
    return s->null_input < 0 ? MST_FAIL(MST_IO, "'/dev/null': %s", strerror(errno)) : MST_OK;
}

/* Opens FOLDER/worker-0.log for appending: the lines of an earlier job stay. */
static mst_status open_log(const char *folder, supervised_task *t) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s.log", folder, t->spec->name);
    if ((size_t)length >= sizeof path) return MST_FAIL(MST_INVALID, "--log-dir: the name of the folder is too long");
    char *colon = strrchr(path, ':');
    if (colon && colon > path + strlen(folder)) *colon = '-';
    t->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return t->log < 0 ? MST_FAIL(MST_IO, "--log-dir: '%s': %s", path, strerror(errno)) : MST_OK;
}

static mst_status prepare(supervisor *s) {
    MST_TRY(open_null_input(s));
    MST_TRY(open_signals(s));
    for (int i = 0; s->options.log_dir && i < s->num_tasks; i++) MST_TRY(open_log(s->options.log_dir, &s->task[i]));
    MST_TRY(guard_start(s->num_tasks, &s->guard));
    for (int i = 0; i < s->num_tasks; i++) MST_TRY(start(s, &s->task[i]));
    return MST_OK;
}

mst_status supervisor_open(const supervisor_options *options, const task_spec *spec, int num_tasks, supervisor **out) {
    supervisor *s = calloc(1, sizeof *s);
    supervised_task *task = calloc((size_t)num_tasks, sizeof *task);
    struct pollfd *polls = calloc((size_t)(POLL_STREAMS + NUM_STREAMS * num_tasks), sizeof *polls);
    if (!s || !task || !polls) {
        free(s), free(task), free(polls);
        return MST_NO_MEMORY("for %d tasks", num_tasks);
    }
    *s = (supervisor){.options = *options,
                      .task = task,
                      .num_tasks = num_tasks,
                      .poll = polls,
                      .signals = -1,
                      .restarts_left = options->restarts,
                      .null_input = -1,
                      .serve_until = MST_NEVER,
                      .follow_until = MST_NEVER,
                      .guard = {.pid = -1}};
    for (int i = 0; i < NUM_STREAMS; i++) line_sink_open(&s->sink[i], i ? STDERR_FILENO : STDOUT_FILENO);
    for (int i = 0; i < num_tasks; i++)
        task[i] = (supervised_task){
            .spec = &spec[i], .kill_at = MST_NEVER, .log = -1, .stream = {{.descriptor = -1}, {.descriptor = -1}}};
    for (int i = 0; i < num_tasks; i++) {
        const int length = (int)strlen(spec[i].name);
        if (length > s->name_width) s->name_width = length;
    }
    const mst_status status = prepare(s);
    if (status)
        supervisor_close(s);
    else
        *out = s;
    return status;
}

void supervisor_close(supervisor *s) {
    if (!s) return;
    for (int i = 0; i < s->num_tasks; i++) {
        supervised_task *t = &s->task[i];
        signal_task(t, SIGKILL);
        if (t->state == RUNNING) {
            waitpid(t->process.pid, NULL, 0);
            if (t->process.input >= 0) close(t->process.input);
        }
        for (int k = 0; k < NUM_STREAMS; k++) task_lines_close(&t->stream[k]);
        if (t->log >= 0) close(t->log);
    }
    if (s->guard.pid > 0) guard_end(&s->guard);
    for (int i = 0; i < NUM_STREAMS; i++) line_sink_close(&s->sink[i]);
    if (s->signals >= 0) {
        close(s->signals);
        sigprocmask(SIG_SETMASK, &s->mask, NULL);
    }
    if (s->null_input >= 0) close(s->null_input);
    free(s->poll);
    free(s->task);
    free(s);
}
