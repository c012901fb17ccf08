#include "format/pickle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/no_memory.h"

enum { NAME_SHOWN = 60 };

typedef enum pickle_kind {
    PICKLE_NONE = 0, /* None, True or False: the result does not depend on which */
    PICKLE_INTEGER,
    PICKLE_TEXT,
    PICKLE_NAME,     /* one of the known names */
    PICKLE_SEQUENCE, /* a tuple or a list */
    PICKLE_DTYPE,    /* NumPy's dtype of Python objects */
    PICKLE_ARRAY,
    PICKLE_MARK
} pickle_kind;

typedef enum pickle_name { NAME_RECONSTRUCT, NAME_NDARRAY, NAME_DTYPE } pickle_name;

typedef struct pickle_value {
    pickle_kind kind;
    uint32_t size;  /* size of a text */
    int64_t number; /* integer: its value; text: its offset in the pickle; name: a pickle_name; sequence or array: its
                       index in `sequence` */
} pickle_value;

typedef struct pickle_sequence {
    pickle_value *item; /* of an array whose state is set: one item, the list of its elements */
    int64_t count, capacity;
} pickle_sequence;

typedef struct pickle {
    const char *name;
    const unsigned char *data;
    size_t size, at;
    size_t instruction; /* where the current instruction begins */
    pickle_value *stack;
    int64_t depth, stack_capacity;
    pickle_value *memo;
    int64_t num_memos, memo_capacity;
    pickle_sequence *sequence;
    int64_t num_sequences, sequence_capacity;
    bool done;
} pickle;

static mst_status pickle_corrupt(const pickle *p, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': %s at byte %zu of the pickle: the array is damaged, save it again", p->name,
                    what, p->instruction);
}

/* ---- bytes ---- */

static mst_status take_bytes(pickle *p, size_t size, const unsigned char **out) {
    if (size > p->size - p->at) return pickle_corrupt(p, "an end within an instruction");
    *out = p->data + p->at;
    p->at += size;
    return MST_OK;
}

/* Reads an unsigned little-endian number of SIZE bytes, at most 8. */
static mst_status take_number(pickle *p, size_t size, uint64_t *out) {
    const unsigned char *bytes;
    MST_TRY(take_bytes(p, size, &bytes));
    *out = 0;
    for (size_t i = 0; i < size; i++) *out |= (uint64_t)bytes[i] << 8 * i;
    return MST_OK;
}

/* ---- the stack ---- */

static mst_status push_value(pickle *p, pickle_value value) {
    MST_TRY(mst_grow(&p->stack, sizeof *p->stack, p->depth + 1, &p->stack_capacity));
    p->stack[p->depth++] = value;
    return MST_OK;
}

/* Finds the value that is DOWN places below the top of the stack. A mark at this place, or no value, is an error. */
static mst_status peek(const pickle *p, int64_t down, pickle_value **out) {
    if (down >= p->depth || p->stack[p->depth - 1 - down].kind == PICKLE_MARK)
        return pickle_corrupt(p, "a value that is missing");
    *out = &p->stack[p->depth - 1 - down];
    return MST_OK;
}

/* Counts the values above the topmost mark. */
static mst_status count_to_mark(const pickle *p, int64_t *out) {
    int64_t i = p->depth;
    while (i > 0 && p->stack[i - 1].kind != PICKLE_MARK) i--;
    if (!i) return pickle_corrupt(p, "a mark that is missing");
    *out = p->depth - i;
    return MST_OK;
}

/* ---- numbers and texts ---- */

static mst_status push_integer(pickle *p, size_t size, bool is_signed) {
    uint64_t bits;
    MST_TRY(take_number(p, size, &bits));
    if (is_signed && size > 0 && size < 8 && bits >> (8 * size - 1)) bits |= ~(uint64_t)0 << 8 * size;
    return push_value(p, (pickle_value){.kind = PICKLE_INTEGER, .number = (int64_t)bits});
}

static mst_status push_long(pickle *p) {
    uint64_t size;
    MST_TRY(take_number(p, 1, &size));
    if (size <= 8) return push_integer(p, size, true);
    return MST_FAIL(MST_UNIMPLEMENTED, "'%s': an integer at byte %zu of the pickle has more than 64 bits", p->name,
                    p->instruction);
}

