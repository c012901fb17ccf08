/* The table of a model's layers, as Keras 3 prints it: columns of fixed widths, words wrapped within their cells,
 * and the numbers of parameters below. Names, shapes and counts are those of mst_model_describe. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "model/describe.h"

enum { MOST_COLUMNS = 4, CELL = 1024 };

/* The widths are Keras' widths for a terminal of 80 columns. A cell has a space on each side. */
typedef struct table {
    FILE *file;
    int num_columns;
    int width[MOST_COLUMNS];
    bool right[MOST_COLUMNS]; /* aligned to the right */
} table;

static const table chain_table = {NULL, 3, {31, 22, 13}, {false, false, true}};
static const table graph_table = {NULL, 4, {19, 17, 10, 17}, {false, false, true, false}};

static void rule(const table *t, const char *left, const char *dash, const char *cross, const char *right) {
    fputs(left, t->file);
    for (int c = 0; c < t->num_columns; c++) {
        for (int i = 0; i < t->width[c] + 2; i++) fputs(dash, t->file);
        fputs(c + 1 < t->num_columns ? cross : right, t->file);
    }
    fputc('\n', t->file);
}

/* Prints the next line of a cell, as many words of *TEXT as fit, and moves *TEXT past them. A word that is too long
 * is cut. */
static void print_line(const table *t, int column, const char **text) {
    const int width = t->width[column];
    const char *begin = *text + strspn(*text, " "), *end = begin, *word = begin;
    while (*word) {
        const char *stop = word + strcspn(word, " ");
        if (stop - begin > width && end > begin) break;
        end = stop;
        word = stop + strspn(stop, " ");
    }
    *text = word;
    const bool cut = end - begin > width;
    const int length = cut ? width : (int)(end - begin), padding = width - length;
    fprintf(t->file, " %*s%.*s%s%*s ", t->right[column] ? padding : 0, "", cut ? width - 1 : length, begin,
            cut ? "…" : "", t->right[column] ? 0 : padding, "");
}

static void print_row(const table *t, const char *bar, const char *const *cell) {
    const char *rest[MOST_COLUMNS];
    memcpy(rest, cell, sizeof rest);
    bool more = true;
    while (more) {
        more = false;
        fputs(bar, t->file);
        for (int c = 0; c < t->num_columns; c++) {
            print_line(t, c, &rest[c]);
            fputs(bar, t->file);
            more |= rest[c][strspn(rest[c], " ")] != '\0';
        }
        fputc('\n', t->file);
    }
}

