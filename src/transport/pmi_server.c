#include "transport/pmi_server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text and pairs ---- */

bool mst_pmi_text_add(mst_pmi_text *text, const char *data, size_t size) {
    if (text->capacity - text->size <= size) {
        const size_t capacity = 2 * text->capacity + size + 1;
        char *grown = realloc(text->data, capacity);
        if (!grown) return false;
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
    return true;
}

/* The number of bytes of the word at TEXT, which ends before END. A space or control character ends a word. */
static size_t word_size(const char *text, const char *end) {
    const char *at = text;
    while (at<end && * at> ' ' && *at < 0x7f) at++;
    return (size_t)(at - text);
}

bool mst_pmi_are_pairs(const char *text, size_t size) {
    const char *end = text + size;
    while (text < end) {
        const size_t key = word_size(text, end);
        if (key == 0 || key >= MST_PMI_KEY_MOST || text + key == end || text[key] != ' ') return false;
        text += key + 1;
        const size_t value = word_size(text, end);
        if (value == 0 || value >= MST_PMI_VALUE_MOST || text + value == end || text[value] != '\n') return false;
        text += value + 1;
    }
    return true;
}

/* The value of KEY, up to the end of its line; NULL: there is none. */
static const char *find_value(const mst_pmi_server *s, const char *key) {
    char start[MST_PMI_KEY_MOST + 2];
    const int size = snprintf(start, sizeof start, "\n%s ", key);
    const char *at = s->known.data ? strstr(s->known.data, start) : NULL;
    return at ? at + size : NULL;
}

bool mst_pmi_server_add(mst_pmi_server *s, const char *pairs, size_t size) {
    return (s->known.data || mst_pmi_text_add(&s->known, "\n", 1)) && mst_pmi_text_add(&s->known, pairs, size);
}

void mst_pmi_server_free(mst_pmi_server *s) {
    free(s->known.data);
    free(s->own.data);
}

/* ---- requests ---- */

/* Reads the word after "NAME=" in LINE into WORD of SIZE bytes; false if there is none, or if it is too long. */
static bool read_word(const char *line, const char *name, char *word, size_t size) {
    const size_t length = strlen(name);
    for (const char *at = line; *at; at += strcspn(at, " "), at += *at == ' ') {
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        const char *value = at + length + 1;
        const size_t bytes = word_size(value, value + strlen(value));
        if (bytes == 0 || bytes >= size || (value[bytes] && value[bytes] != ' ')) return false;
        memcpy(word, value, bytes);
        word[bytes] = '\0';
        return true;
    }
    return false;
}

/* Writes an answer, given without its newline, and adds the newline. */
__attribute__((format(printf, 2, 3))) static mst_pmi_turn say(char answer[MST_PMI_LINE], const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int size =
        vsnprintf(answer, MST_PMI_LINE - 1, format, list); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(list);
    memcpy(answer + (size < MST_PMI_LINE - 2 ? size : MST_PMI_LINE - 2), "\n", 2);
    return MST_PMI_ANSWERED;
}

static mst_pmi_turn pmi_put(mst_pmi_server *s, const char *line, char answer[MST_PMI_LINE]) {
    char key[MST_PMI_KEY_MOST], value[MST_PMI_VALUE_MOST], pair[MST_PMI_LINE];
    if (!read_word(line, "key", key, sizeof key) || !read_word(line, "value", value, sizeof value))
        return say(answer, "cmd=put_result rc=-1 msg=no_key_or_value_or_too_long");
    if (find_value(s, key)) return say(answer, "cmd=put_result rc=-1 msg=duplicate_key");
    const size_t size = (size_t)snprintf(pair, sizeof pair, "%s %s\n", key, value);
    if (!mst_pmi_server_add(s, pair, size) || !mst_pmi_text_add(&s->own, pair, size))
        return say(answer, "cmd=put_result rc=-1 msg=no_memory");
    return say(answer, "cmd=put_result rc=0 msg=success");
}

static mst_pmi_turn pmi_get(const mst_pmi_server *s, const char *line, char answer[MST_PMI_LINE]) {
    char key[MST_PMI_KEY_MOST];
    const char *value = read_word(line, "key", key, sizeof key) ? find_value(s, key) : NULL;
    if (!value) return say(answer, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    return say(answer, "cmd=get_result rc=0 msg=success value=%.*s", (int)strcspn(value, "\n"), value);
}

mst_pmi_turn mst_pmi_server_take(mst_pmi_server *s, const char *line, char answer[MST_PMI_LINE]) {
    char command[64];
    answer[0] = '\0';
    if (!read_word(line, "cmd", command, sizeof command)) return say(answer, "cmd=unknown rc=-1 msg=no_command");
    if (strcmp(command, "init") == 0) return say(answer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    if (strcmp(command, "get_maxes") == 0)
        return say(answer, "cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d", MST_PMI_KEY_MOST,
                   MST_PMI_VALUE_MOST);
    if (strcmp(command, "get_appnum") == 0) return say(answer, "cmd=appnum appnum=0");
    if (strcmp(command, "get_my_kvsname") == 0) return say(answer, "cmd=my_kvsname kvsname=muster");
    if (strcmp(command, "get_universe_size") == 0)
        return say(answer, "cmd=universe_size size=%d rc=0", (int)s->num_tasks);
    if (strcmp(command, "put") == 0) return pmi_put(s, line, answer);
    if (strcmp(command, "get") == 0) return pmi_get(s, line, answer);
    if (strcmp(command, "barrier_in") == 0) return say(answer, "cmd=barrier_out"), MST_PMI_WAITS;
    if (strcmp(command, "finalize") == 0) return say(answer, "cmd=finalize_ack"), MST_PMI_FINISHED;
    if (strcmp(command, "abort") == 0) return MST_PMI_ABORTED;
    return say(answer, "cmd=%s_result rc=-1 msg=unknown_command", command);
}