/* Pushes a text, which follows its length, a number of SIZE bytes. */
static mst_status push_text(pickle *p, size_t size) {
    uint64_t length;
    const unsigned char *text;
    MST_TRY(take_number(p, size, &length));
    const int64_t begins = (int64_t)p->at;
    MST_TRY(take_bytes(p, length, &text));
    return push_value(p, (pickle_value){.kind = PICKLE_TEXT, .size = (uint32_t)length, .number = begins});
}

/* ---- tuples and lists ---- */

/* Appends the N values at the top of the stack to a sequence. They also stay on the stack. */
static mst_status append(pickle *p, int64_t sequence, int64_t n) {
    pickle_sequence *s = &p->sequence[sequence];
    if (!n) return MST_OK;
    MST_TRY(mst_grow(&s->item, sizeof *s->item, s->count + n, &s->capacity));
    memcpy(s->item + s->count, p->stack + p->depth - n, (size_t)n * sizeof *s->item);
    s->count += n;
    return MST_OK;
}

/* Replaces the N values at the top of the stack, and DROPPED marks or values below them, by one value of KIND whose
 * sequence has the N values. */
static mst_status collect_values(pickle *p, int64_t n, int64_t dropped, pickle_kind kind) {
    const int64_t number = p->num_sequences;
    pickle_value *last;
    if (n > 0) MST_TRY(peek(p, n - 1, &last));
    MST_TRY(mst_grow(&p->sequence, sizeof *p->sequence, number + 1, &p->sequence_capacity));
    p->sequence[p->num_sequences++] = (pickle_sequence){.count = 0};
    MST_TRY(append(p, number, n));
    p->depth -= n + dropped;
    return push_value(p, (pickle_value){.kind = kind, .number = number});
}

static mst_status collect_to_mark(pickle *p) {
    int64_t n;
    MST_TRY(count_to_mark(p, &n));
    return collect_values(p, n, 1, PICKLE_SEQUENCE);
}

/* Appends the N values at the top of the stack to the list below them, and removes them. MARKS marks lie between the
 * list and the values. */
static mst_status append_top(pickle *p, int64_t n, int64_t marks) {
    const int64_t list = p->depth - 1 - n - marks;
    if (list < 0 || !p->stack || p->stack[list].kind != PICKLE_SEQUENCE)
        return pickle_corrupt(p, "a list that is missing");
    MST_TRY(append(p, p->stack[list].number, n));
    p->depth = list + 1;
    return MST_OK;
}

static mst_status append_to_mark(pickle *p) {
    int64_t n;
    MST_TRY(count_to_mark(p, &n));
    return append_top(p, n, 1);
}

/* ---- memoized values ---- */

/* Stores the value at the top as memo NUMBER. NUMBER must be less than the number of bytes read so far. So the memory
 * for memos is at most proportional to the size of the pickle. Memos of kind PICKLE_MARK are not set. */
static mst_status memoize(pickle *p, uint64_t number) {
    pickle_value *top;
    MST_TRY(peek(p, 0, &top));
    if (number >= p->at) return pickle_corrupt(p, "a number of a value that is too large");
    const int64_t i = (int64_t)number;
    MST_TRY(mst_grow(&p->memo, sizeof *p->memo, i + 1, &p->memo_capacity));
    for (; p->num_memos <= i; p->num_memos++) p->memo[p->num_memos] = (pickle_value){.kind = PICKLE_MARK};
    p->memo[i] = *top;
    return MST_OK;
}

static mst_status recall(pickle *p, uint64_t number) {
    if (number >= (uint64_t)p->num_memos || p->memo[number].kind == PICKLE_MARK)
        return pickle_corrupt(p, "a number of no value");
    return push_value(p, p->memo[number]);
}

static mst_status use_memo(pickle *p, size_t size, mst_status (*use)(pickle *p, uint64_t number)) {
    uint64_t number;
    MST_TRY(take_number(p, size, &number));
    return use(p, number);
}

/* ---- names and calls ---- */

static bool is_text(const char *text, size_t size, const char *expected) {
    return size == strlen(expected) && memcmp(text, expected, size) == 0;
}

