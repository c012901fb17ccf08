/* The module `jpeg`: decodes JPEG files by libjpeg-turbo to pixels, or to planes of brightness and color (Y, Cb, Cr),
 * which are resized before they become RGB (data/pictures/resize.h).
 *
 * libjpeg reports an error by calling a function that must not return: `fail` jumps back to `decode` by longjmp. The
 * jump may lose the values of local variables, so pointers to memory that must be freed are in the decoder or in *OUT.
 * Warnings of missing data are errors. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/no_memory.h"
#include "format/image.h"
#include "module/module.h"

/* Each scan of a progressive file passes over the whole picture, so a small file could keep a thread busy for
 * minutes. */
enum { MOST_SCANS = 500, PLANES = 3 };

/* What libjpeg's callbacks and `decode` share. */
typedef struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;      /* used as jpeg.err */
    struct jpeg_progress_mgr progress; /* used as jpeg.progress */
    jmp_buf failed;
    bool incomplete;
    uint8_t *inks;           /* one row of CMYK pixels */
    size_t plane_at[PLANES]; /* byte at which each plane begins in the pixels */
    char message[JMSG_LENGTH_MAX];
} decoder;

static void fail(j_common_ptr jpeg) {
    decoder *d = jpeg->client_data;
    d->errors.format_message(jpeg, d->message);
    longjmp(d->failed, 1);
}

/* Notes the warnings that mean missing pixels. Files with other warnings are mostly files that every program shows. */
static void warn(j_common_ptr jpeg, int level) {
    decoder *d = jpeg->client_data;
    const int code = d->errors.msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
        d->incomplete = true;
}

static void count_scans(j_common_ptr jpeg) {
    decoder *d = jpeg->client_data;
    if (d->jpeg.input_scan_number <= MOST_SCANS) return;
    snprintf(d->message, sizeof d->message, "it has more than %d scans", MOST_SCANS);
    longjmp(d->failed, 1);
}

static unsigned scale_of(const decoder *d, const mst_image_want *want) {
    unsigned denominator = 1;
    if (want->least_height < 1 || want->least_width < 1) return 1;
    for (unsigned next = 2; next <= 8; next *= 2)
        if ((d->jpeg.image_height + next - 1) / next >= (uint64_t)want->least_height &&
            (d->jpeg.image_width + next - 1) / next >= (uint64_t)want->least_width)
            denominator = next;
    return denominator;
}

static bool is_cmyk(const decoder *d) {
    return d->jpeg.jpeg_color_space == JCS_CMYK || d->jpeg.jpeg_color_space == JCS_YCCK;
}

