/* The module `jpeg`: JPEG files by libjpeg-turbo. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "format/image.h"
#include "module/module.h"

/* Of a progressive file, each scan goes over the whole picture: a small file could keep a thread busy for minutes. */
enum { MOST_SCANS = 500 };

/* libjpeg reports an error by a function that must not return. */
typedef struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;      /* jpeg.err */
    struct jpeg_progress_mgr progress; /* jpeg.progress */
    jmp_buf failed;
    bool incomplete;
    char message[JMSG_LENGTH_MAX];
} decoder;

static void fail(j_common_ptr jpeg) {
    decoder *d = jpeg->client_data;
    d->errors.format_message(jpeg, d->message);
    longjmp(d->failed, 1);
}

/* Most warnings are of files that every program shows; with these pixels are missing. */
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

static mst_status check_colors(const decoder *d, const char *name) {
    if (d->jpeg.jpeg_color_space != JCS_CMYK && d->jpeg.jpeg_color_space != JCS_YCCK) return MST_OK;
    return MST_FAIL(MST_UNIMPLEMENTED, "'%s': its colors are CMYK: save it as RGB", name);
}

/* Nothing here is kept in variables over a jump. */
static mst_status decode(decoder *d, const char *name, const void *data, size_t size, const mst_image_want *want,
                         mst_image *out) {
    if (setjmp(d->failed)) return MST_FAIL(MST_CORRUPT, "'%s': is no intact JPEG: %s", name, d->message);
    jpeg_create_decompress(&d->jpeg);
    d->progress.progress_monitor = count_scans;
    d->jpeg.progress = &d->progress;
    jpeg_mem_src(&d->jpeg, data, size);
    (void)jpeg_read_header(&d->jpeg, TRUE);
    MST_TRY(check_colors(d, name));
    d->jpeg.out_color_space = want->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    d->jpeg.scale_num = 1;
    d->jpeg.scale_denom = scale_of(d, want);
    d->jpeg.mem->max_memory_to_use = MST_IMAGE_MOST_BYTES;
    jpeg_calc_output_dimensions(&d->jpeg);
    MST_TRY(mst_image_alloc(name, size, d->jpeg.output_height, d->jpeg.output_width, out));
    (void)jpeg_start_decompress(&d->jpeg);
    while (d->jpeg.output_scanline < d->jpeg.output_height && !d->incomplete) {
        JSAMPROW row = out->pixels + (size_t)d->jpeg.output_scanline * (size_t)out->width * (size_t)out->channels;
        (void)jpeg_read_scanlines(&d->jpeg, &row, 1);
    }
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
    return status;
}

static const mst_codec codec = {.decode = decode_jpeg};

extern const mst_module mst_module_jpeg;
const mst_module mst_module_jpeg = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "jpeg", .version = MST_VERSION, .interface = &codec};
