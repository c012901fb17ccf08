#include "cli/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"

enum { MOST_BYTES = 1 << 20, MESSAGE_SIZE = 1024 };

static const char escaped[] = "\"\\\n\r\t", letters[] = "\"\\nrt";

/* ---- reading ---- */

static bool is_space(char c) {
    return isspace((unsigned char)c);
}

static char *skip_spaces(char *text) {
    return text + strspn(text, " \t\r");
}

static void cut_spaces(char *begin, char *end) {
    while (end > begin && is_space(end[-1])) end--;
    *end = '\0';
}

/* TEXT begins with a quote: replaces it by the value between the quotes. */
static mst_status read_quoted(char *text) {
    char *to = text;
    for (const char *from = text + 1; *from; from++) {
        if (*from == '"') {
            const char *rest = from + 1 + strspn(from + 1, " \t\r");
            *to = '\0';
            return !*rest || *rest == '#' ? MST_OK : MST_FAIL(MST_INVALID, "'%.20s' after the quotes", rest);
        }
        const char *letter = *from == '\\' && from[1] ? strchr(letters, from[1]) : NULL;
        if (*from == '\\' && !letter)
            return MST_FAIL(MST_INVALID, "in quotes a \\ stands before one of \" \\ n r t only: write \\\\ for \\");
        *to++ = letter ? escaped[letter - letters] : *from;
        from += letter != NULL;
    }
    return MST_FAIL(MST_INVALID, "the quotes are not closed");
}

/* Whether C, a position in TEXT, is a # that begins TEXT or follows a space. */
static bool starts_comment(const char *text, const char *c) {
    return *c == '#' && (c == text || is_space(c[-1]));
}

static void read_plain(char *text) {
    char *end = text;
    while (*end && !starts_comment(text, end)) end++;
    cut_spaces(text, end);
}

static mst_status read_line(option_list *list, char *line, int number, void *values) {
    char *name = skip_spaces(line), *equals = strchr(name, '=');
    if (!*name || *name == '#') return MST_OK;
    if (!equals || equals == name) return MST_FAIL(MST_INVALID, "'%.40s': write name = value", name);
    cut_spaces(name, equals);
    char *value = skip_spaces(equals + 1);
    if (*value == '"')
        MST_TRY(read_quoted(value));
    else
        read_plain(value);
    return options_set(list, name, value, number, values);
}

static mst_status fail_in_line(const char *path, int line) {
    char message[MESSAGE_SIZE];
    const mst_status code = mst_error()->code;
    snprintf(message, sizeof message, "%s", mst_error()->message);
    return MST_FAIL(code, "'%s', line %d: %s", path, line, message);
}

/* The text of the file, ended by 0, to be freed. */
static mst_status read_text(const char *path, char **out) {
    void *data;
    size_t size;
    if (mst_file_read(path, MOST_BYTES, &data, &size)) return mst_error_prefix("--config");
    mst_status status = MST_OK;
    if (memchr(data, 0, size)) status = MST_FAIL(MST_INVALID, "'%s': is no text: it has a byte 0", path);
    *out = status ? NULL : strndup(data, size);
    free(data);
    if (!status && !*out) status = MST_NO_MEMORY("for the options of '%s'", path);
    return status;
}

mst_status config_read(option_list *list, void *values) {
    MST_TRY(read_text(list->config, &list->config_text));
    int number = 0;
    for (char *line = list->config_text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (read_line(list, line, ++number, values)) return fail_in_line(list->config, number);
    }
    return MST_OK;
}

/* ---- printing ---- */

/* Whether TEXT must be written in quotes to be read back unchanged. */
static bool needs_quotes(const char *text) {
    const size_t size = strlen(text);
    if (!size || *text == '"' || is_space(*text) || is_space(text[size - 1])) return true;
    for (const char *c = text; *c; c++)
        if (starts_comment(text, c)) return true;
    return strpbrk(text, "\n\r\t") != NULL;
}

static void print_value(const char *text) {
    if (!needs_quotes(text)) {
        puts(text);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        const char *found = strchr(escaped, *text);
        if (found)
            printf("\\%c", letters[found - escaped]);
        else
            putchar(*text);
    }
    puts("\"");
}

static void print_entry(const option_entry *entry) {
    const option *option = &entry->option;
    const char *initial = option->initial ? option->initial : option->type == OPTION_FLAG ? "false" : NULL;
    if (!entry->given && !initial) return;
    printf("%s%s = ", entry->given ? "" : "# ", option->name);
    print_value(entry->given ? entry->text : initial);
}

void config_print(const char *program, const char *command, const option_list *list) {
    printf("# %s %s --config FILE; lines that begin with # are defaults\n", program, command);
    for (int i = 0; i < list->count && !list->entry[i].common; i++) {
        if (list->entry[i].title) printf("\n# %s\n", list->entry[i].title);
        print_entry(&list->entry[i]);
    }
}
