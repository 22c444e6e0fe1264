/* An allocator leaves the registry while threads without the GIL may use it: Note [Allocating without the GIL] in
 * tensix/core/allocator.pyx.
 *
 * Models allocate_without_gil, enter_users, leave_users, set_allocator and wait_for_users. One thread allocates twice.
 * Two threads register an allocator each, wait and free the one that served before.
 *
 * What holds: an allocator is used before it is freed, or not at all.
 *
 * Left out: rounds of a wait that find a count above 0, scopes, threads that register in the midst of an allocation.
 */
#define ENTER_NOT_ACQUIRE 1 /* mutation: who enters a count does not acquire */
#define LEAVE_NOT_RELEASE 2 /* mutation: who leaves a count does not release */
#define WAIT_LOADS 3        /* mutation: a wait loads a count, in place of adding 0 to it */
#define WAIT_NOT_RELEASE 4  /* mutation: a wait does not release */
#define WAIT_FOR_ONE 5      /* mutation: a wait asks the count that was in use only */
#define REGISTER_LAST 6     /* mutation: the new allocator is registered after the wait */
#define ENTER_LATE 7        /* mutation: the registry is read before the count is entered */

#define THREADS 3
#define WORDS 4
#define WRITES 8
#define LOCKS 1
#define OBJECTS 3
#define SERVING 0  /* the words: the allocator that serves, from 0 */
#define IN_USE 1   /* which count is */
#define COUNTS 2   /* two of them */
#define IS_LOADED(w) ((w) < COUNTS || mutation == WAIT_LOADS)
#include "memory.pml"

#define GIL 0 /* the lock */

inline wait_for_zero(count)
{
    if
    :: mutation == WAIT_LOADS -> load(count, ACQUIRE, seen); seen == 0
    :: else -> atomic { VALUE(count) == 0; rmw(count, (mutation == WAIT_NOT_RELEASE -> ACQUIRE : ACQ_REL), seen, seen) }
    fi;
    seen = 0
}

inline wait_for_users()
{
    load(IN_USE, ACQUIRE, place);
    if :: mutation != WAIT_FOR_ONE -> wait_for_zero(COUNTS + 1 - place) :: else fi;
    rmw(IN_USE, ACQ_REL, seen, 1 - place);
    seen = 0;
    wait_for_zero(COUNTS + place);
    place = 0
}

proctype allocating()
{
    byte seen, place, found, turns;
    do
    :: turns < 2 ->
        turns++;
        if :: mutation == ENTER_LATE -> load(SERVING, ACQUIRE, found) :: else fi;
        load(IN_USE, ACQUIRE, place);
        rmw(COUNTS + place, (mutation == ENTER_NOT_ACQUIRE -> RELEASE : ACQ_REL), seen, seen + 1);
        if :: mutation != ENTER_LATE -> load(SERVING, ACQUIRE, found) :: else fi;
        read_data(found);
        rmw(COUNTS + place, (mutation == LEAVE_NOT_RELEASE -> ACQUIRE : ACQ_REL), seen, seen - 1);
        seen = 0; place = 0; found = 0
    :: else -> break
    od;
    end_thread()
}

proctype registering(byte made)
{
    byte seen, place, former;
    acquire(GIL);
    former = VALUE(SERVING); /* of the registry in Python, which the GIL guards */
    if :: mutation != REGISTER_LAST -> store(SERVING, RELEASE, made) :: else fi;
    release(GIL);
    wait_for_users();
    if :: mutation == REGISTER_LAST -> store(SERVING, RELEASE, made) :: else fi;
    write_data(former); /* it is freed */
    end_thread()
}

init
{
    start_memory();
    atomic { run allocating(); run registering(1); run registering(2) }
    _nr_pr == 1
}
