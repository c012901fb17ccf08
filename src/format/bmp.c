/* Decodes BMP files. Debian has no small C library for them. */
#include "format/bmp.h"

#include <string.h>

enum { RGB = 3, FILE_HEADER = 14, OS2 = 12, WINDOWS = 40, WITH_MASKS = 52, MOST_COLORS = 256 };
enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, ALPHA_MASKS = 6 };

typedef struct bmp {
    const char *name;
    const uint8_t *data;
    size_t size, offset; /* offset: of the pixels */
    int64_t height, width;
    int bits, compression, num_colors;
    bool downwards;                  /* the first row is the uppermost one */
    uint32_t mask[RGB];              /* for pixels of 16 and 32 bits: the bits of red, green and blue */
    uint8_t color[MOST_COLORS][RGB]; /* for pixels of at most 8 bits: the palette, num_colors colors */
} bmp;

static uint32_t le16(const uint8_t *u) {
    return u[0] | (uint32_t)u[1] << 8;
}

static uint32_t le32(const uint8_t *u) {
    return le16(u) | le16(u + 2) << 16;
}

bool mst_bmp_begins(const void *data, size_t size) {
    const uint8_t *u = data;
    if (size < FILE_HEADER + OS2 || memcmp(u, "BM", 2) != 0) return false;
    const uint32_t header = le32(u + FILE_HEADER);
    if (header == OS2) return le16(u + 22) == 1;
    return header >= WINDOWS && header <= 128 && size >= FILE_HEADER + WINDOWS && le16(u + 26) == 1;
}

static mst_status damaged(const bmp *b, const char *why) {
    return MST_FAIL(MST_CORRUPT, "'%s': is no intact BMP: %s", b->name, why);
}

/* ---- the header ---- */

static mst_status read_size(bmp *b, uint32_t header) {
    const uint8_t *u = b->data + FILE_HEADER + 4;
    const int32_t height = (int32_t)le32(u + 4);
    b->width = header == OS2 ? (int64_t)le16(u) : (int64_t)(int32_t)le32(u);
    b->height = header == OS2 ? (int64_t)le16(u + 2) : height < 0 ? -(int64_t)height : height;
    b->downwards = header != OS2 && height < 0;
    b->bits = (int)le16(u + (header == OS2 ? 6 : 10));
    if (header != OS2) b->compression = (int)(le32(u + 12) < 100 ? le32(u + 12) : 100);
    return b->width < 1 || b->height < 1 ? damaged(b, "it has no pixels") : MST_OK;
}

static mst_status check_form(const bmp *b) {
    const int bits = b->bits;
    bool fits = false;
    switch (b->compression) {
        case PLAIN: fits = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32; break;
        case RLE8: fits = bits == 8 && !b->downwards; break;
        case RLE4: fits = bits == 4 && !b->downwards; break;
        case MASKS:
        case ALPHA_MASKS: fits = bits == 16 || bits == 32; break;
        default: break;
    }
    if (fits) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "'%s': a BMP of %d bits of a pixel and the compression %d is not read: save it as PNG", b->name,
                    bits, b->compression);
}

/* Whether the bits of MASK are one run without gaps, or none. */
static bool is_run(uint32_t mask) {
    const uint32_t lowest = mask & (0 - mask);
    return ((mask + lowest) & mask) == 0;
}

/* Reads the masks. If the file has none, sets the usual masks for 16 and 32 bits. *AT is the offset at which the header
 * ends; masks that follow the header increase it. */
