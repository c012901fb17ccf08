/* Parses the text of an op's forms into mst_form, and evaluates their conditions. tf_form.h has the grammar.
 *
 * The parser is a recursive descent: a word that begins with a capital letter is a node, whose arguments may be nodes
 * again. The first error is kept in `status`, and functions called after it do nothing. While a node is being read,
 * options and outputs are not known yet; a condition about them counts as true. */
#include "graph/tf_form.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"

/* ---- text to forms ---- */

typedef struct parser {
    mst_arena *arena;
    const mst_op *op;
    const char *at;
    mst_status status;
} parser;

static void wrong(parser *p, const char *what) {
    if (p->status) return;
    p->status = MST_FAIL(MST_INVALID, "the op %s: its tf_form has no %s at '%.20s'", p->op->name, what, p->at);
}

static bool tf_form_skip(parser *p, const char *text) {
    const size_t length = strlen(text);
    if (strncmp(p->at, text, length) != 0) return false;
    p->at += length;
    return true;
}

static void want(parser *p, const char *text) {
    if (!tf_form_skip(p, text)) wrong(p, text);
}

static const char *tf_form_copy(parser *p, const char *begin, size_t length) {
    const char *text = mst_arena_print(p->arena, "%.*s", (int)length, begin);
    if (text) return text;
    if (!p->status) p->status = MST_NO_MEMORY("to read a form");
    return "";
}

static const char *word(parser *p, const char *stop) {
    const size_t length = strcspn(p->at, stop);
    if (!length) wrong(p, "word");
    const char *text = tf_form_copy(p, p->at, length);
    p->at += length;
    return text;
}

static const mst_form *parse_node(parser *p);

static const char *parse_type(parser *p) {
    return tf_form_skip(p, ":") ? word(p, ",;) ") : NULL;
}

static bool is_number(const char *text) {
    return isdigit((unsigned char)text[*text == '-']);
}

static void parse_argument(parser *p, mst_form_argument *out) {
    const char *begin = p->at;
    if (tf_form_skip(p, "^*")) {
        out->kind = MST_FORM_BEFORE;
    } else if (tf_form_skip(p, "$*")) {
        out->kind = MST_FORM_SOURCES;
    } else if (tf_form_skip(p, "$")) {
        out->kind = MST_FORM_SOURCE;
        out->index = *p->at++ - '0';
    } else if (is_number(p->at)) {
        char *end;
        out->kind = MST_FORM_NUMBER;
        out->number = mst_number_start(p->at, &end);
        p->at = end;
        out->type = parse_type(p);
    } else if (isupper((unsigned char)*p->at)) {
        out->kind = MST_FORM_NODE;
        out->node = parse_node(p);
        out->name = tf_form_copy(p, begin, (size_t)(p->at - begin));
        if (tf_form_skip(p, ":")) out->index = *p->at++ - '0';
    } else {
        out->kind = tf_form_skip(p, "@") ? MST_FORM_MADE : MST_FORM_OPTION;
        out->name = word(p, ":,;) ");
        out->type = parse_type(p);
    }
}

static void parse_attribute(parser *p, mst_form_attribute *out) {
    out->key = word(p, "=,;) ");
    want(p, "=");
    out->value = word(p, "|,;) ");
    if (tf_form_skip(p, "|")) out->otherwise = word(p, ",;) ");
}

/* Reads Op(ARGUMENT, ...; ATTRIBUTE ...). */
static const mst_form *parse_node(parser *p) {
    mst_form *form = mst_arena_alloc(p->arena, sizeof *form);
    if (!form) {
        p->status = MST_NO_MEMORY("to read a form");
        return NULL;
    }
    form->op = word(p, "(");
    form->conditions = "";
    want(p, "(");
    while (!p->status && *p->at != ')' && *p->at != ';') {
        if (form->num_arguments == MST_FORM_MOST) wrong(p, "end of arguments");
        if (!p->status) parse_argument(p, &form->argument[form->num_arguments++]);
        if (!tf_form_skip(p, ", ") && *p->at != ')' && *p->at != ';') wrong(p, ", ");
    }
    if (tf_form_skip(p, "; ")) do {
            if (form->num_attributes == MST_FORM_MOST) wrong(p, "end of attributes");
            if (!p->status) parse_attribute(p, &form->attribute[form->num_attributes++]);
        } while (!p->status && tf_form_skip(p, " "));
    want(p, ")");
    return form;
}

