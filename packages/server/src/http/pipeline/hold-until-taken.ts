import { reserveBytesAnyway } from "../../limits/byte-budget.ts";
import type { Exchange } from "./exchange.ts";

/** What less than this is counted for is let go of with the answer: the system's own buffers take it. */
const worthHoldingBytes = 1_000_000;
/** So much of an answer is handed to the connection at once. */
const sliceBytes = 256 * 1024;

/**
 * Lets go of what a request holds of the memory budget: at once where that is little, else when its reader has taken all of
 * the answer or is gone. Bun tells both of a stream, and neither of an answer that it is given as a whole.
 */
export function holdUntilTaken(response: Response, exchange: Exchange): Response {
  if (exchange.heldBytes < worthHoldingBytes || response.body === null) {
    reserveBytesAnyway(exchange, 0);
    return response;
  }
  const { status, headers } = response;
  const stream = inSlices(response.body, () => reserveBytesAnyway(exchange, 0));
  return new Response(stream, { status, headers });
}

/** The same bytes, a slice at a time and only as they are asked for. */
function inSlices(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          if (rest.length === 0) {
            const next = await reader.read();
            if (next.done) {
              onEnd();
              return controller.close();
            }
            rest = next.value;
          }
          controller.enqueue(rest.subarray(0, sliceBytes));
          rest = rest.subarray(sliceBytes);
        } catch {
          onEnd();
          // Breaks the connection. An error given here would be printed by Bun, with its source.
          controller.error();
        }
      },
      async cancel() {
        onEnd();
        rest = new Uint8Array();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
