# SPDX-License-Identifier: Apache-2.0
# The programs that the integration tests and the demo profile. They are built once, whatever the switches: what is
# tested is tprof, and a sanitizer in the program would bring an allocator of its own.
W := $(BUILD)/workloads
WORKLOAD_WARN := $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN))
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE -g -O1 -fno-builtin $(WARN)
WORKLOAD_CXXFLAGS := -std=c++17 -D_GNU_SOURCE -g -O1 -fno-builtin $(WORKLOAD_WARN)

WORKLOADS := $(addprefix $(W)/,attached digits truth truth-nopie truth-stripped truth-now truth_cxx shared_arena jemalloc_api \
	threads ends fork dl own_malloc unseen early mmap interrupts cpu_split cpu_traps sampled limits deep usable ops steady stack0 \
	stack2 stack3 exceptions0 exceptions2 exceptions3 liboracle.so libplugin_a.so libplugin_b.so liborigin.so \
	nested/libplugin_b.so libsignatures.so libthrower.so op_calls op_calls-now op_throws throw_tree left_scopes left_scopes-traced left_threads left_threads-traced op_dlsym libtinyblas.so hot hot_throws ring_ops op_lines libcountblas.so blas_calls libcountlapack.so lapack_calls libtorture.so op_torture libkernels.so registers libbetween.so op_calls-cet pools pauses annotate annotate-traced collectors onednn regions regions-clang \
	libdnnl3.so onednn3 instrumented libraries libmocks.so cuda libcudamocks.so libtracer.so fourier xnnpack \
	mlp cnn transformer first_page pinned ring ring_stacks)
WORKLOADS += $(addprefix $(W)/,control stops faults roofs still batches extremes op_waits)
WORKLOADS += $(addprefix $(W)/,growth leak_kinds leak_blas planted lost kept_in lost_stacks interior waits_in in_hand waits thread_work resident jitdump remapped remapped-nopie unbound read_only libmany.so)
WORKLOADS += $(W)/imported $(W)/outliers $(W)/step_ends $(W)/drawn $(W)/jemalloc_stats $(W)/jemalloc_locks $(W)/paused $(W)/paused_kinds

WORKLOADS += $(addprefix $(W)/,step_left uneven mpi_names mpi_calls-openmpi mpi_calls-mpich mpi_fortran-openmpi mpi_fortran-mpich \
	mpi_ranks-openmpi mpi_ranks-mpich mpi_ranks_fortran-openmpi mpi_ranks_fortran-mpich mpi_threads-openmpi mpi_threads-mpich stragglers-openmpi timed_waits libshifted_clock.so \
	neighbours-openmpi neighbours-mpich mpi_polls-openmpi mpi_polls-mpich)

# Functions that no pointer of the loader leads to.
code_levels := 0 1 2 3
WORKLOADS += $(foreach l,$(code_levels),$(W)/static_kernels-O$l $(W)/static_graph-O$l $(W)/code_cases-O$l)
WORKLOADS += $(addprefix $(W)/,static_kernels-traced static_graph-traced static_kernels-stripped static_kernels-debug static_kernels-cet static_kernels-nopie ruled ruled-varied own_heap-jemalloc own_heap-tcmalloc own_heap-rjem attached_own code_kept code_slow code_refused libcode_kernels.so code_late)

# Programs that do what once went wrong.
WORKLOADS += $(W)/attack
WORKLOADS += $(addprefix $(W)/,coroutines handlers odd signal_traps libfence.so libslow_flock.so liblazyblas.so loaders windows steady-asan)
WORKLOADS += $(W)/segments-bfd $(W)/segments-gold $(W)/starts $(W)/heirs $(W)/shifts $(W)/family $(W)/forkers $(W)/spike $(W)/idle
WORKLOADS += $(W)/roots $(W)/first_call $(W)/onnxruntime $(W)/few $(W)/starved $(W)/shared_task
WORKLOADS += $(addprefix $(W)/,op_jumps refuse bindings bindings-now stack_needs counted free_faults python_loaded refused_threads left_handlers)
.PHONY: workloads
workloads: $(WORKLOADS)