/* Copies a text from the file to SHOWN, with '?' for characters that cannot be printed. */
static const char *show_text(const char *text, size_t size, char shown[NAME_SHOWN + 1]) {
    size_t i = 0;
    for (; i < size && i < NAME_SHOWN; i++) shown[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    shown[i] = '\0';
    return shown;
}

static mst_status push_name(pickle *p, const char *module, size_t module_size, const char *name, size_t size) {
    char shown[2][NAME_SHOWN + 1];
    const bool is_core =
        is_text(module, module_size, "numpy.core.multiarray") || is_text(module, module_size, "numpy._core.multiarray");
    const bool is_numpy = is_text(module, module_size, "numpy");
    int64_t found = -1;
    if (is_core && is_text(name, size, "_reconstruct")) found = NAME_RECONSTRUCT;
    if (is_numpy && is_text(name, size, "ndarray")) found = NAME_NDARRAY;
    if (is_numpy && is_text(name, size, "dtype")) found = NAME_DTYPE;
    if (found >= 0) return push_value(p, (pickle_value){.kind = PICKLE_NAME, .number = found});
    return MST_FAIL(
        MST_UNIMPLEMENTED,
        "'%s': asks for '%s.%s' at byte %zu of the pickle, which is never called here: arrays of integers and "
        "of lists of integers are read",
        p->name, show_text(module, module_size, shown[0]), show_text(name, size, shown[1]), p->instruction);
}

/* Takes a line from the bytes, without its end. */
static mst_status take_line(pickle *p, const char **line, size_t *size) {
    const unsigned char *begin = p->data + p->at, *end = memchr(begin, '\n', p->size - p->at);
    if (!end) return pickle_corrupt(p, "an end within a name");
    *line = (const char *)begin;
    *size = (size_t)(end - begin);
    p->at += *size + 1;
    return MST_OK;
}

static mst_status global(pickle *p) {
    const char *module, *name;
    size_t module_size, size;
    MST_TRY(take_line(p, &module, &module_size));
    MST_TRY(take_line(p, &name, &size));
    return push_name(p, module, module_size, name, size);
}

static mst_status stack_global(pickle *p) {
    pickle_value *name, *module;
    MST_TRY(peek(p, 0, &name));
    MST_TRY(peek(p, 1, &module));
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT) return pickle_corrupt(p, "a name that is no text");
    p->depth -= 2;
    const char *text = (const char *)p->data;
    return push_name(p, text + module->number, module->size, text + name->number, name->size);
}

/* Item I of the sequence VALUE if it is of KIND; else NULL. */
static const pickle_value *item_of(const pickle *p, const pickle_value *value, int64_t i, pickle_kind kind) {
    if (value->kind != PICKLE_SEQUENCE || i >= p->sequence[value->number].count) return NULL;
    const pickle_value *item = &p->sequence[value->number].item[i];
    return item->kind == kind ? item : NULL;
}

/* Performs a call of _reconstruct with the class ndarray, or of dtype with a text that means objects ("O8"). Any other
 * call is refused. */
static mst_status reduce(pickle *p) {
    pickle_value *arguments, *callee;
    char shown[NAME_SHOWN + 1];
    MST_TRY(peek(p, 0, &arguments));
    MST_TRY(peek(p, 1, &callee));
    const bool makes_dtype = callee->kind == PICKLE_NAME && callee->number == NAME_DTYPE;
    const pickle_value *class = item_of(p, arguments, 0, PICKLE_NAME), *text = item_of(p, arguments, 0, PICKLE_TEXT);
    if (callee->kind == PICKLE_NAME && callee->number == NAME_RECONSTRUCT && class && class->number == NAME_NDARRAY) {
        p->depth -= 2;
        return collect_values(p, 0, 0, PICKLE_ARRAY);
    }
    if (!makes_dtype || !text) return pickle_corrupt(p, "a call that NumPy's arrays do not need");
    const char *dtype = (const char *)p->data + text->number;
    if (!is_text(dtype, text->size, "O8") && !is_text(dtype, text->size, "O") && !is_text(dtype, text->size, "|O"))
        return MST_FAIL(
            MST_UNIMPLEMENTED,
            "'%s': has an array of '%s' in it at byte %zu of the pickle: arrays of integers and of lists of "
            "integers are read",
            p->name, show_text(dtype, text->size, shown), p->instruction);
    p->depth -= 2;
    return push_value(p, (pickle_value){.kind = PICKLE_DTYPE});
}

