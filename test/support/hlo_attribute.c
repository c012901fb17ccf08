/* The interpreter of StableHLO (support/hlo_interpreter.h): parses the attributes of ops. It has the table of their
 * names, and the forms of their values. */
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

enum { MOST_ATTRIBUTES = 12, NEXT = 48 };

static const struct {
    const char *name;
    hlo_attribute_kind kind;
} names[] = {
    {"base_dilations", HLO_INTEGERS},
    {"batch_group_count", HLO_INTEGER_64},
    {"broadcast_dimensions", HLO_INTEGERS},
    {"compare_type", HLO_COMPARISON},
    {"comparison_direction", HLO_DIRECTION},
    {"dimension", HLO_INTEGER_64},
    {"dimension_numbers", HLO_DIMENSIONS},
    {"dimensions", HLO_INTEGERS},
    {"dot_dimension_numbers", HLO_DOT},
    {"edge_padding_high", HLO_INTEGERS},
    {"edge_padding_low", HLO_INTEGERS},
    {"exponent_bits", HLO_INTEGER_32},
    {"feature_group_count", HLO_INTEGER_64},
    {"indices_are_sorted", HLO_BOOLEAN},
    {"interior_padding", HLO_INTEGERS},
    {"iota_dimension", HLO_INTEGER_64},
    {"is_stable", HLO_BOOLEAN},
    {"lhs_dilation", HLO_INTEGERS},
    {"limit_indices", HLO_INTEGERS},
    {"mantissa_bits", HLO_INTEGER_32},
    {"padding", HLO_DENSE},
    {"permutation", HLO_INTEGERS},
    {"precision_config", HLO_PRECISIONS},
    {"rhs_dilation", HLO_INTEGERS},
    {"scatter_dimension_numbers", HLO_SCATTER},
    {"slice_sizes", HLO_INTEGERS},
    {"start_indices", HLO_INTEGERS},
    {"strides", HLO_INTEGERS},
    {"unique_indices", HLO_BOOLEAN},
    {"value", HLO_DENSE},
    {"window_dilations", HLO_INTEGERS},
    {"window_dimensions", HLO_INTEGERS},
    {"window_reversal", HLO_BOOLEANS},
    {"window_strides", HLO_INTEGERS},
};

/* Index of the word in WORDS, which NULL ends; -1 and an error: it is not there. */
static int one_of(hlo_parser *p, const char *const *words, const char *what) {
    const char *word;
    int length;
    if (!hlo_word(p, &word, &length)) return -1;
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == (size_t)length && !memcmp(words[i], word, (size_t)length)) return i;
    hlo_bad(p, "unknown %s '%.*s'", what, length, word);
    return -1;
}

static bool add_number(hlo_parser *p, hlo_list *list, int64_t number) {
    if (list->num == HLO_MOST_DIMS) return hlo_bad(p, "a list has more than %d numbers", HLO_MOST_DIMS);
    list->at[list->num++] = number;
    return true;
}

static bool read_boolean(hlo_parser *p, int64_t *value) {
    char next[NEXT];
    *value = hlo_accept(p, "true");
    if (*value || hlo_accept(p, "false")) return true;
    return hlo_bad(p, "expected 'true' or 'false', found %s", hlo_next(p, next, sizeof next));
}

/* array<TYPE: 1, 2>; array<TYPE> has no elements */
static bool read_array(hlo_parser *p, const char *type, bool booleans, hlo_list *list) {
    if (!hlo_expect(p, "array") || !hlo_expect(p, "<") || !hlo_expect(p, type)) return false;
    if (hlo_accept(p, ">")) return true;
    if (!hlo_expect(p, ":")) return false;
    do {
        int64_t number;
        if (!(booleans ? read_boolean(p, &number) : hlo_integer(p, &number))) return false;
        if (!add_number(p, list, number)) return false;
    } while (hlo_accept(p, ","));
    return hlo_expect(p, ">");
}

/* [0, 1] */
static bool read_brackets(hlo_parser *p, hlo_list *list) {
    if (!hlo_expect(p, "[")) return false;
    if (hlo_accept(p, "]")) return true;
    do {
        int64_t number;
        if (!hlo_integer(p, &number) || !add_number(p, list, number)) return false;
    } while (hlo_accept(p, ","));
    return hlo_expect(p, "]");
}

