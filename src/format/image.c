#include "format/image.h"

#include <stdlib.h>
#include <string.h>

#include "module/module.h"

/* The first bytes of a codec's files. */
typedef struct first_bytes {
    const char *codec, *bytes;
    size_t length;
} first_bytes;

static const first_bytes formats[] = {{"jpeg", "\xff\xd8\xff", 3}, {"png", "\x89PNG\r\n\x1a\n", 8}, {0}};

/* The format of files that begin with the bytes at DATA; its codec is NULL if there is none. */
static const first_bytes *find_format(const void *data, size_t size) {
    const first_bytes *format = formats;
    while (format->codec && (size < format->length || memcmp(data, format->bytes, format->length) != 0)) format++;
    return format;
}

bool mst_image_begins(const void *data, size_t size) {
    return find_format(data, size)->codec != NULL;
}

static mst_status find_codec(const void *data, size_t size, const mst_codec **out) {
    const void *interface;
    const first_bytes *format = find_format(data, size);
    if (!format->codec) return MST_FAIL(MST_CORRUPT, "is neither a JPEG nor a PNG file: convert it, or take it out");
    MST_TRY(mst_module_interface(format->codec, &interface));
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
