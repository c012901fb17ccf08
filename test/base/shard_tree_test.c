/* The tree in which sums over shards are added (base/shard_tree.h), compared with its recursive definition: parents,
 * sides and windows, for all small numbers of shards. A text with parentheses shows that the sums follow the order
 * of the tree. */
#include "base/shard_tree.h"

#include "support/test.h"

enum { MOST_SHARDS = 70 };

/* The definition, by recursion: the left part of a node is the largest power of two below its size. */
static int32_t left_part(int32_t count) {
    int32_t part = 1;
    while (2 * part < count) part *= 2;
    return part;
}

/* All nodes of the tree, each with its parent and its side. */
typedef struct node {
    mst_shards shards, parent;
    bool is_right;
} node;

typedef struct tree {
    node nodes[2 * MOST_SHARDS];
    int32_t count;
} tree;

static void add_nodes(tree *t, mst_shards s, mst_shards parent, bool is_right) {
    t->nodes[t->count++] = (node){s, parent, is_right};
    if (s.count == 1) return;
    const int32_t left = left_part(s.count);
    add_nodes(t, (mst_shards){s.first, left}, s, false);
    add_nodes(t, (mst_shards){s.first + left, s.count - left}, s, true);
}

static tree tree_of(int32_t num_shards) {
    tree t = {.count = 0};
    add_nodes(&t, (mst_shards){0, num_shards}, (mst_shards){0, 0}, false);
    return t;
}

static void assert_same(mst_shards a, mst_shards b) {
    assert_int_equal(a.first, b.first);
    assert_int_equal(a.count, b.count);
}

static void every_node_knows_its_side_and_its_parent(void **state) {
    (void)state;
    for (int32_t n = 1; n <= MOST_SHARDS; n++) {
        const tree t = tree_of(n);
        assert_int_equal(t.count, 2 * n - 1);
        for (int32_t i = 0; i < t.count; i++) {
            const node *x = &t.nodes[i];
            assert_int_equal(mst_shards_is_right(x->shards, n), x->is_right);
            if (x->parent.count) assert_same(mst_shards_parent(x->shards, n), x->parent);
        }
    }
}

static void the_largest_node_within_a_window_is_found(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 40; n++) {
        const tree t = tree_of(n);
        for (int32_t first = 0; first < n; first++)
            for (int32_t end = first + 1; end <= n; end++) {
                mst_shards largest = {first, 0};
                for (int32_t i = 0; i < t.count; i++) {
                    const mst_shards s = t.nodes[i].shards;
                    if (s.first == first && s.first + s.count <= end && s.count > largest.count) largest = s;
                }
                assert_same(mst_shards_within(first, end, n), largest);
            }
    }
}

/* A sum that shows how it was made: parentheses around each addition. */
typedef struct term {
    char text[16 * MOST_SHARDS];
} term;

static term term_of_node(mst_shards s) {
    term out;
    if (s.count == 1) {
        snprintf(out.text, sizeof out.text, "%d", (int)s.first);
        return out;
    }
    const int32_t left = left_part(s.count);
    const term a = term_of_node((mst_shards){s.first, left});
    const term b = term_of_node((mst_shards){s.first + left, s.count - left});
    assert_true(snprintf(out.text, sizeof out.text, "(%s+%s)", a.text, b.text) < (int)sizeof out.text);
    return out;
}

/* The loop of the header's comment, over the nodes that windows of these ENDS pass on; returns the largest height. */
static int32_t add_windows(const int32_t *ends, int32_t num_windows, int32_t n, term *sum, mst_shards *nodes,
                           int32_t *num_nodes) {
    static term stack[MST_SHARD_LEVELS];
    int32_t height = 0, most = 0, count = 0;
    for (int32_t w = 0, first = 0; w < num_windows; w++)
        for (; first < ends[w]; first += nodes[count++].count) {
            nodes[count] = mst_shards_within(first, ends[w], n);
            stack[height++] = term_of_node(nodes[count]);
            if (height > most) most = height;
            for (mst_shards s = nodes[count]; mst_shards_is_right(s, n); s = mst_shards_parent(s, n)) {
                assert_true(--height > 0);
                term both;
                assert_true(snprintf(both.text, sizeof both.text, "(%s+%s)", stack[height - 1].text,
                                     stack[height].text) < (int)sizeof both.text);
                stack[height - 1] = both;
            }
        }
    assert_int_equal(height, 1);
    *sum = stack[0];
    *num_nodes = count;
    return most;
}

static void windows_add_up_to_the_sum_of_the_tree(void **state) {
    (void)state;
    mst_shards nodes[MOST_SHARDS];
    int32_t num_nodes;
    term sum;
    for (int32_t n = 1; n <= 24; n++) {
        const term wanted = term_of_node((mst_shards){0, n});
        for (int32_t a = 1; a <= n; a++)
            for (int32_t b = a; b <= n; b++) {
                const int32_t height = add_windows((const int32_t[]){a, b, n}, 3, n, &sum, nodes, &num_nodes);
                assert_string_equal(sum.text, wanted.text);
                assert_int_equal(mst_shards_levels(nodes, num_nodes, n), height);
            }
    }
}

static void a_node_is_a_tree_of_its_own(void **state) {
    (void)state;
    for (int32_t n = 1; n <= MOST_SHARDS; n++) {
        const tree t = tree_of(n);
        for (int32_t i = 0; i < t.count; i++)
            for (int32_t k = i + 1; k < t.count; k++) { /* those below node I, counted from its first shard */
                const mst_shards root = t.nodes[i].shards, s = t.nodes[k].shards;
                if (s.first < root.first || s.first + s.count > root.first + root.count) continue;
                const mst_shards own = {s.first - root.first, s.count};
                assert_int_equal(mst_shards_is_right(own, root.count), t.nodes[k].is_right);
            }
    }
}

static void a_million_shards_take_few_levels(void **state) {
    (void)state;
    const int32_t counts[] = {1 << 20, (1 << 20) - 1, (1 << 20) + 1, INT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int32_t n = counts[i];
        int32_t height = 1;
        mst_shards s = {n - 1, 1};
        for (; s.count < n; s = mst_shards_parent(s, n)) height += mst_shards_is_right(s, n);
        assert_same(s, (mst_shards){0, n});
        assert_true(height <= MST_SHARD_LEVELS);
        assert_same(mst_shards_within(0, n, n), s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_knows_its_side_and_its_parent),
        cmocka_unit_test(the_largest_node_within_a_window_is_found),
        cmocka_unit_test(windows_add_up_to_the_sum_of_the_tree),
        cmocka_unit_test(a_node_is_a_tree_of_its_own),
        cmocka_unit_test(a_million_shards_take_few_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
