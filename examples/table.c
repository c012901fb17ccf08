/* Regression on a table with categories: the price of a house from its city, kind, area and year.
 *
 * Each column of the CSV file is an input of the model. Categories become one-hot columns, and numbers are normalized
 * by the mean and variance of the rows that are trained on, so the model takes raw rows: those of a second file,
 * without prices, whose columns have another order, in which a number is missing and a city is new.
 *
 * `muster train --data csv:houses.csv --loss mse` does all of this by itself; in C each column can have layers of its
 * own.
 *
 *     examples/table [FOLDER]      writes its two tables to FOLDER, /tmp without one
 */
#include <muster/muster.h>
#include <stdio.h>

enum { ROWS = 1000, TESTED = 200, PATH_SIZE = 4096 };

/* ---- the tables -------------------------------------------------------------------------------------- */

static const char *const cities[] = {"Aachen", "Berlin", "Celle", "Dresden", "Emden", "Fulda"};
static const char *const kinds[] = {"flat", "house", "loft"};
static const double price_of_city[] = {420, 880, 150, 610, 260, 700}, factor_of_kind[] = {1, 1.5, 0.8};

static double price(int city, int kind, int area, int year) {
    return price_of_city[city] * factor_of_kind[kind] + 3 * area + (year - 1950) / 2.0;
}

/* The next number below BOUND of a linear congruential generator (Numerical Recipes). */
static int next_number(unsigned *state, int bound) {
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 8) % (unsigned)bound);
}

static FILE *create(const char *folder, const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) perror(path);
    return file;
}

static int write_tables(const char *folder, char houses[PATH_SIZE], char offers[PATH_SIZE]) {
    unsigned state = 1;
    FILE *file = create(folder, "muster-houses.csv", houses);
    if (!file) return 1;
    fprintf(file, "city,kind,area,year,price\n");
    for (int i = 0; i < ROWS; i++) {
        const int city = next_number(&state, 6), kind = next_number(&state, 3);
        const int area = 20 + next_number(&state, 180), year = 1900 + next_number(&state, 120);
        fprintf(file, "%s,%s,%d.5,%d,%.1f\n", cities[city], kinds[kind], area, year, price(city, kind, area, year));
    }
    fclose(file);
    file = create(folder, "muster-offers.csv", offers);
    if (!file) return 1;
    fprintf(file, "year,area,kind,city\n1990,100.5,loft,Berlin\n2010,80.5,house,Celle\n1950,NA,flat,Aachen\n");
    fprintf(file, "1950,100.5,flat,Zwickau\n");
    fclose(file);
    return 0;
}

/* ---- the model --------------------------------------------------------------------------------------- */

static mst_output category(mst_model *model, const char *name, const mst_dataset *data, int column) {
    const mst_output input = mst_input(model, MST_SCALAR, .dtype = MST_I64, .name = name);
    return mst_category_encoding(input, mst_dataset_num_classes(data, column), .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

/* Mean and variance are those of column COLUMN of TRAIN. */
static mst_status number(mst_model *model, const char *name, mst_dataset *train, int column, mst_output *out) {
    const mst_output layer =
        mst_normalization(mst_input(model, MST_SCALAR, .name = name), .no_axis = true, .fill_missing = true);
    *out = mst_flatten(layer); /* [n, 1] */
    return mst_adapt(layer, train, column);
}

/* TRAIN has the columns city, kind, area, year and price. */
static mst_status build(mst_model *model, mst_dataset *train) {
    mst_output area, year, city = category(model, "city", train, 0), kind = category(model, "kind", train, 1);
    MST_TRY(number(model, "area", train, 2, &area));
    MST_TRY(number(model, "year", train, 3, &year));
    mst_dense(mst_concatenate(MST_OUTPUTS(city, kind, area, year)), 64, .activation = MST_RELU);
    mst_dense(model, 1);
    return mst_compile(model,
                       .optimizer = mst_adam(.schedule = mst_cosine_decay(.rate = 0.02, .decay_steps = 100 * 40)),
                       .loss = MST_LOSS_MEAN_SQUARED_ERROR, .metric = {MST_METRIC_MEAN_ABSOLUTE_ERROR}, .seed = 1);
}

/* ---- training and prediction ------------------------------------------------------------------------- */

static mst_status fit(mst_model *model, mst_dataset *train, mst_dataset *test) {
    mst_result result;
    MST_TRY(build(model, train));
    MST_TRY(mst_fit(model, .data = train, .batch_size = 20, .epochs = 100));
    MST_TRY(mst_evaluate(model, test, TESTED, &result, NULL));
    printf("%d other houses: mean absolute error %.1f\n", TESTED, result.metric[0]);
    return MST_OK;
}

/* The rows of OFFERS are numbered by the SCHEMA of those that were trained on. */
static mst_status predict(mst_model *model, const char *offers, const char *schema) {
    mst_tensor *prices;
    mst_dataset *rows = mst_data_from_csv(
        offers,
        &(mst_csv_options){.schema = schema, .separate = true, .missing = MST_MISSING_NAN, .unknown_categories = true});
    const mst_status status = mst_predict(model, rows, 100, &prices);
    mst_dataset_release(rows);
    MST_TRY(status);
    for (int64_t i = 0; i < mst_tensor_count(prices); i++)
        printf("offer %lld: %.0f\n", (long long)i + 1, mst_tensor_get(prices, i));
    mst_tensor_release(prices);
    return MST_OK;
}

static mst_status run(const char *houses, const char *offers) {
    mst_dataset *test, *all = mst_data_from_csv(houses, &(mst_csv_options){.separate = true});
    mst_dataset *train = mst_data_split(mst_dataset_retain(all),
                                        &(mst_split_options){.fraction = (double)TESTED / ROWS, .seed = 1}, &test);
    mst_model *model;
    MST_TRY(mst_dataset_check(train));
    MST_TRY(mst_model_create(&model));
    MST_TRY(fit(model, train, test));
    MST_TRY(predict(model, offers, mst_dataset_schema(all)));
    mst_model_destroy(model);
    mst_dataset_release(test);
    mst_dataset_release(train);
    mst_dataset_release(all);
    return MST_OK;
}

int main(int argc, char **argv) {
    char houses[PATH_SIZE], offers[PATH_SIZE];
    if (write_tables(argc > 1 ? argv[1] : "/tmp", houses, offers)) return 1;
    if (run(houses, offers)) return fprintf(stderr, "error: %s\n", mst_error()->message), 1;
    return 0;
}
