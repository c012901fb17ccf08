/** muster help [COMMAND]: what there is; muster help completion bash: a script for the shell. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

enum { MOST_NAMES = 64 };

static int print_commands(void) {
    printf(
        "Muster trains neural networks on every device you can muster. To begin:\n\n"
        "  muster train --data fashion-mnist --epochs 5 --evaluate\n\n"
        "usage: muster COMMAND [options]\n\n");
    for (int i = 0; command_table[i]; i++) printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
    printf(
        "\nmuster help COMMAND           the options of a command (also: muster COMMAND --help)\n"
        "muster help completion bash   completion for the shell: eval \"$(muster help completion bash)\"\n");
    return EXIT_DONE;
}

/* ---- completion for bash ---- */

/* Choices that can be completed: not forms such as idx:DIR, since a colon ends a word to bash. */
static void print_choices(const option *option) {
    for (int i = 0, printed = 0; option->choices[i]; i++)
        if (!strchr(option->choices[i], ':')) printf("%s%s", printed++ ? " " : "", option->choices[i]);
}

/* One case for each option that takes a value: its choices, files, or nothing. */
static void print_values(const command *command, const option_list *list) {
    for (int i = 0; i < list->count; i++) {
        const option *option = &list->entry[i].option;
        if (option->type == OPTION_FLAG) continue;
        printf("        '%s --%s') ", command->name, option->name);
        if (option->choices) {
            printf("COMPREPLY=($(compgen -W '");
            print_choices(option);
            printf("' -- \"$word\")); ");
        } else if (option->type == OPTION_FILE) {
            printf("COMPREPLY=($(compgen -f -- \"$word\")); ");
        }
        printf("return ;;\n");
    }
}

static void print_command_names(void) {
    for (int i = 0; command_table[i]; i++) printf("%s%s", i ? " " : "", command_table[i]->name);
}

static void print_names(const command *command, const option_list *list) {
    printf("        %s) words='--help", command->name);
    if (command->words) printf(" %s", command->words);
    if (strcmp(command->name, "help") == 0) {
        putchar(' ');
        print_command_names();
    }
    for (int i = 0; i < list->count; i++) printf(" --%s", list->entry[i].option.name);
    printf("' ;;\n");
}

static int for_each_command(void (*print)(const command *command, const option_list *list)) {
    for (int i = 0; command_table[i]; i++) {
        option_list list;
        if (option_list_make(command_table[i]->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
        print(command_table[i], &list);
        option_list_free(&list);
    }
    return EXIT_DONE;
}

static int print_completion(void) {
    printf(
        "# Completion of muster for bash: eval \"$(muster help completion bash)\"\n"
        "_muster() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W '");
    print_command_names();
    printf(
        "' -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    case \"${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}\" in\n");
    if (for_each_command(print_values)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "    case \"${COMP_WORDS[1]}\" in\n");
    if (for_each_command(print_names)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "}\n"
        "complete -F _muster muster\n");
    return EXIT_DONE;
}

static int run(const command_call *call) {
    if (call->num_positional == 0) return print_commands();
    const char *topic = call->positional[0];
    if (strcmp(topic, "completion") == 0) {
        const char *shell = call->num_positional > 1 ? call->positional[1] : "";
        if (strcmp(shell, "bash") == 0) return print_completion();
        return command_fail(EXIT_USAGE, "help completion: no script for the shell '%s': write help completion bash",
                            shell);
    }
    const command *command = command_find(topic);
    if (command && call->num_positional == 1) return command_print_help(command);
    if (command) return command_fail(EXIT_USAGE, "help: '%s' is one argument too many", call->positional[1]);
    const char *names[MOST_NAMES] = {"completion"};
    for (int i = 0; command_table[i] && i < MOST_NAMES - 2; i++) names[i + 1] = command_table[i]->name;
    return command_unknown("command", topic, names, "'muster help' lists them");
}

static const option_section sections[] = {{0}};

const command command_help = {
    .name = "help",
    .summary = "shows the commands, or the options of one",
    .usage = "[COMMAND | completion bash]",
    .sections = sections,
    .max_positional = 2,
    .words = "completion bash",
    .run = run,
};
