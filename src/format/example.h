/** tf.train.Example inside.
 *
 *      Example          1 Features
 *      SequenceExample  1 Features (context), 2 FeatureLists
 *      Features         1 map: string -> Feature
 *      FeatureLists     1 map: string -> FeatureList;  FeatureList: 1 Feature, repeated
 *      Feature          one of: 1 BytesList, 2 FloatList, 3 Int64List; each: 1 value, repeated
 *
 *  A map is a repeated message with 1 key, 2 value. What comes later wins: an entry of the same key, a list of another
 *  kind; lists of the same kind in one Feature are one list. Floats and integers may be packed or not.
 *
 *  Source: tensorflow/core/example/example.proto, feature.proto.
 */
#ifndef MUSTER_FORMAT_EXAMPLE_H
#define MUSTER_FORMAT_EXAMPLE_H

#include "format/wire.h"
#include "muster/example.h"

/** One entry of the features, or of the feature_lists. */
typedef struct mst_example_entry {
    mst_wire name;
    mst_wire value; /**< Feature, or FeatureList */
    bool sequence;
} mst_example_entry;

/** Where a walk over the entries is. */
typedef struct mst_example_walk {
    mst_wire example, entries;
    bool sequence;
} mst_example_walk;

/** False where the message is damaged; *ENTRY has no name (NULL) at the end. */
bool mst_example_next(mst_example_walk *walk, mst_example_entry *entry);

/** The kind of a Feature, and where the list of it begins that counts. False where it is damaged. */
bool mst_feature_find(mst_wire feature, mst_feature_kind *kind, mst_wire *lists);

/** The numbers of the lists that mst_feature_find gave, at most MOST of them, to DST: i64 of integers, f32 of floats.
 *  Their number in all; -1 where they are damaged. */
int64_t mst_feature_numbers(mst_feature_kind kind, mst_wire lists, void *dst, int64_t most);

#endif
