/* The combined reference count: Note [The combined reference count] in tensix/core/intrusive_target.pyx.
 *
 * Models incref_word, decref_word, weak_incref_word, weak_decref_word, drop_weak_unit and lock_word of
 * tensix/core/combined_refcount.pxd, IntrusiveTarget_on_death, and tx_try_decref of tensix/c_api.pxd. Three threads own
 * strong and weak counts and copy, lock, use and drop them in any order.
 *
 * What holds: resources are released at most once, and only if weak counts are left; the target is destroyed exactly
 * once; all use of it, by any thread, happens before the one and the other; nothing touches it afterwards; a decrement
 * of a count that is owned is never refused; a target that once could not be locked never can be.
 *
 * Left out: misuse (a count that nobody owns is taken), adapted counts, the Python reference, the end of the process.
 * Counts have three bits instead of 32 and 30.
 */
#define LOCK_WITHOUT_COMPARE 1 /* mutation: lock adds to the word that it has looked at */
#define TEST_APART 2           /* mutation: a decrement reads afterwards whether it was the last */
#define DECREMENT_RELAXED 3    /* mutation: decrements are not acquire-release */
#define UNIQUE_RELAXED 4       /* mutation: the load that finds a unique owner is not acquire */
#define NO_UNIT 5              /* mutation: the strong side's weak unit goes before the resources are released */
#define TAKEN_BACK 6           /* mutation: an inline decrement that was the last is taken back */
#define ORPHAN_RELAXED 7       /* mutation: the load that finds the last weak count is not acquire */

#define THREADS 3
#define WORDS 1
#define WRITES 14
#define LOCKS 1
#define OBJECTS 2
#define IS_LOADED(w) true
#include "memory.pml"

#define COUNTS 0 /* the word */
#define BODY 0   /* what strong counts own */
#define OBJECT 1 /* the memory of the target, the word included */

#define STRONG 1
#define WEAK 8
#define DEAD 64
#define ALIVE 128
#define UNIQUE (ALIVE + WEAK + STRONG)
#define strong_of(value) ((value) & 7)
#define weak_of(value) (((value) >> 3) & 7)
#define is_alive(value) ((value) >= ALIVE)

#define UNDECIDED 0
#define NOT_OWNED 1
#define STILL_ALIVE 2
#define DELETE 3
#define RELEASED 4

bit is_released, is_destroyed, has_expired;

#define ORDER (mutation == DECREMENT_RELAXED -> RELAXED : ACQ_REL)

inline decref_word()
{
    load(COUNTS, (mutation == UNIQUE_RELAXED -> RELAXED : ACQUIRE), seen);
    do
    :: death == UNDECIDED && strong_of(seen) <= 1 ->
        if
        :: seen == UNIQUE -> store(COUNTS, RELAXED, DEAD); death = DELETE
        :: seen != UNIQUE && (strong_of(seen) == 0 || !is_alive(seen)) -> death = NOT_OWNED
        :: else ->
            compare_exchange(COUNTS, ORDER, seen, seen - STRONG - ALIVE + DEAD, is_done);
            if :: is_done -> death = RELEASED :: else fi
        fi
    :: else -> break
    od;
    if
    :: death == UNDECIDED ->
        rmw(COUNTS, ORDER, seen, seen - STRONG);
        if :: mutation == TEST_APART -> load(COUNTS, ACQUIRE, seen); seen = seen + STRONG :: else fi;
        if
        :: strong_of(seen) > 1 -> death = STILL_ALIVE
        :: else ->
            rmw(COUNTS, ORDER, seen, seen + DEAD - ALIVE);
            if
            :: weak_of(seen) != 1 -> death = RELEASED
            :: else -> store(COUNTS, RELAXED, DEAD); death = DELETE
            fi
        fi
    :: else
    fi
}

/* What is inlined into other packages: the common case, or `death` stays undecided and nothing is changed. */
inline try_decref()
{
    load(COUNTS, ACQUIRE, seen);
    if
    :: mutation != TAKEN_BACK ->
        do
        :: death == UNDECIDED && strong_of(seen) > 1 ->
            compare_exchange(COUNTS, ORDER, seen, seen - STRONG, is_done);
            if :: is_done -> death = STILL_ALIVE :: else fi
        :: else -> break
        od
    :: mutation == TAKEN_BACK && strong_of(seen) > 1 ->
        rmw(COUNTS, ORDER, seen, seen - STRONG);
        if
        :: strong_of(seen) > 1 -> death = STILL_ALIVE
        :: else -> rmw(COUNTS, ORDER, seen, seen + STRONG)
        fi
    :: else
    fi
}

