#include "cli/predict/predictions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "cli/json_events.h"

static int64_t num_outputs(const predictions *p) {
    return p->objective->outputs;
}

static int64_t num_rows(const predictions *p) {
    return mst_tensor_shape(p->outputs).dim[0];
}

static double output_at(const predictions *p, int64_t row, int64_t i) {
    return mst_tensor_get(p->outputs, row * num_outputs(p) + i);
}

/* The name of the class of a row, or its number as text; CLASS (may be NULL) is that number. */
static const char *class_of(const predictions *p, int64_t row, char number[24], int64_t *class, double *probability) {
    const int64_t best = objective_class(p->objective, p->outputs, row, probability);
    const char *name = class_names_at(p->names, best);
    if (class) *class = best;
    snprintf(number, 24, "%" PRId64, best);
    return name ? name : number;
}

static const char *row_title(const predictions *p) {
    return p->files ? "file" : "row";
}

/* ---- table ---- */

enum { MOST_PATH = 4096 };

/* As wide as the longest name, or the number of the last class. */
static int class_width(const predictions *p) {
    const int least = (int)sizeof "class" - 1, width = class_names_width(p->names);
    return width > least ? width : least;
}

static int row_width(const predictions *p) {
    int width = 8;
    for (int64_t row = 0; p->files && row < num_rows(p); row++) {
        const size_t length = strlen(p->files[row]);
        if (length > (size_t)width) width = (int)length;
    }
    return width;
}

/* The number of the row, or its file without what would steer a terminal. */
static void print_row_title(const predictions *p, int64_t row, int width) {
    char text[MOST_PATH];
    if (p->files)
        printf("%-*s", width, mst_escape_line(p->files[row], strlen(p->files[row]), text, sizeof text));
    else
        printf("%*" PRId64, width, row);
}

void predictions_print(const predictions *p) {
    const bool classes = objective_has_classes(p->objective);
    const int width = class_width(p), first = row_width(p);
    printf("%*s", p->files ? -first : first, row_title(p));
    if (classes)
        printf("  %-*s  probability\n", width, "class");
    else
        printf("  %s\n", num_outputs(p) == 1 ? "output" : "outputs");
    for (int64_t row = 0; row < num_rows(p); row++) {
        print_row_title(p, row, first);
        if (classes) {
            double probability;
            char number[24], text[CLASS_NAME_TEXT];
            const char *class = class_of(p, row, number, NULL, &probability);
            printf("  %-*s  %.4f", width, class_name_shown(class, text), probability);
        }
        for (int64_t i = 0; !classes && i < num_outputs(p); i++) printf("  %.6g", output_at(p, row, i));
        putchar('\n');
    }
}

/* ---- events ---- */

static mst_status write_event(const predictions *p, int64_t row) {
    json_t *event = json_event("prediction");
    json_add(&event, "", row_title(p), p->files ? json_text(p->files[row]) : json_integer(row));
    if (objective_has_classes(p->objective)) {
        double probability;
        char number[24];
        int64_t class;
        const char *name = class_of(p, row, number, &class, &probability);
        json_add(&event, "", "class", json_integer(class));
        if (name != number) json_add(&event, "", "name", json_text(name));
        json_add(&event, "", "probability", json_number(probability));
        return json_write(event);
    }
    json_t *outputs = json_array();
    for (int64_t i = 0; i < num_outputs(p); i++) json_array_append_new(outputs, json_number(output_at(p, row, i)));
    json_add(&event, "", "outputs", outputs);
    return json_write(event);
}

mst_status predictions_write_events(const predictions *p) {
    for (int64_t row = 0; row < num_rows(p); row++) MST_TRY(write_event(p, row));
    return MST_OK;
}

/* ---- CSV ---- */

/* In quotes where it has to be. */
static void write_cell(FILE *file, const char *text) {
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    if (quoted) putc('"', file);
}

static void write_header(FILE *file, const predictions *p) {
    const int64_t n = num_outputs(p);
    fputs(row_title(p), file);
    if (objective_has_classes(p->objective)) fputs(",class", file);
    for (int64_t i = 0; i < n; i++) {
        const char *name = n > 1 && objective_has_classes(p->objective) ? class_names_at(p->names, i) : NULL;
        putc(',', file);
        if (name)
            write_cell(file, name);
        else if (n == 1)
            fputs(objective_has_classes(p->objective) ? "probability" : "output", file);
        else
            fprintf(file, "output_%" PRId64, i);
    }
    putc('\n', file);
}

static void write_row(FILE *file, const predictions *p, int64_t row) {
    if (p->files)
        write_cell(file, p->files[row]);
    else
        fprintf(file, "%" PRId64, row);
    if (objective_has_classes(p->objective)) {
        double probability;
        char number[24];
        putc(',', file);
        write_cell(file, class_of(p, row, number, NULL, &probability));
    }
    for (int64_t i = 0; i < num_outputs(p); i++) fprintf(file, ",%.9g", output_at(p, row, i));
    putc('\n', file);
}

mst_status predictions_write_csv(const predictions *p, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return MST_NO_MEMORY("for '%s'", path);
    write_header(file, p);
    for (int64_t row = 0; row < num_rows(p); row++) write_row(file, p, row);
    const bool whole = !ferror(file);
    if (fclose(file) || !whole) {
        free(text);
        return MST_NO_MEMORY("for '%s'", path);
    }
    const mst_file_part part = {text, size};
    const mst_status status = mst_file_write_parts(path, &part, 1);
    free(text);
    return status;
}