# name: sources, and what is special about its build
$(W)/digits $(W)/leak_blas: WORKLOAD_EXTRA := -O2 -fbuiltin -lopenblas -lm
$(W)/digits: tests/workloads/digit_set.c
# The trainers.
$(W)/roofs $(W)/mlp $(W)/cnn $(W)/transformer: WORKLOAD_EXTRA := -O2 -fbuiltin -Iinclude -lopenblas -lm
$(W)/mlp $(W)/cnn $(W)/transformer: tests/workloads/nn.c tests/workloads/digit_set.c include/tprof.h
$(W)/truth $(W)/truth-nopie $(W)/truth-stripped $(W)/truth-now: tests/workloads/truth.c tests/workloads/blocks.c
# Which entry points there are is found by weak symbols, at run time.
$(W)/truth: WORKLOAD_EXTRA := -Wl,-z,dynamic-undefined-weak -Wl,-z,lazy
$(W)/truth-now: WORKLOAD_EXTRA := -Wl,-z,dynamic-undefined-weak -Wl,-z,relro,-z,now -fno-plt
$(W)/truth-nopie: WORKLOAD_EXTRA := -Wl,-z,dynamic-undefined-weak -fno-pie -no-pie
$(W)/truth-stripped: WORKLOAD_EXTRA := -Wl,-z,dynamic-undefined-weak -s
$(W)/ruled: WORKLOAD_EXTRA := -O2 -fbuiltin
$(W)/ruled-varied: WORKLOAD_EXTRA := -O2 -fbuiltin -DVARIED
$(W)/remapped: WORKLOAD_EXTRA := -fno-omit-frame-pointer
$(W)/remapped-nopie: WORKLOAD_EXTRA := -fno-omit-frame-pointer -fno-pie -no-pie
$(W)/jemalloc_api $(W)/jemalloc_locks: WORKLOAD_EXTRA := -ljemalloc
$(W)/jemalloc_stats $(W)/paused_kinds: WORKLOAD_EXTRA := -Iinclude -ljemalloc
$(W)/jemalloc_stats $(W)/paused_kinds: include/tprof.h
$(W)/dl $(W)/onnxruntime: WORKLOAD_EXTRA := -ldl
$(W)/spike $(W)/stops $(W)/ops $(W)/control $(W)/faults $(W)/pools $(W)/pauses $(W)/annotate: WORKLOAD_EXTRA := -Iinclude
$(W)/annotate-traced: WORKLOAD_EXTRA := -O0 -finstrument-functions -Iinclude
$(W)/spike $(W)/stops $(W)/ops $(W)/control $(W)/faults $(W)/pools $(W)/pauses $(W)/annotate $(W)/annotate-traced: include/tprof.h
$(W)/extremes $(W)/op_waits: WORKLOAD_EXTRA := -Iinclude -pthread
$(W)/timed_waits: WORKLOAD_EXTRA := -pthread
$(W)/extremes $(W)/op_waits: include/tprof.h
$(W)/attached $(W)/pinned $(W)/ring $(W)/ring_stacks: WORKLOAD_EXTRA := -pthread
$(W)/onednn: WORKLOAD_EXTRA := -ldnnl
$(W)/growth $(W)/leak_kinds $(W)/planted $(W)/thread_work $(W)/outliers $(W)/step_ends $(W)/paused: WORKLOAD_EXTRA := -Iinclude
$(W)/growth $(W)/leak_kinds $(W)/planted $(W)/thread_work $(W)/outliers $(W)/step_ends $(W)/paused: include/tprof.h
$(W)/uneven: WORKLOAD_EXTRA := -Iinclude
$(W)/uneven: include/tprof.h
$(W)/drawn: WORKLOAD_EXTRA := -Iinclude -lm
$(W)/drawn: include/tprof.h tests/workloads/random_numbers.h
$(W)/fourier: WORKLOAD_EXTRA := -lfftw3f -lfftw3 -lm
$(W)/xnnpack: WORKLOAD_EXTRA := -lXNNPACK
$(W)/regions: WORKLOAD_EXTRA := -fopenmp
$(W)/libtracer.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/instrumented: WORKLOAD_EXTRA := -O0 -finstrument-functions -L$(W) -ltracer -Wl,-rpath,'$$ORIGIN'
$(W)/instrumented: $(W)/libtracer.so
$(W)/libdnnl3.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/onednn3: WORKLOAD_EXTRA := -L$(W) -ldnnl3 -Wl,-rpath,'$$ORIGIN'
$(W)/onednn3: $(W)/libdnnl3.so
$(W)/libmocks.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/libraries: WORKLOAD_EXTRA := -L$(W) -lmocks -Wl,-rpath,'$$ORIGIN'
$(W)/libraries: $(W)/libmocks.so
$(W)/libmpinames.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/mpi_names: WORKLOAD_EXTRA := -L$(W) -lmpinames -Wl,-rpath,'$$ORIGIN'
$(W)/mpi_names: $(W)/libmpinames.so
$(W)/libcudamocks.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/cuda: WORKLOAD_EXTRA := -L$(W) -lcudamocks -Wl,-rpath,'$$ORIGIN'
$(W)/cuda: $(W)/libcudamocks.so
$(W)/early: WORKLOAD_EXTRA := -no-pie
# Unwinding must work at each level of optimisation.
$(W)/stack0 $(W)/exceptions0: WORKLOAD_EXTRA := -O0 -Wno-vla -lunwind
$(W)/stack2 $(W)/exceptions2: WORKLOAD_EXTRA := -O2 -Wno-vla -lunwind
$(W)/stack3 $(W)/exceptions3: WORKLOAD_EXTRA := -O3 -Wno-vla -lunwind
$(W)/liboracle.so $(W)/libfence.so $(W)/libshifted_clock.so $(W)/libslow_flock.so $(W)/libplugin_%.so $(W)/nested/libplugin_b.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/liborigin.so: WORKLOAD_EXTRA := -shared -fPIC -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/nested'
$(W)/libplugin_a.so: WORKLOAD_EXTRA += -DPLUGIN_NAME=plugin_a
$(W)/libplugin_b.so $(W)/nested/libplugin_b.so: WORKLOAD_EXTRA += -DPLUGIN_NAME=plugin_b