/* #stablehlo<WHAT WORD> */
static int read_enum(hlo_parser *p, const char *what, const char *const *words) {
    if (!hlo_expect(p, "#stablehlo") || !hlo_expect(p, "<") || !hlo_expect(p, what)) return -1;
    const int i = one_of(p, words, what);
    return i >= 0 && hlo_expect(p, ">") ? i : -1;
}

static bool read_precisions(hlo_parser *p, hlo_list *list) {
    static const char *const words[] = {"DEFAULT", "HIGH", "HIGHEST", NULL};
    if (!hlo_expect(p, "[")) return false;
    do {
        const int i = read_enum(p, "precision", words);
        if (i < 0 || !add_number(p, list, i)) return false;
    } while (hlo_accept(p, ","));
    return hlo_expect(p, "]");
}

/* <NAME = [..], ...> of WORDS in any order. Lists that are left out are empty. A word after the NUM_LISTS names of
 * lists is that of a single number, 0 where it is left out. */
static bool read_lists(hlo_parser *p, const char *const *words, int num_lists, hlo_attribute *a) {
    unsigned seen = 0;
    if (!hlo_expect(p, "<")) return false;
    if (hlo_accept(p, ">")) return true;
    do {
        const int i = one_of(p, words, "part of an attribute");
        if (i < 0) return false;
        if (seen & 1u << i) return hlo_bad(p, "'%s' stands twice", words[i]);
        seen |= 1u << i;
        if (!hlo_expect(p, "=")) return false;
        if (!(i < num_lists ? read_brackets(p, &a->list[i]) : hlo_integer(p, &a->integer))) return false;
    } while (hlo_accept(p, ","));
    return hlo_expect(p, ">");
}

/* [b, 0, 1, f]: the places of the two letters and of the numbers in their order */
static bool read_layout(hlo_parser *p, const char *first, const char *second, hlo_list *list) {
    int64_t place = 0;
    list->num = 2;
    for (int i = 0; i < HLO_MOST_DIMS; i++) list->at[i] = -1;
    if (!hlo_expect(p, "[")) return false;
    do {
        int64_t to;
        if (hlo_accept(p, first))
            to = 0;
        else if (hlo_accept(p, second))
            to = 1;
        else if (hlo_integer(p, &to) && to >= 0 && to < HLO_MOST_DIMS - 2)
            to += 2;
        else
            return hlo_bad(p, "a dimension of a convolution is none of %s, %s and the numbers from 0", first, second);
        if (list->at[to] >= 0) return hlo_bad(p, "a dimension of a convolution stands twice");
        list->at[to] = place++;
        if (to >= list->num) list->num = (int)to + 1;
    } while (hlo_accept(p, ","));
    if (place != list->num) return hlo_bad(p, "a dimension of a convolution is missing");
    return hlo_expect(p, "]");
}

static bool read_dimensions(hlo_parser *p, hlo_attribute *a) {
    static const char *const gather[] = {"offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim",
                                         NULL};
    if (hlo_accept(p, "#stablehlo.gather")) {
        a->kind = HLO_GATHER;
        return read_lists(p, gather, 3, a);
    }
    a->kind = HLO_CONV;
    return hlo_expect(p, "#stablehlo.conv") && hlo_expect(p, "<") && read_layout(p, "b", "f", &a->list[HLO_CONV_LHS]) &&
           hlo_expect(p, "x") && read_layout(p, "i", "o", &a->list[HLO_CONV_RHS]) && hlo_expect(p, "->") &&
           read_layout(p, "b", "f", &a->list[HLO_CONV_OUT]) && hlo_expect(p, ">");
}