/* Chooses the color space of the result. CMYK cannot become gray: neither libjpeg nor TensorFlow does that. */
static mst_status choose_colors(decoder *d, const char *name, const mst_image_want *want) {
    d->jpeg.out_color_space = is_cmyk(d) ? JCS_CMYK : want->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    if (!is_cmyk(d)) return MST_OK;
    if (want->channels == 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': its colors are CMYK, which are not made gray: save it as RGB", name);
    if ((d->inks = malloc(4 * (size_t)d->jpeg.image_width))) return MST_OK;
    return MST_NO_MEMORY("for a row of '%s'", name);
}

/* Converts a row of CMYK to RGB, as tf.io.decode_jpeg does. Adobe's programs write inverted values of CMYK. Source:
 * tensorflow/core/lib/jpeg/jpeg_mem.cc. */
static void inks_to_rgb(const decoder *d, uint8_t *rgb) {
    const uint8_t *ink = d->inks;
    for (JDIMENSION i = 0; i < d->jpeg.output_width; i++, ink += 4, rgb += 3)
        for (int c = 0; c < 3; c++)
            rgb[c] =
                (uint8_t)(d->jpeg.saw_Adobe_marker ? ink[3] * ink[c] / 255 : (255 - ink[3]) * (255 - ink[c]) / 255);
}

/* The height in samples of a decoded block of a component, and of the smallest block of all components. Both depend on
 * the scale. The names of both members differ between versions of libjpeg. */
#if JPEG_LIB_VERSION >= 70
#define COMPONENT_SIZE(component) ((component)->DCT_v_scaled_size)
#define SMALLEST_SIZE(jpeg) ((jpeg)->min_DCT_v_scaled_size)
#else
#define COMPONENT_SIZE(component) ((component)->DCT_scaled_size)
#define SMALLEST_SIZE(jpeg) ((jpeg)->min_DCT_scaled_size)
#endif

/* How many pixels of the picture a sample of a component covers in x or y; 0 if that number is not an integer. FACTOR
 * is the component's sampling factor, MOST_FACTOR the largest factor of all components. */
static int step_of(const decoder *d, const jpeg_component_info *component, int most_factor, int factor) {
    const int pixels = most_factor * SMALLEST_SIZE(&d->jpeg), samples = factor * COMPONENT_SIZE(component);
    return pixels % samples ? 0 : pixels / samples;
}

/* Whether the picture can be decoded to planes. It needs a sample of brightness for each pixel; the samples of color
 * may be fewer. */
static bool has_planes(const decoder *d) {
    if (d->jpeg.jpeg_color_space != JCS_YCbCr || d->jpeg.num_components != PLANES) return false;
    for (int c = 0; c < PLANES; c++) {
        const jpeg_component_info *component = &d->jpeg.comp_info[c];
        const int x = step_of(d, component, d->jpeg.max_h_samp_factor, component->h_samp_factor);
        const int y = step_of(d, component, d->jpeg.max_v_samp_factor, component->v_samp_factor);
        if (x < 1 || y < 1 || (c == 0 && (x > 1 || y > 1))) return false;
    }
    return true;
}

/* Allocates the planes, one after the other. libjpeg writes whole blocks, so each plane has room for whole blocks. */
static mst_status alloc_planes(decoder *d, const char *name, size_t size, mst_image *out) {
    size_t bytes = 0;
    out->height = d->jpeg.output_height;
    out->width = d->jpeg.output_width;
    MST_TRY(mst_image_check(name, size, out->height, out->width, PLANES));
    for (int c = 0; c < PLANES; c++) {
        const jpeg_component_info *component = &d->jpeg.comp_info[c];
        const int64_t block = COMPONENT_SIZE(component), rows = component->v_samp_factor * block;
        out->plane[c] =
            (mst_image_plane){.height = component->downsampled_height,
                              .width = component->downsampled_width,
                              .stride = component->width_in_blocks * block,
                              .x_step = step_of(d, component, d->jpeg.max_h_samp_factor, component->h_samp_factor),
                              .y_step = step_of(d, component, d->jpeg.max_v_samp_factor, component->v_samp_factor)};
        d->plane_at[c] = bytes;
        bytes += (size_t)(out->plane[c].stride * rows * d->jpeg.total_iMCU_rows);
    }
    out->pixels = malloc(bytes);
    for (int c = 0; c < PLANES && out->pixels; c++) out->plane[c].pixels = out->pixels + d->plane_at[c];
    return out->pixels ? MST_OK : MST_NO_MEMORY("for the pixels of '%s'", name);
}

static void read_planes(decoder *d, const mst_image *image) {
    const JDIMENSION lines = (JDIMENSION)(d->jpeg.max_v_samp_factor * SMALLEST_SIZE(&d->jpeg));
    JSAMPROW row[PLANES][MAX_SAMP_FACTOR * DCTSIZE];
    JSAMPARRAY rows[PLANES];
    for (JDIMENSION i = 0; d->jpeg.output_scanline < d->jpeg.output_height && !d->incomplete; i++) {
        for (int c = 0; c < PLANES; c++) {
            const int n = d->jpeg.comp_info[c].v_samp_factor * COMPONENT_SIZE(&d->jpeg.comp_info[c]);
            JSAMPROW first = image->pixels + d->plane_at[c] + (size_t)n * i * (size_t)image->plane[c].stride;
            for (int k = 0; k < n; k++) row[c][k] = first + k * image->plane[c].stride;
            rows[c] = row[c];
        }
        (void)jpeg_read_raw_data(&d->jpeg, rows, lines);
    }
}

static void read_pixels(decoder *d, const mst_image *image) {
    while (d->jpeg.output_scanline < d->jpeg.output_height && !d->incomplete) {
        JSAMPROW row = image->pixels + (size_t)d->jpeg.output_scanline * (size_t)(image->width * image->channels);
        JSAMPROW into = d->inks ? d->inks : row;
        const JDIMENSION lines = jpeg_read_scanlines(&d->jpeg, &into, 1);
        if (d->inks && lines) inks_to_rgb(d, row);
    }
}

/* After a jump, local variables may have lost their values. So all values that are needed then are in D. */
static mst_status decode(decoder *d, const char *name, const void *data, size_t size, const mst_image_want *want,
                         mst_image *out) {
    if (setjmp(d->failed)) return MST_FAIL(MST_CORRUPT, "'%s': is no intact JPEG: %s", name, d->message);
    jpeg_create_decompress(&d->jpeg);
    d->progress.progress_monitor = count_scans;
    d->jpeg.progress = &d->progress;
    jpeg_mem_src(&d->jpeg, data, size);
    (void)jpeg_read_header(&d->jpeg, TRUE);
    MST_TRY(mst_image_check_header(name, size, d->jpeg.image_height, d->jpeg.image_width));
    MST_TRY(choose_colors(d, name, want));
    d->jpeg.scale_num = 1;
    d->jpeg.scale_denom = scale_of(d, want);
    d->jpeg.mem->max_memory_to_use = MST_IMAGE_MOST_BYTES;
    jpeg_calc_output_dimensions(&d->jpeg);
    d->jpeg.raw_data_out = want->planes && want->channels == PLANES && has_planes(d);
    /* JDCT_IFAST is TensorFlow's default. Decoding is 3% faster than with libjpeg's default. At quality 90, pixels
     * differ by 1 of 255 on average. */
    if (d->jpeg.raw_data_out) d->jpeg.dct_method = JDCT_IFAST;
    if (d->jpeg.raw_data_out)
        MST_TRY(alloc_planes(d, name, size, out));
    else
        MST_TRY(mst_image_alloc(name, size, d->jpeg.output_height, d->jpeg.output_width, out));
    (void)jpeg_start_decompress(&d->jpeg);
    if (d->jpeg.raw_data_out)
        read_planes(d, out);
    else
        read_pixels(d, out);
    if (!d->incomplete) (void)jpeg_finish_decompress(&d->jpeg);
    if (!d->incomplete) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': the JPEG is damaged or ends too early: get it again", name);
}

static mst_status decode_jpeg(const char *name, const void *data, size_t size, const mst_image_want *want,
                              mst_image *out) {
    decoder d;
    memset(&d, 0, sizeof d);
    d.jpeg.err = jpeg_std_error(&d.errors);
    d.jpeg.client_data = &d;
    d.errors.error_exit = fail;
    d.errors.emit_message = warn;
    const mst_status status = decode(&d, name, data, size, want, out);
    jpeg_destroy_decompress(&d.jpeg);
    free(d.inks);
    return status;
}

static const mst_codec codec = {.decode = decode_jpeg};

extern const mst_module mst_module_jpeg;
const mst_module mst_module_jpeg = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "jpeg", .version = MST_VERSION, .interface = &codec};
