/** Called before and after waiting for each part of a body. */
export interface Watch {
  beforePart(): void;
  afterPart(): void;
}

/** A body line by line, without the line feeds. Throws if the body does not end with one, because it is incomplete. */
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
    if (rest !== "") throw new TypeError("The last line is incomplete.");
  } finally {
    // The reader may stop early; after an error there is nothing left to cancel.
    await reader.cancel().catch(() => {});
  }
}
