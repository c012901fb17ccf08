/* A picture: PNG or JPEG. */
#include "format/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "inspect/inspector.h"

static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, jpeg_magic[3] = {0xff, 0xd8, 0xff};

static bool is_png(const void *data, size_t size) {
    return size >= sizeof png_magic && memcmp(data, png_magic, sizeof png_magic) == 0;
}

static mst_inspect_match inspect_image_knows(const mst_inspect_source *s) {
    const bool is_jpeg = s->size >= 3 && memcmp(s->head, jpeg_magic, sizeof jpeg_magic) == 0;
    return !s->is_packed && (is_png(s->head, s->size) || is_jpeg) ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

/* ---- headers ---- */

/* What the header says. The decoder cannot tell, since it converts everything to red, green and blue. */
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

/* Skips markers with their lengths up to that of a frame (SOF0 to SOF15, which are C0 to CF without DHT, JPG and DAC).
 * Its two bytes are followed by: length (2 bytes), bits, height (2), width (2), and the number of channels. */
static picture jpeg_header(const uint8_t *data, size_t size) {
    for (size_t at = 2; at + 10 <= size && data[at] == 0xff;) {
        const int marker = data[at + 1];
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
            return (picture){.channels = data[at + 9], .bits = data[at + 4]};
        at += marker == 0xff ? 1 : 2 + (size_t)data[at + 2] * 256 + data[at + 3];
    }
    return (picture){0};
}

static mst_status print_picture(const char *path, const void *data, size_t size, mst_report *r) {
    const bool png = is_png(data, size);
    const picture p = png ? png_header(data, size) : jpeg_header(data, size);
    const mst_image_want want = {.channels = 3};
    mst_image image;
    const mst_status status = mst_image_decode(path, data, size, &want, &image);
    const char *format = png ? "PNG" : "JPEG";
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

const mst_inspector mst_inspector_image = {
    .name = "PNG and JPEG", .suffixes = ".png .jpg .jpeg", .knows = inspect_image_knows, .print = inspect_image_print};
