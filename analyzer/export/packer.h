/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serializes protobuf messages, one at a time. A file whose outermost message has repeated fields can be written in parts: messages of
 * that type, each with one element, in a row are read as one message with all elements.
 */
#ifndef TPROF_EXPORT_PACKER_H
#define TPROF_EXPORT_PACKER_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_packer {	/* all zero at first */
	uint8_t *bytes; /* the message packed last; the caller frees it at the end */
	size_t room;
};

/* Packs a message into packer->bytes. Returns its size in bytes. */
size_t tpa_pack(struct tpa_packer *packer, const ProtobufCMessage *message);

#endif
