/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a trace, at the begin of the file: see tprof/format.h. */
#ifndef TPROF_HEADER_H
#define TPROF_HEADER_H

#include <stdint.h>

#include <tprof/snapshot.h>

enum tprof_clock {
	TPROF_CLOCK_TSC = 1,	   /* the processor's time stamp counter, invariant */
	TPROF_CLOCK_MONOTONIC = 2, /* CLOCK_MONOTONIC, one tick a nanosecond */
};

/* Which machine wrote: ELF's number of it (e_machine). Addresses, registers and the clock are that machine's. */
enum tprof_machine {
	TPROF_MACHINE_OLD = 0, /* from before there was this field: x86-64 */
	TPROF_MACHINE_X86_64 = 62,
};

enum tprof_origin {
	TPROF_ORIGIN_FIRST = 1, /* the run's first process */
	TPROF_ORIGIN_EXEC = 2,	/* a further process, begun by exec */
	TPROF_ORIGIN_FORK = 3,	/* a fork of a traced process: it begins with its parent's live blocks */
};

enum tprof_end {
	TPROF_END_NONE = 0,	/* not ended, or killed: a reader checks whether the process still runs */
	TPROF_END_EXIT = 1,	/* end_status is the exit status */
	TPROF_END_SIGNAL = 2,	/* end_status is the signal */
	TPROF_END_EXEC = 3,	/* the process image was replaced; end_status is 0 */
	TPROF_END_DETACHED = 4, /* recording ended, and the process goes on (`tprof detach`); end_status is 0 */
	TPROF_END_UNKNOWN = 5,	/* of an imported trace: the source does not say; end_status is 0 */
};

/* The call by which a process ended itself. */
enum tprof_end_way {
	TPROF_WAY_UNKNOWN = 0, /* or none */
	TPROF_WAY_EXIT = 1,    /* exit(), or main() returned: handlers run */
	TPROF_WAY_UNDERSCORE_EXIT = 2,
	TPROF_WAY_UPPERCASE_EXIT = 3,
	TPROF_WAY_QUICK_EXIT = 4,
	TPROF_WAY_EXIT_GROUP = 5, /* by syscall() */
};

/* The leak check at the process's end: a search for blocks that nothing points to. */
enum tprof_search {
	TPROF_SEARCH_NOT_ASKED = 0,
	TPROF_SEARCH_DUE = 1, /* not begun: the process runs, or ended in a way that makes no search */
	TPROF_SEARCH_DONE = 2,
	TPROF_SEARCH_FAILED = 3,
	TPROF_SEARCH_NO_PROGRAM = 5, /* tprof-analyze could not be started */
	TPROF_SEARCH_FORBIDDEN = 4,  /* the kernel permits no process to read the process's memory */
};
#define TPROF_STATUS_FORBIDDEN 4 /* exit status of the searching process in that case */

enum tprof_header_flags {
	/*
	 * malloc resolves to an object other than libtprof.so or its successors (TPROF_TEXT_MALLOC names it): its
	 * allocations can't be recorded
	 */
	TPROF_FLAG_FOREIGN_MALLOC = 1u << 0,
	/* dlopen was called with RTLD_DEEPBIND: that object bypasses the hooks */
	TPROF_FLAG_DEEPBIND = 1u << 1,
	TPROF_FLAG_STOPPED = 1u << 2,	   /* recording ended before the process did: stop_cause, stop_ticks */
	TPROF_FLAG_TEXT_CUT = 1u << 3,	   /* the arguments did not fit the header's text */
	TPROF_FLAG_WAS_THREADED = 1u << 4, /* more than one thread recorded events */
	/* Recording was off at the start: nothing is known before the first RESUME */
	TPROF_FLAG_WAITED = 1u << 5,
	TPROF_FLAG_POOLS = 1u << 6, /* there are POOL_ALLOC events */
	/* The program ran already when recording began (`tprof attach`); with TPROF_FLAG_WAITED */
	TPROF_FLAG_ATTACHED = 1u << 7,
};

/*
 * Why something was not recorded. Each cause has a counter in the header; TPROF_LOST_NAMES has the words for reports.
 */