$(W)/libsignatures.so $(W)/libthrower.so: WORKLOAD_EXTRA := -shared -fPIC -Wno-psabi
# One binds its calls lazily, the other all at once, without a PLT and with a read-only GOT.
$(W)/op_calls: WORKLOAD_EXTRA := -L$(W) -lsignatures -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy -Wno-psabi -lm
$(W)/op_calls-now: WORKLOAD_EXTRA := -L$(W) -lsignatures -Wl,-rpath,'$$ORIGIN' -fno-plt -Wl,-z,relro,-z,now -Wno-psabi -lm
$(W)/unbound: WORKLOAD_EXTRA := -Wl,-z,lazy -Wl,-z,dynamic-undefined-weak
$(W)/op_throws $(W)/throw_tree: WORKLOAD_EXTRA := -L$(W) -lthrower -Wl,-rpath,'$$ORIGIN'
$(W)/left_scopes: WORKLOAD_EXTRA := -fopenmp -Iinclude -L$(W) -lthrower -Wl,-rpath,'$$ORIGIN'
$(W)/left_scopes-traced: WORKLOAD_EXTRA := -O0 -finstrument-functions -fopenmp -Iinclude -L$(W) -lthrower -Wl,-rpath,'$$ORIGIN'
$(W)/left_scopes $(W)/left_scopes-traced: $(W)/libthrower.so include/tprof.h
$(W)/forkers: WORKLOAD_EXTRA := -pthread
$(W)/left_threads: WORKLOAD_EXTRA := -Iinclude -pthread
$(W)/left_threads-traced: WORKLOAD_EXTRA := -O0 -finstrument-functions -Iinclude -pthread
$(W)/left_threads $(W)/left_threads-traced: include/tprof.h
# Indirect branches must land on endbr64, for processors that check it.
$(W)/op_calls-cet: WORKLOAD_EXTRA := -fcf-protection=full -L$(W) -lsignatures -Wl,-rpath,'$$ORIGIN' -Wl,-z,ibt,-z,shstk -Wno-psabi -lm
$(W)/op_calls-cet: $(W)/libsignatures.so
$(W)/libtorture.so: WORKLOAD_EXTRA := -shared -fPIC -Wno-psabi
$(W)/op_torture: WORKLOAD_EXTRA := -L$(W) -ltorture -Wl,-rpath,'$$ORIGIN' -Wno-psabi -lpthread -lm
$(W)/op_torture: $(W)/libtorture.so
$(W)/libkernels.so $(W)/libbetween.so: WORKLOAD_EXTRA := -shared -fPIC
$(W)/libkernels.so $(W)/registers: tests/workloads/registers.h
$(W)/registers: WORKLOAD_EXTRA := -rdynamic -L$(W) -lkernels -Wl,-rpath,'$$ORIGIN'
$(W)/registers: $(W)/libkernels.so
$(W)/windows: WORKLOAD_EXTRA := -Iinclude -L$(W) -lsignatures -Wl,-rpath,'$$ORIGIN' -Wno-psabi -lpthread
$(W)/windows: $(W)/libsignatures.so include/tprof.h
$(W)/op_dlsym: WORKLOAD_EXTRA := -L$(W) -lsignatures -Wl,-rpath,'$$ORIGIN'
$(W)/op_calls $(W)/op_calls-now $(W)/op_dlsym: $(W)/libsignatures.so
$(W)/op_throws $(W)/throw_tree: $(W)/libthrower.so
# Its functions call each other through the PLT.
$(W)/libtinyblas.so: WORKLOAD_EXTRA := -shared -fPIC -O2
$(W)/hot $(W)/hot_throws $(W)/ring_ops: WORKLOAD_EXTRA := -O2 -Iinclude -L$(W) -ltinyblas -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy -lpthread
$(W)/hot $(W)/hot_throws $(W)/ring_ops: $(W)/libtinyblas.so include/tprof.h
$(W)/waits: WORKLOAD_EXTRA := -lgomp
$(W)/op_jumps $(W)/op_lines $(W)/left_handlers $(W)/step_left: WORKLOAD_EXTRA := -L$(W) -ltinyblas -Wl,-rpath,'$$ORIGIN' -pthread
$(W)/op_jumps $(W)/op_lines $(W)/left_handlers $(W)/step_left: $(W)/libtinyblas.so
$(W)/attack: WORKLOAD_EXTRA := -L$(W) -ltinyblas -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy -ldl -lpthread
$(W)/attack: $(W)/libtinyblas.so
$(W)/liblazyblas.so: WORKLOAD_EXTRA := -shared -fPIC -L$(W) -ltinyblas -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy
$(W)/liblazyblas.so: $(W)/libtinyblas.so
# The counting layer comes before what it counts.
$(W)/libcountblas.so $(W)/libcountlapack.so: WORKLOAD_EXTRA := -shared -fPIC -ldl
$(W)/libcountblas.so $(W)/libcountlapack.so: tests/workloads/countblas.h
$(W)/blas_calls: WORKLOAD_EXTRA := -L$(W) -lcountblas -lopenblas -Wl,-rpath,'$$ORIGIN'
$(W)/blas_calls: $(W)/libcountblas.so
$(W)/lapack_calls: WORKLOAD_EXTRA := -L$(W) -lcountlapack -Wl,--no-as-needed -lopenblas -Wl,-rpath,'$$ORIGIN'
$(W)/lapack_calls: $(W)/libcountlapack.so

