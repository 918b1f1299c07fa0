/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* write-files SOURCE DESTINATION: reads the directories, files and links below SOURCE into memory, then makes the same
 * below DESTINATION, which has to be there. Prints how many nanoseconds the second took: nothing that makes these files
 * can be faster. */

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct Item {
        char *path;    /* below SOURCE */
        char *content; /* of a file; where a link leads; NULL: a directory */
        size_t size;
        int is_link;
} Item;

static Item *items;
static size_t n_items, base_length;

static char *read_whole(const char *path, size_t size) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char *content = malloc(size + 1);

        if (fd < 0 || !content || read(fd, content, size) != (ssize_t) size)
                abort();
        (void) close(fd);
        return content;
}

static int collect(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        Item item = { .size = (size_t) st->st_size };

        if (ftw->level == 0) {
                base_length = strlen(path) + 1;
                return 0;
        }
        item.path = strdup(path + base_length);
        item.is_link = type == FTW_SL;
        if (item.is_link) {
                item.content = calloc(1, item.size + 1);
                if (!item.content || readlink(path, item.content, item.size) != (ssize_t) item.size)
                        abort();
        } else if (type == FTW_F)
                item.content = read_whole(path, item.size);
        if ((n_items & (n_items - 1)) == 0)
                items = reallocarray(items, n_items ? 2 * n_items : 1, sizeof(Item));
        if (!items || !item.path)
                abort();
        items[n_items++] = item;
        return 0;
}

static int make(int dir_fd, const Item *item) {
        ssize_t written;
        int fd;

        if (!item->content)
                return mkdirat(dir_fd, item->path, 0755);
        if (item->is_link)
                return symlinkat(item->content, dir_fd, item->path);
        fd = openat(dir_fd, item->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0)
                return -1;
        written = write(fd, item->content, item->size);
        return close(fd) < 0 || written != (ssize_t) item->size ? -1 : 0;
}

int main(int argc, char *argv[]) {
        struct timespec begin, end;
        int dir_fd;

        if (argc != 3 || nftw(argv[1], collect, 16, FTW_PHYS) < 0)
                return EXIT_FAILURE;
        dir_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir_fd < 0 || clock_gettime(CLOCK_MONOTONIC, &begin) < 0)
                return EXIT_FAILURE;
        for (size_t i = 0; i < n_items; i++)
                if (make(dir_fd, items + i) < 0) {
                        perror(items[i].path);
                        return EXIT_FAILURE;
                }
        if (clock_gettime(CLOCK_MONOTONIC, &end) < 0)
                return EXIT_FAILURE;
        (void) printf("%lld\n",
                      (long long) (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
        return EXIT_SUCCESS;
}
