/** Random programs: small graphs of variables, readers, views, writers and updates with some runs of them, what the
 *  documented rule says that they give (program_rule.c), and what a session makes of them (program_run.c).
 *
 *  The rule (docs/how-a-step-runs.md): the phase of a node is the largest number of writers on any path of sources and
 *  control sources to it. A reader sees all writes of earlier phases and none of its own. A writer is a reader of the
 *  values that it takes. Writers of one phase write in the order in which they were made.
 *
 *  All numbers are whole, or halves of such, and small enough to be exact in f32, so that the order of sums does not
 *  count. */
#ifndef MUSTER_TEST_SUPPORT_PROGRAM_H
#define MUSTER_TEST_SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROGRAM_NODES = 40,
    PROGRAM_SOURCES = 8,
    PROGRAM_CONTROLS = 3,
    PROGRAM_FETCHES = 6,
    PROGRAM_RUNS = 3,
    PROGRAM_ELEMENTS = 4
};

typedef enum program_form {
    FORM_NONE = 0,
    FORM_SQUARE, /* [2, 2] */
    FORM_FLAT,   /* [4] */
    FORM_ROW,    /* [2] */
    FORM_ONE     /* [] */
} program_form;

typedef enum program_kind {
    /* storage */
    PROGRAM_VARIABLE,
    PROGRAM_AVERAGE, /* the moving average of variable src[0]; made by an update before it */
    PROGRAM_CONSTANT,
    /* views */
    PROGRAM_IDENTITY,
    PROGRAM_STOP_GRADIENT,
    PROGRAM_RESHAPE, /* [2, 2] to [4] and back */
    /* cannot fail, in floats */
    PROGRAM_NEG,
    PROGRAM_RELU,
    PROGRAM_ADD,
    PROGRAM_SUB,
    PROGRAM_MUL,
    PROGRAM_ADD_ROW, /* [2, 2] + [2] */
    PROGRAM_SUM,     /* [2, 2] over its rows: [2] */
    PROGRAM_TRANSPOSE,
    PROGRAM_ZEROS_LIKE, /* takes only the shape of its source */
    /* may fail */
    PROGRAM_MATMUL,
    PROGRAM_GATHER,      /* of the rows of src[0], rows index[0] and index[1] */
    PROGRAM_GATHER_GRAD, /* rows 0 and 1 of src[0] added to rows index[0] and index[1] of zeros */
    /* no value */
    PROGRAM_GROUP,
    /* writers: src[0] is a variable, or the output of a writer of one */
    PROGRAM_ASSIGN,
    PROGRAM_ASSIGN_ADD,
    PROGRAM_ASSIGN_SUB,
    PROGRAM_UPDATE,  /* sgd with rate 1; sources: variables, then for each shard the gradients of all of them */
    PROGRAM_PENALTY, /* what update src[0] gives: of each variable with a penalty the sum of squares before */
    PROGRAM_NUM_KINDS
} program_kind;

typedef struct program_node {
    program_kind kind;
    program_form form;
    int num_src, src[PROGRAM_SOURCES];
    int num_control, control[PROGRAM_CONTROLS];
    int device;    /* -1: none asked for; counts the devices of all tasks */
    bool mirrored; /* of a variable: a copy on each device */
    bool penalty;  /* of a variable: updates add twice its value to its gradient */
    double value[PROGRAM_ELEMENTS];
    bool transpose_a, transpose_b;
    int index[2];
    int num_variables, num_shards; /* of an update */
    bool averages, clips;
} program_node;

typedef enum program_dtype { PROGRAM_F32, PROGRAM_F64, PROGRAM_I64 } program_dtype;

typedef struct program_run {
    int num_fetches, fetch[PROGRAM_FETCHES];
    int fed; /* a node that is given a value in its place, -1 */
    double value[PROGRAM_ELEMENTS];
} program_run;

typedef struct program {
    uint64_t seed;
    program_dtype dtype;
    bool check_numerics;
    int num_nodes;
    program_node node[PROGRAM_NODES];
    int num_runs;
    program_run run[PROGRAM_RUNS];
} program;

/** What runs give: of each run its fetches and, after it, all variables and averages. */
typedef struct program_values {
    bool inexact; /* a number does not fit f32: there is nothing to compare from this run on */
    double fetch[PROGRAM_FETCHES][PROGRAM_ELEMENTS];
    double state[PROGRAM_NODES][PROGRAM_ELEMENTS];
} program_values;

program program_random(uint64_t seed);
void program_print(const program *p, FILE *file);
int program_elements(program_form form);
bool program_is_variable(program_kind kind);
bool program_is_assignment(program_kind kind);
bool program_is_writer(program_kind kind);
/** The variable, or average, that NODE stands for: itself, or what it assigns to. */
int program_variable_behind(const program *p, int node);
/** Whether an update before NODE has made the moving average of variable V. */
bool program_has_average(const program *p, int v, int node);

/** By the rule: OUT[run]. */
void program_follow_rule(const program *p, program_values *out);
/** Where a program runs: on DEVICES ("cpu:2/1"), NUM of them of type TYPE, of each of TASKS tasks. */
typedef struct program_place {
    const char *devices, *type;
    int num, tasks;
} program_place;

/** By a session there. Compares with WANTED; false, and *WHY as text that the caller frees, where it differs or
 *  fails. */
bool program_agrees(const program *p, const program_place *place, const program_values *wanted, char **why);

#endif
