/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/schemas.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "symbols/image.h"

#define SPACE "aten::"

/* A name before a "(": if the rest is a schema, the schema's name is a suffix of it. */
struct token {
	const char *start;
	size_t length;
	bool whole; /* only the name space precedes it, or nothing */
};

bool tpa_schemas_in(const struct tpa_module *module)
{
	const char *name = strrchr(module->path, '/');

	name = name ? name + 1 : module->path;
	return strncmp(name, "libtorch_cpu", 12) == 0 || strncmp(name, "libtorch.so", 11) == 0;
}

static bool fits(const char *name, const char *function, size_t length)
{
	for (size_t i = length; i-- > 0;)
		if ((name[i] == '.' ? '_' : name[i]) != function[i])
			return false;
	return true;
}

/*
 * A linker merges a text that is another's suffix into it: transpose_(... may exist only as the end of
 * _mkldnn_transpose_(... Ignore suffixes if there is a full text.
 */
static void offer(struct tpa_schema *schema, const struct token *token)
{
	size_t length = strlen(schema->function);
	const char *name = token->start + token->length - length;
	bool whole = token->whole && length == token->length;

	if (!length || length > token->length || !fits(name, schema->function, length) || (schema->whole && !whole))
		return;
	if (!schema->name[0] || whole != schema->whole) {
		memcpy(schema->name, name, length);
		schema->name[length] = 0;
		schema->whole = whole;
		schema->doubt = false;
	} else if (memcmp(schema->name, name, length) != 0) {
		schema->doubt = true;
	}
}

/* name(arguments) -> results */
static bool is_schema(const char *parenthesis, const char *end)
{
	size_t length = strnlen(parenthesis, (size_t)(end - parenthesis));

	return memmem(parenthesis, length, ") -> ", 5) != NULL;
}

static struct token token_before(const char *begin, const char *parenthesis)
{
	struct token token = { .start = parenthesis };
	size_t space = strlen(SPACE);

	while (token.start > begin &&
	       (isalnum((unsigned char)token.start[-1]) || token.start[-1] == '_' || token.start[-1] == '.'))
		token.start--;
	token.length = (size_t)(parenthesis - token.start);
	token.whole = token.start == begin || !token.start[-1] ||
		      ((size_t)(token.start - begin) >= space && memcmp(token.start - space, SPACE, space) == 0);
	return token;
}

static void search(const char *begin, size_t size, struct tpa_schema *schemas, size_t count)
{
	const char *end = begin + size, *at = begin;

	while ((at = memchr(at, '(', (size_t)(end - at))) != NULL) {
		struct token token = token_before(begin, at);

		if (token.length && is_schema(at, end))
			for (size_t i = 0; i < count; i++)
				offer(&schemas[i], &token);
		at++;
	}
}

static void search_file(Elf *elf, struct tpa_schema *schemas, size_t count)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		data = name && strncmp(name, ".rodata", 7) == 0 ? elf_rawdata(section, NULL) : NULL;
		if (data && data->d_buf)
			search(data->d_buf, data->d_size, schemas, count);
	}
}

void tpa_schemas_find(const struct tpa_module *module, const char *debug_dir, struct tpa_schema *schemas, size_t count)
{
	enum tpa_module_state state;
	int fd;
	Elf *elf;

	elf_version(EV_CURRENT);
	fd = tpa_image_find(module, debug_dir, &state);
	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	search_file(elf, schemas, count);
	elf_end(elf);
	close(fd);
	for (size_t i = 0; i < count; i++)
		if (schemas[i].doubt)
			schemas[i].name[0] = 0;
}
