#include "format/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { MOST_OF_A_CHARACTER = 16 };

static const char utf8[] = "UTF-8";

typedef struct decoded {
    const char *name, *encoding; /* of the file */
    bool is_marked;              /* the encoding is given by a byte order mark */
    char *text;                  /* the UTF-8 text so far: `size` of `capacity` bytes */
    size_t size, capacity;
} decoded;

static mst_status open_decoder(const char *encoding, iconv_t *out) {
    *out = *encoding ? iconv_open(utf8, encoding) : (iconv_t)-1;
    if (*out != (iconv_t)-1) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--encoding '%.64s' (in C: .encoding): is not known here: write utf-8, latin1, windows-1252, "
                    "shift-jis or another name that iconv -l lists",
                    encoding);
}

mst_status mst_encoding_check(const char *encoding) {
    iconv_t decoder;
    MST_TRY(open_decoder(encoding, &decoder));
    iconv_close(decoder);
    return MST_OK;
}

/* The encoding that is given by a byte order mark at TEXT; NULL if there is no mark. */
static const char *marked(const char *text, size_t size) {
    static const struct {
        const char *bytes, *encoding;
        size_t size;
    } marks[] = {{"\xef\xbb\xbf", utf8, 3},
                 {"\xff\xfe\0\0", "UTF-32", 4}, /* before UTF-16, which begins alike */
                 {"\0\0\xfe\xff", "UTF-32", 4},
                 {"\xff\xfe", "UTF-16", 2},
                 {"\xfe\xff", "UTF-16", 2}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= marks[i].size && memcmp(text, marks[i].bytes, marks[i].size) == 0) return marks[i].encoding;
    return NULL;
}

static mst_status extend(decoded *d) {
    if (d->capacity - d->size > MOST_OF_A_CHARACTER) return MST_OK;
    const size_t more = d->capacity + d->capacity / 2 + 2 * MOST_OF_A_CHARACTER;
    char *grown = more > d->capacity ? realloc(d->text, more) : NULL;
    if (!grown) return MST_NO_MEMORY("to read '%s'", d->name);
    d->text = grown;
    d->capacity = more;
    return MST_OK;
}

static mst_status decode(iconv_t decoder, char *text, size_t size, decoded *d) {
    char *from = text;
    for (size_t left = size; left;) {
        MST_TRY(extend(d));
        char *to = d->text + d->size;
        size_t room = d->capacity - d->size - 1;
        const bool failed = iconv(decoder, &from, &left, &to, &room) == (size_t)-1 && errno != E2BIG;
        d->size = (size_t)(to - d->text);
        if (failed)
            return MST_FAIL(MST_CORRUPT, "'%s': byte %zu, 0x%02x, is not %s%s", d->name, (size_t)(from - text),
                            (unsigned)(unsigned char)*from, d->encoding,
                            d->is_marked ? ", which the byte order mark says: the file is damaged, or is no text"
                                         : ": say its encoding by --encoding (in C: .encoding)");
    }
    MST_TRY(extend(d));
    char *to = d->text + d->size;
    size_t room = d->capacity - d->size - 1;
    (void)iconv(decoder, NULL, NULL, &to, &room); /* writes a character that iconv has held back */
    d->size = (size_t)(to - d->text);
    return MST_OK;
}

mst_status mst_encoding_decode(const char *name, const char *encoding, char **text, size_t *size) {
    const char *mark = marked(*text, *size);
    iconv_t decoder;
    if (mark == utf8 || (!mark && !encoding) || !*size) return MST_OK;
    decoded d = {.name = name, .encoding = mark ? mark : encoding, .is_marked = mark != NULL};
    MST_TRY(open_decoder(d.encoding, &decoder));
    d.capacity = *size + *size / 8 + 2 * MOST_OF_A_CHARACTER;
    d.text = malloc(d.capacity);
    const mst_status status = d.text ? decode(decoder, *text, *size, &d) : MST_NO_MEMORY("to read '%s'", name);
    iconv_close(decoder);
    if (status) {
        free(d.text);
        return status;
    }
    free(*text);
    *text = d.text;
    *size = d.size;
    return MST_OK;
}
