/* What a program gives by the documented rule (program.h), and by nothing else: no plan, no devices, no memory. */
#include <math.h>
#include <string.h>

#include "support/program.h"

typedef struct rule {
    const program *p;
    bool needed[PROGRAM_NODES];
    int phase[PROGRAM_NODES];
    double value[PROGRAM_NODES][PROGRAM_ELEMENTS];
    double variable[PROGRAM_NODES][PROGRAM_ELEMENTS]; /* by variable */
    double average[PROGRAM_NODES][PROGRAM_ELEMENTS];  /* by the variable that it follows */
    double penalty[PROGRAM_NODES];                    /* by update */
    int fed;                                          /* in this run; -1 */
    double taken[PROGRAM_NODES][PROGRAM_SOURCES][PROGRAM_ELEMENTS];
    bool inexact;
} rule;

static double *storage(rule *r, int v) {
    return r->p->node[v].kind == PROGRAM_AVERAGE ? r->average[r->p->node[v].src[0]] : r->variable[v];
}

/* The value of node N for a reader that runs now. */
static const double *read(rule *r, int n) {
    const int v = program_variable_behind(r->p, n);
    return program_is_variable(r->p->node[v].kind) ? storage(r, v) : r->value[n];
}

static void need(rule *r, int n) {
    if (r->needed[n]) return;
    r->needed[n] = true;
    if (n == r->fed) return;
    for (int i = 0; i < r->p->node[n].num_src; i++) need(r, r->p->node[n].src[i]);
    for (int i = 0; i < r->p->node[n].num_control; i++) need(r, r->p->node[n].control[i]);
}

static int phase_after(const rule *r, int n) {
    return r->phase[n] + program_is_writer(r->p->node[n].kind);
}

/* Sources come before their users. Returns the largest phase, that of fetches included. */
static int find_phases(rule *r) {
    int last = 0;
    for (int n = 0; n < r->p->num_nodes; n++) {
        const program_node *node = &r->p->node[n];
        r->phase[n] = 0;
        if (!r->needed[n] || n == r->fed || program_is_variable(node->kind)) continue;
        for (int i = 0; i < node->num_src + node->num_control; i++) {
            const int from = i < node->num_src ? node->src[i] : node->control[i - node->num_src];
            if (phase_after(r, from) > r->phase[n]) r->phase[n] = phase_after(r, from);
        }
        if (phase_after(r, n) > last) last = phase_after(r, n);
    }
    return last;
}

/* Notes whether X is exact in f32. */
static double exact(rule *r, double x) {
    if ((double)(float)x != x || fabs(x) > 0x1p100) r->inexact = true;
    return x;
}

static void matmul(rule *r, const program_node *node, const double *a, const double *b, double *out) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int j = 0; j < 2; j++)
                sum += exact(r, (node->transpose_a ? a[2 * j + i] : a[2 * i + j]) *
                                    (node->transpose_b ? b[2 * k + j] : b[2 * j + k]));
            out[2 * i + k] = sum;
        }
}

static void compute(rule *r, int n) {
    const program_node *node = &r->p->node[n];
    const double *a = node->num_src > 0 ? read(r, node->src[0]) : node->value,
                 *b = node->num_src > 1 ? read(r, node->src[1]) : a;
    double out[PROGRAM_ELEMENTS] = {0};
    for (int i = 0; i < program_elements(node->form); i++) switch (node->kind) {
            case PROGRAM_CONSTANT:
            case PROGRAM_IDENTITY:
            case PROGRAM_STOP_GRADIENT:
            case PROGRAM_RESHAPE: out[i] = a[i]; break;
            case PROGRAM_NEG: out[i] = -a[i]; break;
            case PROGRAM_RELU: out[i] = a[i] > 0 ? a[i] : 0; break;
            case PROGRAM_ADD: out[i] = a[i] + b[i]; break;
            case PROGRAM_SUB: out[i] = a[i] - b[i]; break;
            case PROGRAM_MUL: out[i] = a[i] * b[i]; break;
            case PROGRAM_ADD_ROW: out[i] = a[i] + b[i % 2]; break;
            case PROGRAM_SUM: out[i] = a[i] + a[2 + i]; break;
            case PROGRAM_TRANSPOSE: out[i] = a[i % 2 * 2 + i / 2]; break;
            case PROGRAM_GATHER: out[i] = a[2 * node->index[i / 2] + i % 2]; break;
            case PROGRAM_GATHER_GRAD: out[2 * node->index[i / 2] + i % 2] += a[i]; break;
            default: break;
        }
    if (node->kind == PROGRAM_MATMUL) matmul(r, node, a, b, out);
    if (node->kind == PROGRAM_PENALTY) out[0] = r->penalty[node->src[0]];
    for (int i = 0; i < PROGRAM_ELEMENTS; i++) r->value[n][i] = exact(r, out[i]);
}

