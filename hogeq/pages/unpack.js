// Numbers and texts out of the page, as pack.py put them in.

async function inflate(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function unpackText(text) {
  return new TextDecoder().decode(await inflate(text));
}

async function unpackFloats(packed) {
  const view = new DataView(await inflate(packed.data));
  return Float64Array.from({ length: view.byteLength / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

async function unpackFractions(packed) {
  const bytes = new Uint8Array(await inflate(packed.data));
  const length = bytes.length / packed.planes;
  const missing = 256 ** packed.planes - 1;
  const found = new Float64Array(length);
  for (let plane = packed.planes - 1; plane >= 0; plane--) {
    const start = plane * length;
    for (let i = 0; i < length; i++) found[i] = 256 * found[i] + bytes[start + i];
  }
  for (let i = 0; i < length; i++) found[i] = found[i] === missing ? NaN : found[i] / packed.per;
  return found;
}
