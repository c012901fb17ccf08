#include "cli/train/train_events.h"

#include "base/clock.h"
#include "cli/json_events.h"
#include "cli/signals.h"

static json_t *state_event(const train_events *events, const char *name, const mst_train_state *state) {
    json_t *event = json_event(name);
    if (events->fold) json_add(&event, "", "fold", json_integer(events->fold));
    json_add(&event, "", "epoch", json_integer(state->epoch + 1));
    json_add(&event, "", "step", json_integer(state->step));
    json_add_measured(&event, "", state->loss, state->metric_name, state->metric, state->num_metrics);
    json_add(&event, "", "learning_rate", json_number(state->learning_rate));
    json_add(&event, "", "examples_per_sec", json_rate(state->examples_per_sec));
    return event;
}

/* Stops the training in order if a signal has come. This includes the reader of standard output having left. */
static mst_status go_on(train_events *events, mst_train_state *state) {
    MST_TRY(json_check_output());
    if (signals_caught()) events->interrupted = state->stop = true;
    return MST_OK;
}

static mst_status step_end(void *context, mst_train_state *state) {
    train_events *events = context;
    events->num_steps++;
    if (events->first_step == 0) events->first_step = mst_clock_seconds() - events->began;
    if (events->json && state->step % events->every == 0) {
        json_t *event = state_event(events, "step", state);
        json_add(&event, "", "step_loss", json_number(state->step_loss));
        json_add(&event, "", "seconds", json_number(state->seconds));
        MST_TRY(json_write(event));
    }
    return go_on(events, state);
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    train_events *events = context;
    if (events->json) {
        json_t *event = state_event(events, "epoch", state);
        if (state->has_validation)
            json_add_measured(&event, "val_", state->validation_loss, state->metric_name, state->validation_metric,
                              state->num_metrics);
        json_add(&event, "", "seconds", json_number(state->seconds));
        MST_TRY(json_write(event));
    }
    return go_on(events, state);
}

mst_callback train_events_callback(train_events *events) {
    return (mst_callback){.context = events, .step_end = step_end, .epoch_end = epoch_end};
}
