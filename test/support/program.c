/* Makes random programs, and prints them. A few variables come first. Further nodes are drawn one after the other
 * from the seed: a kind, then sources of the forms that it needs among the nodes before; a node that finds none is
 * dropped. Runs, each with its fetches and perhaps a fed node, come last. */
#include "support/program.h"

#include "base/rng.h"

/* ---- kinds ---- */

static const char *const names[PROGRAM_NUM_KINDS] = {
    [PROGRAM_VARIABLE] = "variable",
    [PROGRAM_AVERAGE] = "moving_average",
    [PROGRAM_CONSTANT] = "constant",
    [PROGRAM_IDENTITY] = "identity",
    [PROGRAM_STOP_GRADIENT] = "stop_gradient",
    [PROGRAM_RESHAPE] = "reshape",
    [PROGRAM_NEG] = "neg",
    [PROGRAM_RELU] = "relu",
    [PROGRAM_ADD] = "add",
    [PROGRAM_SUB] = "sub",
    [PROGRAM_MUL] = "mul",
    [PROGRAM_ADD_ROW] = "add",
    [PROGRAM_SUM] = "reduce_sum",
    [PROGRAM_TRANSPOSE] = "transpose",
    [PROGRAM_ZEROS_LIKE] = "zeros_like",
    [PROGRAM_MATMUL] = "matmul",
    [PROGRAM_GATHER] = "gather",
    [PROGRAM_GATHER_GRAD] = "gather_grad",
    [PROGRAM_GROUP] = "group",
    [PROGRAM_ASSIGN] = "assign",
    [PROGRAM_ASSIGN_ADD] = "assign_add",
    [PROGRAM_ASSIGN_SUB] = "assign_sub",
    [PROGRAM_UPDATE] = "update",
    [PROGRAM_PENALTY] = "penalty",
};

int program_elements(program_form form) {
    static const int elements[] = {0, 4, 4, 2, 1};
    return elements[form];
}

bool program_is_variable(program_kind kind) {
    return kind == PROGRAM_VARIABLE || kind == PROGRAM_AVERAGE;
}

bool program_is_assignment(program_kind kind) {
    return kind == PROGRAM_ASSIGN || kind == PROGRAM_ASSIGN_ADD || kind == PROGRAM_ASSIGN_SUB;
}

bool program_is_writer(program_kind kind) {
    return program_is_assignment(kind) || kind == PROGRAM_UPDATE;
}

int program_variable_behind(const program *p, int node) {
    while (program_is_assignment(p->node[node].kind)) node = p->node[node].src[0];
    return node;
}

bool program_has_average(const program *p, int v, int node) {
    for (int n = 0; n < node; n++)
        for (int i = 0; i < p->node[n].num_variables && p->node[n].averages; i++)
            if (p->node[n].src[i] == v) return true;
    return false;
}

/* ---- making one ---- */

typedef struct maker {
    program *p;
    uint64_t draw;
} maker;

static int below(maker *m, int n) {
    m->draw++;
    return (int)(mst_rng_mix(m->p->seed, m->draw) % (uint64_t)n);
}

static bool one_in(maker *m, int n) {
    return below(m, n) == 0;
}

static int whole(maker *m) {
    return below(m, 7) - 3;
}

/* A node with a value of FORM, rather a variable or a late one; -1 where there is none. */
static int pick(maker *m, program_form form) {
    const program *p = m->p;
    int found = -1;
    for (int tries = 0; tries < 60; tries++) {
        const int n = below(m, p->num_nodes);
        if (p->node[n].form != form) continue;
        found = n;
        if (program_is_variable(p->node[n].kind) || n > p->num_nodes - 5 || one_in(m, 3)) break;
    }
    return found;
}

/* What can be assigned to: a variable, an average or what an assignment gave; -1 where there is none of FORM. */
static int pick_target(maker *m, program_form form) {
    const program *p = m->p;
    for (int tries = 0; tries < 60; tries++) {
        const int n = below(m, p->num_nodes);
        const bool fits = program_is_variable(p->node[n].kind) || program_is_assignment(p->node[n].kind);
        if (fits && p->node[n].form == form) return n;
    }
    return -1;
}

