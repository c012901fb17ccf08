#include "cli/launch/job_print.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "cli/launch/remote_command.h"
#include "cli/launch/shell_words.h"

/* ---- who may join ---- */

static const char key_option[] = "--cluster-key", insecure_option[] = "--insecure";

/* "--cluster-key" and "--cluster_key" are one option. */
static bool is_option(const char *argument, const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (argument[i] != name[i] && !(i > 1 && argument[i] == '_' && name[i] == '-')) return false;
    return true;
}

/* The value of --cluster-key among the program's arguments; NULL: it has none. */
static const char *key_file_of(const job_plan *plan) {
    const size_t length = sizeof key_option - 1;
    for (int i = 0; i < plan->num_arguments; i++) {
        const char *argument = plan->arguments[i];
        if (!is_option(argument, key_option, length)) continue;
        if (argument[length] == '=') return argument + length + 1;
        if (!argument[length] && i + 1 < plan->num_arguments) return plan->arguments[i + 1];
    }
    return NULL;
}

/* Prints a note if the program has no --cluster-key: tasks on several machines would end with an error. */
static void print_missing_key(const job_plan *plan, const char *where) {
    if (key_file_of(plan)) return;
    for (int i = 0; i < plan->num_arguments; i++)
        if (strcmp(plan->arguments[i], insecure_option) == 0) return;
    printf(
        "# Tasks of Muster on several machines need a key: 'muster keygen cluster.key' makes one. Give the program\n"
        "# --cluster-key FILE%s, or --insecure where all machines of the network are trusted.\n",
        where);
}

/* ---- shell ---- */

static mst_status print_task(const job_task *task, const char *folder, const char *ssh) {
    char *command = task_command(folder, task);
    if (!command) return MST_NO_MEMORY("for the command of %s", task->name);
    if (task->host) {
        printf("%s ", ssh);
        shell_word_write(stdout, task->host->target);
        putchar(' ');
        shell_word_write(stdout, command);
    } else {
        fputs(command, stdout);
    }
    putchar('\n');
    free(command);
    return MST_OK;
}

mst_status job_print_shell(const job *job, const char *ssh) {
    char *folder = getcwd(NULL, 0);
    if (!folder) return MST_FAIL(MST_IO, "the current folder has no name: change to another one");
    mst_status status = MST_OK;
    for (int i = 0; !status && i < job->num_tasks; i++) status = print_task(&job->task[i], folder, ssh);
    free(folder);
    return status;
}

/* ---- Slurm ---- */

/* Prints {"ps":[...],"worker":[...]}. The function `addresses` of the script makes each list. */
static void print_cluster(const job_plan *plan) {
    printf("cluster=\"{");
    for (int role = 0, first = 0, count = 0; role < JOB_EVALUATOR; first += plan->num[role++])
        if (plan->num[role])
            printf("%s\\\"%s\\\":[$(addresses %d %d)]", count++ ? "," : "", job_role_name((job_role)role), first,
                   plan->num[role]);
    printf("}\"\nexport cluster\n");
}

/* Prints the script's choice of role and index for task number $i of the job. */
static void print_choice(const job_plan *plan) {
    for (int role = 0, first = 0, count = 0; role < JOB_NUM_ROLES; first += plan->num[role++])
        if (plan->num[role])
            printf("%s [ \"$i\" -lt %d ]; then type=%s index=$((i - %d))\n", count++ ? "elif" : "if",
                   first + plan->num[role], job_role_name((job_role)role), first);
    printf("fi\n");
}

static int num_tasks(const job_plan *plan) {
    int count = 0;
    for (int role = 0; role < JOB_NUM_ROLES; role++) count += plan->num[role];
    return count;
}