enum tprof_lost {
	TPROF_LOST_NO_SPACE,  /* events after the disk was full, or RLIMIT_FSIZE reached */
	TPROF_LOST_NO_MEMORY, /* events after mmap failed (RLIMIT_AS) */
	TPROF_LOST_NO_FILE,   /* events after the file could no longer be reached */
	TPROF_LOST_REENTRANT, /* events of a signal handler that interrupted the recording of another event */
	TPROF_LOST_FOREIGN,   /* events of a task that shares a thread's memory and TLS (raw clone) */
	TPROF_LOST_EARLY,     /* events before libc was ready */
	/* Stacks that were not recorded: the event is there, with TPROF_NODE_NONE as its stack */
	TPROF_LOST_STACK,
	TPROF_LOST_SAMPLE, /* memory samples that could not be read */
	/* Threads that are not sampled: the kernel had no timer, or their stack no room for a signal's frame */
	TPROF_LOST_TIMER,
	/* Events after the program entered a seccomp sandbox, which may forbid the collector's system calls */
	TPROF_LOST_SANDBOX,
	/* Threads whose TPROF_COUNTERS could not be opened, or no longer be read */
	TPROF_LOST_COUNTERS,
	/*
	 * Calls nested too deeply: more than 256 hooked functions (as many open calls are kept for a thread), or more
	 * than 1,024 functions built with -finstrument-functions
	 */
	TPROF_LOST_OP_DEPTH,
	TPROF_LOST_RING, /* events while all of a ring was in use, after the time that a thread waits for the folder */
	/*
	 * Requests of communication libraries that were not remembered, as too many were under way: nothing tells when
	 * they were complete
	 */
	TPROF_LOST_REQUESTS,
	TPROF_LOST_CAUSES = 16, /* room for more; unused ones are 0 */
};

#define TPROF_LOST_NAMES                                                                                               \
	{                                                                                                              \
		"no_space", "no_memory", "no_file", "reentrant", "foreign_task", "early", "stack", "memory_sample",    \
			"cpu_timer", "sandbox", "counters", "op_depth", "ring", "requests"                             \
	}

/* Pieces of text in the header: bytes [text[i].offset, +length) of the file; not terminated. */
enum tprof_text {
	TPROF_TEXT_EXE,	 /* path of the executable */
	TPROF_TEXT_ARGS, /* arguments, each with its NUL */
	TPROF_TEXT_CWD,	 /* working directory at the start */
	TPROF_TEXT_ENV,	 /* the TPROF_* variables in force, NAME=value, each with its NUL */
	/* Path of the object whose malloc the hooks call, or that is used instead of the hooks */
	TPROF_TEXT_MALLOC,
	TPROF_TEXT_PARENT, /* path of the trace of the process that forked this one; empty if it was exec'd */
	/* Path by which it was started, of a link or a script (AT_EXECFN); empty in older traces */
	TPROF_TEXT_STARTED,
	/* Of an imported trace (`tprof-analyze import`): what it was made from, then what limits its figures, each with its NUL */
	TPROF_TEXT_SOURCE,
	TPROF_TEXT_COUNT,
};

enum tprof_feature {
	TPROF_FEATURE_TIMED_SHARE = 1u << 0, /* there are FOLD records with TPROF_FOLD_SHARE */
	TPROF_FEATURE_OUTER_ENDS = 1u << 1,  /* there are ends of ops with TPROF_OP_OUTER */
	TPROF_FEATURE_RING = 1u << 2,	     /* chunks are used again: ring_bytes */
	TPROF_FEATURE_LEVELS = 1u << 3,	     /* there are LEVEL events, and ALLOCs with TPROF_ALLOC_MEAN */
};
#define TPROF_FEATURES_KNOWN UINT64_C(15)

struct tprof_span {
	uint32_t offset, length;
};

/* One moment in three clocks. From two of them a reader fits ticks to nanoseconds. */
struct tprof_moment {
	uint64_t ticks;	  /* of header.clock, not shifted */
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t unix_ns; /* CLOCK_REALTIME */
};

/* Whether events are being recorded. */
enum tprof_recording {
	TPROF_RECORDING_UNKNOWN = 0, /* a trace from a version without this field */
	TPROF_RECORDING_ON = 1,
	TPROF_RECORDING_PAUSED = 2,
};