static mst_status read_masks(bmp *b, uint32_t header, size_t *at) {
    const bool five = b->bits == 16;
    const uint32_t usual[RGB] = {five ? 0x7c00 : 0xff0000, five ? 0x3e0 : 0xff00, five ? 0x1f : 0xff};
    memcpy(b->mask, usual, sizeof usual);
    if (b->compression != MASKS && b->compression != ALPHA_MASKS) return MST_OK;
    if (header < WITH_MASKS) *at += b->compression == MASKS ? 12 : 16;
    if (*at > b->size || b->size < FILE_HEADER + WITH_MASKS) return damaged(b, "it ends in its masks");
    for (int c = 0; c < RGB; c++) {
        b->mask[c] = le32(b->data + FILE_HEADER + WINDOWS + 4 * c);
        if (!is_run(b->mask[c])) return damaged(b, "a mask of its colors has a gap");
    }
    if (!(b->mask[0] | b->mask[1] | b->mask[2])) memcpy(b->mask, usual, sizeof usual);
    return MST_OK;
}

static mst_status read_colors(bmp *b, uint32_t header, size_t at) {
    const size_t each = header == OS2 ? 3 : 4;
    if (b->bits > 8) return MST_OK;
    const uint32_t told = header == OS2 ? 0 : le32(b->data + FILE_HEADER + 32), most = 1U << b->bits;
    b->num_colors = (int)(told && told < most ? told : most);
    if (at > b->size || (b->size - at) / each < (size_t)b->num_colors)
        return damaged(b, "it ends in its table of colors");
    for (int i = 0; i < b->num_colors; i++)
        for (int c = 0; c < RGB; c++) b->color[i][c] = b->data[at + each * (size_t)i + 2 - (size_t)c];
    return MST_OK;
}

static mst_status read_bmp_header(bmp *b) {
    if (!mst_bmp_begins(b->data, b->size)) return damaged(b, "it ends in its header");
    const uint32_t header = le32(b->data + FILE_HEADER);
    size_t at = FILE_HEADER + header;
    b->offset = le32(b->data + 10);
    MST_TRY(read_size(b, header));
    MST_TRY(check_form(b));
    MST_TRY(read_masks(b, header, &at));
    MST_TRY(read_colors(b, header, at));
    return b->offset >= b->size ? damaged(b, "it ends before its pixels") : MST_OK;
}

/* ---- pixels ---- */

static uint8_t *row_of(const bmp *b, const mst_image *out, int64_t row) {
    return out->pixels + RGB * b->width * (b->downwards ? row : b->height - 1 - row);
}

static mst_status put_color(const bmp *b, int index, uint8_t *rgb) {
    if (index >= b->num_colors) return damaged(b, "a pixel has a color that its table has not");
    memcpy(rgb, b->color[index], RGB);
    return MST_OK;
}

static mst_status put_colors(const bmp *b, const uint8_t *src, uint8_t *rgb) {
    const int each = 8 / b->bits;
    for (int64_t x = 0; x < b->width; x++, rgb += RGB) {
        const int shift = b->bits * (each - 1 - (int)(x % each));
        MST_TRY(put_color(b, src[x / each] >> shift & ((1 << b->bits) - 1), rgb));
    }
    return MST_OK;
}

/* The bits of MASK in VALUE, scaled to 0 to 255 and truncated, as Pillow does. */
static uint8_t level(uint32_t value, uint32_t mask) {
    const uint32_t lowest = mask & (0 - mask);
    return mask ? (uint8_t)((uint64_t)((value & mask) / lowest) * 255 / (mask / lowest)) : 0;
}

static void put_masked(const bmp *b, const uint8_t *src, uint8_t *rgb) {
    const size_t each = (size_t)b->bits / 8;
    for (int64_t x = 0; x < b->width; x++, src += each, rgb += RGB) {
        const uint32_t value = each == 2 ? le16(src) : le32(src);
        for (int c = 0; c < RGB; c++) rgb[c] = level(value, b->mask[c]);
    }
}

static void put_bgr(const bmp *b, const uint8_t *src, uint8_t *rgb) {
    for (int64_t x = 0; x < b->width; x++, src += RGB, rgb += RGB)
        for (int c = 0; c < RGB; c++) rgb[c] = src[2 - c];
}

