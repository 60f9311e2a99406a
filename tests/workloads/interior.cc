// SPDX-License-Identifier: Apache-2.0
// Blocks that are only pointed into, as C++ does by rule: behind an array's cookie, at an object's second base, at the text of
// a std::string of the old ABI, behind a length. `odd` is pointed into as no rule says.
#define _GLIBCXX_USE_CXX11_ABI 0
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#define NOINLINE __attribute__((noinline))

struct item {
	int number;
	char rest[60];
	~item()
	{
		number = 0;
	}
};
struct first {
	virtual ~first() = default;
	int number;
};
struct second {
	virtual ~second() = default;
	int number;
};
struct both : first, second {
	char rest[1000];
};

static item *volatile items;
static second *volatile base;
static std::string *volatile text;
static char *volatile sized, *volatile inside;
alignas(std::string) static char place[sizeof(std::string)];

NOINLINE static void array()
{
	items = new item[100];
}

NOINLINE static void object()
{
	base = new both;
}

NOINLINE static void string()
{
	text = new (place) std::string(3000, 'x');
}

NOINLINE static void length()
{
	char *block = static_cast<char *>(std::malloc(808));
	long size = 800;

	std::memcpy(block, &size, sizeof(size));
	sized = block + 8;
}

NOINLINE static void odd()
{
	char *block = static_cast<char *>(std::malloc(900));

	std::memset(block, 3, 900);
	inside = block + 40;
}

NOINLINE static void scrub()
{
	volatile char words[16384];

	std::memset(const_cast<char *>(words), 0, sizeof(words));
}

int main()
{
	array();
	object();
	string();
	length();
	odd();
	scrub();
	std::exit(0);
}
