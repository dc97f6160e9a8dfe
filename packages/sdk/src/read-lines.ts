/** Called before and after each wait for a chunk. */
export interface ChunkWatch {
  beforeChunk(): void;
  afterChunk(): void;
}

/** Yields the lines of a body without their line feeds. Throws if the body does not end with one: it was cut off. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  { beforeChunk, afterChunk }: ChunkWatch,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      beforeChunk();
      const { done, value } = await reader.read();
      afterChunk();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") throw new TypeError("The last line is incomplete.");
  } finally {
    // The reader may stop early; after a failure there is nothing left to cancel.
    await reader.cancel().catch(() => {});
  }
}