mst_status mst_form_parse(mst_arena *arena, const mst_op *op, const char **text, const mst_form **out) {
    parser p = {.arena = arena, .op = op, .at = *text};
    *out = NULL;
    if (!p.at || !*p.at) return MST_OK;
    const bool is_read = !tf_form_skip(&p, ">"), is_written = !tf_form_skip(&p, "<");
    mst_form *form = (mst_form *)(uintptr_t)parse_node(&p);
    if (p.status) return p.status;
    form->is_read = is_read;
    form->is_written = is_written;
    if (tf_form_skip(&p, " if ")) form->conditions = word(&p, "\n");
    if (!tf_form_skip(&p, "\n") && *p.at) wrong(&p, "end of line");
    *text = p.at;
    *out = form;
    return p.status;
}

const char *mst_form_name(const mst_op *op, size_t *length) {
    const char *text = op->tf_form;
    while (text && *text == '>') {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (text && *text == '<') text++;
    *length = text ? strcspn(text, "(") : 0;
    return text;
}

/* ---- conditions ---- */

const mst_field *mst_op_field(const mst_op *op, const char *name) {
    for (const mst_field *field = op->fields; field && field->name; field++)
        if (strcmp(field->name, name) == 0) return field;
    return NULL;
}

bool mst_form_condition(const char **conditions, char left[32], char right[32], char *operation) {
    const char *at = *conditions;
    at += *at == ' ';
    if (!*at) return false;
    size_t length = strcspn(at, "=!>");
    snprintf(left, 32, "%.*s", (int)length, at);
    at += length;
    *operation = *at;
    at += strspn(at, "=!>");
    length = strcspn(at, " ");
    snprintf(right, 32, "%.*s", (int)length, at);
    *conditions = at + length;
    return true;
}

mst_dtype mst_form_dtype(const mst_form_use *use, const char *text) {
    const int index = text[0] && isdigit((unsigned char)text[1]) && !text[2] ? text[1] - '0' : -1;
    if (index >= 0 && text[0] == 't') return index < use->num_src ? use->src[index].dtype : MST_NO_DTYPE;
    if (index >= 0 && text[0] == 'd') return use->dst ? use->dst[index].dtype : MST_NO_DTYPE;
    const mst_field *field = mst_op_field(use->op, text);
    if (field && field->type == MST_FIELD_TYPE_DTYPE && use->options)
        return *(const mst_dtype *)(const void *)((const char *)use->options + field->offset);
    return mst_dtype_from_name(text);
}

static double option_number(const mst_field *field, const void *options) {
    const void *at = (const char *)options + field->offset;
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: return *(const bool *)at;
        case MST_FIELD_TYPE_ENUM:
        case MST_FIELD_TYPE_I32: return *(const int32_t *)at;
        case MST_FIELD_TYPE_I64: return (double)*(const int64_t *)at;
        case MST_FIELD_TYPE_F32: return (double)*(const float *)at;
        case MST_FIELD_TYPE_F64: return *(const double *)at;
        default: return -1;
    }
}

/* Evaluates one side of a condition; false if it is not known yet. */
static bool side(const mst_form_use *use, const char *text, double *out) {
    const int index = text[0] ? text[strlen(text) - 1] - '0' : -1;
    const mst_field *field = mst_op_field(use->op, text);
    if (is_number(text)) {
        *out = mst_number_start(text, NULL);
    } else if (strcmp(text, "n") == 0) {
        *out = use->num_src;
    } else if (strncmp(text, "rank", 4) == 0) {
        *out = index >= 0 && index < use->num_src ? use->src[index].shape.ndim : -1;
    } else if (strcmp(text, "float0") == 0) {
        *out = use->num_src && (mst_dtype_is_float(use->src[0].dtype) || use->src[0].dtype == MST_BF16);
    } else if (strcmp(text, "known") == 0) {
        if (!use->dst) return false;
        *out = 1;
        for (int k = 0; k < use->dst[0].shape.ndim; k++)
            if (use->dst[0].shape.dim[k] < 0) *out = 0;
    } else if (field && field->type != MST_FIELD_TYPE_DTYPE) {
        if (!use->dst) return false;
        *out = option_number(field, use->options);
    } else {
        *out = mst_form_dtype(use, text);
    }
    return true;
}

bool mst_form_holds(const mst_form *form, const mst_form_use *use) {
    const char *conditions = form->conditions;
    char left[32], right[32], operation;
    while (mst_form_condition(&conditions, left, right, &operation)) {
        double a = 0, b = 0;
        if (!side(use, left, &a) || !side(use, right, &b)) continue;
        const bool same = a >= b && a <= b;
        if (operation == '>' ? !(a > b) : operation == '!' ? same : !same) return false;
    }
    return true;
}
