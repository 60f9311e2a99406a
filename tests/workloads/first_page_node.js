// SPDX-License-Identifier: Apache-2.0
// Keeps 200 buffers of 100,000 bytes.
const kept = [];

for (let i = 0; i < 200; i++)
	kept.push(Buffer.alloc(100000, i));
console.log(Buffer.concat(kept).length);