static program_node *add_node(maker *m, program_kind kind, program_form form) {
    program_node *node = &m->p->node[m->p->num_nodes];
    *node = (program_node){.kind = kind, .form = form, .device = one_in(m, 2) ? -1 : below(m, 4)};
    for (int i = 0; i < PROGRAM_ELEMENTS; i++) node->value[i] = whole(m);
    return node;
}

static void add_controls(maker *m, program_node *node) {
    for (int i = 0; i < PROGRAM_CONTROLS && one_in(m, 3); i++) {
        for (int tries = 0; tries < 30; tries++) {
            const int n = below(m, m->p->num_nodes);
            const program_kind kind = m->p->node[n].kind;
            if (program_is_variable(kind) || kind == PROGRAM_CONSTANT) continue;
            if (!program_is_assignment(kind) && kind != PROGRAM_UPDATE && !one_in(m, 3)) continue;
            node->control[node->num_control++] = n;
            break;
        }
    }
}

/* Up to two variables, over one or two shards. */
static bool fill_update(maker *m, program_node *node) {
    const program *p = m->p;
    node->num_shards = 1 + below(m, 2);
    node->averages = one_in(m, 3);
    node->clips = one_in(m, 5);
    const int wanted = 1 + below(m, 2);
    for (int tries = 0; tries < 20 && node->num_variables < wanted; tries++) {
        const int v = below(m, p->num_nodes);
        if (p->node[v].kind != PROGRAM_VARIABLE || (node->num_variables && node->src[0] == v)) continue;
        node->src[node->num_variables++] = v;
    }
    node->num_src = node->num_variables;
    for (int s = 0; s < node->num_shards; s++)
        for (int i = 0; i < node->num_variables; i++) {
            const int gradient = pick(m, p->node[node->src[i]].form);
            if (gradient < 0) return false;
            node->src[node->num_src++] = gradient;
        }
    return node->num_variables > 0;
}

static bool fill_group(maker *m, program_node *node) {
    for (int i = 1 + below(m, 3); i > 0; i--) {
        const int n = below(m, m->p->num_nodes);
        if (m->p->node[n].form != FORM_NONE) node->src[node->num_src++] = n;
    }
    return node->num_src > 0;
}

/* Gives NODE the sources that its kind needs; false where there are none. */
static bool fill_sources(maker *m, program_node *node) {
    const program_form form = node->form;
    program_form first = form, second = FORM_NONE;
    switch (node->kind) {
        case PROGRAM_RESHAPE: first = form == FORM_FLAT ? FORM_SQUARE : FORM_FLAT; break;
        case PROGRAM_SUM: first = FORM_SQUARE; break;
        case PROGRAM_ADD_ROW: second = FORM_ROW; break;
        case PROGRAM_ADD:
        case PROGRAM_SUB:
        case PROGRAM_MUL:
        case PROGRAM_MATMUL:
        case PROGRAM_ASSIGN:
        case PROGRAM_ASSIGN_ADD:
        case PROGRAM_ASSIGN_SUB: second = form; break;
        default: break;
    }
    node->src[node->num_src++] = program_is_assignment(node->kind) ? pick_target(m, form) : pick(m, first);
    if (second != FORM_NONE) node->src[node->num_src++] = pick(m, second);
    for (int i = 0; i < node->num_src; i++)
        if (node->src[i] < 0) return false;
    return true;
}

static program_form form_of(maker *m, program_kind kind) {
    switch (kind) {
        case PROGRAM_RESHAPE: return one_in(m, 2) ? FORM_SQUARE : FORM_FLAT;
        case PROGRAM_ADD_ROW:
        case PROGRAM_TRANSPOSE:
        case PROGRAM_MATMUL:
        case PROGRAM_GATHER:
        case PROGRAM_GATHER_GRAD: return FORM_SQUARE;
        case PROGRAM_SUM: return FORM_ROW;
        case PROGRAM_GROUP:
        case PROGRAM_UPDATE: return FORM_NONE;
        default: return one_in(m, 6) ? FORM_ROW : one_in(m, 5) ? FORM_FLAT : FORM_SQUARE;
    }
}

