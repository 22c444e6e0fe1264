/* The memory that the models run on: atomics of C11, as compilers map them to ARM, and data that must not race.
 *
 * A word of memory is the row of writes that it took. Each thread knows, of every word, how old a write it can still
 * read: a load takes any write from there on, so another thread's store may stay unseen for long. A write carries
 * what its thread knew, if it releases; a read with acquire learns that. A read-modify-write takes the newest write,
 * and hands on what that one carried: C11's release sequence. A compare-exchange that fails is a load, and may fail
 * for no reason. No order of all operations is assumed: nothing here is sequentially consistent.
 *
 * Data that is no atomic has no rows: every access must know of the accesses that it conflicts with, else it is a data
 * race and the model ends. Locks, the GIL among them, are released and acquired.
 *
 * Writes that no thread can read any more are dropped, so that rows stay short and a loop comes back to its state.
 *
 * Left out: a load that takes what a later write of its own thread leads to, which C11 permits of relaxed loads, and
 * ARM does. The notes say of each relaxed load why nothing hangs on it. A plain store takes its place behind all writes
 * that were made; no two threads of these protocols store to one word plainly at the same time.
 *
 * A model defines THREADS, WORDS, WRITES (of a row), LOCKS, OBJECTS and IS_LOADED(w) before it includes this file:
 * whether a word is ever loaded, or only read and modified at once, which takes its newest write. `init` is the first
 * process and starts the threads; `me` is a thread's number.
 */
#define me (_pid - 1)

#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2
#define ACQ_REL 3

/* What is known: of each word the oldest write to be read, and of data one bit per kind of access: written, or read by
 * a thread. A set bit says that the last such access is known. */
typedef knowledge { byte since[WORDS]; int accesses };
typedef write_t { byte value; knowledge carries };
typedef row { write_t write[WRITES]; byte newest };
typedef lock_t { bit is_held; knowledge carries };

row word[WORDS];
knowledge known[THREADS];
bit has_ended[THREADS];
lock_t lock[LOCKS];
byte mutation;               /* one of the model's, or 0 */
hidden byte i, j, k, oldest; /* of the macros alone */
hidden int bits;

#define WRITTEN(object) (1 << ((object) * (1 + THREADS)))
#define READ(object, thread) (1 << ((object) * (1 + THREADS) + 1 + (thread)))
#define READS(object) (((1 << THREADS) - 1) << ((object) * (1 + THREADS) + 1))
#define EVERYTHING ((1 << (OBJECTS * (1 + THREADS))) - 1)
#define NEWEST(w) word[w].write[word[w].newest]
#define VALUE(w) NEWEST(w).value /* for what is asserted; threads load */

/* Learn what `from` knows. */
#define JOIN(to, from) \
    i = 0; do :: i < WORDS -> if :: to.since[i] < from.since[i] -> to.since[i] = from.since[i] :: else fi; i++ \
    :: else -> break od; to.accesses = to.accesses | from.accesses
#define COPY(to, from) \
    i = 0; do :: i < WORDS -> to.since[i] = from.since[i]; i++ :: else -> break od; to.accesses = from.accesses
#define CLEAR(one) \
    i = 0; do :: i < WORDS -> one.since[i] = 0; i++ :: else -> break od; one.accesses = 0
#define AGE(one, w) if :: one.since[w] > oldest -> one.since[w] = one.since[w] - oldest :: else -> one.since[w] = 0 fi

/* Drop the writes that no thread can read any more. */
inline forget(w)
{
    oldest = word[w].newest;
    j = 0; do :: j < THREADS ->
        if
        :: IS_LOADED(w) && !has_ended[j] && known[j].since[w] < oldest -> oldest = known[j].since[w]
        :: else
        fi; j++ :: else -> break od;
    if :: oldest > 0 ->
        word[w].newest = word[w].newest - oldest;
        j = 0; do :: j < WRITES ->
            if :: j <= word[w].newest ->
                word[w].write[j].value = word[w].write[j + oldest].value;
                COPY(word[w].write[j].carries, word[w].write[j + oldest].carries)
            :: else -> word[w].write[j].value = 0; CLEAR(word[w].write[j].carries)
            fi; j++ :: else -> break od;
        j = 0; do :: j < THREADS -> AGE(known[j], w); j++ :: else -> break od;
        j = 0; do :: j < LOCKS -> AGE(lock[j].carries, w); j++ :: else -> break od;
        k = 0; do :: k < WORDS ->
            j = 0; do :: j < WRITES -> AGE(word[k].write[j].carries, w); j++ :: else -> break od;
            k++ :: else -> break od
    :: else fi
}

