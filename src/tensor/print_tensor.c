/* Tensors as text, in the form of NumPy's str(): brackets, columns that line up, long axes shortened in the middle,
 * lines of at most 75 characters. Strings are quoted; in an array, long ones are cut off. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/bf16.h"
#include "base/escape.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "muster/tensor.h"

enum {
    LINE_WIDTH = 75,
    MOST_ELEMENTS = 1000, /* a tensor with at most this many elements is shown whole */
    EDGE_ITEMS = 3,       /* elements shown at each end of a long axis of a larger tensor */
    MOST_DIGITS = 8,      /* most digits after the point */
    WORD_SIZE = 64        /* room for one element as text, with the spaces around it */
};

/* The common form of all elements that are shown: "  1.25", "1.5e+10", " True". */
typedef struct form {
    double largest, smallest; /* magnitudes of the finite elements that are not 0; 0: there are none */
    bool exponent;
    int digits, exponent_digits; /* digits after the point, and in the exponent if there is one */
    int before, behind; /* most characters before and after the point; without a point, all count as before it */
    int special;        /* length of the longest of the words nan, inf, -inf that occur */
} form;

typedef struct printer {
    const mst_tensor *tensor;
    mst_shape shape;
    bool shortened;
    form form;
    FILE *file;
    /* The current line, which is written when it is complete. Its first characters, one for each dimension, are not:
     * the brackets or spaces in their place have been written already. */
    char line[LINE_WIDTH + 2 * WORD_SIZE];
    int column; /* length of `line` */
} printer;

/* ---- elements ---- */

static bool is_float(const printer *p) {
    return mst_dtype_is_float(mst_tensor_dtype(p->tensor));
}

static bool is_string(const printer *p) {
    return mst_tensor_dtype(p->tensor) == MST_STRING;
}

static bool reads_back(const printer *p, const char *text, double value) {
    switch ((int)mst_tensor_dtype(p->tensor)) {
        case MST_F32: return !(strtof(text, NULL) < (float)value || strtof(text, NULL) > (float)value);
        case MST_BF16: return mst_bf16_of(strtof(text, NULL)) == mst_bf16_of((float)value);
        default: return !(strtod(text, NULL) < value || strtod(text, NULL) > value);
    }
}

/* The fewest digits after the point, at most MOST_DIGITS, with which VALUE reads back exactly. */
static int digits_of(const printer *p, double value) {
    char text[WORD_SIZE];
    int digits = 0;
    for (; digits < MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, p->form.exponent ? "%.*e" : "%.*f", digits, value);
        if (reads_back(p, text, value)) break;
    }
    return digits;
}

/* Changes "1.5e+05" to "1.5e+005" if the exponent of another element has three digits. */
static void widen_exponent(const printer *p, char *text) {
    char *digits = strchr(text, 'e') + 2;
    if (p->form.exponent_digits > (int)strlen(digits)) {
        memmove(digits + 1, digits, strlen(digits) + 1);
        *digits = '0';
    }
}

static void write_float(const printer *p, double value, char *text) {
    if (isnan(value)) {
        snprintf(text, WORD_SIZE, "nan");
    } else if (isinf(value)) {
        snprintf(text, WORD_SIZE, "%s", value < 0 ? "-inf" : "inf");
    } else if (p->form.exponent) {
        snprintf(text, WORD_SIZE, "%#.*e", p->form.digits, value);
        widen_exponent(p, text);
    } else {
        int used = snprintf(text, WORD_SIZE, "%#.*f", digits_of(p, value), value);
        while (text[used - 1] == '0') text[--used] = '\0'; /* removes zeros at the end */
    }
}

/* Writes a string as "'abc'", or "'abc...'" if it is too long. */
static void write_string(const printer *p, int64_t i, char *text) {
    const mst_string string = mst_tensor_get_string(p->tensor, i);
    char part[MST_ESCAPE_TEXT];
    const char *more = "...'";
    const int room = WORD_SIZE - 1 - (int)strlen(more); /* most characters that leave room for MORE */
    int used = snprintf(text, WORD_SIZE, "'"), whole = used;
    for (size_t k = 0; k < string.length;) {
        k += mst_escape(string.data + k, string.length - k, part);
        const int length = (int)strlen(part);
        if (used <= room) whole = used;
        if (used + length > room + (int)strlen("...")) {
            snprintf(text + whole, (size_t)(WORD_SIZE - whole), "%s", more);
            return;
        }
        used += snprintf(text + used, (size_t)(WORD_SIZE - used), "%s", part);
    }
    snprintf(text + used, (size_t)(WORD_SIZE - used), "'");
}