/* Events that hooks skip without looking further: header.gate. */
enum tprof_gate {
	TPROF_GATE_OPEN = 0,
	TPROF_GATE_BEGINS = 1, /* recording is paused: skip everything that begins something */
	/* Recording has been paused since the start: also skip what ends something */
	TPROF_GATE_ALL = 2,
};

/* Requests to the program: header.control_what. */
enum tprof_control {
	TPROF_CONTROL_START = 1, /* resume recording after a pause */
	TPROF_CONTROL_STOP = 2,	 /* pause */
	TPROF_CONTROL_MARK = 3,	 /* a MARK event with control_text */
	/* A MEMORY event and a MARK event with control_text, so that reports can show the state at that moment */
	TPROF_CONTROL_SNAPSHOT = 4,
	/* Make a fork that does not run, set snapshot_pid; the searching process reads its memory */
	TPROF_CONTROL_LEAKCHECK = 5,
};

#define TPROF_CONTROL_WAKE UINT64_C(0x6c746370666f7274) /* the value sent with header.control_signal */
#define TPROF_CONTROL_TEXT 48u				/* the most bytes of a mark's text */

/* Why a process that this one started has no trace, in tprof_untraced. */
enum tprof_unfollowed {
	TPROF_UNFOLLOWED_STATIC = 1,	 /* linked statically: no loader that preloads */
	TPROF_UNFOLLOWED_MACHINE = 2,	 /* not for x86-64 */
	TPROF_UNFOLLOWED_LIBC = 3,	 /* uses another C library than glibc */
	TPROF_UNFOLLOWED_PRIVILEGED = 4, /* set-user-ID, set-group-ID or with capabilities: LD_PRELOAD is ignored */
	/* libtprof.so does not exist where it runs (chroot), or can't be read */
	TPROF_UNFOLLOWED_LIBRARY = 5,
	TPROF_UNFOLLOWED_CHILDREN = 6, /* TPROF_CHILDREN=0 */
	TPROF_UNFOLLOWED_OUTPUT = 7,   /* a fork that could not write its trace; `name` says why */
	/* system(3) or popen(3), which pass on the environment as it is: LD_PRELOAD names libtprof.so no longer */
	TPROF_UNFOLLOWED_ENVIRONMENT = 8,
	/* its starter's effective user or group is not the real one: LD_PRELOAD is ignored */
	TPROF_UNFOLLOWED_IDS = 9,
	TPROF_UNFOLLOWED_DIRECTORY = 10, /* the trace's directory is not there, or closed to its user */
};

struct tprof_untraced {
	uint32_t state; /* 2: the entry is valid */
	/* Of the first such process; the header's own pid if it replaced this program (exec); 0: unknown */
	uint32_t pid;
	uint32_t why; /* enum tprof_unfollowed */
	/* Number of processes with that name and reason; 0: none was started after all */
	uint32_t count;
	char name[48]; /* name as it was started; NUL-terminated */
};
#define TPROF_UNTRACED_MAX 12u

/*
 * The state of a replay of all events whose chunks were used again. Its bytes are those of the chunks of kind
 * TPROF_CHUNK_STATE with its number in overhead_ticks, in the order of `thread`, which counts them from 0.
 */
struct tprof_checkpoint {
	uint64_t number; /* 1, 2, ... */
	uint64_t bytes;	 /* a zstd frame, which contains them uncompressed */
	uint64_t events; /* that were replayed */
	uint64_t ticks;	 /* when the last of them happened; not shifted */
};

struct tprof_header {
	uint8_t magic[8];
	uint32_t version;     /* TPROF_VERSION */
	uint32_t header_size; /* offset of chunk 0 */
	uint32_t chunk_size;  /* bytes; a multiple of the page size, at most 64 MiB */
	uint32_t page_size;   /* of the machine that wrote the file */
	/*
	 * Bits that a reader must know, or refuse the file: enum tprof_feature; set before the first record that needs
	 * the bit
	 */
	uint64_t features_required;
	uint64_t features; /* bits that a reader may ignore; none in version 1 */

	/* Ppid: for a fork, the traced process that it is a fork of, which may have ended already */
	uint32_t pid, ppid;
	uint32_t origin; /* enum tprof_origin */
	uint32_t clock;	 /* enum tprof_clock */
	/* Field 22 of /proc/PID/stat: distinguishes this process from a later one with the same pid */
	uint64_t process_start;
	uint32_t tick_shift;	   /* event times are ticks >> tick_shift */
	uint32_t depth;		   /* TPROF_DEPTH in force */
	struct tprof_moment start; /* recording began */
	struct tprof_span text[TPROF_TEXT_COUNT];

