#include "train/noted_executables.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "store/store.h"

enum {
    MOST = MST_USED_EXECUTABLES_MOST,
    DIGITS = MST_EXECUTABLE_KEY_TEXT - 1,
    LINE = 3 * MST_EXECUTABLE_KEY_TEXT, /* each hash with a space or a newline behind it */
};

void mst_noted_executables_free(mst_noted_executables *x) {
    free(x->before);
    *x = (mst_noted_executables){.before = NULL};
}

/* ---- the note ---- */

/* Reads the hash at *TEXT and the character END behind it. */
static bool read_hash(const char **text, char end, mst_executable_key *out) {
    if (strspn(*text, "0123456789abcdef") != DIGITS || (*text)[DIGITS] != end) return false;
    if (sodium_hex2bin(out->byte, sizeof out->byte, *text, DIGITS, NULL, NULL, NULL)) return false;
    *text += MST_EXECUTABLE_KEY_TEXT;
    return true;
}

/* Reads a note to OUT. -1: it is damaged; otherwise the number of executables. */
static int read_note(const char *text, mst_used_executable out[MOST]) {
    int count = 0;
    for (; *text && count < MOST; count++) {
        mst_used_executable *x = &out[count];
        if (!read_hash(&text, ' ', &x->source) || !read_hash(&text, ' ', &x->compiler) ||
            !read_hash(&text, '\n', &x->bytes))
            return -1;
        if (count && memcmp(&out[count - 1].source, &x->source, sizeof x->source) >= 0) return -1;
    }
    return *text ? -1 : count;
}

static char *write_hash(char *text, const mst_executable_key *hash, char end) {
    mst_executable_key_print(hash, text);
    text[DIGITS] = end;
    return text + MST_EXECUTABLE_KEY_TEXT;
}

static mst_status write_note(mst_store *store, const mst_used_executable *list, int count) {
    if (!count) return mst_store_set_note(store, MST_NOTE_EXECUTABLES, NULL);
    char *text = malloc((size_t)count * LINE + 1), *end = text;
    if (!text) return MST_NO_MEMORY("for the note of compiled programs");
    for (int i = 0; i < count; i++) {
        end = write_hash(end, &list[i].source, ' ');
        end = write_hash(end, &list[i].compiler, ' ');
        end = write_hash(end, &list[i].bytes, '\n');
    }
    *end = '\0';
    const mst_status status = mst_store_set_note(store, MST_NOTE_EXECUTABLES, text);
    free(text);
    return status;
}

/* Reads the executables of the fit that is resumed. */
static mst_status read_before(mst_noted_executables *x, mst_store *store, FILE *warnings) {
    char *text;
    MST_TRY(mst_store_get_note(store, MST_NOTE_EXECUTABLES, &text));
    if (!text) return MST_OK;
    x->before = calloc(MOST, sizeof *x->before);
    if (x->before) x->num_before = read_note(text, x->before);
    free(text);
    if (!x->before) return MST_NO_MEMORY("for the note of compiled programs");
    if (x->num_before >= 0) return MST_OK;
    x->num_before = 0;
    if (warnings)
        fprintf(warnings,
                "warning: the note of compiled programs in the training that is resumed is damaged: whether "
                "they are the same now is not known\n");
    return MST_OK;
}

/* ---- comparing ---- */

static bool are_equal(const mst_executable_key *a, const mst_executable_key *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* The executable of this source; NULL: there is none. */
static const mst_used_executable *find_source(const mst_used_executable *list, int count,
                                              const mst_executable_key *source) {
    for (int i = 0; i < count; i++)
        if (are_equal(&list[i].source, source)) return &list[i];
    return NULL;
}

static bool has_compiler(const mst_used_executable *list, int count, const mst_executable_key *compiler) {
    for (int i = 0; i < count; i++)
        if (are_equal(&list[i].compiler, compiler)) return true;
    return false;
}

/* A comparison of the executables from before with the present ones. */
typedef struct comparison {
    int in_both, others; /* number of executables with a source that is also present; of these, with other bytes */
    bool same_compiler;  /* an executable from before has the same compiler as a present one */
} comparison;

static comparison compare_with_before(const mst_noted_executables *x, const mst_used_executable *now, int count) {
    comparison c = {.same_compiler = false};
    for (int i = 0; i < x->num_before; i++) {
        const mst_used_executable *before = &x->before[i], *same = find_source(now, count, &before->source);
        c.same_compiler = c.same_compiler || has_compiler(now, count, &before->compiler);
        c.in_both += same != NULL;
        c.others += same && !are_equal(&before->bytes, &same->bytes);
    }
    return c;
}

static void warn(mst_noted_executables *x, const mst_used_executable *now, int count, FILE *warnings) {
    static const char effect[] =
        "weights may differ in their last digits from those of a training that was not stopped";
    const comparison c = compare_with_before(x, now, count);
    if (x->has_warned || !x->num_before || (c.same_compiler && !c.others)) return;
    x->has_warned = true;
    if (!warnings) return;
    if (c.same_compiler)
        fprintf(warnings,
                "warning: the training that is resumed had other compiled programs (%d of %d were compiled "
                "anew): %s\n",
                c.others, c.in_both, effect);
    else
        fprintf(warnings,
                "warning: the training that is resumed had programs of another compiler or kind of device: "
                "%s\n",
                effect);
    fflush(warnings);
}

/* ---- a step ---- */

static int compare_sources(const void *a, const void *b) {
    const mst_used_executable *x = a, *y = b;
    return memcmp(&x->source, &y->source, sizeof x->source);
}

/* Adds to the COUNT executables of NOW the executables from before that this fit has not made yet, but may still make:
 * they have a compiler of NOW. Sorts NOW, and returns the number of all. */
static int add_before(const mst_noted_executables *x, mst_used_executable now[MOST], int count) {
    const int made = count;
    for (int i = 0; i < x->num_before && count < MOST; i++) {
        const mst_used_executable *before = &x->before[i];
        if (has_compiler(now, made, &before->compiler) && !find_source(now, made, &before->source))
            now[count++] = *before;
    }
    if (count) qsort(now, (size_t)count, sizeof *now, compare_sources);
    return count;
}

mst_status mst_noted_executables_step(mst_noted_executables *x, mst_store *store, bool resumes, FILE *warnings) {
    const uint64_t num_uses = mst_executables_num_uses();
    mst_used_executable now[MOST];
    if (x->has_begun && num_uses == x->num_uses) return MST_OK;
    if (!x->has_begun && resumes) MST_TRY(read_before(x, store, warnings));
    x->has_begun = true;
    const int count = mst_executables_used(now);
    warn(x, now, count, warnings);
    MST_TRY(write_note(store, now, add_before(x, now, count)));
    x->num_uses = num_uses;
    return MST_OK;
}
