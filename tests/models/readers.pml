/* A lazy clone gives up its share of a block that other threads may be reading: Note [Blocks that others may read] in
 * tensix/core/cow_context.pyx.
 *
 * Models tx_begin_call, tx_end_call, tx_note_reading, tx_wait_for_callers and tx_end_readings of
 * tensix/core/callers.h, exchange_share, StorageImpl_let_go_of and free_retired_if_unused. One thread reads twice: in
 * a call of an operator, in one that gives up the GIL and therefore begins a use, or outside of calls. Another thread
 * makes the storage writable and frees the block that it had, or retires it; then the same after a further clone.
 *
 * What holds: all reads of a block happen before it is freed, and both are freed in the end.
 *
 * Left out: the thread that waits for several others, one after the other; more than one storage; exports, which count
 * as uses do.
 */
#define WAIT_LOADS 1     /* mutation: who waits loads the number of calls, in place of adding 0 to it */
#define BEGIN_RELEASES 2 /* mutation: a call begins without acquiring */
#define END_RELAXED 3    /* mutation: a call ends without releasing */
#define WAIT_RELAXED 4   /* mutation: who waits neither acquires nor releases */
#define NO_STOP 5        /* mutation: who has waited in vain frees the block without stopping the others */
#define WAIT_FIRST 6     /* mutation: the storage gets its own block after the wait */
#define USES_UNREAD 7    /* mutation: a block is freed although it is in use */
#define NOTE_LATE 8      /* mutation: a thread notes that it reads after it has taken the address */
#define NOTE_KEPT 9      /* mutation: a thread that was stopped reads on by what it noted before */
#define ANY_CHANGE 10    /* mutation: who waits takes a later call for the end of the one that it waits for */
#define USES_LOADED 11   /* mutation: who retires a block loads the number of uses, in place of adding 0 to it */

#define THREADS 2
#define WORDS 4
#define WRITES 10
#define LOCKS 3
#define OBJECTS 3 /* the blocks */
#define CALLS 0    /* the words: of the reader, odd while it may read */
#define ADDRESS 1  /* which block the storage has */
#define USES 2
#define RETIRED 3  /* one bit per block */
#define IS_LOADED(w) true
#include "memory.pml"

#define ATTACHED 0 /* the locks: the reader is attached, or stopped by who has it */
#define SHARING 1
#define CALLERS 2

byte freed; /* one bit per block */
bit notes; /* whether the reader may read outside of calls */

inline free_block(block)
{
    assert(!(freed & (1 << (block))));
    freed = freed | (1 << (block));
    write_data(block)
}

inline read_uses()
{
    if
    :: mutation == USES_LOADED -> load(USES, RELAXED, seen)
    :: else -> rmw(USES, ACQ_REL, seen, seen)
    fi
}

/* Free what was retired, if nothing uses it. */
inline free_if_unused()
{
    acquire(SHARING);
    read_uses();
    if
    :: seen == 0 ->
        seen = VALUE(RETIRED);
        store(RETIRED, RELAXED, 0);
        release(SHARING);
        if :: seen & 1 -> free_block(0) :: else fi;
        if :: seen & 2 -> free_block(1) :: else fi
    :: else -> release(SHARING)
    fi;
    seen = 0
}

inline begin_call()
{
    if
    :: atomic { rmw(CALLS, (mutation == BEGIN_RELEASES -> RELEASE : ACQ_REL), seen, seen + 1 + (seen & 1)); seen = 0;
                notes = false }
    fi
}

inline end_call()
{
    seen = VALUE(CALLS);
    store(CALLS, (mutation == END_RELAXED -> RELAXED : RELEASE), seen + 1);
    seen = 0
}

inline read_address()
{
    load(ADDRESS, RELAXED, found);
    read_data(found);
    found = 0
}

/* A place where the thread may be stopped, as it could lose the GIL. */
inline let_others_run()
{
    release(ATTACHED);
    acquire(ATTACHED)
}

proctype reader()
{
    byte seen, found, turns;
    acquire(ATTACHED);
    do
    :: turns < 2 ->
        turns++;
        if
        :: begin_call(); read_address(); end_call()
        :: begin_call();
            rmw(USES, ACQ_REL, seen, seen + 1);
            load(ADDRESS, RELAXED, found);
            release(ATTACHED);
            read_data(found);
            acquire(ATTACHED);
            found = 0;
            rmw(USES, ACQ_REL, seen, seen - 1);
            seen = 0;
            load(RETIRED, RELAXED, found);
            if :: found -> found = 0; free_if_unused() :: else fi;
            end_call()
        :: skip;
            if :: mutation == NOTE_LATE -> load(ADDRESS, RELAXED, found) :: else fi;
            if
            :: (VALUE(CALLS) & 1) == 0 && !(mutation == NOTE_KEPT && notes) ->
                rmw(CALLS, ACQ_REL, seen, seen + 1); seen = 0; notes = true
            :: else
            fi;
            if :: mutation == NOTE_LATE -> read_data(found); found = 0 :: else -> read_address() fi
        fi;
        let_others_run()
    :: else -> break
    od;
    release(ATTACHED);
    end_thread()
}

inline exchange_share()
{
    acquire(SHARING);
    store(ADDRESS, RELAXED, turns + 1);
    release(SHARING)
}

inline add_nothing()
{
    rmw(CALLS, (mutation == WAIT_RELAXED -> RELAXED : ACQ_REL), seen, seen)
}

proctype writer()
{
    byte seen, now, turns;
    bit have_ended;
again:
    have_ended = true;
    if :: mutation != WAIT_FIRST -> exchange_share() :: else fi;
    acquire(CALLERS);
    if
    :: mutation == WAIT_LOADS -> load(CALLS, ACQUIRE, seen); have_ended = !(seen & 1)
    :: mutation == ANY_CHANGE ->
        rmw(CALLS, ACQ_REL, seen, seen);
        if :: seen & 1 -> load(CALLS, ACQUIRE, now); have_ended = (now != seen) :: else fi
    :: mutation != WAIT_LOADS && mutation != ANY_CHANGE -> /* until there is no call, or in vain */
        if :: atomic { (VALUE(CALLS) & 1) == 0; add_nothing() } :: add_nothing() fi;
        have_ended = !(seen & 1)
    fi;
    release(CALLERS);
    seen = 0; now = 0;
    if
    :: !have_ended && mutation != NO_STOP ->
        acquire(ATTACHED);
        seen = VALUE(CALLS);
        if :: notes && (seen & 1) -> store(CALLS, RELEASE, seen + 1) :: else fi;
        seen = 0;
        release(ATTACHED)
    :: else
    fi;
    if :: mutation == WAIT_FIRST -> exchange_share() :: else fi;
    read_uses();
    if
    :: seen != 0 && mutation != USES_UNREAD ->
        seen = 0;
        acquire(SHARING);
        seen = VALUE(RETIRED);
        store(RETIRED, RELAXED, seen | (1 << turns));
        release(SHARING);
        seen = 0;
        free_if_unused()
    :: else -> seen = 0; free_block(turns)
    fi;
    turns++;
    if :: turns < 2 -> goto again :: else fi;
    end_thread()
}

init
{
    start_memory();
    atomic { run reader(); run writer() }
    _nr_pr == 1;
    assert(freed == 3)
}