	/* Fields that change while the program runs. Each word is stored as a whole. */
	/* Chunks handed out; the file may be shorter (the last ones may not be created yet) */
	uint64_t chunks;
	uint32_t flags;	    /* enum tprof_header_flags */
	uint32_t threads;   /* threads that recorded anything */
	uint32_t end;	    /* enum tprof_end */
	int32_t end_status; /* exit status or signal, as `end` says */
	/* When the process wrote `end`; zero if `end` was not written, or written by `tprof run` */
	struct tprof_moment finish;
	uint32_t stop_cause; /* enum tprof_lost + 1; 0 if recording did not stop early */
	uint32_t modules;    /* modules registered */
	uint64_t stop_ticks;
	uint64_t lost[TPROF_LOST_CAUSES];
	uint64_t walks_cut;   /* stacks deeper than `depth` */
	uint64_t walks_short; /* stacks that ended before their outermost frame: no rule for a PC, or out of bounds */
	uint64_t rss_peak;    /* VmHWM at the end, bytes; 0 if unknown */
	uint64_t last_child_start_unix_ns; /* start of the latest further process of this run that found this file */
	uint64_t slots;			   /* hooked pointers (GOT slots) in addition to symbol interposition */
	uint64_t collector_bytes;	   /* memory that the collector mapped for itself */
	uint64_t cpu_period_ns;		   /* CPU time between two samples of a thread; 0: no CPU sampling */
	uint64_t sample_bytes;		   /* mean of TPROF_ALLOC=sample:BYTES; 0: every allocation is recorded */
	uint64_t samples_own;		   /* CPU samples that fell into the collector itself, counted in periods */
	/* At about the last memory sample; ticks 0: none, or it is being written */
	struct tprof_moment latest;
	uint32_t cpu_signal;  /* the signal number that the sampler uses */
	uint32_t cpu_stopped; /* 1: the program used that signal itself, and sampling ended */

