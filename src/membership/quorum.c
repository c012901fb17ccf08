#include "membership/quorum.h"

mst_task_set mst_all_tasks(int32_t num_tasks) {
    return num_tasks >= MST_ELASTIC_TASKS_MOST ? UINT64_MAX : mst_task_bit(num_tasks) - 1;
}

int32_t mst_num_tasks_in(mst_task_set set) {
    return __builtin_popcountll(set);
}

bool mst_has_majority(mst_task_set last, mst_task_set there) {
    const mst_task_set lowest = last & (~last + 1); /* only the lowest bit of LAST */
    const int32_t all = mst_num_tasks_in(last), count = mst_num_tasks_in(last & there);
    return 2 * count > all || (2 * count == all && (there & lowest));
}

bool mst_may_go_on(const mst_known_generations *known, mst_task_set there) {
    bool may = mst_has_majority(known->begun.tasks, there);
    for (int32_t i = 0; i < known->num_agreed; i++) may &= mst_has_majority(known->agreed[i].tasks, there);
    return may;
}

void mst_know_begun(mst_known_generations *known, const mst_known_generation *generation) {
    int32_t kept = 0;
    if (generation->number <= known->begun.number) return;
    known->begun = *generation;
    for (int32_t i = 0; i < known->num_agreed; i++)
        if (known->agreed[i].number > generation->number) known->agreed[kept++] = known->agreed[i];
    known->num_agreed = kept;
}

bool mst_know_agreed(mst_known_generations *known, const mst_known_generation *generation) {
    if (generation->number <= known->begun.number) return true;
    for (int32_t i = 0; i < known->num_agreed; i++)
        if (known->agreed[i].number == generation->number) return true;
    if (known->num_agreed == MST_AGREED_MOST) return false;
    known->agreed[known->num_agreed++] = *generation;
    return true;
}

/* A generation's number modulo the number of tasks is the task that has proposed it (mst_next_generation). */
void mst_know_withdrawn(mst_known_generations *known, uint32_t since, int32_t task, int32_t num_tasks) {
    int32_t kept = 0;
    for (int32_t i = 0; i < known->num_agreed; i++) {
        const uint32_t number = known->agreed[i].number;
        if (number < since || number % (uint32_t)num_tasks != (uint32_t)task) known->agreed[kept++] = known->agreed[i];
    }
    known->num_agreed = kept;
}

bool mst_know_more(mst_known_generations *known, const mst_known_generations *other) {
    bool has_room = true;
    mst_know_begun(known, &other->begun);
    for (int32_t i = 0; i < other->num_agreed; i++) has_room &= mst_know_agreed(known, &other->agreed[i]);
    return has_room;
}

uint32_t mst_next_generation(const mst_known_generations *known, uint32_t floor, int32_t task, int32_t num_tasks) {
    const uint32_t n = (uint32_t)num_tasks;
    uint32_t last = known->begun.number > floor ? known->begun.number : floor;
    for (int32_t i = 0; i < known->num_agreed; i++)
        if (known->agreed[i].number > last) last = known->agreed[i].number;
    /* the smallest number above LAST that is TASK modulo N */
    const uint32_t next = last + 1 + ((uint32_t)task + n - (last + 1) % n) % n;
    return next < INT32_MAX ? next : 0;
}
