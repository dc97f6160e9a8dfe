type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads a body whole, or answers undefined once it turns out to be longer than `maxBytes`. `onLength` hears how long it is, or
 * is by now, before so much is read; what it throws ends the reading.
 */
export function readBodyWithin(
  message: Request | Response,
  maxBytes: number,
  onLength: (bytes: number) => void = () => {},
): Promise<Bytes | undefined> {
  const declared = message.headers.get("content-length");
  if (declared === null || message.headers.has("content-encoding"))
    return readInPieces(message.body, maxBytes, onLength);
  if (Number(declared) > maxBytes) return Promise.resolve(undefined);
  onLength(Number(declared));
  return message.bytes() as Promise<Bytes>;
}

async function readInPieces(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  onLength: (bytes: number) => void,
): Promise<Bytes | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Bytes[] = [];
  let length = 0;
  for await (const chunk of body as ReadableStream<Bytes>) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // Leaving the loop cancels the stream.
    onLength(length);
    chunks.push(chunk);
  }
  return Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true) as Bytes;
}
