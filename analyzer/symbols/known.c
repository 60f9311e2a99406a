/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that reports treat specially, by full names and by prefixes. */
#include "symbols/known.h"

#include <string.h>

/* Full names of allocation functions. Python's are included because all its objects pass through them. */
static const char *const allocator_names[] = {
	"tprof_pool_alloc",
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"posix_memalign",
	"aligned_alloc",
	"valloc",
	"pvalloc",
	"free",
	"cfree",
	"mallocx",
	"rallocx",
	"xallocx",
	"dallocx",
	"sdallocx",
	"mmap",
	"mmap64",
	"mremap",
	"munmap",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_memalign",
	"__mmap",
	"__mmap64",
	"_mid_memalign",
	"__rust_alloc",
	"__rust_alloc_zeroed",
	"__rust_realloc",
	"__rdl_alloc",
	"__rdl_alloc_zeroed",
	"__rdl_realloc",
	"PyMem_Malloc",
	"PyMem_Calloc",
	"PyMem_Realloc",
	"PyMem_RawMalloc",
	"PyMem_RawCalloc",
	"PyMem_RawRealloc",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"_PyMem_RawMalloc",
	"_PyMem_RawCalloc",
	"_PyMem_RawRealloc",
	"_PyObject_ArenaMmap",
	"_PyMem_ArenaAlloc",
	"pymalloc_alloc",
	"new_arena",
	"allocate_from_new_pool",
	NULL,
};

/* Prefixes of allocation functions' names. */
static const char *const allocator_prefixes[] = {
	"operator new",
	"operator delete",
	"__gnu_cxx::new_allocator<",
	"std::__new_allocator<",
	"std::allocator<",
	"std::allocator_traits<",
	"__gnu_cxx::__alloc_traits<",
	"alloc::alloc::",
	"<alloc::alloc::Global",
	"std::__allocate_guarded<",
	NULL,
};

static const char *const allocator_modules[] = {
	"libtprof.so", "libjemalloc.so", "libtcmalloc", "libmimalloc", "libc_malloc_debug.so", NULL,
};

/* Wrappers and containers: real frames of a stack, but nobody wants to read that std::vector allocates. */
static const char *const plumbing_prefixes[] = {
	"std::",
	"__gnu_cxx::",
	"void std::",
	"alloc::",
	"<alloc::",
	"core::",
	"<core::",
	"<std::",
	"<T as alloc::",
	"<T as core::",
	"<T as std::",
	"<I as core::",
	"<I as alloc::",
	"hashbrown::",
	"<hashbrown::",
	"c10::alloc_cpu(",
	"c10::DefaultCPUAllocator::",
	"c10::StorageImpl::",
	"c10::GetCPUAllocator",
	NULL,
};

static const char *const plumbing_names[] = {
	"g_malloc",	"g_malloc0",	 "g_realloc",	   "g_malloc_n", "g_malloc0_n", "g_realloc_n",
	"g_try_malloc", "g_slice_alloc", "g_slice_alloc0", "xmalloc",	 "xcalloc",	"xrealloc",
	"xzalloc",	"xmemdup",	 "xstrdup",	   "strdup",	 "strndup",	"__strdup",
	"__strndup",	"g_strdup",	 "g_strndup",	   "asprintf",	 "vasprintf",	"__vasprintf_internal",
	"___asprintf",	"__asprintf",	 "av_malloc",	   "av_mallocz", "av_realloc",	"sk_malloc_flags",
	NULL,
};

static const char *const start_names[] = {
	"_start",
	"__libc_start_main",
	"__libc_start_call_main",
	"__libc_start_main_impl",
	"start_thread",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"_dl_start_user",
	"_dl_start",
	"_dl_init",
	"call_init",
	"_dl_start_final",
	"__libc_csu_init",
	"execute_native_thread_routine",
	"_dl_runtime_resolve",
	"_dl_main",
	"dl_main",
	"_dl_sysdep_start",
	"thread_start",
	NULL,
};

static const char *const start_modules[] = { "ld-linux", "libc.so", "libstdc++.so", "libpthread.so", NULL };

/*
 * Functions that allocate for a holder, with a part of their modules' names: a function of the same name in another
 * module does not count.
 */
