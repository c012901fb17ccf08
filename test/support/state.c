#include "support/state.h"

#include "store/store.h"
#include "support/test.h"

mst_snapshot *state_of(mst_store *store) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_snapshot(store, &snapshot));
    return snapshot;
}

/* The entry at *I or after it that is compared; false past the last. */
static bool next(const mst_snapshot *snapshot, bool versions, int64_t *i, mst_state_info *out) {
    for (; *i < mst_snapshot_count(snapshot); ++*i) {
        *out = mst_snapshot_info(snapshot, *i);
        if (versions || strcmp(out->name, MST_STATE_RUNS) != 0) return true;
    }
    return false;
}

void state_expect_same(const char *what, const mst_snapshot *got, const mst_snapshot *wanted, bool versions) {
    for (int64_t i = 0, k = 0;; i++, k++) {
        mst_state_info a = {0}, b = {0};
        const bool more = next(got, versions, &i, &a), more_wanted = next(wanted, versions, &k, &b);
        if (!more && !more_wanted) return;
        if (more != more_wanted || strcmp(a.container, b.container) != 0 || strcmp(a.name, b.name) != 0)
            fail_msg("%s: there is '%s', not '%s'", what, more ? a.name : "nothing", more_wanted ? b.name : "nothing");
        if (a.kind != b.kind)
            fail_msg("%s: '%s' is a %s, not a %s", what, a.name, mst_state_kind_name(a.kind),
                     mst_state_kind_name(b.kind));
        const mst_tensor *x = mst_snapshot_value(got, i), *y = mst_snapshot_value(wanted, k);
        if (!engine_same_bits(x, y))
            fail_msg("%s: '%s' has another value (%g, not %g, ...)", what, a.name,
                     mst_tensor_count(x) ? mst_tensor_get(x, 0) : 0, mst_tensor_count(y) ? mst_tensor_get(y, 0) : 0);
        if (versions && a.version != b.version)
            fail_msg("%s: '%s' has version %llu, not %llu", what, a.name, (unsigned long long)a.version,
                     (unsigned long long)b.version);
    }
}
