/** Reads a body whole, or answers undefined once it turns out to be longer than `maxBytes`. */
export async function readBodyWithin(
  message: Request | Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const declared = message.headers.get("content-length");
  if (declared !== null && !message.headers.has("content-encoding")) {
    return Number(declared) > maxBytes ? undefined : ((await message.bytes()) as Uint8Array<ArrayBuffer>);
  }
  if (message.body === null) return new Uint8Array();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of message.body as ReadableStream<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // Leaving the loop cancels the stream.
    chunks.push(chunk);
  }
  return Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true) as Uint8Array<ArrayBuffer>;
}