static void write_element(const printer *p, int64_t i, char *text) {
    if (is_float(p))
        write_float(p, mst_tensor_get(p->tensor, i), text);
    else if (is_string(p))
        write_string(p, i, text);
    else if (mst_tensor_dtype(p->tensor) == MST_BOOL)
        snprintf(text, WORD_SIZE, "%s", mst_tensor_get(p->tensor, i) != 0 ? "True" : "False");
    else if (mst_tensor_dtype(p->tensor) == MST_I64) /* not every i64 is exact as a double */
        snprintf(text, WORD_SIZE, "%" PRId64, ((const int64_t *)mst_tensor_data(p->tensor))[i]);
    else
        snprintf(text, WORD_SIZE, "%.0f", mst_tensor_get(p->tensor, i));
}

/* ---- the common form ---- */

/* The index after I that is shown along an axis of N elements. Elements in the middle may be skipped. */
static int64_t next_shown(const printer *p, int64_t i, int64_t n) {
    return p->shortened && n > 2 * EDGE_ITEMS && i == EDGE_ITEMS - 1 ? n - EDGE_ITEMS : i + 1;
}

/* Calls VISIT for each element that is shown, along the axes from AXIS on. FIRST is the number of the first element. */
static void for_shown(printer *p, int axis, int64_t first, void (*visit)(printer *p, int64_t i)) {
    if (axis == p->shape.ndim) {
        visit(p, first);
        return;
    }
    const int64_t n = p->shape.dim[axis];
    for (int64_t i = 0; i < n; i = next_shown(p, i, n)) for_shown(p, axis + 1, first * n + i, visit);
}

static void measure_size(printer *p, int64_t i) {
    const double size = fabs(mst_tensor_get(p->tensor, i));
    if (!isfinite(size) || size == 0) return;
    if (size > p->form.largest) p->form.largest = size;
    if (p->form.smallest == 0 || size < p->form.smallest) p->form.smallest = size;
}

static void measure_digits(printer *p, int64_t i) {
    const double value = mst_tensor_get(p->tensor, i), size = fabs(value);
    if (!isfinite(value)) return;
    const int digits = digits_of(p, value);
    if (digits > p->form.digits) p->form.digits = digits;
    if (size >= 1e100 || (size > 0 && size < 1e-99)) p->form.exponent_digits = 3;
}

static void measure_width(printer *p, int64_t i) {
    char text[WORD_SIZE];
    write_element(p, i, text);
    const char *point = strchr(text, '.');
    const int length = (int)strlen(text), before = point ? (int)(point - text) : length;
    if (is_float(p) && !point) {
        if (length > p->form.special) p->form.special = length;
        return;
    }
    if (before > p->form.before) p->form.before = before;
    if (length - before - 1 > p->form.behind) p->form.behind = length - before - 1;
}

static void choose_form(printer *p) {
    form *f = &p->form;
    if (is_float(p)) {
        for_shown(p, 0, 0, measure_size);
        f->exponent = f->largest >= 1e8 || (f->smallest > 0 && (f->smallest < 1e-4 || f->largest / f->smallest > 1000));
        if (f->exponent) for_shown(p, 0, 0, measure_digits);
    }
    for_shown(p, 0, 0, measure_width);
    if (mst_tensor_dtype(p->tensor) == MST_BOOL) f->before = (int)strlen("False");
    const int room = f->special - f->behind - 1; /* nan and inf end where the digits after the point do */
    if (f->before < room) f->before = room;
}

/* Writes an element with spaces, so that all elements have the same width. Strings get no spaces. */
static void write_word(const printer *p, int64_t i, char *word) {
    char text[WORD_SIZE];
    write_element(p, i, text);
    if (is_string(p)) {
        snprintf(word, WORD_SIZE, "%s", text);
        return;
    }
    const char *point = strchr(text, '.');
    const int length = (int)strlen(text), width = p->form.before + (is_float(p) ? 1 + p->form.behind : 0);
    const int left = point && !p->form.exponent ? p->form.before - (int)(point - text) : width - length;
    snprintf(word, WORD_SIZE, "%*s%-*s", left, "", width - left, text);
}

/* ---- lines ---- */