/* The srun step that asks for the names of the hosts has the same layout as the srun step that runs the program. */
void job_print_slurm(const job_plan *plan) {
    printf(
        "#!/bin/sh\n"
        "#SBATCH --job-name=muster\n"
        "#SBATCH --ntasks=%d\n"
        "# Submit this with sbatch. Slurm chooses the machines; each task is told of all by TF_CONFIG.\n",
        num_tasks(plan));
    print_missing_key(plan, ", a file that is on each of them");
    printf("set -eu\n");
    if (plan->first_port)
        printf("port=%d\n", plan->first_port);
    else
        printf("port=$((10000 + SLURM_JOB_ID %% 20000)) # of task 0; the others count up from there\n");
    printf(
        "hosts=$(srun --label hostname | sort -n | sed 's/^ *[0-9]*: *//')\n"
        "# addresses FIRST COUNT: of these tasks, as JSON\n"
        "addresses() {\n"
        "    printf '%%s\\n' \"$hosts\" | awk -v first=\"$1\" -v count=\"$2\" -v port=\"$port\" '\n"
        "        NR > first && NR <= first + count { printf \"%%s\\\"%%s:%%d\\\"\", between, $1, port + NR - 1; "
        "between "
        "= \",\" }'\n"
        "}\n");
    print_cluster(plan);
    printf("exec srun --kill-on-bad-exit=1 sh -c 'i=$SLURM_PROCID\n");
    print_choice(plan);
    printf(
        "TF_CONFIG=\"{\\\"cluster\\\":$cluster,\\\"task\\\":{\\\"index\\\":$index,\\\"type\\\":\\\"$type\\\"}}\"\n"
        "export TF_CONFIG\n"
        "exec \"$@\"' sh");
    shell_words_write(stdout, plan->arguments);
    putchar('\n');
}

/* ---- Kubernetes ---- */

/* Kubernetes replaces $(NAME) in arguments, and reads $$ as $. */
static char *escape_dollars(const char *text) {
    char *escaped = malloc(2 * strlen(text) + 1), *to = escaped;
    if (!escaped) return NULL;
    for (; *text; text++) {
        *to++ = *text;
        if (*text == '$') *to++ = '$';
    }
    *to = '\0';
    return escaped;
}

static mst_status add_argument(json_t *list, const char *argument) {
    char *text = escape_dollars(argument);
    const int failed = !text || json_array_append_new(list, json_string(text));
    free(text);
    if (!failed) return MST_OK;
    return MST_FAIL(MST_INVALID, "--print kubernetes: '%s' is no UTF-8, or too long: a manifest cannot have it",
                    argument);
}

/* The program and its arguments as JSON, which is valid YAML; to be freed. */
static mst_status command_text(const job_plan *plan, char **out) {
    json_t *list = json_array();
    mst_status status = MST_OK;
    for (int i = 0; !status && i < plan->num_arguments; i++) status = add_argument(list, plan->arguments[i]);
    *out = status ? NULL : mst_json_line(list, JSON_ENSURE_ASCII);
    json_decref(list);
    return status || *out ? status : MST_NO_MEMORY("for %d arguments", plan->num_arguments);
}

/* Prints a comment on how the key file gets to its place. A single file of a Secret, mounted with subPath, is not a
 * symbolic link. It belongs to root, so the program must run as root. */
static void print_secret_comment(const job_plan *plan) {
    const char *file = key_file_of(plan);
    print_missing_key(plan, " and print this again (the file then comes from a Secret)");
    if (file)
        printf(
            "# The cluster key comes from a Secret, which is made before with\n"
            "#     kubectl create secret generic muster-key --from-file=cluster.key=FILE\n"
            "# Only its owner may read it, root: so the containers run as root.\n");
}

