// SPDX-License-Identifier: Apache-2.0
// node onnxruntime.js PACKAGE MODEL N: a session of a real ONNX Runtime, run N times.
const runtime = require(process.argv[2]);

async function main(model, times) {
  const session = await runtime.InferenceSession.create(model, { intraOpNumThreads: 1 });
  const x = new runtime.Tensor('float32', new Float32Array(256 * 256).fill(1), [256, 256]);

  for (let i = 0; i < times; i++)
    console.log((await session.run({ x })).y.data[0].toFixed(2));
}

main(process.argv[3], Number(process.argv[4]));
