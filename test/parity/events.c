/* What events_test.py asks of Muster.
 *
 *   parity_events write FOLDER          event files with every kind of summary
 *   parity_events numbers FOLDER FILE   histograms of the lines of numbers in FILE: tag h, step 0 and on
 *   parity_events read FILE             one line of JSON per value: {"tag": ..., "step": ..., "value": ...}
 */
#include <jansson.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/events.h"

static void check(mst_status status) {
    if (status == MST_OK) return;
    fprintf(stderr, "error: %s\n", mst_error()->message);
    exit(1);
}

/* A picture whose pixel at row y and column x has the red 16 y and the green 16 x. */
static mst_tensor *picture(mst_dtype dtype, int64_t n) {
    enum { SIZE = 8 };
    mst_tensor *tensor;
    check(mst_tensor_create(dtype, MST_SHAPE(n, SIZE, SIZE, 3), &tensor));
    for (int64_t i = 0; i < n * SIZE * SIZE; i++) {
        const double scale = dtype == MST_U8 ? 1 : 1.0 / 255;
        const int64_t row = i / SIZE % SIZE, column = i % SIZE, image = i / (SIZE * SIZE);
        mst_tensor_set(tensor, 3 * i, (double)(16 * row) * scale);
        mst_tensor_set(tensor, 3 * i + 1, (double)(16 * column) * scale);
        mst_tensor_set(tensor, 3 * i + 2, (double)image * scale);
    }
    return tensor;
}

/* c = relu(a b) on two devices, traced. */
static void run_graph(mst_summary_writer *writer) {
    mst_graph *g;
    mst_session *session;
    mst_trace *trace;
    mst_value a = MST_NONE, c = MST_NONE;
    check(mst_graph_create(&g));
    mst_with_device (g, "/cpu:0") a = mst_rename(mst_random_uniform(g, .shape = MST_SHAPE(64, 64)), "a");
    mst_with_device (g, "/cpu:1") c = mst_rename(mst_relu(mst_rename(mst_matmul(a, a), "product")), "c");
    check(mst_session_create(g, &(mst_session_options){.devices = "cpu:2"}, &session));
    check(mst_trace_create(&trace));
    mst_session_trace(session, trace);
    mst_tensor *output = NULL;
    check(mst_session_run(session, NULL, 0, &c, 1, &output));
    mst_session_trace(session, NULL);
    mst_summary_graph(writer, g);
    mst_summary_trace(writer, "step_1", trace, 1);
    mst_tensor_release(output);
    mst_trace_destroy(trace);
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

static void write_all(const char *folder) {
    mst_summary_writer *writer;
    check(mst_summary_writer_create(folder, NULL, &writer));
    for (int step = 0; step < 3; step++) mst_summary_scalar(writer, "loss", 1.0 / (1 + step), step);
    mst_tensor *bytes = picture(MST_U8, 2), *floats = picture(MST_F32, 1);
    mst_summary_image(writer, "bytes", bytes, 1);
    mst_summary_image(writer, "floats", floats, 2);
    mst_tensor_release(bytes);
    mst_tensor_release(floats);
    mst_summary_text(writer, "note", "a **bold** word", 3);
    const mst_hparam hparams[] = {{.name = "learning_rate", .number = 0.125}, {.name = "optimizer", .text = "adam"}};
    mst_summary_hparams(writer, hparams, 2);
    run_graph(writer);
    check(mst_summary_writer_close(writer));
    /* goes on at step 2, whose point counts anew */
    check(mst_summary_writer_create(folder, &(mst_summary_options){.resume_step = 2}, &writer));
    mst_summary_scalar(writer, "loss", 0.25, 2);
    check(mst_summary_writer_close(writer));
}

static void write_numbers(const char *folder, const char *path) {
    mst_summary_writer *writer;
    check(mst_summary_writer_create(folder, NULL, &writer));
    json_t *lists = json_load_file(path, 0, NULL), *list, *number;
    size_t step, i;
    json_array_foreach(lists, step, list) {
        mst_tensor *tensor;
        check(mst_tensor_create(step % 2 ? MST_F64 : MST_F32, MST_SHAPE((int64_t)json_array_size(list)), &tensor));
        json_array_foreach(list, i, number) mst_tensor_set(tensor, (int64_t)i, json_number_value(number));
        mst_summary_histogram(writer, "h", tensor, (int64_t)step);
        mst_tensor_release(tensor);
    }
    json_decref(lists);
    check(mst_summary_writer_close(writer));
}

static void read_all(const char *path) {
    mst_event_reader *reader;
    const Muster__Event *event;
    check(mst_event_reader_open(path, &reader));
    for (;;) {
        check(mst_event_reader_next(reader, &event));
        if (!event) break;
        for (size_t i = 0; event->what_case == MUSTER__EVENT__WHAT_SUMMARY && i < event->summary->n_value; i++)
            printf("{\"tag\": \"%s\", \"step\": %lld, \"value\": %.9g}\n", event->summary->value[i]->tag,
                   (long long)event->step, (double)event->summary->value[i]->simple_value);
    }
    mst_event_reader_close(reader);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_all(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "numbers") == 0)
        write_numbers(argv[2], argv[3]);
    else if (argc == 3 && strcmp(argv[1], "read") == 0)
        read_all(argv[2]);
    else
        return 2;
    return 0;
}