static bool read_value(hlo_parser *p, hlo_attribute *a) {
    static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE", NULL};
    static const char *const comparisons[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};
    static const char *const dot[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                      "lhs_contracting_dimensions", "rhs_contracting_dimensions", NULL};
    static const char *const scatter[] = {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
                                          "index_vector_dim", NULL};
    switch (a->kind) {
        case HLO_INTEGER_64: return hlo_integer(p, &a->integer) && hlo_expect(p, ":") && hlo_expect(p, "i64");
        case HLO_INTEGER_32: return hlo_integer(p, &a->integer) && hlo_expect(p, ":") && hlo_expect(p, "i32");
        case HLO_BOOLEAN: return read_boolean(p, &a->integer);
        case HLO_INTEGERS: return read_array(p, "i64", false, &a->list[0]);
        case HLO_BOOLEANS: return read_array(p, "i1", true, &a->list[0]);
        case HLO_DENSE: return hlo_dense(p, &a->dense);
        case HLO_DIRECTION: return (a->integer = read_enum(p, "comparison_direction", directions)) >= 0;
        case HLO_COMPARISON: return (a->integer = read_enum(p, "comparison_type", comparisons)) >= 0;
        case HLO_PRECISIONS: return read_precisions(p, &a->list[0]);
        case HLO_DOT: return hlo_expect(p, "#stablehlo.dot") && read_lists(p, dot, 4, a);
        case HLO_SCATTER: return hlo_expect(p, "#stablehlo.scatter") && read_lists(p, scatter, 3, a);
        default: return read_dimensions(p, a);
    }
}

/* Whether NAME is in LIST, words with spaces between them; *OPTIONAL: with '?' behind it. */
static bool in_list(const char *list, const char *name, size_t length, bool *optional) {
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, " ?");
        *optional = at[n] == '?';
        if (n == length && !memcmp(at, name, n)) return true;
        at += n;
        at += strspn(at, " ?");
    }
    return false;
}

static bool is_missing(const hlo_op *op, const char **name, int *length) {
    for (const char *at = op->row->attributes; *at;) {
        const size_t n = strcspn(at, " ?");
        bool given = at[n] == '?';
        for (int i = 0; i < op->num_attributes; i++)
            given |= strlen(op->attribute[i].name) == n && !memcmp(op->attribute[i].name, at, n);
        *name = at;
        *length = (int)n;
        if (!given) return true;
        at += n;
        at += strspn(at, " ?");
    }
    return false;
}

static bool read_attribute(hlo_parser *p, hlo_op *op) {
    const size_t num = sizeof names / sizeof *names;
    const char *word;
    int length;
    bool optional;
    if (!hlo_word(p, &word, &length)) return false;
    size_t i = 0;
    while (i < num && (strlen(names[i].name) != (size_t)length || memcmp(names[i].name, word, (size_t)length) != 0))
        i++;
    if (i == num || !in_list(op->row->attributes, word, (size_t)length, &optional))
        return hlo_bad(p, "stablehlo.%s: unknown attribute '%.*s'", op->row->name, length, word);
    if (hlo_attribute_of(op, names[i].name))
        return hlo_bad(p, "stablehlo.%s: attribute '%s' stands twice", op->row->name, names[i].name);
    hlo_attribute *a = &op->attribute[op->num_attributes++];
    a->name = names[i].name;
    a->kind = names[i].kind;
    return hlo_expect(p, "=") && read_value(p, a);
}

bool hlo_attributes(hlo_parser *p, hlo_op *op) {
    const char *name;
    int length;
    if (hlo_accept(p, "{") && !hlo_accept(p, "}")) {
        op->attribute = calloc(MOST_ATTRIBUTES, sizeof *op->attribute); /* no op has so many names */
        if (!op->attribute) return hlo_bad(p, "there is no memory for attributes");
        do {
            if (!read_attribute(p, op)) return false;
        } while (hlo_accept(p, ","));
        if (!hlo_expect(p, "}")) return false;
    }
    if (!is_missing(op, &name, &length)) return true;
    p->line = op->line;
    return hlo_bad(p, "stablehlo.%s: attribute '%.*s' is missing", op->row->name, length, name);
}

void hlo_attributes_free(hlo_op *op) {
    for (int i = 0; i < op->num_attributes; i++) hlo_array_free(&op->attribute[i].dense);
    free(op->attribute);
}

const hlo_attribute *hlo_attribute_of(const hlo_op *op, const char *name) {
    for (int i = 0; i < op->num_attributes; i++)
        if (!strcmp(op->attribute[i].name, name)) return &op->attribute[i];
    return NULL;
}

const hlo_list *hlo_list_of(const hlo_op *op, const char *name) {
    const hlo_attribute *a = hlo_attribute_of(op, name);
    return a ? &a->list[0] : NULL;
}
