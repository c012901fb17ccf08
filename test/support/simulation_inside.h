/** What the files of a simulation (support/simulation.h) share: simulation_network.c has the events and connections,
 *  simulation_program.c what a program does in a generation, simulation.c the processes. */
#ifndef MUSTER_TEST_SUPPORT_SIMULATION_INSIDE_H
#define MUSTER_TEST_SUPPORT_SIMULATION_INSIDE_H

#include "support/simulation.h"

enum { MOST_EVENTS = 1 << 12, MOST_DATA = 256 };

#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)

typedef enum event_kind {
    /* from a peer */
    CONTROL,
    DATA,
    CONNECTED,
    LOST,
    /* of the process */
    TICK,
    READY,
    BEGIN,
    COMMIT,
    EXIT,
    /* to the process, also while it is stopped */
    LINK,
    SILENT,
    CONTINUE,
    /* of no process */
    START,
    HEALED
} event_kind;

/* Between programs: a part of a state, or what a task gives to a step. */
typedef struct datum {
    uint32_t generation;
    uint64_t to;        /* instance */
    int32_t from, part; /* 0: gives VALUE to step NUMBER; 1, 2: halves of a state */
    int64_t number;
    uint64_t value;
} datum;

typedef struct event {
    int64_t time;
    uint64_t order;
    event_kind kind;
    int process, peer; /* numbers of processes; START, HEALED: tasks */
    uint32_t epoch;    /* of the connection; READY, BEGIN, COMMIT: generation; SILENT: which stop */
    const char *why;
    datum datum;
    size_t bytes;
    struct event *next; /* kept for a stopped process, or until there is a connection */
    uint8_t data[];
} event;

typedef struct queue {
    event *first, **last;
} queue;

/* A connection of two processes. [0] is the side of the one with the lower number. */
typedef struct connection {
    uint32_t epoch, view[2]; /* of the present one; that which a side knows of, 0: none */
    bool up, wanted;
    int64_t sent[2]; /* arrival of the last message to a side */
} connection;

typedef struct process {
    int number;
    int32_t task;
    uint64_t instance;
    mst_members *members;
    uint32_t stops;
    queue kept;
    queue held[SIM_TASKS]; /* messages until there is a connection */
    sim_view view;
    mst_member_state state;
    /* in a generation */
    uint32_t generation;
    uint64_t started;               /* exchanges of the generation */
    mst_group_progress exchange[2]; /* the last ones */
    int late; /* steps of the generation that it has made after another had made one of a later generation */
    bool hangs;
    bool starts, copies, half, committing; /* starts: BEGIN is on its way */
    datum inbox[MOST_DATA];
    int num_data;
} process;

struct sim {
    sim_options options;
    int64_t now, moves;
    uint64_t draws, orders;
    event *heap[MOST_EVENTS];
    int num_events, num_processes, starts;
    process *process[SIM_PROCESSES];
    connection connection[SIM_PROCESSES][SIM_PROCESSES];
    int64_t cut_until[SIM_TASKS][SIM_TASKS];
    bool has_left[SIM_TASKS];
    uint32_t last_generation; /* in which a step has been made */
    const char *differs[SIM_TASKS];
    int64_t restored[SIM_TASKS];
    char name[SIM_TASKS][16], address[SIM_TASKS][16];
    const char *names[SIM_TASKS], *addresses[SIM_TASKS];
    event *last[SIM_TASKS][MST_MEMBER_KINDS]; /* control messages that have arrived */
    char wrong[256];
};

void sim_trace(const sim *s, const process *p, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* simulation_network.c */

/** Nanoseconds that something takes. */
int64_t sim_delay(sim *s);
/** PROCESS and PEER are numbers of processes, or of tasks, by KIND. */
event *sim_make_event(event_kind kind, int process, int peer, size_t bytes);
/** Puts E, which is now the simulation's, NANOSECONDS from now; returns it. */
event *sim_push(sim *s, int64_t nanoseconds, event *e);
/** The next event, which is now the caller's. */
event *sim_pop(sim *s);
void sim_keep(queue *q, event *e);
event *sim_take(queue *q);
void sim_drop_all(queue *q);

bool sim_runs(const process *p);
connection *sim_between(sim *s, int a, int b);
/** Connects where that can be, and is not so. */
void sim_want_link(sim *s, const process *a, const process *b);
void sim_want_links(sim *s, const process *p);
/** The connection that was wanted is there. */
void sim_link(sim *s, process *a, process *b);
/** Breaks the connection; AFTER: seconds until it is noticed. CLOSED: what was sent still arrives. */
void sim_disconnect(sim *s, const process *a, const process *b, double after, bool closed, const char *why);
void sim_disconnect_all(sim *s, const process *p, double after, bool closed, const char *why);
/** Sends E to a process of TASK: that of INSTANCE, or for control, if there is no connection to that, the newest. */
void sim_send(sim *s, process *from, int32_t task, uint64_t instance, event *e);

/* simulation_program.c */

/** The generation has begun. */
void sim_program_begin(sim *s, process *p);
void sim_program_commit(sim *s, process *p);
void sim_program_receive(sim *s, process *p, const datum *d);
void sim_program_ready(sim *s, process *p);

#endif
