/** The messages between workers and parameter servers (messages/task_message.h).
 *
 *      worker                                                     server
 *      HELLO, with its fingerprints ---------------------->       EMPTY: there are no values yet
 *      BEGIN, from the chief: graph, variables, values --->       makes the state
 *      HELLO ----------------------------------------------->     VALUES, with the position from which it goes on
 *
 *      GRADIENTS ------------------------------------------->     applies them: in an asynchronous job at once,
 *                                                                 else when the gradients of all workers have come
 *             <---------------------------------------------      VALUES
 *
 *      FINISHED, after the last step of a training -------->      waits for all workers
 *             <---------------------------------------------      FINISHED: all workers have finished
 *      LEAVE, after its work -------------------------------->    waits for all workers
 *             <---------------------------------------------      DONE: all have done their work
 *      GONE -------------------------------------------------->   ends when all have said so
 *
 *  Terms
 *
 *      server        keeps variables, or some rows of them (ps_part.h), and applies gradients to them
 *      worker        computes gradients; the chief is the worker that gives the first values, and keeps the state
 *      step          number of updates that a server has made
 *      values        the variables as they are after a step
 *      position      of a batch in a worker's data: a number that rises (batch_position.h)
 *      staleness     of gradients: updates made since the worker read the values with which it computed them
 *      round         number of BEGINs that the chief has sent: with BEGIN a server forgets the round before
 *      request       what a worker asks of all servers; it has one at a time, and numbers them
 *
 *  Rules: requests
 *
 *   1. A server takes the messages of workers one after another, in one thread.
 *   2. An answer has the number of its request, and the worker drops answers to earlier ones. A server drops a request
 *      whose number is smaller than that of the last one from the same process.
 *   3. A request is sent again after a broken connection. A worker that does not know whether its gradients have
 *      arrived may therefore send them again, and so may a new process of that worker.
 *
 *  Updates
 *
 *   4. A server applies each position of a worker at most once. It answers gradients of an earlier position than it
 *      expects, and drops them.
 *   5. In an asynchronous job gradients are applied when they come. With a bound on staleness, a server holds values
 *      back: a worker gets them only when no worker's gradients can become too old.
 *   6. In a synchronous job an update uses the gradients of `aggregate` workers (ps_begin.h), or of all workers that
 *      still train if they are fewer. Gradients of another step are dropped, and answered with the newest values.
 *   7. If that number is not all workers, and there are several servers, the first server gives the requests one order
 *      (server_order.h). All servers then apply and drop the same gradients.
 *
 *  Rounds
 *
 *   8. Only the chief sends BEGIN, to all servers, with a greater round than any of them has. All workers then continue
 *      from the positions in the state that BEGIN carries.
 *   9. A server that was started again has no values, and answers EMPTY. Any server answers EMPTY to gradients of
 *      another round, and to a process that it does not know. The worker then says HELLO to all servers, until all have
 *      values of one round.
 *  10. The chief keeps a copy of the state of all servers, and collects it anew at least once a minute. A new round
 *      begins with that copy: steps made after the copy was collected are repeated.
 *  11. After the chief has sent COLLECT with number 1, a server makes no more updates in this round.
 *
 *  The end
 *
 *  12. A worker that is lost for recovery_timeout seconds ends a job that is synchronous, a replay, or has not begun.
 *      Any other job goes on without the worker.
 *  13. FINISHED is answered when all workers have sent it: until then each may have to repeat steps. The chief is
 *      answered first, and collects the state. Then the others are answered: no step is lost from then on.
 *  14. When all workers have sent LEAVE, each gets DONE, with the last values. A server ends when all have sent GONE.
 *      A closed connection does not count as GONE: DONE may have been lost with it.
 *  15. A server that is told to leave sends LEAVING. The chief collects the state of all servers (COLLECT, number 1),
 *      and then lets that server end. No step has to be repeated when it comes back.
 *  16. A job that cannot go on ends with FAILED, which each task that receives it passes on. If the job ends because a
 *      lost task has not come back, the chief may still collect the state.
 *
 *  Servers send each other only ORDER. `number` and `step` are members of the head of a message; they are 0 unless the
 *  list below says something else. */
#ifndef MUSTER_PARAMETER_SERVER_PS_MESSAGE_H
#define MUSTER_PARAMETER_SERVER_PS_MESSAGE_H

#include "messages/task_message.h"

extern const mst_protocol mst_ps_protocol;

/** W: sent by a worker. S: sent by a server. S to S: sent by a server to a server. `number`, `step`, `request` and
 *  `body` are those of the message. */
