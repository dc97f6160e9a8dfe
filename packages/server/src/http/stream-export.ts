import type { KeptResult } from "../evaluation/results/evaluation-record.ts";
import type { ExportFormat } from "./export-format.ts";

/**
 * All results as a stream that reads on as fast as its reader does. The first piece is read before this returns, so that an
 * early failure still has a status; a later one breaks the connection, and nobody takes a part for the whole.
 */
export async function streamExport(
  pieces: AsyncIterator<readonly KeptResult[], void>,
  format: ExportFormat,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let piece = await pieces.next();
  let head = format.head;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const text = head + (piece.done ? "" : format.toLines(piece.value));
          head = "";
          if (text !== "") controller.enqueue(encoder.encode(text));
          if (piece.done) return controller.close();
          piece = await pieces.next();
        } catch (error) {
          onBroken(error);
          // Breaks the connection. An error given here would be printed by Bun, with its source.
          controller.error();
        }
      },
    },
    { highWaterMark: 0 },
  );
}
