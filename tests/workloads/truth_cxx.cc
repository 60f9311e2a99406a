// SPDX-License-Identifier: Apache-2.0
// truth_cxx OPS SEED [OPTIONS]: every form of operator new and delete at random, in one thread, and the exact truth.
#include "truth.h"

#include <cstring>
#include <new>

namespace
{

enum { SLOTS = 300 };

struct slot {
	void *p = nullptr;
	size_t size = 0;
	std::align_val_t alignment{ 0 };
	bool array = false;
	bool aligned = false;
};

slot slots[SLOTS];
truth counts;
bool check_alignment; // mimalloc 2.0.9 fails at that

void *allocate(slot &s, uint64_t &random)
{
	bool nothrow = truth_random(&random) & 1;

	if (s.aligned && s.array)
		return nothrow ? ::operator new[](s.size, s.alignment, std::nothrow)
			       : ::operator new[](s.size, s.alignment);
	if (s.aligned)
		return nothrow ? ::operator new(s.size, s.alignment, std::nothrow)
			       : ::operator new(s.size, s.alignment);
	if (s.array)
		return nothrow ? ::operator new[](s.size, std::nothrow) : ::operator new[](s.size);
	return nothrow ? ::operator new(s.size, std::nothrow) : ::operator new(s.size);
}

void release_aligned(slot &s, size_t way)
{
	if (s.array && way == 0)
		::operator delete[](s.p, s.alignment);
	else if (s.array && way == 1)
		::operator delete[](s.p, s.size, s.alignment);
	else if (s.array)
		::operator delete[](s.p, s.alignment, std::nothrow);
	else if (way == 0)
		::operator delete(s.p, s.alignment);
	else if (way == 1)
		::operator delete(s.p, s.size, s.alignment);
	else
		::operator delete(s.p, s.alignment, std::nothrow);
}

void release(slot &s, size_t way)
{
	if (s.aligned)
		release_aligned(s, way);
	else if (s.array && way == 0)
		::operator delete[](s.p);
	else if (s.array && way == 1)
		::operator delete[](s.p, s.size);
	else if (s.array)
		::operator delete[](s.p, std::nothrow);
	else if (way == 0)
		::operator delete(s.p);
	else if (way == 1)
		::operator delete(s.p, s.size);
	else
		::operator delete(s.p, std::nothrow);
	truth_free(&counts, s.size);
	s.p = nullptr;
}

void random_op(uint64_t &random)
{
	slot &s = slots[truth_between(&random, 0, SLOTS - 1)];

	if (s.p) {
		release(s, truth_between(&random, 0, 2));
		return;
	}
	s.size = truth_between(&random, 1, 700);
	s.alignment = std::align_val_t(size_t(16) << truth_between(&random, 0, 6));
	s.array = truth_random(&random) & 1;
	s.aligned = truth_random(&random) & 1;
	s.p = allocate(s, random);
	if (!s.p ||
	    (check_alignment && s.aligned && reinterpret_cast<uintptr_t>(s.p) % static_cast<size_t>(s.alignment)))
		truth_die("operator new");
	truth_alloc(&counts, s.size);
}

// A new handler frees memory from inside operator new; the second try fails all the same, and throws. The exception is
// an allocation too, of libstdc++: as many of them are freed as made, or the report has blocks that never were.
void *reserve;

void give_up_reserve()
{
	::operator delete(reserve);
	truth_free(&counts, 1000);
	std::set_new_handler(nullptr);
}

void failing_new()
{
	size_t volatile huge = SIZE_MAX / 4;

	reserve = ::operator new(1000);
	truth_alloc(&counts, 1000);
	std::set_new_handler(give_up_reserve);
	try {
		reserve = ::operator new(huge);
		truth_die("a huge operator new");
	} catch (const std::bad_alloc &) {
	}
	if (::operator new(huge, std::nothrow) || ::operator new[](huge, std::align_val_t(64), std::nothrow))
		truth_die("a huge operator new");
}

} // namespace

int main(int argc, char **argv)
{
	uint64_t random;

	if (argc < 3)
		truth_die("usage: truth_cxx OPS SEED [OPTIONS]");
	random = static_cast<uint64_t>(atol(argv[2]));
	check_alignment = argc > 3 && strstr(argv[3], "alignment");
	for (long i = atol(argv[1]); i > 0; i--)
		random_op(random);
	for (int i = 0; argc > 3 && strstr(argv[3], "failures") && i < 10; i++)
		failing_new();
	for (int i = 5; i < SLOTS; i++)
		if (slots[i].p)
			release(slots[i], 0);
	truth_write(&counts);
	TRUTH_SAY("truth_cxx: done\n");
	return 0;
}
