/* Each thread has a share of the bytes in use, where there is no GIL: Note [A peak for one branch] in
 * tensix/core/usage.pxd.
 *
 * Models tx_share_add, tx_list_caller, tx_remove_caller, tx_shares and tx_divide of tensix/core/callers.h,
 * high_water_add, high_water_remove and high_water_look. One thread allocates a block, perhaps others, and ends.
 * Another one, which was told of the first block, sums and allocates. Or the two take turns.
 *
 * What holds: a sum has every byte once that its thread knows of, whether or not the one that allocated it has ended;
 * the peak is no less than what was in use at once, unless both allocate in the same moment.
 *
 * Left out: bytes that are counted without a thread's share; a peak that begins again.
 */
#define END_UNLOCKED 1   /* mutation: a thread that ends moves its share without the lock */
#define SUM_UNLOCKED 2   /* mutation: a sum is made without the lock */
#define END_FORGETS 3    /* mutation: the share of a thread that ends is lost */
#define END_COPIES 4     /* mutation: a thread that ends stays in the list */
#define ALL_FOR_EACH 5   /* mutation: each thread may add all that lacks to the peak */
#define NO_LOOK 6        /* mutation: nothing is done when a thread passes its mark */
#define SEEN_EARLY 7     /* mutation: what is elsewhere is loaded before the lock is taken */

#define THREADS 2
#define WORDS 6
#define WRITES 8
#define LOCKS 3
#define OBJECTS 1
#define HELD 0      /* the words: of both threads */
#define MOST 2
#define ELSEWHERE 4 /* of threads that have ended */
#define PEAK 5
#define IS_LOADED(w) true
#include "memory.pml"

#define CALLERS 0   /* the locks: of the list of threads, and of the peak */
#define HIGH 1
#define TOLD 2      /* what the program hands from thread to thread */
#define LIST 0      /* what is no atomic: the list */

bit is_listed[2], takes_turns;
byte told;

inline begin_list()
{
    if :: mutation != SUM_UNLOCKED -> acquire(CALLERS) :: else fi
}

inline end_list()
{
    if :: mutation != SUM_UNLOCKED -> release(CALLERS) :: else fi
}

/* What is in all shares and elsewhere. */
inline shares()
{
    if :: mutation == SEEN_EARLY -> load(ELSEWHERE, RELAXED, sum) :: else fi;
    begin_list();
    if :: mutation != SEEN_EARLY -> load(ELSEWHERE, RELAXED, sum) :: else fi;
    read_data(LIST);
    if :: is_listed[0] -> load(HELD, RELAXED, seen); sum = sum + seen :: else fi;
    if :: is_listed[1] -> load(HELD + 1, RELAXED, seen); sum = sum + seen :: else fi;
    end_list();
    seen = 0
}

/* Let every thread add as much before it has to look for a peak. */
inline divide()
{
    begin_list();
    read_data(LIST);
    count = (mutation == ALL_FOR_EACH -> 1 : is_listed[0] + is_listed[1]);
    if :: is_listed[0] -> load(HELD, RELAXED, seen); store(MOST, RELAXED, seen + lacks / count) :: else fi;
    if :: is_listed[1] -> load(HELD + 1, RELAXED, seen); store(MOST + 1, RELAXED, seen + lacks / count) :: else fi;
    end_list();
    seen = 0; count = 0
}

inline add(amount)
{
    if
    :: !is_listed[me] -> acquire(CALLERS); write_data(LIST); is_listed[me] = true; release(CALLERS)
    :: else
    fi;
    seen = VALUE(HELD + me) + amount; /* it alone stores there */
    store(HELD + me, RELAXED, seen);
    load(MOST + me, RELAXED, count);
    is_more = (seen > count);
    seen = 0; count = 0
}

inline allocate()
{
    add(1);
    if
    :: is_more && mutation != NO_LOOK ->
        acquire(HIGH);
        shares();
        seen = VALUE(PEAK);
        if :: sum > seen -> store(PEAK, RELAXED, sum) :: else fi;
        lacks = VALUE(PEAK) - sum;
        divide();
        release(HIGH);
        sum = 0; lacks = 0
    :: else
    fi
}

/* Tell the other thread, which waits for that. */
inline tell()
{
    acquire(TOLD); told++; release(TOLD)
}

inline wait_until(times)
{
    atomic { told == times && !lock[TOLD].is_held -> skip }
    acquire(TOLD); release(TOLD)
}

inline check_sum(least, most)
{
    shares();
    assert(least <= sum && sum <= most);
    sum = 0
}

proctype first()
{
    byte seen, sum, count, lacks;
    bit is_more;
    allocate();
    if
    :: takes_turns -> allocate(); add(-1); add(-1); tell(); wait_until(2); allocate(); tell()
    :: !takes_turns -> tell(); if :: allocate(); add(-1) :: true fi
    fi;
    /* It ends. */
    if :: mutation != END_UNLOCKED -> acquire(CALLERS) :: else fi;
    write_data(LIST);
    if :: mutation != END_COPIES -> is_listed[me] = false :: else fi;
    if :: mutation != END_FORGETS -> rmw(ELSEWHERE, RELAXED, seen, seen + VALUE(HELD)) :: else fi;
    if :: mutation != END_UNLOCKED -> release(CALLERS) :: else fi;
    end_thread()
}

proctype second()
{
    byte seen, sum, count, lacks;
    bit is_more;
    wait_until(1);
    if
    :: takes_turns -> allocate(); tell(); wait_until(3); allocate(); check_sum(3, 3)
    :: !takes_turns -> check_sum(1, 2); allocate(); check_sum(2, 3)
    fi;
    load(PEAK, RELAXED, seen);
    assert(seen >= (takes_turns -> 3 : 2));
    seen = 0;
    add(-1);
    end_thread()
}

init
{
    start_memory();
    atomic {
        if :: takes_turns = true :: true fi;
        run first(); run second()
    }
    _nr_pr == 1;
    assert(VALUE(ELSEWHERE) + is_listed[0] * VALUE(HELD) + is_listed[1] * VALUE(HELD + 1) == 1 + takes_turns)
}