static void indent(printer *p, int spaces) {
    p->column = snprintf(p->line, sizeof p->line, "%*s", spaces, "");
}

/* Adds a word to the line, or to a new line if this one is full. A new line begins with one space for each dimension of
 * the tensor. */
static void add_word(printer *p, const char *word) {
    const int ndim = p->shape.ndim;
    if (p->column > ndim && p->column + (int)strlen(word) > LINE_WIDTH - ndim) {
        while (p->line[p->column - 1] == ' ') p->line[--p->column] = '\0';
        fprintf(p->file, "%s\n%*s", p->line + ndim, ndim, "");
        indent(p, ndim);
    }
    p->column += snprintf(p->line + p->column, sizeof p->line - (size_t)p->column, "%s", word);
}

static void add_space(printer *p) {
    p->line[p->column++] = ' ';
    p->line[p->column] = '\0';
}

static void print_row(printer *p, int64_t first) {
    const int64_t n = p->shape.dim[p->shape.ndim - 1];
    char word[WORD_SIZE];
    indent(p, p->shape.ndim);
    for (int64_t i = 0, next; i < n; i = next) {
        next = next_shown(p, i, n);
        write_word(p, first * n + i, word);
        add_word(p, word);
        if (next < n) add_space(p);
        if (next > i + 1) {
            add_word(p, "...");
            add_space(p);
        }
    }
    fprintf(p->file, "%s", p->line + p->shape.ndim);
}

static void new_line(printer *p, int axis) {
    for (int k = axis + 1; k < p->shape.ndim; k++) fputc('\n', p->file);
    fprintf(p->file, "%*s", axis + 1, "");
}

static void print_axis(printer *p, int axis, int64_t first) {
    const int64_t n = p->shape.dim[axis];
    fputc('[', p->file);
    for (int64_t i = 0, next; axis < p->shape.ndim - 1 && i < n; i = next) {
        next = next_shown(p, i, n);
        print_axis(p, axis + 1, first * n + i);
        if (next < n) new_line(p, axis);
        if (next > i + 1) {
            fputs("...", p->file);
            new_line(p, axis);
        }
    }
    if (axis == p->shape.ndim - 1) print_row(p, first);
    fputc(']', p->file);
}

static void print_string(printer *p) {
    const mst_string string = mst_tensor_get_string(p->tensor, 0);
    char part[MST_ESCAPE_TEXT];
    fputc('\'', p->file);
    for (size_t k = 0; k < string.length;) {
        k += mst_escape(string.data + k, string.length - k, part);
        fputs(part, p->file);
    }
    fputc('\'', p->file);
}

static void print_scalar(printer *p) {
    char text[WORD_SIZE];
    const double value = mst_tensor_get(p->tensor, 0);
    if (!is_float(p))
        write_element(p, 0, text);
    else if (mst_tensor_dtype(p->tensor) == MST_F64)
        mst_number_print_f64(value, text);
    else
        mst_number_print_f32((float)value, text);
    fprintf(p->file, "%s%s", text, is_float(p) && isfinite(value) && !strpbrk(text, ".e") ? ".0" : "");
}

static void print_tensor_text(printer *p) {
    const int64_t count = mst_tensor_count(p->tensor);
    p->shortened = count > MOST_ELEMENTS;
    if (p->shape.ndim == 0) {
        is_string(p) ? print_string(p) : print_scalar(p);
    } else if (count == 0) {
        fputs("[]", p->file);
    } else {
        if (!is_string(p)) choose_form(p);
        print_axis(p, 0, 0);
    }
}

mst_status mst_tensor_print(const mst_tensor *tensor, char **text) {
    if (MST_IS_NULL(tensor) || MST_IS_NULL(text)) return MST_INVALID;
    size_t size;
    *text = NULL;
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* a decimal point in any locale */
    if (!plain) return MST_NO_MEMORY("to print a tensor");
    printer p = {.tensor = tensor, .shape = mst_tensor_shape(tensor), .file = open_memstream(text, &size)};
    bool failed = !p.file;
    if (p.file) {
        const locale_t before = uselocale(plain);
        print_tensor_text(&p);
        uselocale(before);
        failed = ferror(p.file);
        failed = fclose(p.file) || failed;
    }
    freelocale(plain);
    if (!failed) return MST_OK;
    free(*text);
    *text = NULL;
    return MST_NO_MEMORY("to print a tensor");
}
