/* The pool of threads that share the work of a loop: Note [Threads] in tensix/loops/parallel.pyx.
 *
 * Models parallel_for, help_forever, run_chunks and take. One thread runs two loops, or two threads run one each, with
 * one or two helpers; or the thread that publishes does no chunk itself, so that the helper must.
 *
 * What holds: each chunk runs once, for the loop that it belongs to; when a loop returns, its chunks are done and what
 * they wrote is seen; function and context are never read while they are written; a helper that slept when chunks were
 * published wakes, else the loop would not return where the thread that published them does no chunk.
 *
 * Left out: how helpers are started and how many, forks, and loops that find the pool in use, which run by themselves.
 */
#define TAKE_LOOKS_FIRST 1    /* mutation: the flag is exchanged only if it reads as set */
#define SLEEP_STORED 2        /* mutation: a helper stores its flag, instead of reading and writing it at once */
#define NO_SECOND_LOOK 3      /* mutation: a helper that has set its flag sleeps at once */
#define UNCLAIMED_FIRST 4     /* mutation: chunks are published before they are counted as unfinished */
#define CLAIM_NOT_ACQUIRE 5   /* mutation: claiming a chunk does not acquire */
#define FINISH_RELAXED 6      /* mutation: counting a chunk as done is not acquire-release */
#define TAKE_NOT_RELEASE 7    /* mutation: taking a flag does not release */
#define SLEEP_NOT_ACQUIRE 8   /* mutation: setting a flag does not acquire */
#define CLAIM_WITHOUT_COMPARE 9 /* mutation: a chunk is claimed by subtracting from what was read */

#define THREADS 3
#define WORDS 4
#define WRITES 10
#define LOCKS 4
#define OBJECTS 3
#define UNCLAIMED 0  /* the words */
#define UNFINISHED 1
#define ASLEEP 2     /* and 3: of the helpers */
#define IS_LOADED(w) ((w) == UNCLAIMED || (mutation == TAKE_LOOKS_FIRST && (w) >= ASLEEP))
#include "memory.pml"

#define CHUNKS 2
#define WAKE 0       /* the locks; and 1: of the helpers */
#define IN_USE 2
#define FINISHED 3
#define JOB 2        /* the data: function, context and number of chunks; 0 and 1 are the results of the chunks */

byte runs[CHUNKS], helpers;

inline take(flag, is_taken)
{
    if
    :: mutation == TAKE_LOOKS_FIRST ->
        load(flag, ACQUIRE, seen);
        if :: seen != 0 -> rmw(flag, ACQ_REL, seen, 0) :: else fi
    :: else -> rmw(flag, (mutation == TAKE_NOT_RELEASE -> ACQUIRE : ACQ_REL), seen, 0)
    fi;
    is_taken = (seen == 1);
    seen = 0
}

inline run_chunks()
{
    load(UNCLAIMED, ACQUIRE, left);
    do
    :: left != 0 ->
        if
        :: mutation == CLAIM_WITHOUT_COMPARE -> rmw(UNCLAIMED, ACQ_REL, seen, left - 1); is_done = true
        :: else ->
            compare_exchange(UNCLAIMED, (mutation == CLAIM_NOT_ACQUIRE -> RELEASE : ACQ_REL), left, left - 1, is_done)
        fi;
        if
        :: is_done ->
            atomic {
                is_done = false;
                read_data(JOB);
                write_data(CHUNKS - left);
                runs[CHUNKS - left]++;
                assert(runs[CHUNKS - left] == 1)
            }
            rmw(UNFINISHED, (mutation == FINISH_RELAXED -> RELAXED : ACQ_REL), seen, seen - 1);
            if :: seen == 1 -> release(FINISHED) :: else fi;
            seen = 0;
            load(UNCLAIMED, ACQUIRE, left)
        :: else
        fi
    :: else -> break
    od
}

proctype publisher(byte loops; bit only_helpers)
{
    byte seen, left, helper;
    bit is_done;
    do
    :: loops > 0 ->
        loops--;
        try_acquire(IN_USE, is_done);
        if
        :: is_done ->
            atomic { is_done = false; write_data(JOB); runs[0] = 0; runs[1] = 0 }
            if :: mutation == UNCLAIMED_FIRST -> rmw(UNCLAIMED, ACQ_REL, seen, seen + CHUNKS) :: else fi;
            rmw(UNFINISHED, ACQ_REL, seen, seen + CHUNKS);
            if :: mutation != UNCLAIMED_FIRST -> rmw(UNCLAIMED, ACQ_REL, seen, seen + CHUNKS) :: else fi;
            seen = 0;
            do
            :: helper < helpers ->
                take(ASLEEP + helper, is_done);
                if :: is_done -> release(WAKE + helper) :: else fi;
                is_done = false;
                helper++
            :: else -> helper = 0; break
            od;
            if :: !only_helpers -> run_chunks() :: else fi;
            acquire(FINISHED);
            atomic { read_data(0); read_data(1); assert(runs[0] == 1 && runs[1] == 1) }
            release(IN_USE)
        :: else
        fi
    :: else -> break
    od;
    end_thread()
}

proctype help(byte helper)
{
    byte seen, left;
    bit is_done;
    do
    :: run_chunks();
        if
        :: mutation == SLEEP_STORED -> store(ASLEEP + helper, RELEASE, 1)
        :: else -> rmw(ASLEEP + helper, (mutation == SLEEP_NOT_ACQUIRE -> RELEASE : ACQ_REL), seen, seen + 1); seen = 0
        fi;
        if
        :: mutation != NO_SECOND_LOOK ->
            load(UNCLAIMED, ACQUIRE, left);
            if :: left != 0 -> left = 0; take(ASLEEP + helper, is_done) :: else fi
        :: else
        fi;
        if
        :: is_done -> is_done = false
        :: else ->
end_asleep: acquire(WAKE + helper)
        fi
    od
}

init
{
    start_memory();
    atomic {
        lock[WAKE].is_held = true;
        lock[WAKE + 1].is_held = true;
        lock[FINISHED].is_held = true;
        if
        :: helpers = 1; run publisher(2, true); run help(0); has_ended[2] = true
        :: helpers = 1; run publisher(2, false); run help(0); has_ended[2] = true
        :: helpers = 1; run publisher(1, false); run publisher(1, true); run help(0)
        :: helpers = 2; run publisher(1, false); run help(0); run help(1)
        fi
    }
}
