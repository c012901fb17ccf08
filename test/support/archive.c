#include "support/archive.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

void blob_add(blob *b, const void *data, size_t size) {
    b->data = realloc(b->data, b->size + size + 1);
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}

void blob_little(blob *b, uint64_t value, int size) {
    for (int i = 0; i < size; i++) blob_add(b, &(uint8_t){(uint8_t)(i < 8 ? value >> (8 * i) : 0)}, 1);
}

void blob_big(blob *b, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; i--) blob_add(b, &(uint8_t){(uint8_t)(i < 8 ? value >> (8 * i) : 0)}, 1);
}

void blob_free(blob *b) {
    free(b->data);
    *b = (blob){0};
}

void blob_idx(blob *b, int type, int ndim, const uint32_t *dim) {
    blob_big(b, (uint64_t)type << 8 | (uint64_t)ndim, 4);
    for (int i = 0; i < ndim; i++) blob_big(b, dim[i], 4);
}

void blob_idx_u8(blob *b, int ndim, const uint32_t *dim, unsigned factor) {
    size_t count = 1;
    blob_idx(b, 8, ndim, dim);
    for (int i = 0; i < ndim; i++) count *= dim[i];
    uint8_t *data = malloc(count + 1);
    for (size_t i = 0; i < count; i++) data[i] = (uint8_t)(i * factor % 251);
    blob_add(b, data, count);
    free(data);
}

static void compress(blob *b, const void *data, size_t size, uint16_t wrapper) {
    static const size_t most_growth = 1024;
    struct isal_zstream stream;
    uint8_t *out = malloc(size + size / 8 + most_growth);
    isal_deflate_stateless_init(&stream);
    stream.gzip_flag = wrapper;
    stream.end_of_stream = 1;
    stream.next_in = (uint8_t *)(uintptr_t)data;
    stream.avail_in = (uint32_t)size;
    stream.next_out = out;
    stream.avail_out = (uint32_t)(size + size / 8 + most_growth);
    isal_deflate_stateless(&stream);
    blob_add(b, out, stream.total_out);
    free(out);
}

void blob_gzip(blob *b, const void *data, size_t size) {
    compress(b, data, size, IGZIP_GZIP);
}

void blob_deflate(blob *b, const void *data, size_t size) {
    compress(b, data, size, IGZIP_DEFLATE);
}

void blob_npy(blob *b, int version, const char *text, const void *data, size_t size) {
    blob_add(b, "\x93NUMPY", 6);
    blob_little(b, (uint64_t)version, 2);
    blob_little(b, strlen(text), version == 1 ? 2 : 4);
    blob_add(b, text, strlen(text));
    blob_add(b, data, size);
}

void zip_add(zip_maker *zip, const char *name, const blob *data, int method) {
    blob packed = {0}, fields = {0};
    if (method == 8)
        blob_deflate(&packed, data->data, data->size);
    else
        blob_add(&packed, data->data, data->size);
    blob_little(&fields, 20, 2); /* version needed */
    blob_little(&fields, 0, 2);  /* flags */
    blob_little(&fields, (uint64_t)method, 2);
    blob_little(&fields, 0, 4); /* time and date */
    blob_little(&fields, crc32_gzip_refl(0, data->data, data->size), 4);
    blob_little(&fields, packed.size, 4);
    blob_little(&fields, data->size, 4);
    blob_little(&fields, strlen(name), 2);
    blob_little(&fields, 0, 2); /* extra */

    blob_little(&zip->directory, 0x02014b50, 4);
    blob_little(&zip->directory, 20, 2); /* made by */
    blob_add(&zip->directory, fields.data, fields.size);
    blob_little(&zip->directory, 0, 10); /* comment, disk, attributes */
    blob_little(&zip->directory, zip->file.size, 4);
    blob_add(&zip->directory, name, strlen(name));

    blob_little(&zip->file, 0x04034b50, 4);
    blob_add(&zip->file, fields.data, fields.size);
    blob_add(&zip->file, name, strlen(name));
    blob_add(&zip->file, packed.data, packed.size);
    zip->num_entries++;
    blob_free(&packed);
    blob_free(&fields);
}

void zip_end(zip_maker *zip) {
    size_t offset = zip->file.size;
    blob_add(&zip->file, zip->directory.data, zip->directory.size);
    blob_little(&zip->file, 0x06054b50, 4);
    blob_little(&zip->file, 0, 4);
    blob_little(&zip->file, (uint64_t)zip->num_entries, 2);
    blob_little(&zip->file, (uint64_t)zip->num_entries, 2);
    blob_little(&zip->file, zip->directory.size, 4);
    blob_little(&zip->file, offset, 4);
    blob_little(&zip->file, 0, 2);
}

void zip_free(zip_maker *zip) {
    blob_free(&zip->file);
    blob_free(&zip->directory);
    *zip = (zip_maker){0};
}
