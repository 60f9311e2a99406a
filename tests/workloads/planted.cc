/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planted STEPS READY GO: a loop with a leak of each kind that C and C++ have, at the lines marked "LEAK kind", and who holds it there. At the
 * end it makes the file READY, and waits for the file GO.
 */
#include <deque>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "tprof.h"

#define KEEP __attribute__((noinline, noclone))

struct Plugin {
	virtual ~Plugin()
	{
	}
	char text[100];
};

struct Peer {
	virtual ~Peer()
	{
	}
	std::shared_ptr<Peer> other;
	char text[200];
};

struct Record {
	Record *next;
	char text[48];
};

struct Model {
	std::vector<char *> history;
};

struct Chunk {
	Chunk *before;
	char room[4000];
};

struct Leaf {
	std::unique_ptr<Leaf> left, right;
	char text[130];
};

struct Entry {
	Entry *next;
	long key;
	char value[150];
};

struct Problem : std::runtime_error {
	explicit Problem(int step) : std::runtime_error("step " + std::to_string(step))
	{
	}
	char context[250] = { 0 };
};

static std::vector<Plugin *> plugins;
static std::unordered_map<int, Plugin *> by_number;
static std::map<std::string, Plugin *> registry;
static std::vector<std::function<int()>> callbacks;
static std::vector<std::shared_ptr<Peer>> peers;
static std::list<Plugin> in_list;
static std::deque<char *> in_deque;
static std::set<std::string> names;
static std::vector<std::exception_ptr> errors;
static std::unique_ptr<Leaf> tree;
static Record *records;
static Chunk *arena;
static Entry *buckets[64];
static void **tiny, **rare;
static double (*rows)[12];
static Model *model = new Model;
static thread_local std::vector<char *> *cache = new std::vector<char *>;
static pthread_key_t key;
void *exported[100000];

static KEEP void vector_kind(int)
{
	plugins.push_back(new Plugin()); /* LEAK vector */
}

static KEEP void map_kind(int step)
{
	by_number[step] = new Plugin(); /* LEAK map */
}

static KEEP void registry_kind(int step)
{
	registry["plugin " + std::to_string(step)] = new Plugin(); /* LEAK registry */
}

static KEEP void callback_kind(int step)
{
	char *data = (char *)calloc(1, 333); /* LEAK callback */

	callbacks.push_back([=] { return data[0] + step; });
}

static KEEP void attribute_kind(int)
{
	model->history.push_back((char *)calloc(1, 444)); /* LEAK attribute */
}

static KEEP void thread_kind(int)
{
	cache->push_back((char *)calloc(1, 555)); /* LEAK thread */
}

static KEEP void global_kind(int step)
{
	exported[step] = calloc(1, 666); /* LEAK global */
}

static KEEP void cycle_kind(int)
{
	auto a = std::make_shared<Peer>(), b = std::make_shared<Peer>(); /* LEAK cycle */

	a->other = b, b->other = a;
	peers.push_back(a);
}

static KEEP void list_kind(int)
{
	Record *record = (Record *)calloc(1, sizeof(Record)); /* LEAK list */

	record->next = records;
	records = record;
}

static KEEP void arena_kind(int)
{
	Chunk *chunk = (Chunk *)calloc(1, sizeof(Chunk)); /* LEAK arena */

	chunk->before = arena;
	arena = chunk;
}

static KEEP void std_list_kind(int)
{
	in_list.emplace_back(); /* LEAK std_list */
}

static KEEP void std_deque_kind(int)
{
	in_deque.push_back((char *)calloc(1, 277)); /* LEAK std_deque */
}

static KEEP void std_set_kind(int step)
{
	names.insert(std::string(60, 'n') + std::to_string(step)); /* LEAK std_set */
}

static KEEP void error_kind(int step)
{
	errors.push_back(std::make_exception_ptr(Problem(step))); /* LEAK error */
}

static KEEP void tree_kind(int step)
{
	std::unique_ptr<Leaf> leaf(new Leaf()); /* LEAK tree */

	(step % 2 ? leaf->left : leaf->right) = std::move(tree);
	tree = std::move(leaf);
}

static KEEP void bucket_kind(int step)
{
	Entry *entry = (Entry *)calloc(1, sizeof(Entry)); /* LEAK bucket */

	entry->key = step;
	entry->next = buckets[step % 64];
	buckets[step % 64] = entry;
}

static KEEP void sixteen_kind(int)
{
	void **block = (void **)malloc(16); /* LEAK sixteen */

	block[0] = tiny;
	tiny = block;
}

static KEEP void fiftieth_kind(int step)
{
	void **block;

	if (step % 50)
		return;
	block = (void **)calloc(1, 20000); /* LEAK fiftieth */
	block[0] = rare;
	rare = block;
}

static KEEP void table_kind(int)
{
	static size_t count, room;

	for (int i = 0; i < 4; i++)
		if (count++ == room) {
			room = room ? 2 * room : 16;
			rows = (double(*)[12])realloc(rows, room * sizeof(*rows)); /* LEAK table */
		}
}

static KEEP void mapping_kind(int)
{
	char *page =
		(char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* LEAK mapping */

	page[0] = 1;
}

static KEEP void key_kind(int)
{
	void **block = (void **)calloc(1, 388); /* LEAK key */

	block[0] = pthread_getspecific(key);
	pthread_setspecific(key, block);
}

static KEEP void local_kind(std::vector<char *> &inside)
{
	inside.push_back((char *)calloc(1, 488)); /* LEAK local */
}

/* What a step needs, and frees. */
static KEEP void work(int step)
{
	free(malloc(1000 + step % 7));
}

/* What functions left on the stack are no pointers that anybody means. */
static KEEP void clean()
{
	char room[8192];

	memset(room, 0, sizeof(room));
	asm volatile("" : : "r"(room) : "memory");
}

int main(int argc, char **argv)
{
	std::vector<char *> inside;
	int steps = argc == 4 ? atoi(argv[1]) : 0;

	if (steps <= 0 || steps > 100000)
		return 2;
	pthread_key_create(&key, NULL);
	for (int step = 0; step < steps; step++) {
		vector_kind(step), map_kind(step), registry_kind(step), callback_kind(step), attribute_kind(step);
		thread_kind(step), global_kind(step), cycle_kind(step), list_kind(step), arena_kind(step);
		std_list_kind(step), std_deque_kind(step), std_set_kind(step), error_kind(step), tree_kind(step);
		bucket_kind(step), sixteen_kind(step), fiftieth_kind(step), table_kind(step), mapping_kind(step);
		key_kind(step), local_kind(inside), work(step);
		tprof_step(1);
	}
	clean();
	close(creat(argv[2], 0600));
	for (int i = 0; i < 3000 && access(argv[3], F_OK); i++) {
		free(malloc(8));
		usleep(20000);
	}
	_exit(0);
}
