import { expect, test } from "bun:test";
import { readBodyWithin } from "./memory.ts";

test("a body in thousands of pieces that are there at once is read in several turns of the loop", async () => {
  const pieces = 10_000;
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new Uint8Array([32]));
        read += 1;
        if (read === pieces) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const atNextTurn = new Promise<number>((resolve) => setImmediate(() => resolve(read)));
  const bytes = await readBodyWithin(new Response(body), pieces);
  expect(bytes).toEqual(new Uint8Array(pieces).fill(32));
  expect(await atNextTurn).toBeLessThan(pieces / 10);
});