/* Sets the state of an array: (1, (length,), dtype, False, [...]). The state of a dtype is ignored, since the result
 * does not depend on it. */
static mst_status build(pickle *p) {
    pickle_value *state, *object;
    MST_TRY(peek(p, 0, &state));
    MST_TRY(peek(p, 1, &object));
    if (object->kind == PICKLE_DTYPE && state->kind == PICKLE_SEQUENCE) {
        p->depth--;
        return MST_OK;
    }
    if (object->kind != PICKLE_ARRAY) return pickle_corrupt(p, "a state of what has none");
    const pickle_value *shape = item_of(p, state, 1, PICKLE_SEQUENCE), *list = item_of(p, state, 4, PICKLE_SEQUENCE);
    if (!shape || !item_of(p, state, 2, PICKLE_DTYPE) || !list) return pickle_corrupt(p, "a state that is no array's");
    const pickle_value *length = item_of(p, shape, 0, PICKLE_INTEGER);
    if (!length || p->sequence[shape->number].count != 1)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': has an array of objects that has not one dimension", p->name);
    if (length->number != p->sequence[list->number].count)
        return pickle_corrupt(p, "a list that is not as long as its array");
    *state = *list;
    p->sequence[object->number].count = 0;
    MST_TRY(append(p, object->number, 1));
    p->depth--;
    return MST_OK;
}

/* ---- instructions ---- */

static mst_status run_one(pickle *p, unsigned char instruction) {
    uint64_t ignored;
    switch (instruction) {
        case 0x80: return take_number(p, 1, &ignored);                               /* PROTO */
        case 0x95: return take_number(p, 8, &ignored);                               /* FRAME */
        case 'N':                                                                    /* NONE */
        case 0x88:                                                                   /* NEWTRUE */
        case 0x89: return push_value(p, (pickle_value){.kind = PICKLE_NONE});        /* NEWFALSE */
        case 'K': return push_integer(p, 1, false);                                  /* BININT1 */
        case 'M': return push_integer(p, 2, false);                                  /* BININT2 */
        case 'J': return push_integer(p, 4, true);                                   /* BININT */
        case 0x8a: return push_long(p);                                              /* LONG1 */
        case 'U':                                                                    /* SHORT_BINSTRING */
        case 'C':                                                                    /* SHORT_BINBYTES */
        case 0x8c: return push_text(p, 1);                                           /* SHORT_BINUNICODE */
        case 'T':                                                                    /* BINSTRING */
        case 'B':                                                                    /* BINBYTES */
        case 'X': return push_text(p, 4);                                            /* BINUNICODE */
        case '(': return push_value(p, (pickle_value){.kind = PICKLE_MARK});         /* MARK */
        case ')':                                                                    /* EMPTY_TUPLE */
        case ']': return collect_values(p, 0, 0, PICKLE_SEQUENCE);                   /* EMPTY_LIST */
        case 0x85:                                                                   /* TUPLE1 */
        case 0x86:                                                                   /* TUPLE2 */
        case 0x87: return collect_values(p, instruction - 0x84, 0, PICKLE_SEQUENCE); /* TUPLE3 */
        case 't': return collect_to_mark(p);                                         /* TUPLE */
        case 'a': return append_top(p, 1, 0);                                        /* APPEND */
        case 'e': return append_to_mark(p);                                          /* APPENDS */
        case 'q': return use_memo(p, 1, memoize);                                    /* BINPUT */
        case 'r': return use_memo(p, 4, memoize);                                    /* LONG_BINPUT */
        case 0x94: return memoize(p, (uint64_t)p->num_memos);                        /* MEMOIZE */
        case 'h': return use_memo(p, 1, recall);                                     /* BINGET */
        case 'j': return use_memo(p, 4, recall);                                     /* LONG_BINGET */
        case 'c': return global(p);                                                  /* GLOBAL */
        case 0x93: return stack_global(p);                                           /* STACK_GLOBAL */
        case 'R': return reduce(p);                                                  /* REDUCE */
        case 'b': return build(p);                                                   /* BUILD */
        case '.': p->done = true; return MST_OK;                                     /* STOP */
        default:
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "'%s': has an instruction 0x%02x at byte %zu of the pickle, which arrays of lists of "
                            "integers do not need: nothing of it is executed",
                            p->name, instruction, p->instruction);
    }
}