# Not position-independent, and bound at each first call or before all else; their libraries are loaded by name.
bind_libraries := $(addprefix $(W)/,libbind_one.so libbind_two.so libbind_user.so libbind_late.so)
$(bind_libraries): WORKLOAD_EXTRA := -shared -fPIC
$(W)/libbind_one.so: WORKLOAD_EXTRA += -Wl,--version-script=tests/workloads/bind_one.map,-z,noseparate-code
$(W)/libbind_one.so: tests/workloads/bind_one.map
$(W)/libbind_user.so: WORKLOAD_EXTRA += -L$(W) -lbind_two -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy,-z,notext
$(W)/libbind_user.so: $(W)/libbind_two.so
$(W)/bindings: WORKLOAD_EXTRA := -fno-pic -no-pie -L$(W) -lbind_one -Wl,-rpath,'$$ORIGIN' -Wl,-z,lazy
$(W)/bindings-now: WORKLOAD_EXTRA := -fno-pic -no-pie -L$(W) -lbind_one -Wl,-rpath,'$$ORIGIN' -Wl,-z,relro,-z,now
$(W)/counted: WORKLOAD_EXTRA := -pg -O2
$(W)/stack_needs: WORKLOAD_EXTRA := -L$(W) -lbind_one -Wl,-rpath,'$$ORIGIN' -Wl,-z,now
$(W)/stack_needs: $(W)/libbind_one.so
$(W)/bindings $(W)/bindings-now: $(bind_libraries) $(W)/libplugin_a.so

