#include "support/hlo_folder.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

static FILE *list;
static int programs;

static FILE *open_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("MUSTER_HLO_FOLDER"), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_values(FILE *file, const hlo_value *value, int count) {
    for (int i = 0; i < count; i++)
        if (value[i].bytes) assert_int_equal(fwrite(value[i].data, value[i].bytes, 1, file), 1);
}

void hlo_folder_keep(const hlo_case *h) {
    char name[32];
    if (!getenv("MUSTER_HLO_FOLDER")) return;
    if (!list) list = open_file("list");
    programs++;
    snprintf(name, sizeof name, "%d.mlir", programs);
    FILE *text = open_file(name);
    fputs(h->text, text);
    fclose(text);
    snprintf(name, sizeof name, "%d.bin", programs);
    FILE *values = open_file(name);
    write_values(values, h->argument, h->num_arguments);
    write_values(values, h->wanted, h->fails ? 0 : h->num_results);
    fclose(values);
    fprintf(list, "%d %g %d %s\n", programs, h->tolerance, h->fails != MST_OK, h->label);
}

void hlo_folder_end(void) {
    if (list) fclose(list);
    list = NULL;
}
