/* The context that copy-on-write's storages share: Note [Copy before giving up the share] in
 * tensix/core/cow_context.pyx.
 *
 * Models shared_context_increment, _decrement and _is_unique of tensix/core/shared_context.pxd, cow_lazy_clone,
 * cow_materialize and exchange_share. Two storages share a block, and perhaps a third: one is written by its thread, by
 * two threads at once, cloned, or dropped without the GIL, while others copy the block. The locks are those of the
 * storages; the GIL is all of them.
 *
 * What holds: the block is freed or taken back, and only once; all reads of it, by any thread, happen before either,
 * and so before the writes of who took it back; the context is freed once, and nothing touches it afterwards.
 *
 * Left out: read-only blocks, which are never taken back; retired blocks (Note [Storages in use]), which keep a share
 * as a storage does; failed allocations, after which the storage keeps its share.
 */
#define UNIQUE_RELAXED 1      /* mutation: the load that finds the only share is not acquire */
#define DECREMENT_RELAXED 2   /* mutation: decrements are not acquire-release */
#define TEST_APART 3          /* mutation: a decrement reads afterwards whether it was the last */
#define NO_COUNT_FOR_COPY 4   /* mutation: who copies takes no further count */
#define UNCHECKED 5           /* mutation: the share is exchanged although another thread did that meanwhile */
#define UNIQUE_AT_TWO 6       /* mutation: who is one of two takes the block */

#define THREADS 3
#define WORDS 1
#define WRITES 14
#define LOCKS 3
#define OBJECTS 2
#define IS_LOADED(w) true
#include "memory.pml"

#define COUNT 0   /* the word */
#define BLOCK 0   /* the bytes */
#define CONTEXT 1 /* the memory of the context, the count included */

bit has_share[3]; /* of the storages; with their locks */
bit is_taken, is_freed;

inline decrement()
{
    read_data(CONTEXT);
    rmw(COUNT, (mutation == DECREMENT_RELAXED -> RELAXED : ACQ_REL), seen, seen - 1);
    if :: mutation == TEST_APART -> load(COUNT, ACQUIRE, seen); seen++ :: else fi;
    if
    :: seen == 1 ->
        assert(!is_taken && !is_freed);
        is_freed = true;
        write_data(BLOCK);
        write_data(CONTEXT)
    :: else
    fi;
    seen = 0
}

inline materialize(storage)
{
    acquire(storage);
    if
    :: has_share[storage] ->
        read_data(CONTEXT);
        load(COUNT, (mutation == UNIQUE_RELAXED -> RELAXED : ACQUIRE), seen);
        if
        :: seen == 1 || (mutation == UNIQUE_AT_TWO && seen == 2) ->
            assert(!is_taken && !is_freed);
            is_taken = true;
            has_share[storage] = false;
            write_data(CONTEXT);
            seen = 0;
            release(storage);
            write_data(BLOCK)
        :: else ->
            if :: mutation != NO_COUNT_FOR_COPY -> rmw(COUNT, RELAXED, seen, seen + 1) :: else fi;
            release(storage);
            assert(!is_freed);
            read_data(BLOCK); /* the copy */
            acquire(storage);
            if
            :: has_share[storage] || mutation == UNCHECKED -> has_share[storage] = false; decrement()
            :: else
            fi;
            if :: mutation != NO_COUNT_FOR_COPY -> decrement() :: else fi;
            release(storage)
        fi
    :: else -> release(storage)
    fi
}

/* Clone a storage, or not; write one of the two, drop the other. */
proctype owner(byte mine; byte clone)
{
    byte seen;
    if
    :: clone > 0 ->
        acquire(mine);
        if
        :: has_share[mine] ->
            read_data(CONTEXT);
            rmw(COUNT, RELAXED, seen, seen + 1);
            has_share[clone] = true;
            seen = 0
        :: else
        fi;
        release(mine);
        if :: has_share[clone] -> decrement(); has_share[clone] = false :: else fi
    :: true
    fi;
    materialize(mine);
    end_thread()
}

proctype dropper(byte mine)
{
    byte seen;
    read_data(BLOCK);
    has_share[mine] = false;
    decrement();
    end_thread()
}

init
{
    start_memory();
    atomic {
        VALUE(COUNT) = 2;
        has_share[0] = true;
        has_share[1] = true;
        if
        :: run owner(0, 0); run owner(1, 0); run owner(0, 0)
        :: run owner(0, 0); run owner(1, 2); has_ended[2] = true
        :: run owner(0, 0); run owner(0, 0); run dropper(1)
        :: run owner(0, 2); run dropper(1); has_ended[2] = true
        fi
    }
    _nr_pr == 1;
    assert(is_taken + is_freed == 1)
}