enum {
    /* the beginning */
    /** W: introduces its process; number: 0, or 1 + the position whose values it needs; step: number of trainings that
     *  it has finished; body: its fingerprints */
    MST_PS_HELLO = MST_TASK_MESSAGE_PARAMETER_SERVER,
    MST_PS_EMPTY, /**< S: it has no values (round 0), or none of this round, or this worker must say HELLO */
    /** W, the chief: a new round begins. The server makes its state of the body: graph, variables and first values
     *  (ps_begin.h) */
    MST_PS_BEGIN,
    /** Only in a job that promises equal bits. W: asks which instructions of oneDNN all workers have.
     *  S: sent when all workers have come; number: these instructions, a bit each */
    MST_PS_AGREE,
    /* steps */
    MST_PS_VALUES, /**< S: number: position from which the worker goes on; step; body: message_body.h */
    /** W: gradients, which the server applies; number: position of the batch; body: message_body.h.
     *  step: that of the values of this round that the worker has; -1: its values have a different step for each
     *  server */
    MST_PS_GRADIENTS,
    MST_PS_TAKEN, /**< S, if values are given in turn (`in_turn` in ps_begin.h): it has the gradients */
    /** W, if values are given in turn; number: 1: it is this server's turn to give values. 0: the worker only asks
     *  whether the server has values of this round (TAKEN or EMPTY) */
    MST_PS_WANT,
    /** S to S (server_order.c); number: a worker, or -1; request: that worker's request.
     *  To the first server: this request has come. If number is -1: repeat the turns that I have not taken.
     *      step: number of turns that the sender has taken
     *  From the first server: take this request. If number is -1: make an update.
     *      step: number of the turn */
    MST_PS_ORDER,
    /** W: asks for the learning rate; body: nothing, or from the chief a new one, an f32
     *  S: body: the learning rate, an f32 */
    MST_PS_RATE,
    /** W: asks how stale gradients were
     *  S: body: counts, see below */
    MST_PS_STALENESS,
    /** W: asks for the state of callbacks and the number of shards (ps_kept.h). If number is 1, the chief sends both
     *  instead, in the body
     *  S: body: the state and the number of shards; empty if the chief has sent them */
    MST_PS_KEPT,
    /** W: asks for all state, also when the job has ended (FAILED). Number is 1 only from the chief: the server makes
     *  no further update in this round */
    MST_PS_COLLECT,
    MST_PS_STATE, /**< S: step; body: a snapshot (messages/state_message.h) */
    /* the end */
    MST_PS_STOP, /**< S, before values: the chief has ended the training, and this worker must end it too */
    /** W: it has made its last step of training NUMBER, from 1 on; step: bits, see below
     *  S: all workers have done so (the chief is told first); step; body: the last values */
    MST_PS_FINISHED,
    /** W: it has done its work; number: number of the training whose last values it has, or 0.
     *  step: 1: another server has said that all workers have done their work */
    MST_PS_LEAVE,
    MST_PS_DONE, /**< S: all have done their work; step; body: values, or nothing if there are none */
    MST_PS_GONE, /**< W: it knows that all have done their work (DONE), and no longer needs the server */
    /** S, to all: it is about to leave, and will come back without its state; the chief asks for that
     *  W, the chief: it has the state */
    MST_PS_LEAVING,
    /** Both: the job ends; body: why, a text without a 0 at its end.
     *  W: number: 1: the reason is another task, which the text names.
     *  S: step: 1: a lost task has not come back, but the state is complete: the chief may COLLECT it */
    MST_PS_FAILED,
    MST_PS_NOTICE, /**< S: body: a line for the log, a text as of FAILED */
    MST_PS_END
};
/** CANNOT_JOIN (messages/task_message.h) ends a job if the task that cannot join has never joined. `number` says which
 *  task that is:
 *      0        the sender, which cannot listen at its address
 *      1        W to S: another server
 *      2 + I    W to S: worker I, which was given other lists of tasks */

/** Bits of FINISHED from the chief. HAS_STATE: it has all state of the last step. STOPS: its callbacks have ended the
 *  training, also for workers that are at another step. */
enum { MST_FINISHED_HAS_STATE = 1, MST_FINISHED_STOPS = 2 };

/** The body of STALENESS is an i64 for each staleness from 0 to the largest that occurred. It counts the gradients of
 *  this staleness that have been applied since BEGIN. MST_STALENESS_COUNTS - 1 updates and more are counted
 *  together. */
enum { MST_STALENESS_COUNTS = 1024 };

#endif
