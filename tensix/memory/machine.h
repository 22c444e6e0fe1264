/* What the system says of memory: how much this process may use, how much of that is free, how many processes keep blocks. */
#ifndef TENSIX_MACHINE_H
#define TENSIX_MACHINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t limit;     /* bytes that this process may use */
    uint64_t available; /* bytes of them that can be had without swapping; UINT64_MAX where the system does not say */
} tx_memory_t;

#if defined(_WIN32)
static __inline tx_memory_t tx_machine_memory(const char *root)
{
    tx_memory_t memory = {(uint64_t)1 << 33, UINT64_MAX};
    (void)root;
    return memory;
}
static __inline uint64_t tx_process_bytes(void) { return 0; }
static __inline int tx_count_cachers(int is_cacher) { (void)is_cacher; return 1; }
#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TX_PATH_BYTES = 1024, TX_FILE_BYTES = 8192 };

/* Read the beginning of a file as a string; empty if it cannot be read. */
static void tx_read_text(const char *root, const char *path, const char *name, char text[TX_FILE_BYTES])
{
    char whole[TX_PATH_BYTES];
    ssize_t count = -1;
    int length = snprintf(whole, sizeof whole, "%s%s%s", root, path, name), file = -1;
    if (length > 0 && length < (int)sizeof whole) file = open(whole, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        count = read(file, text, TX_FILE_BYTES - 1);
        close(file);
    }
    text[count > 0 ? count : 0] = 0;
}

/* Return the number after a word at the beginning of a line, or the default. */
static uint64_t tx_number_after(const char *text, const char *word, uint64_t otherwise)
{
    size_t length = strlen(word);
    while (text != NULL && *text != 0) {
        if (strncmp(text, word, length) == 0 && strspn(text + length, " \t0123456789") > 0) {
            return strtoull(text + length, NULL, 10);
        }
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return otherwise;
}

/* Take the limits of a control group and all above it into account. `path` is changed: it becomes empty. */
static void tx_ask_groups(tx_memory_t *memory, const char *root, const char *base, char *path, int is_second_version)
{
    char folder[TX_PATH_BYTES], text[TX_FILE_BYTES];
    uint64_t limit, high, used, cached;
    for (;;) {
        char *last = strrchr(path, '/');
        if (last != NULL && last[1] == 0) *last = 0, last = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%s%s", base, path);
        tx_read_text(root, folder, is_second_version ? "/memory.max" : "/memory.limit_in_bytes", text);
        limit = tx_number_after(text, "", UINT64_MAX);
        if (is_second_version) {
            tx_read_text(root, folder, "/memory.high", text);
            high = tx_number_after(text, "", UINT64_MAX);
            if (high < limit) limit = high;
        }
        if (limit < (uint64_t)1 << 62) { /* else there is none: "max", or the largest number of pages */
            if (limit < memory->limit) memory->limit = limit;
            tx_read_text(root, folder, is_second_version ? "/memory.current" : "/memory.usage_in_bytes", text);
            used = tx_number_after(text, "", 0);
            tx_read_text(root, folder, "/memory.stat", text); /* pages of files, which go before anything else does */
            cached = tx_number_after(text, is_second_version ? "inactive_file " : "total_inactive_file ", 0);
            used = used > cached ? used - cached : 0;
            limit = limit > used ? limit - used : 0;
            if (limit < memory->available) memory->available = limit;
        }
        if (last == NULL) return;
        *last = 0;
    }
}

/* Ask the machine, and the control groups of this process. `root` is put in front of all paths; tests need it. */
static tx_memory_t tx_machine_memory(const char *root)
{
    tx_memory_t memory = {(uint64_t)1 << 33, UINT64_MAX};
    char text[TX_FILE_BYTES], *line, *next, *controllers, *path;
    tx_read_text(root, "/proc/meminfo", "", text);
    memory.limit = tx_number_after(text, "MemTotal:", 0) << 10;
    memory.available = tx_number_after(text, "MemAvailable:", UINT64_MAX >> 10) << 10;
    if (memory.limit == 0) memory.limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    tx_read_text(root, "/proc/self/cgroup", "", text);
    for (line = text; line != NULL && *line != 0; line = next) { /* number:controllers:path */
        next = strchr(line, '\n');
        if (next != NULL) *next++ = 0;
        controllers = strchr(line, ':');
        path = controllers == NULL ? NULL : strchr(++controllers, ':');
        if (path == NULL) continue;
        *path++ = 0;
        if (*controllers == 0) {
            tx_ask_groups(&memory, root, "/sys/fs/cgroup", path, 1);
        } else if (strcmp(controllers, "memory") == 0) {
            tx_ask_groups(&memory, root, "/sys/fs/cgroup/memory", path, 0);
        }
    }
    return memory;
}

/* Return how many bytes of this process are in main memory; 0 where the system does not say. */
static uint64_t tx_process_bytes(void)
{
    char text[TX_FILE_BYTES], *second; /* pages of addresses, pages in memory, ... */
    tx_read_text("", "/proc/self/statm", "", text);
    second = strchr(text, ' ');
    return second == NULL ? 0 : strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Enter this process in a list of those that keep blocks, or take it out, and return how many of this user do, at least 1.
 *
 * The list is a file of process numbers in memory that all processes of the user see. Nothing locks it: an entry that
 * another process has written over is written again at the next call, and an entry of a process that died is free.
 */
static int tx_count_cachers(int is_cacher)
{
    enum { MOST = 1024 };
    int32_t entries[MOST], own = (int32_t)getpid(), entry;
    int i, count, others = 0, own_place = -1, free_place = -1, file;
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/dev/shm/tensix-%u", (unsigned)geteuid());
    file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | (is_cacher ? O_CREAT : 0), 0600);
    if (file < 0) return 1; /* no such folder here */
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) {
        close(file);
        return 1;
    }
    count = (int)(read(file, entries, sizeof entries) / (ssize_t)sizeof *entries);
    for (i = 0; i < count; i++) {
        if (entries[i] == own) {
            own_place = i;
        } else if (entries[i] > 0 && (kill((pid_t)entries[i], 0) == 0 || errno == EPERM)) {
            others++;
        } else if (free_place < 0) {
            free_place = i;
        }
    }
    if (free_place < 0 && count < MOST) free_place = count < 0 ? 0 : count;
    entry = is_cacher ? own : 0;
    if (is_cacher ? own_place < 0 && free_place >= 0 : own_place >= 0) {
        i = is_cacher ? free_place : own_place;
        if (pwrite(file, &entry, sizeof entry, (off_t)i * (off_t)sizeof entry) < 0) own_place = -1; /* next time */
    }
    close(file);
    if (!is_cacher && others == 0) unlink(path);
    return others + 1;
}

#endif
#endif /* TENSIX_MACHINE_H */
