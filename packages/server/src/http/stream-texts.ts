import { pullStream } from "./pull-stream.ts";

/**
 * A response body of texts, each made when the reader is ready for it. The first one is made before this returns, so that an
 * early failure still has a status; a later one breaks the connection.
 */
export async function streamTexts(
  texts: AsyncIterator<string, void>,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string, void> | undefined = await texts.next();
  const read = async () => {
    const next = first ?? (await texts.next());
    first = undefined;
    return next.done ? undefined : encoder.encode(next.value);
  };
  return pullStream(read, onBroken, () => texts.return?.());
}