static mst_status read_bmp_rows(const bmp *b, mst_image *out) {
    const uint64_t stride = ((uint64_t)b->width * (uint64_t)b->bits + 31) / 32 * 4;
    if ((b->size - b->offset) / stride < (uint64_t)b->height) return damaged(b, "it ends in its pixels");
    MST_TRY(mst_image_alloc(b->name, b->size, b->height, b->width, out));
    for (int64_t y = 0; y < b->height; y++) {
        const uint8_t *src = b->data + b->offset + stride * (uint64_t)y;
        uint8_t *rgb = row_of(b, out, y);
        if (b->bits <= 8)
            MST_TRY(put_colors(b, src, rgb));
        else if (b->bits == 24)
            put_bgr(b, src, rgb);
        else
            put_masked(b, src, rgb);
    }
    return MST_OK;
}

/* ---- runs ---- */

/* Where the next pixel is put. Pixels to the right of the picture are dropped. */
typedef struct next_pixel {
    int64_t x, y;
} next_pixel;

static mst_status put_next(const bmp *b, mst_image *out, next_pixel *p, int index) {
    if (p->x < b->width) MST_TRY(put_color(b, index, row_of(b, out, p->y) + RGB * p->x));
    p->x++;
    return MST_OK;
}

/* The color of pixel I of a run. SRC has a byte for each pixel, or with 4 bits a byte for two pixels. If the run
 * REPEATS, it has one byte, which is used for all of its pixels. */
static int color_in(const bmp *b, const uint8_t *src, int i, bool repeats) {
    if (b->bits == 8) return src[repeats ? 0 : i];
    const int both = src[repeats ? 0 : i / 2];
    return i % 2 ? both & 15 : both >> 4;
}

/* The pixels are a sequence of these, in bytes:
 *
 *      n, color            n pixels of this color; with 4 bits, the byte has two colors, which alternate
 *      0, 0                the end of the row
 *      0, 1                the end of the picture
 *      0, 2, right, up     a move of the next pixel to the right and up, by so many pixels
 *      0, n, colors        n pixels (n > 2), each with its color; padded to an even number of bytes
 */
static mst_status read_runs(const bmp *b, mst_image *out) {
    size_t at = b->offset;
    for (next_pixel p = {0, 0}; p.y < b->height;) {
        if (b->size - at < 2) return damaged(b, "it ends in its pixels");
        const int count = b->data[at], code = b->data[at + 1];
        const uint8_t *src = b->data + at + (count ? 1 : 2);
        at += 2;
        if (!count && code == 1) break;
        if (!count && code == 0) {
            p = (next_pixel){0, p.y + 1};
            continue;
        }
        const size_t bytes = count       ? 0
                             : code == 2 ? 2
                                         : ((size_t)code * (size_t)b->bits / 8 + (code * b->bits % 8 != 0));
        const size_t padded = bytes + (bytes & 1);
        if (b->size - at < padded) return damaged(b, "it ends in its pixels");
        at += padded;
        if (!count && code == 2) {
            p = (next_pixel){p.x + src[0], p.y + src[1]};
            continue;
        }
        for (int i = 0; i < (count ? count : code); i++) MST_TRY(put_next(b, out, &p, color_in(b, src, i, count)));
    }
    return MST_OK;
}

/* Pixels that no run sets have color 0. */
static mst_status read_compressed(const bmp *b, mst_image *out) {
    MST_TRY(mst_image_alloc(b->name, b->size, b->height, b->width, out));
    for (int64_t i = 0; i < b->height * b->width; i++) memcpy(out->pixels + RGB * i, b->color[0], RGB);
    return read_runs(b, out);
}

mst_status mst_bmp_decode(const char *name, const void *data, size_t size, const mst_image_want *want, mst_image *out) {
    bmp b = {.name = name, .data = data, .size = size};
    MST_TRY(read_bmp_header(&b));
    out->channels = RGB;
    MST_TRY(b.compression == RLE8 || b.compression == RLE4 ? read_compressed(&b, out) : read_bmp_rows(&b, out));
    if (want->channels == 1) mst_image_make_gray(out);
    return MST_OK;
}
