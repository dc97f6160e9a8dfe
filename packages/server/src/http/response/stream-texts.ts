/**
 * An answer made of texts as a stream that reads on as fast as its reader does. The first text is read before this returns, so
 * that an early failure still has a status; a later one breaks the connection, and nobody takes a part for the whole.
 */
export async function streamTexts(
  texts: AsyncIterator<string, void>,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string, void> | undefined = await texts.next();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const next = first ?? (await texts.next());
          first = undefined;
          if (next.done) return controller.close();
          controller.enqueue(encoder.encode(next.value));
        } catch (error) {
          onBroken(error);
          // Breaks the connection. An error given here would be printed by Bun, with its source.
          controller.error();
        }
      },
      async cancel() {
        await texts.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
