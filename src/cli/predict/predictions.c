#include "cli/predict/predictions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "cli/json_events.h"

/* One of the outputs of the model. */
typedef struct column {
    const mst_tensor *values;
    const objective *objective;
    const char *const *names; /* of the classes, or of a table's several labels */
    const char *output;       /* its name if there are several outputs, else NULL */
} column;

static column column_at(const predictions *p, int i) {
    const char *name = p->objective[i].output;
    const char *const *names = p->objective[i].columns ? p->objective[i].columns : p->objective[i].names;
    return (column){p->outputs[i], &p->objective[i], names, p->count > 1 ? name ? name : "" : NULL};
}

static int64_t num_outputs(const column *c) {
    return c->objective->outputs;
}

static bool has_classes(const column *c) {
    return objective_has_classes(c->objective);
}

/* The title of the value that is shown beside the class of a row. */
static const char *measure_title(const column *c) {
    return c->objective->has_scores ? "score" : "probability";
}

static int64_t num_rows(const predictions *p) {
    return mst_tensor_shape(p->outputs[0]).dim[0];
}

static double output_at(const column *c, int64_t row, int64_t i) {
    return mst_tensor_get(c->values, row * num_outputs(c) + i);
}

/* The name of the class of a row, or its number as text. *CLASS becomes its number; CLASS may be NULL. */
static const char *class_of(const column *c, int64_t row, char number[24], int64_t *class, double *probability) {
    const int64_t best = objective_class(c->objective, c->values, row, probability);
    const char *name = class_names_at(c->names, best);
    if (class) *class = best;
    snprintf(number, 24, "%" PRId64, best);
    return name ? name : number;
}

static const char *row_title(const predictions *p) {
    return p->files ? "file" : "row";
}

/* ---- table ---- */

enum { MOST_PATH = 4096, NAME_SIZE = 512, MOST_SHOWN = 20 };

static const char *class_title(const column *c) {
    return c->output ? c->output : "class";
}

