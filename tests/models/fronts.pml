/* A cache's blocks in front of each thread, where there is no GIL: Note [Two sets of lists] in
 * tensix/memory/caching_allocator.pyx.
 *
 * Models cache_take, cache_keep_in_front, kept_block_keep, new_front, leave_front, take_with_fronts and disown. A
 * thread that is attached to the interpreter frees a block, perhaps takes one, and ends; a thread without Python does
 * the same. Meanwhile a tick takes out what is kept, or the cache is closed.
 *
 * What holds: no block is given to two; every block goes back upstream once; the lists in front of a thread, and the
 * cache, are read and written by one thread at a time, and not after they were freed.
 *
 * Left out: bounds and classes; fronts of a second cache, for which a thread has none; numbers of hits and bytes, which
 * are loaded as they are; a stop that finds the thread before it is attached for the first time.
 */
#define NO_STOP 1        /* mutation: what is in front of a thread is taken out without stopping it */
#define END_UNLOCKED 2   /* mutation: a thread that ends empties its lists without the lock */
#define END_KEEPS 3      /* mutation: a thread that ends leaves its blocks where they are */
#define DETACHED 4       /* mutation: a thread that is not attached keeps a block in front */
#define CLOSED_KEEPS 5   /* mutation: a closed cache stays the one of the lists in front */
#define CLOSED_UNSEEN 6  /* mutation: the lists behind take blocks of a closed cache */
#define OPEN_LATE 7      /* mutation: lists in front are made without asking whether the cache is closed */
#define DISOWN_RELAXED 8 /* mutation: owners of the cache go without acquire and release */

#define THREADS 3
#define WORDS 1
#define WRITES 8
#define LOCKS 2
#define OBJECTS 2
#define OWNERS 0   /* the word: of the cache, its allocator and every block */
#define IS_LOADED(w) false
#include "memory.pml"

#define ATTACHED 0 /* the locks: the worker is attached, or stopped by who has it */
#define LOCK 1     /* of all that is not in front */
#define FRONT 0    /* what is no atomic: the worker's lists, and the cache's */
#define CACHE 1
#define BLOCKS 2

byte in_front, in_lists, upstream; /* one bit per block */
bit is_front_made, has_cache, is_closed, is_cache_free, closes;

inline use_cache()
{
    assert(!is_cache_free);
    write_data(CACHE)
}

/* Let blocks go upstream; the last owner frees the cache. */
inline let_go(blocks)
{
    assert((upstream & (blocks)) == 0);
    upstream = upstream | (blocks);
    gone = 0;
    do
    :: gone < BLOCKS ->
        if :: (blocks) & (1 << gone) -> disown() :: else fi;
        gone++
    :: else -> gone = 0; break
    od
}

inline disown()
{
    rmw(OWNERS, (mutation == DISOWN_RELAXED -> RELAXED : ACQ_REL), seen, seen - 1);
    if :: seen == 1 -> use_cache(); is_cache_free = true :: else fi;
    seen = 0
}

inline make_front()
{
    if
    :: !is_front_made ->
        is_front_made = true;
        write_data(FRONT);
        acquire(LOCK);
        use_cache();
        if :: !is_closed || mutation == OPEN_LATE -> has_cache = true :: else fi;
        release(LOCK)
    :: else
    fi
}

/* Keep a block in the lists behind, or let it go. */
inline keep(block)
{
    acquire(LOCK);
    use_cache();
    if
    :: is_closed && mutation != CLOSED_UNSEEN -> release(LOCK); let_go(1 << (block))
    :: else -> in_lists = in_lists | (1 << (block)); release(LOCK)
    fi
}

inline keep_in_front(block)
{
    make_front();
    read_data(FRONT);
    if
    :: has_cache -> write_data(FRONT); in_front = in_front | (1 << (block))
    :: !has_cache || is_closed -> keep(block) /* by its bound, which it may not see yet */
    fi
}

/* Take a block out of the lists behind, if there is one, and give it back to them. */
inline take_and_keep()
{
    acquire(LOCK);
    use_cache();
    taken = in_lists & -in_lists;
    in_lists = in_lists & ~taken;
    release(LOCK);
    if :: taken -> keep((taken >> 1)) :: else fi;
    taken = 0
}

/* A thread without Python. */
proctype stranger()
{
    byte seen, gone, taken;
    keep(1);
    if :: !closes -> take_and_keep() :: else fi; /* who takes keeps the allocator */
    end_thread()
}

proctype worker()
{
    byte seen, gone, taken;
    acquire(ATTACHED);
    if
    :: mutation == DETACHED -> make_front(); release(ATTACHED); keep_in_front(0); acquire(ATTACHED)
    :: else -> keep_in_front(0)
    fi;
    release(ATTACHED); /* a moment at which others may stop it */
    acquire(ATTACHED);
    if
    :: !closes ->
        read_data(FRONT);
        taken = in_front;
        if
        :: taken -> write_data(FRONT); in_front = 0; keep_in_front(0)
        :: else -> take_and_keep()
        fi;
        taken = 0
    :: else
    fi;
    release(ATTACHED);
    /* It ends. */
    if :: mutation != END_UNLOCKED -> acquire(LOCK) :: else fi;
    read_data(FRONT);
    if
    :: has_cache ->
        write_data(FRONT);
        use_cache();
        if :: mutation != END_KEEPS -> taken = in_front; in_front = 0 :: else fi;
        has_cache = false
    :: else
    fi;
    if :: mutation != END_UNLOCKED -> release(LOCK) :: else fi;
    write_data(FRONT); /* it is freed */
    let_go(taken);
    end_thread()
}

/* A tick, or the end of the cache's allocator; at the end of a program, a tick that has nothing to stop. */
proctype taker()
{
    byte seen, gone, taken;
    if :: closes -> acquire(LOCK); use_cache(); is_closed = true; release(LOCK) :: else fi;
    if :: mutation != NO_STOP -> acquire(ATTACHED) :: else fi;
    acquire(LOCK);
    use_cache();
    if
    :: has_cache ->
        write_data(FRONT);
        taken = in_front;
        in_front = 0;
        if :: closes && mutation != CLOSED_KEEPS -> has_cache = false :: else fi
    :: else
    fi;
    taken = taken | in_lists;
    in_lists = 0;
    release(LOCK);
    if :: mutation != NO_STOP -> release(ATTACHED) :: else fi;
    let_go(taken);
    if :: closes -> disown() :: else fi;
    end_thread()
}

init
{
    start_memory();
    atomic {
        VALUE(OWNERS) = 1 + BLOCKS;
        if :: closes = true :: true fi;
        run stranger(); run worker(); run taker()
    }
    _nr_pr == 1;
    assert((upstream | in_lists) == (1 << BLOCKS) - 1 && (upstream & in_lists) == 0 && in_front == 0);
    assert(!closes || in_lists == 0)
}
