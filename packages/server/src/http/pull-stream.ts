/**
 * A stream that calls `read` whenever its reader is ready for more, until that returns undefined. An error breaks the connection,
 * so that a partial response is not mistaken for a complete one, and is given to `onBroken`.
 */
export function pullStream(
  read: () => Promise<Uint8Array | undefined>,
  onBroken: (error: unknown) => void,
  cancel: () => unknown,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const bytes = await read();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (error) {
          onBroken(error);
          // Bun would print an error given here, with its source code.
          controller.error();
        }
      },
      async cancel() {
        await cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
