/* The module `gif`: decodes the first frame of GIF files by giflib. As in tf.io.decode_gif, transparent pixels and
 * pixels outside of the frame are black. */
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/image.h"
#include "module/module.h"

enum { RGB = 3 };

/* The bytes of a file, for giflib's callback. */
typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static int read_gif_bytes(GifFileType *gif, GifByteType *to, int count) {
    bytes *b = gif->UserData;
    const size_t left = (size_t)(b->end - b->at), n = (size_t)count < left ? (size_t)count : left;
    memcpy(to, b->at, n);
    b->at += n;
    return (int)n;
}

static mst_status damaged(const char *name, int code) {
    const char *why = GifErrorString(code);
    return MST_FAIL(MST_CORRUPT, "'%s': is no intact GIF: %s", name, why ? why : "it has no frame");
}

/* Reads up to the first frame. *TRANSPARENT becomes the index of its transparent color, or NO_TRANSPARENT_COLOR. */
static mst_status find_frame(const char *name, GifFileType *gif, int *transparent) {
    *transparent = NO_TRANSPARENT_COLOR;
    for (GifRecordType type;;) {
        if (DGifGetRecordType(gif, &type) == GIF_ERROR) return damaged(name, gif->Error);
        if (type == IMAGE_DESC_RECORD_TYPE) break;
        if (type != EXTENSION_RECORD_TYPE) return damaged(name, 0);
        GifByteType *extension; /* a length, then so many bytes */
        int code;
        if (DGifGetExtension(gif, &code, &extension) == GIF_ERROR) return damaged(name, gif->Error);
        while (extension) {
            GraphicsControlBlock control;
            if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(extension[0], extension + 1, &control) == GIF_OK)
                *transparent = control.TransparentColor;
            if (DGifGetExtensionNext(gif, &extension) == GIF_ERROR) return damaged(name, gif->Error);
        }
    }
    return DGifGetImageDesc(gif) == GIF_ERROR ? damaged(name, gif->Error) : MST_OK;
}

/* Writes the colors of COUNT pixels to RGB. Pixels whose index is TRANSPARENT are not written. */
static mst_status color_row(const char *name, const GifByteType *index, int64_t count, const ColorMapObject *colors,
                            int transparent, uint8_t *rgb) {
    for (int64_t i = 0; i < count; i++, rgb += RGB) {
        if (index[i] == transparent) continue;
        if (index[i] >= colors->ColorCount)
            return MST_FAIL(MST_CORRUPT, "'%s': is no intact GIF: it has color %d, and its table has %d", name,
                            index[i], colors->ColorCount);
        const GifColorType *color = &colors->Colors[index[i]];
        rgb[0] = color->Red;
        rgb[1] = color->Green;
        rgb[2] = color->Blue;
    }
    return MST_OK;
}

/* Interlaced rows come in four passes. */
static mst_status read_gif_rows(const char *name, GifFileType *gif, int transparent, GifByteType *index,
                                mst_image *out) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    const GifImageDesc *frame = &gif->Image;
    const ColorMapObject *colors = frame->ColorMap ? frame->ColorMap : gif->SColorMap;
    if (!colors) return MST_FAIL(MST_CORRUPT, "'%s': is no intact GIF: it has no table of colors", name);
    for (int pass = 0; pass < (frame->Interlace ? 4 : 1); pass++)
        for (int y = frame->Interlace ? first[pass] : 0; y < frame->Height; y += frame->Interlace ? step[pass] : 1) {
            const int64_t at = (frame->Top + y) * out->width + frame->Left;
            if (DGifGetLine(gif, index, frame->Width) == GIF_ERROR) return damaged(name, gif->Error);
            MST_TRY(color_row(name, index, frame->Width, colors, transparent, out->pixels + RGB * at));
        }
    return MST_OK;
}

/* The picture is as large as the logical screen of the GIF, or larger if the frame extends beyond the screen. */
static mst_status decode(const char *name, size_t size, GifFileType *gif, mst_image *out) {
    int transparent;
    MST_TRY(find_frame(name, gif, &transparent));
    const GifImageDesc *frame = &gif->Image;
    if (frame->Left < 0 || frame->Top < 0 || frame->Width < 1 || frame->Height < 1) return damaged(name, 0);
    const int64_t right = frame->Left + (int64_t)frame->Width, bottom = frame->Top + (int64_t)frame->Height;
    MST_TRY(mst_image_alloc(name, size, bottom > gif->SHeight ? bottom : gif->SHeight,
                            right > gif->SWidth ? right : gif->SWidth, out));
    memset(out->pixels, 0, (size_t)(RGB * out->height * out->width));
    GifByteType *index = malloc((size_t)frame->Width);
    if (!index) return MST_NO_MEMORY("for a row of '%s'", name);
    const mst_status status = read_gif_rows(name, gif, transparent, index, out);
    free(index);
    return status;
}

static mst_status decode_gif(const char *name, const void *data, size_t size, const mst_image_want *want,
                             mst_image *out) {
    bytes b = {data, (const uint8_t *)data + size};
    int code = 0;
    GifFileType *gif = DGifOpen(&b, read_gif_bytes, &code);
    if (!gif) return code == D_GIF_ERR_NOT_ENOUGH_MEM ? MST_NO_MEMORY("to read '%s'", name) : damaged(name, code);
    out->channels = RGB;
    const mst_status status = decode(name, size, gif, out);
    (void)DGifCloseFile(gif, &code);
    if (!status && want->channels == 1) mst_image_make_gray(out);
    return status;
}

static const mst_codec codec = {.decode = decode_gif};

extern const mst_module mst_module_gif;
const mst_module mst_module_gif = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "gif", .version = MST_VERSION, .interface = &codec};
