#include "support/events.h"

#include "support/folder.h"
#include "support/test.h"

void each_event(const char *folder, void (*look)(const Muster__Event *event, void *context), void *context) {
    char **files;
    EXPECT_OK(mst_event_files_list(folder_path(folder), &files));
    for (char **file = files; *file; file++) {
        mst_event_reader *reader;
        const Muster__Event *event;
        EXPECT_OK(mst_event_reader_open(*file, &reader));
        for (;;) {
            EXPECT_OK(mst_event_reader_next(reader, &event));
            if (!event) break;
            look(event, context);
        }
        mst_event_reader_close(reader);
    }
    mst_event_files_free(files);
}
