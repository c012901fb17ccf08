/* Makes JPEG files for `muster-bench data` and decodes them by direct calls of libjpeg-turbo, as the speed to compare
 * with. The library is loaded when this benchmark runs, since the program needs it for nothing else. The pictures are
 * noise of several octaves, so that they compress about as well as photographs do. */
#include "bench/pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = BENCH_PICTURE_WIDTH, HEIGHT = BENCH_PICTURE_HEIGHT, CHANNELS = 3 };

#ifdef MST_HAVE_JPEG
#include <dlfcn.h>
#include <jpeglib.h>

#if JPEG_LIB_VERSION >= 80
static const char LIBRARY[] = "libjpeg.so.8";
#else
static const char LIBRARY[] = "libjpeg.so.62";
#endif

/* The functions of libjpeg-turbo that are called, as members of `lib`. */
#define FUNCTIONS(F)          \
    F(jpeg_std_error)         \
    F(jpeg_CreateCompress)    \
    F(jpeg_mem_dest)          \
    F(jpeg_set_defaults)      \
    F(jpeg_set_quality)       \
    F(jpeg_start_compress)    \
    F(jpeg_write_scanlines)   \
    F(jpeg_finish_compress)   \
    F(jpeg_destroy_compress)  \
    F(jpeg_CreateDecompress)  \
    F(jpeg_mem_src)           \
    F(jpeg_read_header)       \
    F(jpeg_start_decompress)  \
    F(jpeg_read_raw_data)     \
    F(jpeg_finish_decompress) \
    F(jpeg_destroy_decompress)

#define MEMBER(name) __typeof__(&name) name;
static struct {
    FUNCTIONS(MEMBER)
    bool loaded;
} lib;

static mst_status load(void) {
    if (lib.loaded) return MST_OK;
    void *handle = dlopen(LIBRARY, RTLD_NOW);
    if (!handle) return MST_FAIL(MST_UNIMPLEMENTED, "data: %s cannot be loaded", LIBRARY);
#define LOAD(name)                                \
    *(void **)(&lib.name) = dlsym(handle, #name); \
    if (!lib.name) return MST_FAIL(MST_UNIMPLEMENTED, "data: %s has no %s", LIBRARY, #name);
    FUNCTIONS(LOAD)
    lib.loaded = true;
    return MST_OK;
}

/* ---- pictures ---- */

/* A random number in [-0.5, 0.5), always the same for the same arguments. */
static float hash(uint32_t x, uint32_t y, uint32_t stream) {
    uint32_t h = x * 374761393u + y * 668265263u + stream * 2246822519u;
    h = (h ^ h >> 13) * 1274126177u;
    return (float)((h ^ h >> 16) >> 8) * 0x1p-24f - 0.5f;
}

/* Random values at integer coordinates, interpolated linearly between them. */
static float noise(float x, float y, uint32_t stream) {
    const uint32_t i = (uint32_t)x, j = (uint32_t)y; /* corner of the square that (x, y) is in */
    const float u = x - (float)i, v = y - (float)j;  /* place in that square, 0 to 1 */
    const float a = hash(i, j, stream), b = hash(i + 1, j, stream);
    const float c = hash(i, j + 1, stream), d = hash(i + 1, j + 1, stream);
    const float upper = a + (b - a) * u, lower = c + (d - c) * u;
    return upper + (lower - upper) * v;
}

/* Fills PIXELS, [HEIGHT][WIDTH][CHANNELS], with eight octaves of noise: each has half the period and 0.74 of the
 * strength of the one before. To noise that all channels share, each adds noise of its own, a third as strong. */
static void paint(uint32_t picture, uint8_t *pixels) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (uint32_t c = 0; c < CHANNELS; c++) {
                float value = 128, strength = 120;
                for (uint32_t octave = 0; octave < 8; octave++, strength *= 0.74f) {
                    const float scale = (float)(1 << octave) / 256;
                    const uint32_t stream = (picture * 8 + octave) * 4;
                    value += strength * (noise((float)x * scale, (float)y * scale, stream) +
                                         noise((float)x * scale, (float)y * scale, stream + 1 + c) / 3);
                }
                *pixels++ = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
}

/* Compresses PIXELS to *DATA, to be freed with free(). */
static void encode(uint8_t *pixels, uint8_t **data, size_t *size) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long length = 0;
    jpeg.err = lib.jpeg_std_error(&errors);
    lib.jpeg_CreateCompress(&jpeg, JPEG_LIB_VERSION, sizeof jpeg);
    lib.jpeg_mem_dest(&jpeg, data, &length);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = CHANNELS;
    jpeg.in_color_space = JCS_RGB;
    lib.jpeg_set_defaults(&jpeg);
    lib.jpeg_set_quality(&jpeg, BENCH_PICTURE_QUALITY, TRUE);
    lib.jpeg_start_compress(&jpeg, TRUE);
    for (JSAMPROW row = pixels; jpeg.next_scanline < HEIGHT; row += WIDTH * CHANNELS)
        (void)lib.jpeg_write_scanlines(&jpeg, &row, 1);
    lib.jpeg_finish_compress(&jpeg);
    lib.jpeg_destroy_compress(&jpeg);
    *size = length;
}

/* Decodes to planes, without upsampling the colors or converting to RGB. A call of jpeg_read_raw_data() gives 16 lines
 * of brightness and, since colors have half the resolution, 8 lines of each color. They lie at the start of PIXELS, and
 * each call overwrites those of the call before:
 *
 *     lines 0 to 15    brightness, STRIDE bytes each
 *     lines 16 to 23   half a line of the first color, half a line of the second
 */
static void decode(const uint8_t *data, size_t size, uint8_t *pixels) {
    enum { LINES = 2 * DCTSIZE, STRIDE = (WIDTH + LINES - 1) / LINES * LINES };
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    JSAMPROW line[CHANNELS][LINES];
    JSAMPARRAY lines[CHANNELS] = {line[0], line[1], line[2]};
    jpeg.err = lib.jpeg_std_error(&errors);
    lib.jpeg_CreateDecompress(&jpeg, JPEG_LIB_VERSION, sizeof jpeg);
    lib.jpeg_mem_src(&jpeg, data, size);
    (void)lib.jpeg_read_header(&jpeg, TRUE);
    jpeg.raw_data_out = TRUE;
    jpeg.dct_method = JDCT_IFAST;
    (void)lib.jpeg_start_decompress(&jpeg);
    for (int i = 0; i < LINES; i++) line[0][i] = pixels + i * STRIDE;
    for (int i = 0; i < DCTSIZE; i++) line[1][i] = line[0][LINES - 1] + (i + 1) * STRIDE;
    for (int i = 0; i < DCTSIZE; i++) line[2][i] = line[1][i] + STRIDE / 2;
    while (jpeg.output_scanline < jpeg.output_height) (void)lib.jpeg_read_raw_data(&jpeg, lines, LINES);
    (void)lib.jpeg_finish_decompress(&jpeg);
    lib.jpeg_destroy_decompress(&jpeg);
}
#else
static mst_status load(void) {
    return MST_FAIL(MST_UNIMPLEMENTED, "data: this Muster was built without libjpeg-turbo");
}

static void paint(uint32_t picture, uint8_t *pixels) {
    (void)picture, (void)pixels;
}

static void encode(uint8_t *pixels, uint8_t **data, size_t *size) {
    (void)pixels, (void)data, (void)size;
}

static void decode(const uint8_t *data, size_t size, uint8_t *pixels) {
    (void)data, (void)size, (void)pixels;
}
#endif

/* ---- files ---- */

static void file_path(const bench_pictures *pictures, int i, char *path, size_t size) {
    snprintf(path, size, "%s/class/%02d.jpg", pictures->folder, i);
}

static mst_status write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    const bool written = file && fwrite(data, 1, size, file) == size;
    if ((file && fclose(file)) || !written) return MST_FAIL(MST_IO, "'%s' cannot be written", path);
    return MST_OK;
}