static mst_status pickle_run(pickle *p) {
    while (!p->done) {
        const unsigned char *instruction;
        p->instruction = p->at;
        MST_TRY(take_bytes(p, 1, &instruction));
        MST_TRY(run_one(p, *instruction));
    }
    return p->at == p->size ? MST_OK : pickle_corrupt(p, "more bytes than end");
}

/* ---- the result ---- */

static mst_status other_item(const pickle *p, int64_t i) {
    return MST_FAIL(MST_UNIMPLEMENTED, "'%s': element %lld of the array is neither an integer nor a list of integers",
                    p->name, (long long)i);
}

static mst_status copy_list(const pickle *p, const pickle_value *item, int64_t i, mst_integer_lists *out, int64_t *n) {
    const bool is_list = item->kind == PICKLE_SEQUENCE;
    const pickle_value *from = is_list ? p->sequence[item->number].item : item;
    const int64_t count = is_list ? p->sequence[item->number].count : 1;
    for (int64_t k = 0; k < count; k++) {
        if (from[k].kind != PICKLE_INTEGER) return other_item(p, i);
        out->integer[(*n)++] = from[k].number;
    }
    out->end[i] = *n;
    return MST_OK;
}

/* Counts the integers of the result. If one list is an element many times, there could be far more integers than bytes
 * in the pickle. NumPy writes no such pickles, so this is an error. */
static mst_status count_integers(const pickle *p, const pickle_sequence *list, int64_t *out) {
    *out = 0;
    for (int64_t i = 0; i < list->count; i++) {
        const pickle_value *item = &list->item[i];
        *out += item->kind == PICKLE_SEQUENCE ? p->sequence[item->number].count : 1;
        if ((uint64_t)*out > p->size)
            return MST_FAIL(MST_UNIMPLEMENTED, "'%s': has the same lists in it too many times", p->name);
    }
    return MST_OK;
}

static mst_status pickle_result(const pickle *p, mst_integer_lists *out) {
    const pickle_value *top = p->depth == 1 ? &p->stack[0] : NULL;
    if (!top || top->kind != PICKLE_ARRAY || !p->sequence[top->number].count)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s': its pickle is not of an array", p->name);
    const pickle_sequence *list = &p->sequence[p->sequence[top->number].item[0].number];
    int64_t count, n = 0;
    MST_TRY(count_integers(p, list, &count));
    out->integer = malloc(((size_t)count + 1) * sizeof *out->integer);
    out->end = malloc(((size_t)list->count + 1) * sizeof *out->end);
    if (!out->integer || !out->end) return MST_NO_MEMORY("to read '%s'", p->name);
    out->flat = list->count > 0;
    for (int64_t i = 0; i < list->count; i++) {
        const pickle_kind kind = list->item[i].kind;
        if (kind != PICKLE_SEQUENCE && kind != PICKLE_INTEGER) return other_item(p, i);
        out->flat &= kind == PICKLE_INTEGER;
        MST_TRY(copy_list(p, &list->item[i], i, out, &n));
    }
    out->num_lists = list->count;
    return MST_OK;
}

mst_status mst_pickle_read(const char *name, const void *data, size_t size, mst_integer_lists *out) {
    pickle p = {.name = name, .data = data, .size = size};
    *out = (mst_integer_lists){.num_lists = 0};
    mst_status status = pickle_run(&p);
    if (!status) status = pickle_result(&p, out);
    for (int64_t i = 0; i < p.num_sequences; i++) free(p.sequence[i].item);
    free(p.sequence);
    free(p.stack);
    free(p.memo);
    if (status) mst_integer_lists_free(out);
    return status;
}

void mst_integer_lists_free(mst_integer_lists *lists) {
    free(lists->integer);
    free(lists->end);
    *lists = (mst_integer_lists){.num_lists = 0};
}