/* Appends formatted text to a cell; text that does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void add(char cell[CELL], const char *format, ...) {
    const size_t used = strlen(cell);
    va_list list;
    va_start(list, format);
    vsnprintf(cell + used, CELL - used, format, list);
    va_end(list);
}

/* Appends COUNT with separators: 1234567 as 1,234,567. */
static void add_count(char cell[CELL], int64_t count) {
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; i++) add(cell, "%s%c", i > 0 && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

static void add_size(char cell[CELL], int64_t bytes) {
    static const char *const unit[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    double size = (double)bytes;
    int i = 0;
    for (; size >= 1024 && i < 5; i++) size /= 1024;
    add(cell, " (%.2f %s)", size, unit[i]);
}

static void add_shape(char cell[CELL], mst_shape shape) {
    add(cell, "(");
    for (int i = 0; i < shape.ndim; i++) {
        if (i > 0) add(cell, ", ");
        if (shape.dim[i] < 0)
            add(cell, "None");
        else
            add(cell, "%lld", (long long)shape.dim[i]);
    }
    add(cell, shape.ndim == 1 ? ",)" : ")");
}

/* ---- the layers ---- */

typedef struct totals {
    int64_t count[2], bytes[2]; /* [0]: of weights that are not trained, [1]: of trained weights */
} totals;

static void describe_layer(const mst_model *model, const mst_model_description *d, int64_t layer,
                           char cell[MOST_COLUMNS][CELL], totals *all) {
    const mst_model_layer *l = &model->layer[layer];
    int64_t count = 0;
    add(cell[0], "%s (%s)", l->name, l->type->class_of ? l->type->class_of(l->options) : l->type->class_name);
    for (int64_t i = 0; i < model->num_nodes; i++) {
        const mst_model_node *node = &model->node[i];
        if (node->layer != layer || !d->order.has_node[i]) continue;
        for (int k = 0; k < node->num_src; k++) {
            const mst_model_node *src = &model->node[node->src[k]];
            add(cell[3], "%s%s[%lld][0]", cell[3][0] ? ", " : "", model->layer[src->layer].name,
                (long long)src->number);
        }
        if (!d->graph || mst_value_is_none(d->value[i])) continue;
        cell[1][0] = '\0'; /* if there are several nodes, the shape of the last one is shown */
        add_shape(cell[1], mst_value_spec(d->value[i]).shape);
        for (int v = mst_model_first_variable(d, i); v < d->num_variables[i]; v++) {
            const mst_spec spec = mst_value_spec(d->variable[v]);
            const int64_t elements = mst_shape_count(spec.shape);
            count += elements;
            all->count[d->trainable[v]] += elements;
            all->bytes[d->trainable[v]] += elements * (int64_t)mst_dtype_size(spec.dtype);
        }
    }
    if (!cell[1][0]) add(cell[1], "?");
    if (!cell[3][0]) add(cell[3], "-");
    add_count(cell[2], count);
    if (!d->graph && l->type->weights) add(cell[2], " (unbuilt)");
}

/* Whether Keras would call the model sequential: each layer was added to the model, not to an output. The table of such
 * a model does not list the input. */
static bool is_stack(const mst_model *model, const mst_model_order *order) {
    return order->is_chain && order->num_layers == model->num_layers &&
           (!model->has_output_sources || !model->input[0].declared);
}

static void print_total(const table *t, const char *what, int64_t count, int64_t bytes) {
    char text[CELL] = "";
    add_count(text, count);
    add_size(text, bytes);
    fprintf(t->file, " %s params: %s\n", what, text);
}

static mst_status layer_table_print(const mst_model *model, const mst_model_description *d, const char *name,
                                    FILE *file) {
    const bool stack = is_stack(model, &d->order);
    table t = d->order.is_chain ? chain_table : graph_table;
    t.file = file;
    totals all = {0};
    char(*cell)[CELL] = malloc(MOST_COLUMNS * sizeof *cell);
    if (!cell) return MST_NO_MEMORY("for a summary");
    fprintf(file, "Model: \"%s\"\n", name ? name : stack ? "sequential" : "functional");
    rule(&t, "┏", "━", "┳", "┓");
    print_row(&t, "┃", (const char *[]){"Layer (type)", "Output Shape", "Param #", "Connected to"});
    rule(&t, "┡", "━", "╇", "┩");
    for (int64_t i = stack; i < d->order.num_layers; i++) {
        for (int c = 0; c < MOST_COLUMNS; c++) cell[c][0] = '\0';
        describe_layer(model, d, d->order.layer[i], cell, &all);
        if (i > stack) rule(&t, "├", "─", "┼", "┤");
        print_row(&t, "│", (const char *[]){cell[0], cell[1], cell[2], cell[3]});
    }
    rule(&t, "└", "─", "┴", "┘");
    print_total(&t, "Total", all.count[0] + all.count[1], all.bytes[0] + all.bytes[1]);
    print_total(&t, "Trainable", all.count[1], all.bytes[1]);
    print_total(&t, "Non-trainable", all.count[0], all.bytes[0]);
    free(cell);
    return ferror(file) ? MST_FAIL(MST_IO, "summary: cannot write it") : MST_OK;
}

mst_status mst_model_summary(mst_model *model, const char *name, FILE *file) {
    if (MST_IS_NULL(model) || MST_IS_NULL(file)) return MST_INVALID;
    mst_model_description description = {0};
    MST_TRY(mst_model_check(model));
    mst_status status = mst_model_describe(model, &description);
    if (!status) status = layer_table_print(model, &description, name ? name : model->name, file);
    mst_model_forget(&description);
    return status;
}