/* The path of the key file in the containers, as JSON; NULL: there is no key. To be freed. */
static mst_status key_text(const job_plan *plan, char **out) {
    const char *file = key_file_of(plan);
    *out = NULL;
    if (!file) return MST_OK;
    if (file[0] != '/')
        return MST_FAIL(MST_INVALID,
                        "--cluster-key '%s': write where it is to be in the containers, such as "
                        "/run/muster/cluster.key",
                        file);
    json_t *path = json_string(file);
    *out = mst_json_line(path, JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
    json_decref(path);
    return *out ? MST_OK : MST_NO_MEMORY("for a manifest");
}

/* Prints the mount of the key and its volume. They follow the other lines of the last container. KEY is JSON. The
 * mode, 256, is 0400 in octal: JSON has only decimal numbers. */
static void print_secret(const char *key) {
    if (key)
        printf(
            "              volumeMounts:\n"
            "                - name: muster-key\n"
            "                  mountPath: %s\n"
            "                  subPath: cluster.key\n"
            "                  readOnly: true\n"
            "          volumes:\n"
            "            - name: muster-key\n"
            "              secret:\n"
            "                secretName: muster-key\n"
            "                defaultMode: 256\n",
            key);
}

/* What all pods have in common. The program and the path of the key are JSON. */
typedef struct pod {
    const char *image;
    char *command, *key;
} pod;

static void free_pod(pod *p) {
    free(p->command);
    free(p->key);
}

static mst_status make_pod(const job_plan *plan, const char *image, pod *p) {
    *p = (pod){.image = image};
    mst_status status = command_text(plan, &p->command);
    if (!status) status = key_text(plan, &p->key);
    if (status) free_pod(p);
    return status;
}

static void print_replicas(const char *kind, int count, const char *restart, int port, const pod *p) {
    printf(
        "    %s:\n"
        "      replicas: %d\n"
        "      restartPolicy: %s\n"
        "      template:\n"
        "        spec:\n"
        "          containers:\n"
        "            - name: tensorflow\n"
        "              image: %s\n"
        "              command: %s\n",
        kind, count, restart, p->image, p->command);
    if (port)
        printf("              ports:\n                - name: tfjob-port\n                  containerPort: %d\n", port);
    print_secret(p->key);
}

mst_status job_print_kubernetes(const job_plan *plan, const char *image, int restarts) {
    static const char *const kinds[] = {"PS", "Chief", "Worker", "Evaluator"};
    pod p;
    MST_TRY(make_pod(plan, image, &p));
    printf("# Submit this with kubectl create -f FILE, where Kubeflow's training operator is installed.\n");
    print_secret_comment(plan);
    printf(
        "apiVersion: kubeflow.org/v1\n"
        "kind: TFJob\n"
        "metadata:\n"
        "  name: muster\n"
        "spec:\n");
    if (!plan->num[JOB_CHIEF]) printf("  successPolicy: AllWorkers\n");
    printf("  runPolicy:\n    cleanPodPolicy: Running\n    backoffLimit: %d\n  tfReplicaSpecs:\n", restarts);
    for (int role = 0; role < JOB_NUM_ROLES; role++)
        if (plan->num[role])
            print_replicas(kinds[role], plan->num[role], restarts ? "OnFailure" : "Never", plan->first_port, &p);
    free_pod(&p);
    return MST_OK;
}

/* mpirun tells the processes their numbers. Worker 0 runs on the first host of the operator's list. */
mst_status job_print_mpijob(const job_plan *plan, const char *image, int restarts) {
    enum { PORT = 2222 };
    const int workers = plan->num[JOB_WORKER];
    pod p;
    MST_TRY(make_pod(plan, image, &p));
    printf(
        "# Submit this with kubectl create -f FILE, where Kubeflow's MPI operator is installed. The image has Open MPI "
        "and sshd.\n");
    print_secret_comment(plan);
    printf(
        "apiVersion: kubeflow.org/v2beta1\n"
        "kind: MPIJob\n"
        "metadata:\n"
        "  name: muster\n"
        "spec:\n"
        "  slotsPerWorker: 1\n"
        "  runPolicy:\n    cleanPodPolicy: Running\n    backoffLimit: %d\n"
        "  mpiReplicaSpecs:\n"
        "    Launcher:\n"
        "      replicas: 1\n"
        "      template:\n"
        "        spec:\n"
        "          containers:\n"
        "            - name: launcher\n"
        "              image: %s\n"
        "              command:\n"
        "                - sh\n"
        "                - -c\n"
        "                - >-\n"
        "                  read -r first rest < \"${OMPI_MCA_orte_default_hostfile:-/etc/mpi/hostfile}\";\n"
        "                  exec mpirun --allow-run-as-root -n %d -x MASTER_ADDR=\"$first\" -x MASTER_PORT=%d \"$@\"\n"
        "                - mpirun\n"
        "              args: %s\n"
        "    Worker:\n"
        "      replicas: %d\n"
        "      template:\n"
        "        spec:\n"
        "          containers:\n"
        "            - name: worker\n"
        "              image: %s\n",
        restarts, image, workers, plan->first_port ? plan->first_port : PORT, p.command, workers, image);
    print_secret(p.key);
    free_pod(&p);
    return MST_OK;
}
