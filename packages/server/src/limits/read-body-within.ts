type Bytes = Uint8Array<ArrayBuffer>;

/** A body up to this length is not worth reading in pieces: it comes with its headers, or soon after. */
const shortBytes = 64 * 1024;

/**
 * Reads a body whole, or answers undefined once it turns out to be longer than `maxBytes`. `onLength` hears how much of it has
 * arrived, before more is read; what it throws ends the reading. A long body that says its length is asked about at once, so that
 * one without room is refused before it is sent; but only what arrives counts, as a sender may announce anything.
 */
export async function readBodyWithin(
  message: Request | Response,
  maxBytes: number,
  onLength: (bytes: number) => void = () => {},
): Promise<Bytes | undefined> {
  const declared = message.headers.get("content-length");
  if (declared === null || message.headers.has("content-encoding"))
    return await readInPieces(message.body, maxBytes, onLength);
  const length = Number(declared);
  if (length > maxBytes) return undefined;
  if (length > shortBytes) {
    onLength(length);
    onLength(0);
    return await readInPieces(message.body, maxBytes, onLength);
  }
  const bytes = (await message.bytes()) as Bytes;
  onLength(bytes.length);
  return bytes;
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