/* Writers and what may fail come more often than the rest. */
static program_kind random_kind(maker *m) {
    switch (below(m, 8)) {
        case 0:
        case 1: return (program_kind)(PROGRAM_ASSIGN + below(m, 3));
        case 2: return m->p->dtype == PROGRAM_I64 ? PROGRAM_ASSIGN : PROGRAM_UPDATE; /* of floats only */
        case 3: return (program_kind)(PROGRAM_MATMUL + below(m, 3));
        case 4: return (program_kind)(PROGRAM_IDENTITY + below(m, 3));
        default: return (program_kind)(PROGRAM_CONSTANT + below(m, PROGRAM_ASSIGN - PROGRAM_CONSTANT));
    }
}

/* What can be read of an update: an average, the penalty. */
static void add_beside_update(maker *m, int update) {
    program *p = m->p;
    bool penalty = false;
    for (int i = 0; i < p->node[update].num_variables; i++) penalty |= p->node[p->node[update].src[i]].penalty;
    if (p->node[update].averages && p->num_nodes < PROGRAM_NODES) {
        const int v = p->node[update].src[0];
        program_node *average = add_node(m, PROGRAM_AVERAGE, p->node[v].form);
        average->src[average->num_src++] = v;
        p->num_nodes++;
    }
    if (penalty && p->num_nodes < PROGRAM_NODES) {
        program_node *value = add_node(m, PROGRAM_PENALTY, FORM_ONE);
        value->src[value->num_src++] = update;
        p->num_nodes++;
    }
}

static void add_random(maker *m) {
    program *p = m->p;
    const program_kind kind = random_kind(m);
    program_node *node = add_node(m, kind, form_of(m, kind));
    node->transpose_a = kind == PROGRAM_MATMUL && one_in(m, 2);
    node->transpose_b = kind == PROGRAM_MATMUL && one_in(m, 3);
    node->index[0] = below(m, 2);
    node->index[1] = below(m, 2);
    bool whole_node = true;
    if (kind == PROGRAM_UPDATE)
        whole_node = fill_update(m, node);
    else if (kind == PROGRAM_GROUP)
        whole_node = fill_group(m, node);
    else if (kind != PROGRAM_CONSTANT)
        whole_node = fill_sources(m, node);
    if (!whole_node) return;
    if (kind != PROGRAM_CONSTANT) add_controls(m, node);
    p->num_nodes++;
    if (kind == PROGRAM_UPDATE) add_beside_update(m, p->num_nodes - 1);
}

/* Storage and writers are left alone, and so is what others come after: only its value would be another. */
static bool can_be_fed(const program *p, int n) {
    const program_kind kind = p->node[n].kind;
    if (program_is_variable(kind) || program_is_writer(kind) || kind == PROGRAM_GROUP || kind == PROGRAM_PENALTY)
        return false;
    for (int k = n; k < p->num_nodes; k++)
        for (int i = 0; i < p->node[k].num_control; i++)
            if (p->node[k].control[i] == n) return false;
    return true;
}

static void add_run(maker *m) {
    program *p = m->p;
    program_run *run = &p->run[p->num_runs++];
    for (int i = 1 + below(m, PROGRAM_FETCHES); i > 0; i--) {
        /* rather late ones, which need much */
        const int n = one_in(m, 2) ? below(m, p->num_nodes) : p->num_nodes - 1 - below(m, (p->num_nodes + 1) / 2);
        run->fetch[run->num_fetches++] = n;
    }
    run->fed = -1;
    const int n = below(m, p->num_nodes);
    if (!one_in(m, 4) || !can_be_fed(p, n)) return;
    run->fed = n;
    for (int i = 0; i < PROGRAM_ELEMENTS; i++) run->value[i] = whole(m);
}