inline drop_weak_unit()
{
    rmw(COUNTS, ORDER, seen, seen - WEAK);
    if
    :: weak_of(seen) != 1 -> death = STILL_ALIVE
    :: else -> store(COUNTS, RELAXED, DEAD); death = DELETE
    fi
}

inline weak_decref_word()
{
    load(COUNTS, (mutation == ORPHAN_RELAXED -> RELAXED : ACQUIRE), seen);
    if
    :: seen == DEAD + WEAK -> store(COUNTS, RELAXED, DEAD); death = DELETE
    :: seen != DEAD + WEAK && weak_of(seen) <= 1 -> death = NOT_OWNED
    :: else -> drop_weak_unit()
    fi
}

inline lock_word()
{
    do
    :: !is_done && is_alive(seen) && strong_of(seen) != 0 ->
        if
        :: mutation == LOCK_WITHOUT_COMPARE -> rmw(COUNTS, ACQ_REL, seen, seen + STRONG); is_done = true
        :: else -> compare_exchange(COUNTS, ACQ_REL, seen, seen + STRONG, is_done)
        fi
    :: else -> break
    od
}

inline on_death()
{
    assert(death != NOT_OWNED && death != UNDECIDED);
    if
    :: death == RELEASED ->
        if :: mutation == NO_UNIT -> drop_weak_unit() :: else fi;
        if
        :: death == RELEASED || death == STILL_ALIVE ->
            assert(!is_released && !is_destroyed);
            is_released = true;
            write_data(BODY)
        :: else
        fi;
        if :: death == RELEASED -> drop_weak_unit() :: else fi
    :: else
    fi;
    if
    :: death == DELETE ->
        assert(!is_destroyed);
        is_destroyed = true;
        write_data(BODY);
        write_data(OBJECT)
    :: else
    fi;
    atomic { death = UNDECIDED; seen = 0; is_done = false }
}

/* Every operation touches the target's memory, and an owner uses the body until it drops its count. */
#define touch() assert(!is_destroyed); read_data(OBJECT)
#define use() assert(!is_released && !is_destroyed); read_data(BODY)

proctype owner(byte strong; byte weak; byte copies; byte locks; bit is_inlined)
{
    byte seen, death;
    bit is_done;
    do
    :: strong > 0 && copies > 0 ->
        atomic {
            copies--; strong++; touch();
            rmw(COUNTS, RELAXED, seen, seen + STRONG);
            assert(is_alive(seen));
            seen = 0
        }
    :: strong + weak > 0 && copies > 0 ->
        atomic { copies--; weak++; touch(); load(COUNTS, RELAXED, seen) }
        assert(weak_of(seen) != 0);
        atomic { rmw(COUNTS, RELAXED, seen, seen + WEAK); seen = 0 }
    :: weak > 0 && locks > 0 ->
        atomic { locks--; touch(); load(COUNTS, RELAXED, seen) }
        lock_word();
        atomic {
            if
            :: is_done -> assert(!has_expired); strong++
            :: else -> has_expired = true
            fi;
            is_done = false;
            seen = 0
        }
    :: strong > 0 ->
        atomic { strong--; touch(); use() }
        if :: is_inlined -> try_decref() :: else fi;
        if :: death == UNDECIDED -> decref_word() :: else fi;
        on_death()
    :: weak > 0 -> atomic { weak--; touch() } weak_decref_word(); on_death()
    :: strong + weak == 0 -> break
    od;
    end_thread()
}

init
{
    start_memory();
    atomic {
        if /* owners; owners and weak handles; weak handles that lock while the owner goes */
        :: VALUE(COUNTS) = ALIVE + WEAK + 2 * STRONG;
            run owner(1, 0, 1, 1, false); run owner(1, 0, 0, 0, true); has_ended[2] = true
        :: VALUE(COUNTS) = ALIVE + 2 * WEAK + 2 * STRONG;
            run owner(1, 0, 0, 0, false); run owner(1, 0, 0, 0, true); run owner(0, 1, 0, 2, false)
        :: VALUE(COUNTS) = ALIVE + 3 * WEAK + STRONG;
            run owner(1, 0, 0, 0, false); run owner(0, 1, 0, 1, true); run owner(0, 1, 0, 1, false)
        fi
    }
    _nr_pr == 1;
    assert(is_destroyed && VALUE(COUNTS) == DEAD)
}
