#include "cli/launch/host_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"

enum { MOST_BYTES = 1 << 20, MOST_SLOTS = 4096 };

static const char spaces[] = " \t\r";

static mst_status read_slots(const char *word, int *out) {
    static const char name[] = "slots=";
    char *end = NULL;
    const long value = strncmp(word, name, sizeof name - 1) == 0 ? strtol(word + sizeof name - 1, &end, 10) : 0;
    if (!end || *end || value < 1 || value > MOST_SLOTS)
        return MST_FAIL(MST_INVALID, "'%s': behind the host stands nothing or slots=N, with N from 1 to %d", word,
                        MOST_SLOTS);
    *out = (int)value;
    return MST_OK;
}

/* Adds the machine of LINE to LIST, which has room for it. */
static mst_status read_line(char *line, host_list *list) {
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    char *target = strtok_r(line, spaces, &rest), *slots = strtok_r(NULL, spaces, &rest);
    if (!target) return MST_OK;
    const char *user_end = strrchr(target, '@');
    host *new = &list->host[list->count];
    *new = (host){.target = target, .name = user_end ? user_end + 1 : target, .slots = 1};
    if (*target == '-' || !*new->name) return MST_FAIL(MST_INVALID, "'%s' is no name of a host", target);
    if (slots) MST_TRY(read_slots(slots, &new->slots));
    const char *more = strtok_r(NULL, spaces, &rest);
    if (more) return MST_FAIL(MST_INVALID, "'%s' is one word too many: write HOST or HOST slots=N", more);
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->host[i].name, new->name) == 0)
            return MST_FAIL(MST_INVALID, "host '%s' stands in a line before: write it once, with slots=N", new->name);
    list->count++;
    return MST_OK;
}

static mst_status read_lines(const char *path, host_list *list) {
    int number = 0;
    for (char *line = list->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        number++;
        if (read_line(line, list)) return mst_error_prefix("'%s', line %d", path, number);
    }
    return list->count ? MST_OK : MST_FAIL(MST_INVALID, "'%s': has no host: write one on each line", path);
}

mst_status host_list_read(const char *path, host_list *out) {
    host_list list = {0};
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, MOST_BYTES, &data, &size));
    list.text = data; /* it has room for one more byte */
    list.text[size] = '\0';
    size_t num_lines = 1;
    for (const char *c = list.text; *c; c++) num_lines += *c == '\n';
    list.host = calloc(num_lines, sizeof *list.host);
    const mst_status status = list.host ? read_lines(path, &list) : MST_NO_MEMORY("for the hosts of '%s'", path);
    if (status)
        host_list_free(&list);
    else
        *out = list;
    return status;
}

void host_list_free(host_list *list) {
    free(list->host);
    free(list->text);
    *list = (host_list){0};
}
