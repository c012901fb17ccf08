/* clang -fsanitize=fuzzer,address,undefined: muster inspect, of files of any format, which its bytes tell. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/image.h"
#include "memory.h"
#include "muster/inspect.h"

static mst_status inspect(const char *path, int json, char **text, size_t *size) {
    FILE *out = open_memstream(text, size);
    if (!out) __builtin_trap();
    const mst_status status = json ? mst_inspect_json(path, out) : mst_inspect(path, out);
    fclose(out);
    return status;
}

static void read_input(const uint8_t *data, size_t size) {
    char path[64], *text, *line;
    size_t text_size, line_size;
    const int file = memfd_create("input", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) __builtin_trap();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const mst_status status = inspect(path, 0, &text, &text_size);
    if (inspect(path, 1, &line, &line_size) != status) __builtin_trap();
    for (size_t i = 0; i < text_size; i++) /* nothing that a terminal would act on */
        if ((unsigned char)text[i] < ' ' && text[i] != '\n') __builtin_trap();
    json_t *json = line_size ? json_loads(line, 0, NULL) : NULL;
    if (line_size && !json) __builtin_trap();
    json_decref(json);
    free(text);
    free(line);
    close(file);
}

/* Pictures take the most, see there. */
FUZZ(read_input, 9 * MST_IMAGE_PIXELS_OF_BYTE, 14 << 20)
