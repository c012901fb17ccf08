#include "format/image.h"

#include <stdlib.h>
#include <string.h>

#include "format/bmp.h"
#include "module/module.h"

/* How the files of a format begin: with the first `length` characters of `bytes`, and from the ninth byte on with
 * `then`. `codec` is the name of the module, `name` the name of the format. */
typedef struct first_bytes {
    const char *codec, *name, *bytes;
    size_t length;
    const char *then;
} first_bytes;

/* BMP files need no module, since no library decodes them. */
static const first_bytes formats[] = {{"jpeg", "JPEG", "\xff\xd8\xff", 3, ""},
                                      {"png", "PNG", "\x89PNG\r\n\x1a\n", 8, ""},
                                      {"webp", "WebP", "RIFF", 4, "WEBP"},
                                      {"gif", "GIF", "GIF87a", 6, ""},
                                      {"gif", "GIF", "GIF89a", 6, ""},
                                      {NULL, "BMP", "BM", 2, ""},
                                      {NULL, NULL, "", 0, ""}};

static bool begins_as(const void *data, size_t size, const first_bytes *format) {
    enum { THEN = 8 };
    const size_t more = strlen(format->then);
    if (size < format->length || memcmp(data, format->bytes, format->length) != 0) return false;
    if (more && (size < THEN + more || memcmp((const char *)data + THEN, format->then, more) != 0)) return false;
    return format->codec || !format->name || mst_bmp_begins(data, size);
}

/* The format of files that begin with the bytes at DATA. If there is none, the name of the result is NULL. */
static const first_bytes *find_format(const void *data, size_t size) {
    const first_bytes *format = formats;
    while (!begins_as(data, size, format)) format++;
    return format;
}

bool mst_image_begins(const void *data, size_t size) {
    return mst_image_format(data, size) != NULL;
}

const char *mst_image_format(const void *data, size_t size) {
    return find_format(data, size)->name;
}

static mst_status find_codec(const void *data, size_t size, const mst_codec **out) {
    static const mst_codec bmp = {.decode = mst_bmp_decode};
    const void *interface = &bmp;
    const first_bytes *format = find_format(data, size);
    if (!format->name)
        return MST_FAIL(MST_CORRUPT, "is no picture that is read (%s): convert it, or take it out", MST_IMAGE_FORMATS);
    if (format->codec) MST_TRY(mst_module_interface(format->codec, &interface));
    *out = interface;
    return MST_OK;
}

mst_status mst_image_decode(const char *name, const void *data, size_t size, const mst_image_want *want,
                            mst_image *out) {
    const mst_codec *codec;
    *out = (mst_image){.channels = want->channels};
    mst_status status = find_codec(data, size, &codec);
    if (status)
        status = mst_error_prefix("'%s'", name);
    else
        status = codec->decode(name, data, size, want, out);
    if (status) {
        free(out->pixels);
        *out = (mst_image){0};
    }
    return status;
}