static const struct {
	const char *begins, *module;
	bool whole; /* `begins` is the full name */
	enum tpa_holder holder;
} holders[] = {
	{ "c10::Dispatcher::register", "libtorch", false, TPA_HOLDER_TORCH },
	{ "c10::Dispatcher::findOrRegister", "libtorch", false, TPA_HOLDER_TORCH },
	{ "torch::Library::_def", "libtorch", false, TPA_HOLDER_TORCH },
	{ "torch::Library::_impl", "libtorch", false, TPA_HOLDER_TORCH },
	{ "torch::jit::registerOperator", "libtorch", false, TPA_HOLDER_TORCH },
	{ "npy_alloc_cache_dim", "_multiarray_umath", true, TPA_HOLDER_NUMPY_SHAPES },
	{ "npy_alloc_cache", "_multiarray_umath", false, TPA_HOLDER_NUMPY_BLOCKS },
	{ "PyUnicode_Intern", "python3", false, TPA_HOLDER_PYTHON_INTERNED },
	{ "_PyUnicode_Intern", "python3", false, TPA_HOLDER_PYTHON_INTERNED },
	{ "_PyObject_Arena", "python3", false, TPA_HOLDER_PYTHON_ARENAS },
	{ "_PyMem_Arena", "python3", false, TPA_HOLDER_PYTHON_ARENAS },
	{ "new_arena", "python3", true, TPA_HOLDER_PYTHON_ARENAS },
	{ "arena_map_", "python3", false, TPA_HOLDER_PYTHON_ARENAS },
};

/* Libraries without symbols that allocate little but their pools; allocations of their callees do not count. */
static const char *const pool_modules[] = { "libgomp.so", "libomp.so", NULL };

/* Functions that spin until another thread is done; OpenBLAS's threads call sched_yield. */
static const char *const waiting_names[] = {
	"sched_yield",		"__sched_yield",     "__GI_sched_yield",    "blas_thread_server",
	"exec_blas_async_wait", "pthread_spin_lock", "__pthread_spin_lock", NULL,
};

/* OpenMP libraries, which only wait for threads and give them work. */
static const char *const waiting_modules[] = { "libgomp.so", "libgomp-", "libomp.so", "libiomp5.so", NULL };

static bool begins(const char *name, const char *beginning)
{
	return *name == *beginning && strncmp(name, beginning, strlen(beginning)) == 0;
}

static bool in_names(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (**names == *name && strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool has_prefix(const char *const *prefixes, const char *name)
{
	for (; *prefixes; prefixes++)
		if (begins(name, *prefixes))
			return true;
	return false;
}

static bool is_allocator(const char *name, const char *module)
{
	if (has_prefix(allocator_modules, module))
		return true;
	if (!name)
		return false;
	return in_names(allocator_names, name) || has_prefix(allocator_prefixes, name) ||
	       (begins(name, "std::") && strstr(name, "::_M_allocate"));
}

/* Is it language plumbing? */
static bool is_plumbing(const char *name)
{
	return name && (has_prefix(plumbing_prefixes, name) || in_names(plumbing_names, name));
}

/*
 * Is it start-up code? The table keeps symbol versions in names: __libc_start_main@@GLIBC_2.34. Outermost frames
 * without a name are recognized by module: the loader, libc, libstdc++ at a thread's start.
 */
static bool is_start(const char *name, const char *module)
{
	if (!name)
		return has_prefix(start_modules, module);
	return begins(name, "__libc_start_main") || in_names(start_names, name);
}

/* Frames of std::thread between the thread's start and its function. */
static bool is_thread_start(const char *file)
{
	return file && (strstr(file, "/bits/std_thread.h") || strstr(file, "/bits/invoke.h"));
}

static bool is_interpreter_start(const char *name, const char *module)
{
	return name && (begins(name, "Py_Initialize") || strcmp(name, "Py_NewInterpreter") == 0) &&
	       strstr(module, "python3");
}

static enum tpa_holder holder_of(const char *name, const char *module)
{
	for (size_t i = 0; name && i < sizeof(holders) / sizeof(holders[0]); i++)
		if ((holders[i].whole ? strcmp(name, holders[i].begins) == 0 : begins(name, holders[i].begins)) &&
		    strstr(module, holders[i].module))
			return holders[i].holder;
	return TPA_HOLDER_NONE;
}

bool tpa_python_is_installed(const char *file)
{
	return file && (*file == '<' || strstr(file, "/dist-packages/") || strstr(file, "/site-packages/") ||
			strstr(file, "/lib/python3"));
}

bool tpa_path_is_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/opt/", "[" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return tpa_python_is_installed(path);
}

struct tpa_known tpa_known_name(const char *name, const char *file, const char *module, bool python)
{
	struct tpa_known known = {
		.interpreter_start = is_interpreter_start(name, module),
		.holder = (uint8_t)holder_of(name, module),
		.pool = has_prefix(pool_modules, module) ? TPA_HOLDER_OPENMP : TPA_HOLDER_NONE,
	};

	if (!python)
		known.allocator = is_allocator(name, module);
	known.installed = tpa_python_is_installed(file);
	known.system_file = file && tpa_path_is_system(file);
	known.waits = !python && ((name && in_names(waiting_names, name)) || has_prefix(waiting_modules, module));
	if (!python)
		known.plumbing = known.allocator || is_plumbing(name);
	known.start = (!python && is_start(name, module)) || is_thread_start(file);
	known.rust_begin = name && strstr(name, "::__rust_begin_short_backtrace");
	known.rust_call = name && begins(name, "core::ops::function::FnOnce::");
	return known;
}
