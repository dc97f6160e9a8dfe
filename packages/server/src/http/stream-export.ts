import type { KeptResult } from "../evaluation/results/evaluation-record.ts";
import type { ExportFormat } from "./export-format.ts";

/** Texts may be long, and no more than a page is held in memory. */
const resultsPerPage = 100;

/** Finds the page that follows a result, or the first. */
export type FindPage = (afterLast: KeptResult | undefined, limit: number) => Promise<KeptResult[]>;

/**
 * All results as a stream that reads on as fast as its reader does. The first page is read before this returns, so that an
 * early failure still has a status; a later one breaks the connection, and nobody takes a part for the whole.
 */
export async function streamExport(
  findPage: FindPage,
  format: ExportFormat,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let page = await findPage(undefined, resultsPerPage);
  let head = format.head;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const text = head + format.toLines(page);
          head = "";
          if (text !== "") controller.enqueue(encoder.encode(text));
          if (page.length < resultsPerPage) return controller.close();
          page = await findPage(page.at(-1), resultsPerPage);
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
