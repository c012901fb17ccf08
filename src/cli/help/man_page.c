#include "cli/help/man_page.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/help_text.h"
#include "muster/version.h"

/* Prints TEXT with roff's escapes, so that hyphens do not become dashes and no line is read as a roff request. */
static void man_print(const char *text) {
    for (const char *c = text; *c; c++) {
        const bool begins = c == text || c[-1] == '\n';
        if (begins && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '-' || *c == '\\') putchar('\\');
        putchar(*c == '\\' ? 'e' : *c);
    }
}

static int print_command_options(const command *command) {
    option_list list;
    char form[256], help[OPTION_HELP_TEXT];
    if (option_list_make(command->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
    for (int i = 0; i < list.count; i++) {
        const option *option = &list.entry[i].option;
        printf(".TP\n.B ");
        option_print(option, form, sizeof form);
        man_print(form);
        putchar('\n');
        option_help(option, help, sizeof help);
        man_print(help);
        putchar('\n');
    }
    option_list_free(&list);
    return EXIT_DONE;
}

int man_page_print(void) {
    printf(
        ".TH MUSTER 1 \"\" \"Muster %s\"\n.SH NAME\nmuster \\- trains neural networks on every device you can muster\n"
        ".SH SYNOPSIS\n.B muster\n.I COMMAND\n[options]\n.SH COMMANDS\n",
        mst_version());
    for (int i = 0; command_table[i]; i++) {
        printf(".TP\n.B %s\n", command_table[i]->name);
        man_print(command_table[i]->summary);
        putchar('\n');
    }
    for (int i = 0; command_table[i]; i++) {
        printf(".SH MUSTER ");
        for (const char *c = command_table[i]->name; *c; c++) putchar(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        printf("\n.B muster %s\n", command_table[i]->name);
        man_print(command_table[i]->usage);
        putchar('\n');
        const int status = print_command_options(command_table[i]);
        if (status) return status;
    }
    return EXIT_DONE;
}
