/* Functions that all commands share: finding a command by its name, and printing error lines and warnings. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/escape.h"
#include "cli/signals.h"

enum { MESSAGE_SIZE = 2048 };

const command *command_find(const char *name) {
    for (int i = 0; command_table[i]; i++)
        if (strcmp(command_table[i]->name, name) == 0) return command_table[i];
    return NULL;
}

/* Prints BEFORE, the formatted text and the end of the line. */
static void __attribute__((format(printf, 3, 0)))
print_line(FILE *file, const char *before, const char *format, va_list arguments) {
    char *line;
    if (vasprintf(&line, format, arguments) < 0) return;
    mst_make_plain(line); /* names of files, and names in them, may hold anything */
    fprintf(file, "%s%s\n", before, line);
    free(line);
}

void command_warn(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print_line(stderr, "warning: ", format, list);
    va_end(list);
}

void command_tell(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print_line(stderr, "", format, list);
    va_end(list);
}

void command_print(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print_line(stdout, "", format, list);
    va_end(list);
}

int command_fail(int status, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    mst_make_plain(message); /* file names may hold anything, and the message is one line */
    fflush(stdout);
    fprintf(stderr, "error: %s\n", message);
    return status;
}

/* Whether CODE can be the consequence of a signal: the command stopped waiting, or other tasks, which got the same
 * signal, left or were lost. */
static bool is_end_of_wait(mst_status code) {
    return code == MST_CANCELLED || code == MST_UNAVAILABLE || code == MST_DEADLINE;
}

int command_fail_library(int status, const char *option) {
    const mst_error_info *error = mst_error();
    const char *device = *error->device && !strstr(error->message, error->device) ? error->device : "";
    if (error->code == MST_OUT_OF_MEMORY) status = EXIT_FAILED;
    if (signals_caught() && is_end_of_wait(error->code)) status = EXIT_SIGNAL + signals_caught();
    const char *node = *error->node && !strstr(error->message, error->node) ? error->node : "";
    return command_fail(status, "%s%s%s%s%s%s%s%s", option ? "--" : "", option ? option : "", option ? ": " : "",
                        error->message, *node ? "; at node " : "", node, *device ? "; on device " : "", device);
}

int command_fail_usage(const char *command) {
    const int status = mst_error()->code == MST_OUT_OF_MEMORY ? EXIT_FAILED : EXIT_USAGE;
    return command_fail(status, "%s: %s", command, mst_error()->message);
}

int command_unknown(const char *what, const char *word, const char *const *names, const char *hint) {
    char guess[MST_DID_YOU_MEAN_TEXT];
    if (*mst_did_you_mean(word, names, guess, sizeof guess))
        return command_fail(EXIT_USAGE, "there is no %s '%s'%s", what, word, guess);
    return command_fail(EXIT_USAGE, "there is no %s '%s': %s", what, word, hint);
}