/* Nobody knows of what `bits` stand for any more. */
inline unlearn()
{
    j = 0; do :: j < THREADS -> known[j].accesses = known[j].accesses & ~bits; j++ :: else -> break od;
    j = 0; do :: j < LOCKS -> lock[j].carries.accesses = lock[j].carries.accesses & ~bits; j++ :: else -> break od;
    k = 0; do :: k < WORDS ->
        j = 0; do :: j < WRITES ->
            word[k].write[j].carries.accesses = word[k].write[j].carries.accesses & ~bits;
            j++ :: else -> break od;
        k++ :: else -> break od
}

/* Write behind all that was written; see above for what the write carries. */
inline append(w, order, new_value, is_rmw)
{
    assert(word[w].newest + 1 < WRITES);
    word[w].newest++;
    NEWEST(w).value = new_value;
    known[me].since[w] = word[w].newest;
    if :: is_rmw -> COPY(NEWEST(w).carries, word[w].write[word[w].newest - 1].carries) :: else fi;
    if :: (order) & RELEASE -> JOIN(NEWEST(w).carries, known[me]) :: else fi;
    forget(w)
}

inline load(w, order, result)
{
    atomic {
        result = known[me].since[w];
        do :: result < word[w].newest -> result++ :: break od;
        skip;
        d_step {
            known[me].since[w] = result;
            if :: (order) & ACQUIRE -> JOIN(known[me], word[w].write[result].carries) :: else fi;
            result = word[w].write[result].value;
            forget(w)
        }
    }
}

inline store(w, order, new_value)
{
    d_step { append(w, order, new_value, false) }
}

/* A read-modify-write: `result` is the value before, and `new_value` may be said with it. */
inline rmw(w, order, result, new_value)
{
    d_step {
        result = VALUE(w);
        if :: (order) & ACQUIRE -> JOIN(known[me], NEWEST(w).carries) :: else fi;
        append(w, order, new_value, true)
    }
}

/* As the function: `expected` takes the value seen. */
inline compare_exchange(w, order, expected, desired, is_done)
{
    if
    :: d_step { VALUE(w) == expected ->
            if :: (order) & ACQUIRE -> JOIN(known[me], NEWEST(w).carries) :: else fi;
            append(w, order, desired, true); is_done = true }
    :: load(w, (order) & ACQUIRE, expected); is_done = false
    fi
}

/* Data that is no atomic. */
inline read_data(object)
{
    d_step {
        assert(known[me].accesses & WRITTEN(object));  /* else a data race */
        bits = READ(object, me);
        unlearn();
        known[me].accesses = known[me].accesses | bits
    }
}

inline write_data(object)
{
    d_step {
        bits = WRITTEN(object) | READS(object);
        assert((known[me].accesses & bits) == bits);  /* else a data race */
        bits = WRITTEN(object);
        unlearn();
        known[me].accesses = known[me].accesses | bits
    }
}

inline acquire(l)
{
    d_step { !lock[l].is_held -> lock[l].is_held = true; JOIN(known[me], lock[l].carries); CLEAR(lock[l].carries) }
}

inline try_acquire(l, is_done)
{
    d_step {
        if
        :: !lock[l].is_held ->
            lock[l].is_held = true; JOIN(known[me], lock[l].carries); CLEAR(lock[l].carries); is_done = true
        :: else -> is_done = false
        fi
    }
}

inline release(l)
{
    d_step { assert(lock[l].is_held); lock[l].is_held = false; COPY(lock[l].carries, known[me]) }
}

/* What a thread does last. */
inline end_thread()
{
    d_step {
        has_ended[me] = true;
        CLEAR(known[me])
    }
}

/* What `init` does first: before there are threads, everything is known. */
inline start_memory()
{
    d_step {
        j = 0; do :: j < THREADS -> known[j].accesses = EVERYTHING; j++ :: else -> break od;
        c_code { if (getenv("MUTATION")) now.mutation = atoi(getenv("MUTATION")); };
    }
}