/* The width of the column of classes: that of the longest name or of the title, which is wider than a number. */
static int class_width(const column *c) {
    const int least = (int)strlen(class_title(c)), width = class_names_width(c->names);
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

/* Prints the number of the row, or the name of its file without control characters. */
static void print_row_title(const predictions *p, int64_t row, int width) {
    char text[MOST_PATH];
    if (p->files)
        printf("%-*s", width, mst_escape_line(p->files[row], strlen(p->files[row]), text, sizeof text));
    else
        printf("%*" PRId64, width, row);
}

/* Prints the names of several labels. */
static void print_columns(const column *c) {
    char text[CLASS_NAME_TEXT];
    const int64_t n = num_outputs(c);
    for (int64_t i = 0; i < n && i < MOST_SHOWN; i++) printf("  %s", class_name_shown(c->names[i], text));
}

static void print_title(const column *c) {
    const char *one = num_outputs(c) == 1 ? "output" : "outputs";
    if (has_classes(c))
        printf("  %-*s  %s", class_width(c), class_title(c), measure_title(c));
    else if (c->objective->columns)
        print_columns(c);
    else
        printf("  %s", c->output ? c->output : one);
}

static void print_values(const column *c, int64_t row) {
    double probability;
    char number[24], text[CLASS_NAME_TEXT];
    if (has_classes(c)) {
        const char *class = class_of(c, row, number, NULL, &probability);
        printf(c->objective->has_scores ? "  %-*s  %.6g" : "  %-*s  %.4f", class_width(c),
               class_name_shown(class, text), probability);
    }
    const int64_t n = has_classes(c) ? 0 : num_outputs(c), shown = n > MOST_SHOWN ? MOST_SHOWN : n;
    for (int64_t i = 0; i < shown; i++) printf("  %.6g", output_at(c, row, i));
    if (shown < n) printf("  ... %" PRId64 " more", n - shown);
}

void predictions_print(const predictions *p) {
    const int first = row_width(p);
    printf("%*s", p->files ? -first : first, row_title(p));
    for (int i = 0; i < p->count; i++) {
        const column c = column_at(p, i);
        print_title(&c);
    }
    putchar('\n');
    for (int64_t row = 0; row < num_rows(p); row++) {
        print_row_title(p, row, first);
        for (int i = 0; i < p->count; i++) {
            const column c = column_at(p, i);
            print_values(&c, row);
        }
        putchar('\n');
    }
}

/* ---- events ---- */

static void add_values(json_t **object, const column *c, int64_t row) {
    if (has_classes(c)) {
        double probability;
        char number[24];
        int64_t class;
        const char *name = class_of(c, row, number, &class, &probability);
        json_add(object, "", "class", json_integer(class));
        if (name != number) json_add(object, "", "name", json_text(name));
        json_add(object, "", measure_title(c), json_number(probability));
        return;
    }
    json_t *outputs = json_array();
    for (int64_t i = 0; i < num_outputs(c); i++) json_array_append_new(outputs, json_number(output_at(c, row, i)));
    json_add(object, "", "outputs", outputs);
}

static mst_status write_event(const predictions *p, int64_t row) {
    json_t *event = json_event("prediction"), *all = p->count > 1 ? json_object() : NULL;
    json_add(&event, "", row_title(p), p->files ? json_text(p->files[row]) : json_integer(row));
    for (int i = 0; i < p->count; i++) {
        const column c = column_at(p, i);
        json_t *one = c.output ? json_object() : NULL;
        add_values(c.output ? &one : &event, &c, row);
        if (c.output) json_object_set_new(all, c.output, one);
    }
    if (all) json_add(&event, "", "outputs", all);
    return json_write(event);
}

mst_status predictions_write_events(const predictions *p) {
    for (int64_t row = 0; row < num_rows(p); row++) MST_TRY(write_event(p, row));
    return MST_OK;
}

/* ---- CSV ---- */

static void write_quoted(FILE *file, const char *text) {
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
}

/* Writes BEFORE and TEXT as one cell, in quotes if needed. */
static void write_cell(FILE *file, const char *before, const char *text) {
    static const char special[] = ",\"\r\n";
    const bool quoted = strpbrk(text, special) || strpbrk(before, special);
    if (quoted) putc('"', file);
    write_quoted(file, before);
    write_quoted(file, text);
    if (quoted) putc('"', file);
}

/* Writes a column's title. If there are several outputs, the name of the output comes before it. */
static void write_title(FILE *file, const column *c, const char *title) {
    char before[NAME_SIZE] = "";
    if (c->output) snprintf(before, sizeof before, "%s%s", c->output, *title ? "_" : "");
    putc(',', file);
    write_cell(file, before, title);
}

static void write_titles(FILE *file, const column *c) {
    const int64_t n = num_outputs(c);
    if (has_classes(c)) write_title(file, c, "class");
    if (n == 1) write_title(file, c, has_classes(c) ? measure_title(c) : c->output ? "" : "output");
    for (int64_t i = 0; n > 1 && i < n; i++) {
        char number[32];
        const char *name = has_classes(c) || c->objective->columns ? class_names_at(c->names, i) : NULL;
        snprintf(number, sizeof number, "%s%" PRId64, c->output ? "" : "output_", i);
        write_title(file, c, name ? name : number);
    }
}

static void write_values(FILE *file, const column *c, int64_t row) {
    if (has_classes(c)) {
        double probability;
        char number[24];
        putc(',', file);
        write_cell(file, "", class_of(c, row, number, NULL, &probability));
    }
    for (int64_t i = 0; i < num_outputs(c); i++) fprintf(file, ",%.9g", output_at(c, row, i));
}

static void write_header(FILE *file, const predictions *p) {
    fputs(row_title(p), file);
    for (int i = 0; i < p->count; i++) {
        const column c = column_at(p, i);
        write_titles(file, &c);
    }
    putc('\n', file);
}

static void write_row(FILE *file, const predictions *p, int64_t row) {
    if (p->files)
        write_cell(file, "", p->files[row]);
    else
        fprintf(file, "%" PRId64, row);
    for (int i = 0; i < p->count; i++) {
        const column c = column_at(p, i);
        write_values(file, &c, row);
    }
    putc('\n', file);
}

static bool write_all(FILE *file, const predictions *p) {
    write_header(file, p);
    for (int64_t row = 0; row < num_rows(p); row++) write_row(file, p, row);
    return !ferror(file);
}

mst_status predictions_print_csv(const predictions *p, FILE *file) {
    errno = 0;
    if (write_all(file, p) && !fflush(file)) return MST_OK;
    return MST_FAIL(MST_IO, "the predictions cannot be written: %s", errno ? strerror(errno) : "a write failed");
}

mst_status predictions_write_csv(const predictions *p, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) return MST_NO_MEMORY("for '%s'", path);
    const bool whole = write_all(file, p);
    if (fclose(file) || !whole) {
        free(text);
        return MST_NO_MEMORY("for '%s'", path);
    }
    const mst_file_part part = {text, size};
    const mst_status status = mst_file_write_parts(path, &part, 1);
    free(text);
    return status;
}
