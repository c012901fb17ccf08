#include "cli/launch/remote_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "cli/launch/shell_words.h"
#include "task/task.h"

static void write_program(FILE *file, const job_task *task) {
    fputs("env ", file);
    shell_word_write(file, task->variable);
    shell_words_write(file, task->arguments);
}

static void write_task(FILE *file, const char *folder, const job_task *task) {
    fputs("cd ", file);
    shell_word_write(file, folder);
    fputs(" && ", file);
    write_program(file, task);
}

/* Writes the remote shell command. $$ is the shell, which leads the process group of the connection and then becomes
 * the program. A loop in the background reads names of signals and sends them to the group; it ignores them itself. */
static void write_remote(FILE *file, const char *folder, const job_task *task) {
    fputs("cd ", file);
    shell_word_write(file, folder);
    fputs(
        " && exec 3<&0 </dev/null && { { trap '' HUP INT TERM; "
        "while read -r signal; do kill -s \"$signal\" -- -$$; done; kill -s KILL -- -$$; } "
        "<&3 >/dev/null 2>&1 & exec ",
        file);
    write_program(file, task);
    fputs(" 3<&-; }", file);
}

static char *text_of(void (*write)(FILE *, const char *, const job_task *), const char *folder, const job_task *task) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return NULL;
    write(file, folder, task);
    if (fclose(file) == 0) return text;
    free(text);
    return NULL;
}

char *task_command(const char *folder, const job_task *task) {
    return text_of(write_task, folder, task);
}

mst_status remote_process_make(const char *ssh, const char *folder, const job_task *task, remote_process *out) {
    remote_process made = {.command = text_of(write_remote, folder, task)};
    if (!made.command ||
        asprintf(&made.run, "exec %s \"$1\" \"${" MST_RESTARTED "+export " MST_RESTARTED "=$" MST_RESTARTED "; }$2\"",
                 ssh) < 0) {
        free(made.command);
        return MST_NO_MEMORY("for the command of %s", task->name);
    }
    const char *const arguments[] = {"sh", "-c", made.run, "sh", task->host->target, made.command, NULL};
    memcpy(made.arguments, arguments, sizeof arguments);
    *out = made;
    return MST_OK;
}

void remote_process_free(remote_process *process) {
    free(process->run);
    free(process->command);
    *process = (remote_process){0};
}
