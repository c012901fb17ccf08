/* all-reduce of 1.6 MB over the processes of an MPI, by Muster's transport `mpi` and by MPI_Allreduce in turns, in one
 * run:
 *
 *     mpiexec -n 2 build/release/muster-bench-openmpi
 *
 * A program of each MPI, beside muster-bench. It starts MPI itself, since it calls it too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/all_reduce.h"
#include "muster/status.h"

enum { ROUNDS = 5, RUNS = 300, COUNT = BENCH_ALL_REDUCE_COUNT };

static double all_reduce_by_mpi(float *values, float *sum, int runs) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int i = 0; i < runs; i++) MPI_Allreduce(values, sum, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return 1000 * (MPI_Wtime() - began) / runs;
}

static int compare_double(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, compare_double);
    return values[ROUNDS / 2];
}

/* Fills MUSTER and MPI with milliseconds of each round. */
static mst_status measure(int rank, int size, double *muster, double *mpi) {
    char address[32], (*all)[32] = malloc((size_t)size * sizeof *all);
    float *values = calloc(2 * COUNT, sizeof *values);
    bench_member *member = NULL;
    mst_status status = all && values ? MST_OK : MST_FAIL(MST_OUT_OF_MEMORY, "no memory");
    bench_find_address(address);
    if (!status) MPI_Allgather(address, sizeof address, MPI_CHAR, all, sizeof address, MPI_CHAR, MPI_COMM_WORLD);
    if (!status) status = bench_member_open("mpi", rank, size, all, &member);
    for (int i = -1; i < ROUNDS && !status; i++) { /* the first one to warm up */
        double seconds;
        const double milliseconds = all_reduce_by_mpi(values, values + COUNT, RUNS);
        MPI_Barrier(MPI_COMM_WORLD);
        status = bench_member_exchange(member, RUNS, &seconds);
        if (i < 0) continue;
        mpi[i] = milliseconds;
        muster[i] = 1000 * seconds;
    }
    bench_member_close(member);
    free(all);
    free(values);
    return status;
}

int main(int argc, char **argv) {
    double muster[ROUNDS], mpi[ROUNDS];
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const mst_status status = measure(rank, size, muster, mpi);
    if (status) {
        fprintf(stderr, "error: rank %d: %s\n", rank, mst_error()->message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    if (rank) return 0;
    const double ours = median(muster), theirs = median(mpi);
    printf("1.6 MB added up over %d processes: transport mpi %.3f ms, MPI_Allreduce %.3f ms, ratio %.2f\n", size, ours,
           theirs, ours / theirs);
    return 0;
}
