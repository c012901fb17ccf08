#include "cli/model/print_restored.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/model/scale_inputs.h"

static mst_status write_event(const mst_restored *r, const application_pixels *pixels) {
    json_t *event = json_event("restored");
    json_add(&event, "", "path", json_text(r->path));
    json_add(&event, "", "step", json_step(r->step));
    json_add(&event, "", "missing", json_text(r->missing));
    json_add(&event, "", "left_over", json_text(r->left_over));
    json_add(&event, "", "damaged", json_text(r->damaged));
    if (pixels) json_add(&event, "", "pixels", json_string(pixels_choices[pixels->pixels]));
    if (pixels) json_add(&event, "", "pixels_of", json_text(pixels->name));
    return json_write(event);
}

/* Prints names from a file, which may hold any bytes, with control characters escaped. */
static void print_names(const char *what, const char *names) {
    enum { EACH = MST_ESCAPE_TEXT - 1 }; /* bytes that one byte becomes at most */
    const size_t size = strlen(names);
    char *text = malloc(size * EACH + sizeof "..." + MST_ESCAPE_TEXT);
    if (text && size) printf("%s: %s\n", what, mst_escape_line(names, size, text, size * EACH + sizeof "..." + EACH));
    free(text);
}

mst_status restored_show(const mst_restored *r, const application_pixels *pixels, bool json, bool quiet) {
    char path[PATH_MAX]; /* r->path, escaped: it may come from the list of checkpoints, a file with any bytes */
    if (*r->damaged) command_warn("an older checkpoint is used: %s", r->damaged);
    if (json) return write_event(r, pixels);
    if (quiet) return MST_OK;
    printf("restored %s", mst_escape_line(r->path, strlen(r->path), path, sizeof path));
    if (r->step)
        printf(", step %" PRId64, r->step);
    else
        printf(", the weights alone");
    if (pixels)
        printf(", pixels %s, as %s of keras.applications takes them", pixels_choices[pixels->pixels], pixels->name);
    putchar('\n');
    print_names("not in the file, as they were", r->missing);
    print_names("in the file, not in the model", r->left_over);
    fflush(stdout);
    return MST_OK;
}