mst_status bench_pictures_make(const char *folder, bench_pictures *out) {
    char path[128];
    *out = (bench_pictures){0};
    MST_TRY(load());
    if (mkdir(folder, 0700)) return MST_FAIL(MST_IO, "'%s' cannot be made", folder);
    snprintf(out->folder, sizeof out->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/class", folder);
    if (mkdir(path, 0700)) return MST_FAIL(MST_IO, "'%s' cannot be made", path);
    uint8_t *pixels = malloc(WIDTH * HEIGHT * CHANNELS);
    if (!pixels) return MST_FAIL(MST_OUT_OF_MEMORY, "data: cannot get memory");
    mst_status status = MST_OK;
    for (int i = 0; i < BENCH_PICTURES && !status; i++) {
        paint((uint32_t)i, pixels);
        encode(pixels, &out->data[i], &out->size[i]);
        file_path(out, i, path, sizeof path);
        status = write_file(path, out->data[i], out->size[i]);
    }
    free(pixels);
    return status;
}

void bench_pictures_remove(bench_pictures *pictures) {
    char path[128];
    if (!*pictures->folder) return; /* none were made: the paths would be "/class/00.jpg", ... */
    for (int i = 0; i < BENCH_PICTURES; i++) {
        file_path(pictures, i, path, sizeof path);
        unlink(path);
        free(pictures->data[i]);
    }
    snprintf(path, sizeof path, "%s/class", pictures->folder);
    rmdir(path);
    rmdir(pictures->folder);
}

mst_status bench_pictures_decode(const bench_pictures *pictures, uint32_t *sum) {
    uint8_t *pixels = calloc(WIDTH * HEIGHT, CHANNELS);
    if (!pixels) return MST_FAIL(MST_OUT_OF_MEMORY, "data: cannot get memory");
    for (int i = 0; i < BENCH_PICTURES; i++) {
        decode(pictures->data[i], pictures->size[i], pixels);
        *sum += pixels[0];
    }
    free(pixels);
    return MST_OK;
}
