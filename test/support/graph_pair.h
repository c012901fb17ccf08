/** A graph and what is read of the bytes that it is written as. */
#ifndef MUSTER_TEST_SUPPORT_GRAPH_PAIR_H
#define MUSTER_TEST_SUPPORT_GRAPH_PAIR_H

#include "muster/session.h"

/** The graph written to memory and read again; the test fails where that fails, and where the copy is not the same:
 *  printing, options, devices, control edges, collections, seed, and the bytes that it is written as. */
mst_graph *graph_pair_copy(const mst_graph *graph);
/** The test fails where the two are not the same. */
void graph_pair_expect_same(const mst_graph *a, const mst_graph *b);
/** The value of COPY that VALUE is in its own graph. */
mst_value graph_pair_value(const mst_graph *copy, mst_value value);

enum { GRAPH_PAIR_MOST = 32 };

/** Runs both graphs TIMES times, with variables initialised and the same feeds and fetches (those of the first graph),
 *  at most GRAPH_PAIR_MOST of each: the plans must be the same after each pass, and the outputs to the last bit; or
 *  both must fail with the same message. DEVICES NULL: "cpu:1/1". */
void graph_pair_run(mst_graph *graph, mst_graph *copy, const char *devices, int times, const mst_feed *feeds,
                    int num_feeds, const mst_value *fetches, int num_fetches);

#endif