workload_headers := $(wildcard tests/workloads/*.h) scripts/workloads.mk
define workload_c
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc $(WORKLOAD_CFLAGS) $(filter %.c %.o,$^) -o $@ $(WORKLOAD_EXTRA)
endef
define workload_cxx
	@mkdir -p $(@D)
	$(call say,CXX ,$@)
	$(Q)g++ $(WORKLOAD_CXXFLAGS) $(filter %.cc %.o,$^) -o $@ $(WORKLOAD_EXTRA)
endef

$(W)/truth $(W)/truth-nopie $(W)/truth-stripped $(W)/truth-now: $(workload_headers)
	$(workload_c)
$(W)/lib%.so: tests/workloads/%.c $(workload_headers)
	$(workload_c)
$(W)/libmany.so: tests/workloads/many.S
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc -shared $< -o $@
$(W)/libplugin_a.so $(W)/libplugin_b.so $(W)/nested/libplugin_b.so: tests/workloads/plugin.c $(workload_headers)
	$(workload_c)
$(W)/libthrower.so: tests/workloads/thrower.cc $(workload_headers)
	$(workload_cxx)
# The sanitizer is in the program itself, and looks for functions before all else.
$(W)/steady-asan: tests/workloads/steady.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=address $< -o $@
$(W)/regions-clang: tests/workloads/regions.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fopenmp -Wall -Wextra $(if $(WERROR),-Werror) $< -o $@
$(W)/op_calls-now $(W)/op_calls-cet: tests/workloads/op_calls.c $(workload_headers)
	$(workload_c)
$(W)/mpi_calls-%: tests/workloads/mpi_calls.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) $< -o $@
$(W)/stragglers-%: tests/workloads/stragglers.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) -Iinclude $< -o $@
$(W)/mpi_polls-%: tests/workloads/mpi_polls.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) $< -o $@
$(W)/neighbours-%: tests/workloads/neighbours.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) -Iinclude $< -o $@
# Its three bindings are in one file: where one has a description of a function, the compiler holds another's calls against it.
$(W)/mpi_fortran-%: tests/workloads/mpi_fortran.f90 scripts/workloads.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpif90.$* -g -O1 -w $< -o $@
$(W)/mpi_ranks-%: tests/workloads/mpi_ranks.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) $< -o $@
$(W)/mpi_threads-%: tests/workloads/mpi_threads.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)mpicc.$* $(WORKLOAD_CFLAGS) -pthread $< -o $@
$(W)/mpi_ranks_fortran-%: tests/workloads/mpi_ranks_fortran.f90 scripts/workloads.mk
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	@mkdir -p $(W)/modules-$*
	$(Q)mpif90.$* -g -O1 -w -J$(W)/modules-$* $< -o $@
$(W)/annotate-traced: tests/workloads/annotate.cc $(workload_headers)
	$(workload_cxx)
$(W)/left_threads-traced: tests/workloads/left_threads.c $(workload_headers)
	$(workload_c)
$(W)/left_scopes-traced: tests/workloads/left_scopes.cc $(workload_headers)
	$(workload_cxx)
$(W)/remapped-nopie: tests/workloads/remapped.c $(workload_headers)
	$(workload_c)
$(W)/static_kernels-O% $(W)/static_graph-O% $(W)/code_cases-O%: WORKLOAD_EXTRA = -O$* -fbuiltin -pthread -lm
$(W)/static_kernels-traced $(W)/static_graph-traced: WORKLOAD_EXTRA := -O2 -fbuiltin -finstrument-functions -pthread -lm
$(W)/static_kernels-stripped: WORKLOAD_EXTRA := -O2 -fbuiltin -s -lm
$(W)/static_kernels-debug: WORKLOAD_EXTRA := -O2 -fbuiltin -lm
$(W)/static_kernels-cet: WORKLOAD_EXTRA := -O2 -fbuiltin -fcf-protection=full -lm
$(W)/static_kernels-nopie: WORKLOAD_EXTRA := -O2 -fbuiltin -fno-pie -no-pie -lm
$(W)/code_late: WORKLOAD_EXTRA := -ldl -pthread
$(W)/libcode_kernels.so: WORKLOAD_EXTRA := -shared -fPIC -O2
$(W)/static_kernels-O%: tests/workloads/static_kernels.c $(workload_headers)
	$(workload_c)
$(W)/static_kernels-traced $(W)/static_kernels-stripped $(W)/static_kernels-cet $(W)/static_kernels-nopie: tests/workloads/static_kernels.c $(workload_headers)
	$(workload_c)
# Its symbols are in a file of their own.
$(W)/static_kernels-debug: tests/workloads/static_kernels.c $(workload_headers)
	$(workload_c)
	$(Q)objcopy --only-keep-debug $@ $@.debug && objcopy --strip-all --add-gnu-debuglink=$@.debug $@
$(W)/ruled-varied: tests/workloads/ruled.c $(workload_headers)
	$(workload_c)
# Allocators in the program itself: as malloc, and as Rust's crate tikv-jemallocator links jemalloc.
$(W)/own_heap-jemalloc: WORKLOAD_EXTRA := -O2 -fbuiltin -l:libjemalloc.a -pthread -lm
$(W)/own_heap-tcmalloc: WORKLOAD_EXTRA := -O2 -fbuiltin -l:libtcmalloc_minimal.a -pthread
$(W)/own_heap-rjem: WORKLOAD_EXTRA := -O2 -fbuiltin -DRJEM -L$(W) -lrjem -pthread -lm
$(W)/attached_own: WORKLOAD_EXTRA := -O2 -fbuiltin -L$(W) -lrjem -pthread -lm
$(W)/own_heap-rjem $(W)/attached_own: $(W)/librjem.a
$(W)/own_heap-%: tests/workloads/own_heap.cc $(workload_headers)
	$(workload_cxx)
RJEM := aligned_alloc calloc dallocx free mallctl mallctlbymib mallctlnametomib malloc malloc_conf malloc_message malloc_stats_print \
	malloc_usable_size mallocx memalign nallocx posix_memalign pvalloc rallocx realloc sallocx sdallocx valloc xallocx
RJEM_GONE := $(foreach s,malloc free calloc realloc memalign valloc pvalloc posix_memalign,__libc_$s __$s_hook)
$(W)/librjem.a:
	@mkdir -p $(@D)
	$(call say,AR  ,$@)
	$(Q)objcopy $(foreach s,$(RJEM),--redefine-sym $s=_rjem_$s) $(foreach s,$(RJEM_GONE),--strip-symbol=$s) \
		--strip-symbol=_Znwm --wildcard --strip-symbol='_Zn[wa]*' --strip-symbol='_Zd[la]*' \
		"$$(gcc -print-file-name=libjemalloc_pic.a)" $@
$(W)/static_graph-O%: tests/workloads/static_graph.c $(workload_headers)
	$(workload_c)
$(W)/static_graph-traced: tests/workloads/static_graph.c $(workload_headers)
	$(workload_c)
$(W)/code_cases-O%: tests/workloads/code_cases.cc $(workload_headers)
	$(workload_cxx)
$(W)/bindings-now: tests/workloads/bindings.c $(workload_headers)
	$(workload_c)
# Only gold makes calls into other code take a segment with room for it.
$(W)/segments-%: WORKLOAD_EXTRA := -fsplit-stack -pthread
$(W)/segments-bfd $(W)/segments-gold: tests/workloads/segments.c $(workload_headers)
	$(workload_c) -fuse-ld=$(@:$(W)/segments-%=%)
$(W)/stacknote.o: tests/workloads/stacknote.c $(workload_headers)
	@mkdir -p $(@D)
	$(call say,CC  ,$@)
	$(Q)gcc $(WORKLOAD_CFLAGS) -c $< -o $@
$(W)/stack0 $(W)/stack2 $(W)/stack3: tests/workloads/stack.c $(W)/stacknote.o
	$(workload_c)
$(W)/exceptions0 $(W)/exceptions2 $(W)/exceptions3: tests/workloads/exceptions.cc $(W)/stacknote.o
	$(workload_cxx)
$(W)/%: tests/workloads/%.c $(workload_headers)
	$(workload_c)
$(W)/%: tests/workloads/%.cc $(workload_headers)
	$(workload_cxx)