static void assign(rule *r, int n) {
    const program_node *node = &r->p->node[n];
    double *v = storage(r, program_variable_behind(r->p, n));
    for (int i = 0; i < PROGRAM_ELEMENTS; i++) {
        const double x = r->taken[n][1][i];
        v[i] = exact(r, node->kind == PROGRAM_ASSIGN ? x : node->kind == PROGRAM_ASSIGN_ADD ? v[i] + x : v[i] - x);
    }
}

/* A penalty is of the weights that an update reads, before any write of its phase. */
static void take_penalty(rule *r, int n) {
    const program *p = r->p;
    r->penalty[n] = 0;
    for (int k = 0; k < p->node[n].num_variables; k++) {
        const int v = p->node[n].src[k];
        for (int i = 0; i < program_elements(p->node[v].form) && p->node[v].penalty; i++)
            r->penalty[n] = exact(r, r->penalty[n] + exact(r, r->variable[v][i] * r->variable[v][i]));
    }
}

static void update(rule *r, int n) {
    const program_node *node = &r->p->node[n];
    for (int k = 0; k < node->num_variables; k++)
        for (int i = 0; i < PROGRAM_ELEMENTS; i++) {
            double *w = &r->variable[node->src[k]][i], *average = &r->average[node->src[k]][i], sum = 0;
            for (int s = 0; s < node->num_shards; s++) sum += r->taken[n][node->num_variables * (s + 1) + k][i];
            if (r->p->node[node->src[k]].penalty) sum = exact(r, sum) + 2 * *w;
            *w = exact(r, *w - exact(r, sum));
            if (node->averages) *average = exact(r, (*average + *w) / 2);
        }
}

static void run(rule *r, const program_run *run, program_values *out) {
    const program *p = r->p;
    memset(r->needed, 0, sizeof r->needed);
    r->fed = run->fed;
    if (run->fed >= 0) memcpy(r->value[run->fed], run->value, sizeof run->value);
    for (int i = 0; i < run->num_fetches; i++) need(r, run->fetch[i]);
    const int last = find_phases(r);
    for (int phase = 0; phase <= last; phase++) {
        for (int n = 0; n < p->num_nodes; n++) {
            const bool runs = r->needed[n] && n != r->fed && r->phase[n] == phase;
            if (!runs || program_is_variable(p->node[n].kind)) continue;
            if (!program_is_writer(p->node[n].kind)) compute(r, n);
            if (p->node[n].kind == PROGRAM_UPDATE) take_penalty(r, n);
            for (int i = 0; i < p->node[n].num_src && program_is_writer(p->node[n].kind); i++)
                memcpy(r->taken[n][i], read(r, p->node[n].src[i]), sizeof r->taken[n][i]);
        }
        for (int i = 0; i < run->num_fetches; i++)
            if (phase_after(r, run->fetch[i]) == phase)
                memcpy(out->fetch[i], read(r, run->fetch[i]), sizeof out->fetch[i]);
        for (int n = 0; n < p->num_nodes; n++) {
            if (!r->needed[n] || r->phase[n] != phase) continue;
            if (program_is_assignment(p->node[n].kind)) assign(r, n);
            if (p->node[n].kind == PROGRAM_UPDATE) update(r, n);
        }
    }
    for (int n = 0; n < p->num_nodes; n++)
        if (program_is_variable(p->node[n].kind)) memcpy(out->state[n], storage(r, n), sizeof out->state[n]);
    out->inexact = r->inexact;
}

void program_follow_rule(const program *p, program_values *out) {
    rule r = {.p = p};
    memset(out, 0, PROGRAM_RUNS * sizeof *out);
    for (int n = 0; n < p->num_nodes; n++) {
        if (p->node[n].kind != PROGRAM_VARIABLE) continue;
        memcpy(r.variable[n], p->node[n].value, sizeof r.variable[n]);
        memcpy(r.average[n], p->node[n].value, sizeof r.average[n]);
    }
    for (int i = 0; i < p->num_runs; i++) run(&r, &p->run[i], &out[i]);
}
