/* SPDX-License-Identifier: Apache-2.0 */
#include "export/packer.h"

#include "base/memory.h"

size_t tpa_pack(struct tpa_packer *packer, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	tpa_grow(&packer->bytes, &packer->room, size + 1, 1);
	return protobuf_c_message_pack(message, packer->bytes);
}
