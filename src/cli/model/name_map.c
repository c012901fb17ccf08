#include "cli/model/name_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"

enum { MOST_BYTES = 1 << 24 };

static const char spaces[] = " \t\r";

/* TEXT without the spaces around it; it is changed in place. */
static char *trim(char *text) {
    text += strspn(text, spaces);
    for (size_t size = strlen(text); size && strchr(spaces, text[size - 1]);) text[--size] = '\0';
    return text;
}

/* Removes a comment: a # at the beginning of the line or after a space begins it. */
static void cut_comment(char *line) {
    for (char *c = line; (c = strchr(c, '#')); c++)
        if (c == line || strchr(spaces, c[-1])) {
            *c = '\0';
            return;
        }
}

static mst_status name_map_add(name_map *map, char *here, char *there, const char *path, int line) {
    for (int i = 0; i < map->count; i++)
        if (strcmp(map->name[i].store, here) == 0)
            return MST_FAIL(MST_INVALID, "'%s', line %d: '%s' has a name already, '%s'", path, line, here,
                            map->name[i].file);
    mst_checkpoint_name *grown = realloc(map->name, (size_t)(map->count + 1) * sizeof *grown);
    if (!grown) return MST_NO_MEMORY("for the names of '%s'", path);
    map->name = grown;
    grown[map->count++] = (mst_checkpoint_name){.store = here, .file = there};
    return MST_OK;
}

static mst_status read_line(name_map *map, char *line, const char *path, int number) {
    cut_comment(line);
    char *here = trim(line), *equals = strchr(here, '=');
    if (!*here) return MST_OK;
    if (equals) *equals = '\0';
    here = trim(here);
    char *there = equals ? trim(equals + 1) : here;
    if (!equals || !*here || !*there)
        return MST_FAIL(MST_INVALID, "'%s', line %d: write: name here = name in the file", path, number);
    return name_map_add(map, here, there, path, number);
}

mst_status name_map_read(const char *path, name_map *out) {
    void *data;
    size_t size;
    *out = (name_map){.count = 0};
    if (!path) return MST_OK;
    MST_TRY(mst_file_read(path, MOST_BYTES, &data, &size));
    const bool is_text = !memchr(data, 0, size);
    out->text = strndup(data, size);
    free(data);
    if (!out->text) return MST_NO_MEMORY("for the names of '%s'", path);
    if (!is_text) return MST_FAIL(MST_INVALID, "'%s': is no text: it has a byte 0", path);
    int number = 0;
    for (char *line = out->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        MST_TRY(read_line(out, line, path, ++number));
    }
    return out->count ? MST_OK : MST_FAIL(MST_INVALID, "'%s': has no line: write: name here = name in the file", path);
}

void name_map_free(name_map *map) {
    free(map->name);
    free(map->text);
    *map = (name_map){.count = 0};
}
