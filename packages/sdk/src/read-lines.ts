/** Told before and after each part of a body is waited for. */
export interface Watch {
  beforePart(): void;
  afterPart(): void;
}

/** A body line by line, without the line feeds. A body that does not end with one was cut short, and throws. */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  { beforePart, afterPart }: Watch,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      beforePart();
      const { done, value } = await reader.read();
      afterPart();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") throw new TypeError("The last line has no end.");
  } finally {
    // Whoever stops reading needs no more of it; after a failure there is nothing left to cancel.
    await reader.cancel().catch(() => {});
  }
}
