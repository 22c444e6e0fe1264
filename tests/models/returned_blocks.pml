/* The stack of blocks that were freed without the GIL: Note [The GIL is the lock of the cache] in
 * tensix/memory/caching_allocator.pyx.
 *
 * Models push_returned, collect_returned, is_worth_keeping, evict, give_back, disown, cache_take, kept_block_keep and
 * CachingAllocator.__dealloc__. Two threads free a block each, with the GIL or without it, while a third collects,
 * takes a block out and frees it again, and then the allocator dies.
 *
 * What holds: each block goes back upstream, once; the lists are used by one thread at a time; the cache is freed once,
 * after all blocks, and nothing touches it afterwards.
 *
 * Left out: size classes, sums of bytes (whether a block is worth keeping is decided at random), upstream, forks.
 */
#define CLOSE_LOOKS_FIRST 1     /* mutation: the dying allocator exchanges the stack only if one seems to be there */
#define NO_SECOND_LOOK 2        /* mutation: who has pushed does not ask whether the allocator is gone */
#define PUSH_NOT_ACQUIRE 3      /* mutation: a push does not acquire */
#define PUSH_NOT_RELEASE 4      /* mutation: a push does not release */
#define EXCHANGE_NOT_ACQUIRE 5  /* mutation: taking the stack does not acquire */
#define EXCHANGE_NOT_RELEASE 6  /* mutation: taking the stack does not release */
#define NO_OWNER 7              /* mutation: who pushes takes no count of the cache */
#define TAKEN_APART 8           /* mutation: the stack is read, and then emptied */
#define PUSH_WITHOUT_COMPARE 9  /* mutation: a push stores what it found on top below, whatever is there now */

#define THREADS 3
#define WORDS 3
#define WRITES 8
#define LOCKS 1
#define OBJECTS 4
#define RETURNED 0 /* the words */
#define CLOSED 1
#define OWNERS 2
#define IS_LOADED(w) ((w) != OWNERS)
#include "memory.pml"

#define GIL 0      /* the lock */
#define LISTS 0    /* the data: with the GIL */
#define CACHE 3    /* the memory of all that; the blocks are 1 and 2 */

byte newer[3];
bit is_kept[3], is_back[3], is_freed;

inline disown()
{
    atomic { assert(!is_freed); read_data(CACHE) }
    rmw(OWNERS, ACQ_REL, seen, seen - 1);
    if :: seen == 1 -> atomic { assert(!is_freed); is_freed = true; write_data(CACHE) } :: else fi;
    seen = 0
}

inline give_back(block)
{
    atomic { assert(!is_back[block]); is_back[block] = true; write_data(block) }
    disown()
}

inline keep_or_give_back(block)
{
    load(CLOSED, RELAXED, seen);
    if
    :: !seen -> atomic { write_data(LISTS); write_data(block); assert(!is_kept[block]); is_kept[block] = true }
    :: true -> give_back(block)
    fi;
    seen = 0
}

inline collect()
{
    atomic { assert(!is_freed); read_data(CACHE) }
    if
    :: mutation == TAKEN_APART -> load(RETURNED, ACQUIRE, below); store(RETURNED, RELEASE, 0)
    :: else -> rmw(RETURNED, (mutation == EXCHANGE_NOT_ACQUIRE -> RELEASE :
                              (mutation == EXCHANGE_NOT_RELEASE -> ACQUIRE : ACQ_REL)), below, 0)
    fi;
    do
    :: below != 0 ->
        atomic { read_data(below); one = below; below = newer[one]; newer[one] = 0 }
        keep_or_give_back(one);
        one = 0
    :: else -> break
    od
}

inline push(block)
{
    atomic { assert(!is_freed); read_data(CACHE) }
    load(RETURNED, RELAXED, below);
    if :: mutation != NO_OWNER -> rmw(OWNERS, RELAXED, seen, seen + 1); seen = 0 :: else fi;
    if
    :: atomic { write_data(block); newer[block] = below }
        do
        :: mutation == PUSH_WITHOUT_COMPARE -> store(RETURNED, RELEASE, block); break
        :: else ->
            compare_exchange(RETURNED, (mutation == PUSH_NOT_ACQUIRE -> RELEASE :
                                        (mutation == PUSH_NOT_RELEASE -> ACQUIRE : ACQ_REL)), below, block, is_done);
            if
            :: is_done -> break
            :: else -> atomic { write_data(block); newer[block] = below }
            fi
        od;
        atomic { is_done = false; below = 0; assert(!is_freed); read_data(CACHE) }
        load(CLOSED, RELAXED, seen);
        if :: seen && mutation != NO_SECOND_LOOK -> seen = 0; collect() :: else -> seen = 0 fi
    :: below = 0; give_back(block) /* too much is kept */
    fi;
    if :: mutation != NO_OWNER -> disown() :: else fi
}

proctype user(byte mine)
{
    byte seen, below, one;
    bit is_done;
    write_data(mine);
    if
    :: push(mine)
    :: acquire(GIL); keep_or_give_back(mine); release(GIL)
    fi;
    end_thread()
}

proctype allocator()
{
    byte seen, below, one, taken;
    bit is_done;
    if
    :: acquire(GIL);
        load(RETURNED, RELAXED, seen);
        if :: seen != 0 -> seen = 0; collect() :: else fi;
        if
        :: is_kept[1] -> atomic { write_data(LISTS); is_kept[1] = false; taken = 1; write_data(taken) }
        :: else
        fi;
        release(GIL);
        if :: taken -> push(taken); taken = 0 :: else fi
    :: true
    fi;
    acquire(GIL);
    store(CLOSED, RELAXED, true);
    if
    :: mutation == CLOSE_LOOKS_FIRST ->
        load(RETURNED, ACQUIRE, seen);
        if :: seen != 0 -> collect() :: else fi;
        seen = 0
    :: else -> collect()
    fi;
    write_data(LISTS);
    if :: is_kept[1] -> is_kept[1] = false; one = 1; give_back(one); one = 0 :: else fi;
    if :: is_kept[2] -> is_kept[2] = false; one = 2; give_back(one); one = 0 :: else fi;
    disown();
    release(GIL);
    end_thread()
}

init
{
    start_memory();
    atomic {
        VALUE(OWNERS) = 3;
        run allocator(); run user(1); run user(2)
    }
    _nr_pr == 1;
    assert(is_back[1] && is_back[2] && is_freed)
}