program program_random(uint64_t seed) {
    program p = {.seed = seed};
    maker m = {.p = &p};
    p.dtype = one_in(&m, 4) ? PROGRAM_F64 : one_in(&m, 6) ? PROGRAM_I64 : PROGRAM_F32;
    p.check_numerics = one_in(&m, 6);
    for (int i = 2 + below(&m, 3); i > 0; i--) {
        program_node *v = add_node(&m, PROGRAM_VARIABLE, i == 2 ? FORM_SQUARE : form_of(&m, PROGRAM_VARIABLE));
        v->mirrored = one_in(&m, 3);
        v->penalty = one_in(&m, 3);
        p.num_nodes++;
    }
    const int wanted = 4 + below(&m, 20);
    for (int tries = 0; tries < 200 && p.num_nodes < wanted; tries++) add_random(&m);
    for (int i = 1 + below(&m, PROGRAM_RUNS); i > 0; i--) add_run(&m);
    return p;
}

/* ---- printing ---- */

/* What some run needs. */
static void mark(const program *p, int n, bool *needed) {
    if (needed[n]) return;
    needed[n] = true;
    for (int i = 0; i < p->node[n].num_src; i++) mark(p, p->node[n].src[i], needed);
    for (int i = 0; i < p->node[n].num_control; i++) mark(p, p->node[n].control[i], needed);
}

static void print_node(const program *p, int n, FILE *file) {
    static const char *const forms[] = {"", "[2, 2]", "[4]", "[2]", "[]"};
    const program_node *node = &p->node[n];
    const bool given = node->kind == PROGRAM_VARIABLE || node->kind == PROGRAM_CONSTANT;
    fprintf(file, "  n%d = %s(", n, names[node->kind]);
    for (int i = 0; i < node->num_src; i++) fprintf(file, "%sn%d", i ? ", " : "", node->src[i]);
    for (int i = 0; i < program_elements(node->form) && given; i++)
        fprintf(file, "%s%g", i ? ", " : "", node->value[i]);
    fprintf(file, ")%s%s", forms[node->form][0] ? " : " : "", forms[node->form]);
    if (node->transpose_a || node->transpose_b)
        fprintf(file, " transposed:%s%s", node->transpose_a ? " a" : "", node->transpose_b ? " b" : "");
    if (node->kind == PROGRAM_GATHER || node->kind == PROGRAM_GATHER_GRAD)
        fprintf(file, " rows %d, %d", node->index[0], node->index[1]);
    if (node->kind == PROGRAM_UPDATE)
        fprintf(file, " of %d over %d shards%s%s", node->num_variables, node->num_shards,
                node->averages ? ", averages" : "", node->clips ? ", clips" : "");
    for (int i = 0; i < node->num_control; i++) fprintf(file, "%sn%d", i ? ", " : " after ", node->control[i]);
    if (node->penalty) fprintf(file, " with a penalty");
    if (node->mirrored)
        fprintf(file, " mirrored");
    else if (node->device >= 0)
        fprintf(file, " @%d", node->device);
    fprintf(file, "\n");
}

void program_print(const program *p, FILE *file) {
    static const char *const dtypes[] = {"f32", "f64", "i64"};
    bool needed[PROGRAM_NODES] = {false};
    for (int r = 0; r < p->num_runs; r++)
        for (int i = 0; i < p->run[r].num_fetches; i++) mark(p, p->run[r].fetch[i], needed);
    fprintf(file, "program %llu, %s%s:\n", (unsigned long long)p->seed, dtypes[p->dtype],
            p->check_numerics ? ", check_numerics" : "");
    for (int n = 0; n < p->num_nodes; n++)
        if (needed[n] || p->node[n].averages) print_node(p, n, file);
    for (int r = 0; r < p->num_runs; r++) {
        fprintf(file, "  run(");
        for (int i = 0; i < p->run[r].num_fetches; i++) fprintf(file, "%sn%d", i ? ", " : "", p->run[r].fetch[i]);
        fprintf(file, ")");
        if (p->run[r].fed >= 0) fprintf(file, " with n%d =", p->run[r].fed);
        for (int i = 0; p->run[r].fed >= 0 && i < program_elements(p->node[p->run[r].fed].form); i++)
            fprintf(file, " %g", p->run[r].value[i]);
        fprintf(file, "\n");
    }
}
