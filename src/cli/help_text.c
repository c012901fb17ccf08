/* The text of `muster NAME --help`: the summary of the command, its options with the titles of their sections, and its
 * notes, in lines of the terminal's width. All of it comes from the tables of the command. */
#include "cli/help_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum { HELP_WIDTH = 110, LEAST_WIDTH = 40, HELP_COLUMN = 34 };

/* The width of help in columns: that of the terminal, or HELP_WIDTH if standard output is not a terminal. */
static int help_width(void) {
    struct winsize size;
    const bool known = ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    if (!known) return HELP_WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

/* The column at which the explanations of options begin. */
static int help_column(void) {
    const int third = help_width() / 3;
    return third < HELP_COLUMN ? third : HELP_COLUMN;
}

/* Prints TEXT in lines of the terminal's width that begin at COLUMN. The cursor is at COLUMN already. */
static void print_wrapped(const char *text, int column) {
    const int most = help_width();
    int at = column;
    while (*text) {
        int word = (int)strcspn(text, " \n");
        if (at > column && at + 1 + word > most) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", word, text);
        at += word;
        text += word;
        if (*text == '\n') {
            printf("\n%*s", column, "");
            at = column;
        }
        if (*text) text++;
    }
    putchar('\n');
}

/* Appends formatted text to TEXT of SIZE bytes, cut where there is no more room. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, size - used, format, list);
    va_end(list);
}

/* Appends the choices to HELP. If OPTION has neither a metavar nor help for its choices, they are in its form already
 * (option_print). */
static void append_choices(const option *option, char *help, size_t size) {
    if (!option->choices || (!option->metavar && !option->choice_help)) return;
    for (int i = 0; option->choices[i]; i++) {
        const char *what = option->choice_help ? option->choice_help(i) : NULL;
        append(help, size, "%s %s", i ? "," : ":", option->choices[i]);
        if (what) append(help, size, " (%s)", what);
    }
}

void option_help(const option *option, char *help, size_t size) {
    *help = '\0';
    append(help, size, "%s", option->help);
    append_choices(option, help, size);
    if (option->initial && option->type != OPTION_FLAG) append(help, size, " (default %s)", option->initial);
    if (option->type == OPTION_FLAG && option->initial) append(help, size, " (default; --no-%s)", option->name);
    if (option->alias) append(help, size, " (also --%s)", option->alias);
}

static void print_option(const option *option) {
    char form[256], help[OPTION_HELP_TEXT];
    option_print(option, form, sizeof form);
    option_help(option, help, sizeof help);
    const int column = help_column(), width = printf("  %s", form);
    if (width + 2 > column)
        printf("\n%*s", column, "");
    else
        printf("%*s", column - width, "");
    print_wrapped(help, column);
}

int command_print_help(const command *command) {
    option_list list;
    if (option_list_make(command->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
    const int column = printf("%s %s: ", command_program, command->name);
    print_wrapped(command->summary, column);
    printf("\nusage: %s %s%s%s\n", command_program, command->name, *command->usage ? " " : "", command->usage);
    for (int i = 0; i < list.count; i++) {
        if (list.entry[i].title) printf("\n%s\n", list.entry[i].title);
        print_option(&list.entry[i].option);
    }
    if (command->notes) {
        putchar('\n');
        print_wrapped(command->notes, 0);
    }
    option_list_free(&list);
    return EXIT_DONE;
}
