/* Prints a script of bash, zsh or fish that completes commands, options and their values. Everything in it comes from
 * the tables of all commands. The shells differ in how they quote text and in where they expect the help. */
#include "cli/help/completion.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "muster/dataset.h"

enum { BRIEF_SIZE = 80 };

/* ---- for all shells ---- */

typedef void (*print_function)(const command *command, const option_list *list);

static int for_each_command(print_function print) {
    for (int i = 0; command_table[i]; i++) {
        option_list list;
        if (option_list_make(command_table[i]->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
        print(command_table[i], &list);
        option_list_free(&list);
    }
    return EXIT_DONE;
}

static void print_command_names(void) {
    for (int i = 0; command_table[i]; i++) printf("%s%s", i ? " " : "", command_table[i]->name);
}

/* Prints the words that can follow COMMAND; for `help`, these include the names of all commands. */
static void print_words(const command *command) {
    if (strcmp(command->name, "help") == 0) {
        print_command_names();
        putchar(' ');
    }
    if (command->words) printf("%s", command->words);
}

/* Prints the choices of OPTION that can be completed. Choices such as idx:DIR cannot: a colon ends a word in bash. */
static void print_choices(const option *option) {
    for (int i = 0, printed = 0; option->choices[i]; i++)
        if (!strchr(option->choices[i], ':')) printf("%s%s", printed++ ? " " : "", option->choices[i]);
}

static bool is_on(const option *option) {
    return option->type == OPTION_FLAG && option->initial && strcmp(option->initial, "true") == 0;
}

/* Prints HELP up to its first semicolon or bracket, cut after the last whole word that fits on a line. */
static void print_brief(const char *help, void (*print_char)(char c)) {
    size_t size = strcspn(help, ";(\n");
    if (size > BRIEF_SIZE)
        for (size = BRIEF_SIZE; size > 0 && help[size] != ' ';) size--;
    while (size > 0 && strchr(" ,:", help[size - 1])) size--;
    for (size_t i = 0; i < size; i++) print_char(help[i]);
}

/* Whether OPTION takes a data spec. Its type does not tell: in commands that read a saved model it is a plain text. */
static bool is_spec(const option *option) {
    return strcmp(option->name, "data") == 0;
}

static bool takes_path(const char *form) {
    const char *colon = strchr(form, ':');
    return colon && colon[1];
}

/* Prints the kinds of data specs up to their colon, each between BEFORE and AFTER: "csv: npz: ". PATHS selects the
 * kinds that take a path, or those that do not. */
static void print_specs(bool paths, const char *before, const char *after) {
    const char *form;
    for (int i = 0; (form = mst_dataset_form(i)); i++)
        if (takes_path(form) == paths) printf("%s%.*s%s", before, (int)(strcspn(form, ":") + paths), form, after);
}

/* Prints all kinds of data specs as words. */
static void print_spec_words(void) {
    print_specs(true, "", " ");
    print_specs(false, "", " ");
}

/* Prints the kinds whose path is a folder, with AFTER between them. */
static void print_folder_specs(const char *after) {
    const char *form;
    for (int i = 0, printed = 0; (form = mst_dataset_form(i)); i++)
        if (takes_path(form) && strcmp(strchr(form, ':'), ":DIR") == 0)
            printf("%s%.*s", printed++ ? after : "", (int)strcspn(form, ":"), form);
}

/* ---- bash ---- */

static void print_bash_start(void) {
    printf(
        "# Completion of muster for bash: eval \"$(muster help completion bash)\"\n"
        "_muster_files() {\n"
        "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\")\n"
        "    compopt -o filenames 2> /dev/null\n"
        "}\n"
        "_muster_data() {\n"
        "    COMPREPLY=($(compgen -W '");
    print_spec_words();
    printf(
        "' -- \"$1\"))\n"
        "    [[ ${COMPREPLY-} != *: ]] || compopt -o nospace 2> /dev/null\n"
        "}\n"
        "_muster() {\n"
        "    local -a before=(\"${COMP_WORDS[@]:0:COMP_CWORD}\")\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
        "    COMPREPLY=()\n"
        "    # behind the colon of a data spec, or behind '=', which bash takes for words of their own\n"
        "    if [ \"$word\" = : ] || [ \"${before[-1]}\" = : ]; then\n"
        "        [ \"$word\" != : ] || { before+=(:) word=''; }\n"
        "        case ${before[-2]} in\n"
        "            ");
    print_folder_specs(" | ");
    printf(
        ") _muster_files -d \"$word\" ;;\n"
        "            *) _muster_files -f \"$word\" ;;\n"
        "        esac\n"
        "        return\n"
        "    fi\n"
        "    [ \"$word\" != = ] || { before+=(=) word=''; }\n"
        "    [ \"${before[-1]}\" != = ] || unset 'before[-1]'\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W '");
    print_command_names();
    printf(
        "' -- \"$word\"))\n"
        "        return\n"
        "    fi\n"
        "    case \"${before[1]} ${before[-1]}\" in\n");
}

/* Prints one case for each option that takes a value. It completes the choices, file names, or nothing. */
static void print_bash_values(const command *command, const option_list *list) {
    for (int i = 0; i < list->count; i++) {
        const option *option = &list->entry[i].option;
        if (option->type == OPTION_FLAG) continue;
        printf("        '%s --%s') ", command->name, option->name);
        if (is_spec(option)) {
            printf("_muster_data \"$word\"; ");
        } else if (option->choices) {
            printf("COMPREPLY=($(compgen -W '");
            print_choices(option);
            printf("' -- \"$word\")); ");
        } else if (option->type == OPTION_FILE) {
            printf("_muster_files -f \"$word\"; ");
        }
        printf("return ;;\n");
    }
}

/* Prints the completion of a word after COMMAND that is not an option. */
static void print_bash_positional(const command *command, const option_list *list) {
    (void)list;
    if (command->takes_specs)
        printf("        %s) _muster_data \"$word\"; return ;;\n", command->name);
    else if (!command->words && command->max_positional)
        printf("        %s) _muster_files -f \"$word\"; return ;;\n", command->name);
}

static void print_bash_names(const command *command, const option_list *list) {
    printf("        %s) words='--help ", command->name);
    print_words(command);
    for (int i = 0; i < list->count; i++) {
        const option *option = &list->entry[i].option;
        printf(" --%s", option->name);
        if (is_on(option)) printf(" --no-%s", option->name);
    }
    printf("' ;;\n");
}

static int print_bash(void) {
    print_bash_start();
    if (for_each_command(print_bash_values)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "    [[ $word == -* ]] || case ${before[1]} in\n");
    if (for_each_command(print_bash_positional)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "    case ${before[1]} in\n");
    if (for_each_command(print_bash_names)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "}\n"
        "complete -F _muster muster\n");
    return EXIT_DONE;
}

/* ---- zsh ---- */

/* Prints C as it must be written in single quotes, within [...] of _arguments or before the colon of _describe. */
static void print_zsh_char(char c) {
    if (c == '\'')
        printf("'\\''");
    else
        printf("%s%c", strchr("[]:\\", c) ? "\\" : "", c);
}

static void print_zsh_option(const option *option) {
    const bool takes_value = option->type != OPTION_FLAG;
    printf(" \\\n                '--%s%s[", option->name, takes_value ? "=" : "");
    print_brief(option->help, print_zsh_char);
    putchar(']');
    if (takes_value) {
        printf(":%s:", option->metavar ? option->metavar : "value");
        if (is_spec(option)) {
            printf("_muster_data");
        } else if (option->choices) {
            putchar('(');
            print_choices(option);
            putchar(')');
        } else if (option->type == OPTION_FILE) {
            printf("_files");
        }
    }
    putchar('\'');
    if (is_on(option)) printf(" \\\n                '--no-%s'", option->name);
}

static void print_zsh_command(const command *command, const option_list *list) {
    printf("        %s)\n            _arguments -S '--help[shows the options]'", command->name);
    for (int i = 0; i < list->count; i++) print_zsh_option(&list->entry[i].option);
    if (command->words) {
        printf(" \\\n                '*:word:(");
        print_words(command);
        printf(")'");
    } else if (command->takes_specs) {
        printf(" \\\n                '*:SPEC:_muster_data'");
    } else if (command->max_positional) {
        printf(" \\\n                '*:file:_files'");
    }
    printf(" ;;\n");
}

static int print_zsh(void) {
    printf(
        "#compdef muster\n"
        "# Completion of muster for zsh: eval \"$(muster help completion zsh)\", after compinit;\n"
        "# or as the file _muster in a folder of $fpath\n"
        "_muster_data() {\n"
        "    if compset -P '(");
    print_folder_specs("|");
    printf(
        "):'; then\n"
        "        _path_files -/\n"
        "    elif compset -P '*:'; then\n"
        "        _files\n"
        "    else\n"
        "        compadd -S '' --");
    print_specs(true, " ", "");
    printf("\n        compadd --");
    print_specs(false, " ", "");
    printf(
        "\n"
        "    fi\n"
        "}\n"
        "_muster() {\n"
        "    local -a commands=(\n");
    for (int i = 0; command_table[i]; i++) {
        printf("        '%s:", command_table[i]->name);
        print_brief(command_table[i]->summary, print_zsh_char);
        printf("'\n");
    }
    printf(
        "    )\n"
        "    if (( CURRENT == 2 )); then\n"
        "        _describe command commands\n"
        "        return\n"
        "    fi\n"
        "    shift words\n"
        "    (( CURRENT-- ))\n"
        "    case $words[1] in\n");
    if (for_each_command(print_zsh_command)) return EXIT_FAILED;
    printf(
        "    esac\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _muster ]; then _muster \"$@\"; else compdef _muster muster; fi\n");
    return EXIT_DONE;
}

/* ---- fish ---- */

static void print_fish_char(char c) {
    printf("%s%c", strchr("'\\", c) ? "\\" : "", c);
}

static void print_fish_option(const command *command, const option *option) {
    printf("complete -c muster -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (is_spec(option)) {
        printf(" -x -a '(__muster_data)'");
    } else if (option->choices) {
        printf(" -x -a '");
        print_choices(option);
        putchar('\'');
    } else if (option->type == OPTION_FILE) {
        printf(" -r -F");
    } else if (option->type != OPTION_FLAG) {
        printf(" -x");
    }
    printf(" -d '");
    print_brief(option->help, print_fish_char);
    printf("'\n");
    if (is_on(option))
        printf("complete -c muster -n '__fish_seen_subcommand_from %s' -l no-%s\n", command->name, option->name);
}

static void print_fish_command(const command *command, const option_list *list) {
    printf("complete -c muster -n __fish_use_subcommand -a %s -d '", command->name);
    print_brief(command->summary, print_fish_char);
    printf("'\n");
    if (command->words) {
        printf("complete -c muster -n '__fish_seen_subcommand_from %s' -a '", command->name);
        print_words(command);
        printf("'\n");
    } else if (command->takes_specs) {
        printf("complete -c muster -n '__fish_seen_subcommand_from %s' -a '(__muster_data)'\n", command->name);
    } else if (command->max_positional) {
        printf("complete -c muster -n '__fish_seen_subcommand_from %s' -F\n", command->name);
    }
    for (int i = 0; i < list->count; i++) print_fish_option(command, &list->entry[i].option);
}

static int print_fish(void) {
    printf(
        "# Completion of muster for fish: muster help completion fish | source\n"
        "function __muster_data\n"
        "    set -l word (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))\n"
        "    set -l kind (string match -r '^[^:]*:' -- $word)\n"
        "    or begin\n"
        "        string split ' ' -- '");
    print_spec_words();
    printf(
        "'\n"
        "        return\n"
        "    end\n"
        "    set -l paths\n"
        "    set -l path (string replace -r '^[^:]*:' '' -- $word)\n"
        "    switch $kind\n"
        "        case ");
    print_folder_specs(": ");
    printf(
        ":\n"
        "            set paths (__fish_complete_directories $path '')\n"
        "        case '*'\n"
        "            set paths (__fish_complete_path $path)\n"
        "    end\n"
        "    for each in $paths\n"
        "        echo $kind$each\n"
        "    end\n"
        "end\n"
        "complete -c muster -f\n"
        "complete -c muster -l help -d 'shows the options'\n");
    return for_each_command(print_fish_command);
}

/* ---- which ---- */

static const struct {
    const char *name;
    int (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

int completion_print(const char *shell) {
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) return shells[i].print();
    return command_fail(EXIT_USAGE, "help completion: no script for the shell '%s': there is bash, zsh, fish", shell);
}
