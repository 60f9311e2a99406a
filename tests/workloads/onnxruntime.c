/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnxruntime LIBRARY MODEL N [apart]: loads a real ONNX Runtime and runs a model of one input `x`, 256 x 256, and one output `y` N
 * times in each way that there is; allocates 4 x N blocks of its allocators. Says what the output is. apart: the session has
 * no arena.
 */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 256
#define BLOCK 10000

enum { CPU_ARENA = 1, FLOAT = 1, LOG_ERRORS = 3 };

struct allocator { /* OrtAllocator */
	uint32_t version;
	void *(*allocate)(struct allocator *allocator, size_t size);
	void (*free)(struct allocator *allocator, void *block);
};

/* The members of OrtApi, which has some hundreds, that are used here. */
static void **api;
#define CALL(place, result, ...) ((result(*)(__VA_ARGS__))api[place])
#define GET_ERROR CALL(2, const char *, const void *)
#define CREATE_ENVIRONMENT CALL(3, void *, int, const char *, void **)
#define CREATE_SESSION CALL(7, void *, void *, const char *, const void *, void **)
#define RUN                                                                                                            \
	CALL(9, void *, void *, void *, const char *const *, void *const *, size_t, const char *const *, size_t,       \
	     void **)
#define CREATE_OPTIONS CALL(10, void *, void **)
#define DISABLE_ARENA CALL(19, void *, void *)
#define SET_THREADS CALL(24, void *, void *, int)
#define CREATE_TENSOR CALL(48, void *, struct allocator *, const int64_t *, size_t, int, void **)
#define GET_DATA CALL(51, void *, void *, float **)
#define CREATE_CPU_MEMORY CALL(69, void *, int, int, void **)
#define ALLOCATE CALL(75, void *, struct allocator *, size_t, void **)
#define FREE CALL(76, void *, struct allocator *, void *)
#define GET_DEFAULT_ALLOCATOR CALL(78, void *, struct allocator **)
#define RELEASE_ENVIRONMENT CALL(92, void, void *)
#define RELEASE_MEMORY CALL(94, void, void *)
#define RELEASE_SESSION CALL(95, void, void *)
#define RELEASE_VALUE CALL(96, void, void *)
#define RELEASE_OPTIONS CALL(100, void, void *)
#define CREATE_ALLOCATOR CALL(131, void *, void *, void *, struct allocator **)
#define RELEASE_ALLOCATOR CALL(132, void, struct allocator *)
#define RUN_WITH_BINDING CALL(133, void *, void *, void *, void *)
#define CREATE_BINDING CALL(134, void *, void *, void **)
#define RELEASE_BINDING CALL(135, void, void *)
#define BIND_INPUT CALL(136, void *, void *, const char *, void *)
#define BIND_OUTPUT CALL(138, void *, void *, const char *, void *)
#define RUN_ASYNC                                                                                                      \
	CALL(260, void *, void *, void *, const char *const *, void *const *, size_t, const char *const *, size_t,     \
	     void **, void (*)(void *, void **, size_t, void *), void *)

static const char *const input_name = "x", *const output_name = "y";
static void *session, *memory, *input;
static struct allocator *arena, *standard;

static void expect(void *status)
{
	if (!status)
		return;
	fprintf(stderr, "onnxruntime: %s\n", GET_ERROR(status));
	exit(1);
}

static void open_library(const char *path)
{
	struct base {
		void **(*get_api)(uint32_t version);
		const char *(*get_version)(void);
	} * (*get_base)(void);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	*(void **)&get_base = library ? dlsym(library, "OrtGetApiBase") : NULL;
	api = get_base ? get_base()->get_api(17) : NULL;
	if (!api) {
		fprintf(stderr, "onnxruntime: %s\n", dlerror());
		exit(1);
	}
}

static void make_input(void)
{
	const int64_t shape[] = { SIDE, SIDE };
	float *data;

	expect(CREATE_TENSOR(arena, shape, 2, FLOAT, &input));
	expect(GET_DATA(input, &data));
	for (int i = 0; i < SIDE * SIDE; i++)
		data[i] = 1;
}

static void run(void)
{
	void *output = NULL;
	float *data;

	expect(RUN(session, NULL, &input_name, &input, 1, &output_name, 1, &output));
	expect(GET_DATA(output, &data));
	printf("%.2f\n", (double)data[0]);
	RELEASE_VALUE(output);
}

static void run_bound(int times)
{
	void *binding;

	expect(CREATE_BINDING(session, &binding));
	expect(BIND_INPUT(binding, input_name, input));
	expect(BIND_OUTPUT(binding, output_name, memory));
	for (int i = 0; i < times; i++)
		expect(RUN_WITH_BINDING(session, NULL, binding));
	RELEASE_BINDING(binding);
}

static void ran(void *done, void **outputs, size_t count, void *status)
{
	(void)outputs, (void)count;
	expect(status);
	sem_post(done);
}

static void run_beside(void)
{
	void *output = NULL;
	sem_t done;

	sem_init(&done, 0, 0);
	expect(RUN_ASYNC(session, NULL, &input_name, &input, 1, &output_name, 1, &output, ran, &done));
	while (sem_wait(&done))
		;
	RELEASE_VALUE(output);
}

/* By the table, and by the allocator's own pointers. */
static void allocate(struct allocator *allocator)
{
	void *one, *two;

	expect(ALLOCATE(allocator, BLOCK, &one));
	two = allocator->allocate(allocator, BLOCK);
	expect(FREE(allocator, one));
	allocator->free(allocator, two);
}

int main(int argc, char **argv)
{
	int times = argc > 3 ? atoi(argv[3]) : 1;
	void *environment, *options;

	if (argc < 3)
		return 2;
	open_library(argv[1]);
	expect(CREATE_ENVIRONMENT(LOG_ERRORS, "test", &environment));
	expect(CREATE_OPTIONS(&options));
	expect(SET_THREADS(options, 2));
	if (argc > 4)
		expect(DISABLE_ARENA(options));
	expect(CREATE_SESSION(environment, argv[2], options, &session));
	expect(CREATE_CPU_MEMORY(CPU_ARENA, 0, &memory));
	expect(CREATE_ALLOCATOR(session, memory, &arena));
	expect(GET_DEFAULT_ALLOCATOR(&standard));
	make_input();
	for (int i = 0; i < times; i++) {
		run();
		run_beside();
		allocate(arena);
		allocate(standard);
	}
	run_bound(times);
	RELEASE_VALUE(input);
	RELEASE_ALLOCATOR(arena);
	RELEASE_MEMORY(memory);
	RELEASE_SESSION(session);
	RELEASE_OPTIONS(options);
	RELEASE_ENVIRONMENT(environment);
	return 0;
}