	/*
	 * A mailbox for requests to the running program, see tprof-trace(5). The sender writes `what` and `text`, then
	 * the request's number with release semantics; the program answers at its next event.
	 */
	uint32_t recording;	/* enum tprof_recording */
	uint32_t control_asked; /* number of the latest request: 1, 2, ...; 0: none yet */
	/* Number of the latest request that a thread of the program has taken */
	uint32_t control_taken;
	uint32_t control_done;	      /* number of the latest request that was carried out */
	uint32_t control_what;	      /* enum tprof_control */
	uint32_t control_text_length; /* bytes of control_text */
	char control_text[TPROF_CONTROL_TEXT];
	/*
	 * How much longer a call of a hooked function takes because it is recorded: between its two events, and outside
	 * of them. Both 0: not measured.
	 */
	uint32_t op_inside_ticks, op_outside_ticks;
	uint32_t python;	/* version of the Python whose frames are in the stacks, 0x030b for 3.11; 0: none */
	uint32_t python_seen;	/* version of a Python that was found and can't be read; 0: none */
	uint64_t python_unread; /* stacks whose Python frames could not be read */
	uint32_t fold_inside_ticks, fold_outside_ticks; /* the same for a folded call */
	uint32_t work_ticks;				/* what a WORK event adds to op_inside_ticks */
	uint32_t op_functions;				/* functions hooked through `slots` */
	/* A fork that does not run, to be searched for pointers; 0: none (any more) */
	uint32_t snapshot_pid;
	uint32_t snapshot_error; /* errno of the last fork that failed; 0: none did */
	uint64_t snapshot_at;	 /* address of a struct tprof_snapshot in that fork */
	uint64_t snapshot_ticks; /* when the fork was made; not shifted */
	/* other threads that were on a processor then, or could be: their registers can't be searched */
	uint32_t snapshot_running;
	uint32_t snapshot_waiting; /* other threads that were in a system call */
	/* Whole cost of counting a folded call that is not timed; 0: not measured */
	uint32_t fold_untimed_ticks;
	/* enum tprof_gate: the word that hooks read first; the sender of a request opens it */
	uint32_t gate;
	/* The threads of snapshot_waiting whose registers are surely in tprof_snapshot.kept */
	uint32_t snapshot_known;
	/*
	 * Chunks of events and tables for which the disk has no room: they wait in the program's memory until it has
	 */
	uint32_t chunks_aside;
	/* Time that recording took outside of events: to begin threads, create chunks, sample memory, hook objects */
	uint64_t other_ticks;
	uint64_t snapshot_bytes; /* sizeof(struct tprof_snapshot) in the collector */
	uint64_t pid_namespace;	 /* inode of the PID namespace in which `pid` is valid; 0: unknown */
	/* /proc/sys/kernel/random/boot_id: identifies the machine and its boot; 0: unknown */
	uint8_t boot_id[16];
	/* bit i: the thread of tprof_snapshot.stacks[i] waited in one system call while the fork was made */
	uint64_t snapshot_still[TPROF_SNAPSHOT_RANGES / 64];
	/*
	 * The run to which this process belongs: a random number that the run's first process drew and all further
	 * processes inherited, or the hash of TPROF_RUN; 0: the trace is from a version without this field
	 */
	uint64_t run;
	struct tprof_untraced untraced[TPROF_UNTRACED_MAX]; /* processes that were started and have no trace */
	uint32_t untraced_more; /* number of further processes for which there was no room */
	uint32_t machine;	/* enum tprof_machine */
	uint64_t search_ticks;	/* snapshot_ticks of the latest search with a result; 0: none */
	uint32_t search_at_end; /* enum tprof_search: the state of TPROF_LEAKCHECK=exit */
	uint32_t end_way;	/* enum tprof_end_way */
	/* Signal that makes a thread look for a request, with TPROF_CONTROL_WAKE; 0: none */
	uint64_t control_signal;
	/*
	 * The time, in ticks, since when table records are missing, because they are aside or could not be written.
	 * Records that refer to one of them are not part of the trace. 0: none are missing.
	 */
	uint64_t tables_from;
	/*
	 * CLOCK_MONOTONIC: when `ppid` was last found to be still the process's parent; the time of `latest`, if it was
	 * the parent then; 0: unknown.
	 */
	uint64_t parent_seen_ns;

	/* ---- a ring: the program writes it, and a process beside it, the folder, replays the oldest chunks ---- */
	uint64_t ring_bytes;   /* size that the file does not exceed; 0: it is no ring */
	uint32_t ring_places;  /* chunks that fit in it */
	uint32_t ring_free;    /* chunks that are TPROF_PLACE_FREE */
	uint32_t ring_reserve; /* chunks that events leave to tables and checkpoints */
	uint32_t ring_folder;  /* process ID of the folder; 0: there was none yet */
	uint64_t ring_seen_ns; /* CLOCK_MONOTONIC: when the folder last said that it lives */
	uint64_t ring_waited;  /* ticks that threads have waited for a free chunk, in all */
	uint64_t ring_cut; /* ticks: since when stacks are cut to ring_depth frames, because of the room for tables */
	uint32_t ring_depth, ring_tables; /* ring_tables: chunks of tables of the program */
	uint64_t ring_too_big;		  /* bytes of the latest checkpoint that the ring had no room for; 0: none */
	uint64_t checkpoint;		  /* number of the latest one that is complete; 0: there is none */
	struct tprof_checkpoint checkpoints[2]; /* number n is in [n % 2] */

	/*
	 * TPROF_MAX_OVERHEAD: what recording may cost, in hundredths of a percent of the program's CPU time; 0: no bound.
	 * With a bound, sample_bytes is the mean that is used first when not all allocations are recorded.
	 */
	uint64_t max_overhead;

	/*
	 * Which part of a parallel job the process is: bytes of the file like `text`. Pieces NAME=value, each with its NUL:
	 * the host's name (HOST), the control group (CGROUP), and the variables of launchers that it was started with, as
	 * OMPI_COMM_WORLD_RANK; empty in older traces. Children inherit the variables: tprof-trace(5), RANKS
	 */
	struct tprof_span job;
	/*
	 * TPROF_ORIGIN_FORK: the stack at which the parent called fork(), a node of the parent's trace; 0: not known, as in
	 * older traces
	 */
	uint32_t fork_node;
	uint32_t reserved;
};

#endif
