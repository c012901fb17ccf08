/* Lines of text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "inspect/inspector.h"

static mst_inspect_match inspect_text_knows(const mst_inspect_source *s) {
    return mst_inspect_is_text(s) ? MST_INSPECT_POSSIBLE : MST_INSPECT_NO;
}

static mst_status inspect_text_print(const mst_inspect_source *source, mst_report *report) {
    char *line = NULL;
    size_t capacity = 0;
    int64_t lines = 0, bytes = 0, longest = 0, zeros = 0;
    ssize_t size;
    FILE *file = fopen(source->path, "rb");
    if (!file) return MST_FAIL(MST_IO, "'%s': cannot be read", source->path);
    while ((size = getline(&line, &capacity, file)) >= 0) {
        lines++;
        bytes += size;
        for (ssize_t i = 0; i < size; i++) zeros += line[i] == '\0';
        const int64_t length = size - (size > 0 && line[size - 1] == '\n');
        if (length > longest) longest = length;
    }
    const bool failed = ferror(file) || !feof(file);
    fclose(file);
    free(line);
    mst_report_title(report, "text", "%lld line%s, %lld bytes, the longest line has %lld", (long long)lines,
                     lines == 1 ? "" : "s", (long long)bytes, (long long)longest);
    mst_report_set(report, NULL, "lines", json_integer(lines));
    mst_report_set(report, NULL, "bytes", json_integer(bytes));
    mst_report_set(report, NULL, "longest", json_integer(longest));
    if (zeros) mst_report_line(report, "%lld bytes are 0, which text does not have", (long long)zeros);
    return failed ? MST_FAIL(MST_IO, "'%s': cannot be read to its end", source->path) : MST_OK;
}

const mst_inspector mst_inspector_text = {
    .name = "text", .suffixes = ".txt", .knows = inspect_text_knows, .print = inspect_text_print};
