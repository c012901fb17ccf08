/* A picture: PNG, JPEG, WebP, GIF or BMP. */
#include "format/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "inspect/inspector.h"

static mst_inspect_match inspect_image_knows(const mst_inspect_source *s) {
    return !s->is_packed && mst_image_begins(s->head, s->size) ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

/* ---- headers ---- */

/* Facts from the header of the file. The decoder does not give them, because it converts all pictures to red, green and
 * blue. */
typedef struct picture {
    int channels, bits;
    bool palette;
} picture;

/* The chunk IHDR comes first: byte 24 of the file is the number of bits, byte 25 the color type. */
static picture png_header(const uint8_t *data, size_t size) {
    static const int channels[] = {1, 0, 3, 3, 2, 0, 4}; /* by color type; 0: there is no such type */
    if (size < 26 || data[25] > 6) return (picture){0};
    return (picture){.channels = channels[data[25]], .bits = data[24], .palette = data[25] == 3};
}

/* Skips segments up to the one that begins a frame: marker SOF0 to SOF15, which are C0 to CF without DHT, JPG and DAC.
 * After the marker's two bytes it has: length (2 bytes), bits, height (2), width (2), number of channels. */
static picture jpeg_header(const uint8_t *data, size_t size) {
    for (size_t at = 2; at + 10 <= size && data[at] == 0xff;) {
        const int marker = data[at + 1];
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
            return (picture){.channels = data[at + 9], .bits = data[at + 4]};
        at += marker == 0xff ? 1 : 2 + (size_t)data[at + 2] * 256 + data[at + 3];
    }
    return (picture){0};
}

/* Reads the header of a picture. Transparency does not count as a channel. */
static picture header_of(const char *format, const uint8_t *data, size_t size) {
    enum { BMP_HEADER = 14, OS2 = 12 };
    if (!strcmp(format, "PNG")) return png_header(data, size);
    if (!strcmp(format, "JPEG")) return jpeg_header(data, size);
    const bool small_header = size > 28 && data[BMP_HEADER] == OS2;
    const bool few_colors = !strcmp(format, "BMP") && size > 28 && data[small_header ? 24 : 28] <= 8;
    return (picture){.channels = 3, .bits = 8, .palette = few_colors || !strcmp(format, "GIF")};
}

static mst_status print_picture(const char *path, const void *data, size_t size, mst_report *r) {
    const char *found = mst_image_format(data, size), *format = found ? found : "picture";
    const picture p = header_of(format, data, size);
    const mst_image_want want = {.channels = 3};
    mst_image image;
    const mst_status status = mst_image_decode(path, data, size, &want, &image);
    if (status) {
        mst_report_title(r, format, "%zu bytes", size);
        return status;
    }
    mst_report_title(r, format, "%" PRId64 " x %" PRId64 " pixels, %d channel%s of %d bits%s", image.width,
                     image.height, p.channels, p.channels == 1 ? "" : "s", p.bits, p.palette ? ", with a palette" : "");
    mst_report_set(r, NULL, "width", json_integer(image.width));
    mst_report_set(r, NULL, "height", json_integer(image.height));
    mst_report_set(r, NULL, "channels", json_integer(p.channels));
    mst_report_set(r, NULL, "bits", json_integer(p.bits));
    mst_tensor *pixels;
    const mst_shape shape = MST_SHAPE(image.height, image.width, image.channels);
    const mst_status made = mst_tensor_wrap(MST_U8, shape, image.pixels, free, image.pixels, &pixels);
    if (made)
        free(image.pixels);
    else
        mst_report_tensor(r, "pixels", pixels, "");
    mst_tensor_release(made ? NULL : pixels);
    return made;
}

static mst_status inspect_image_print(const mst_inspect_source *source, mst_report *report) {
    void *data;
    size_t size;
    MST_TRY(mst_file_read(source->path, (size_t)MST_IMAGE_MOST_BYTES, &data, &size));
    const mst_status status = print_picture(source->path, data, size, report);
    free(data);
    return status;
}

const mst_inspector mst_inspector_image = {.name = MST_IMAGE_FORMATS,
                                           .suffixes = ".png .jpg .jpeg .webp .gif .bmp",
                                           .knows = inspect_image_knows,
                                           .print = inspect_image_print};
