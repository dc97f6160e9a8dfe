import type { Services } from "../app/services.ts";
import type { Pieces } from "../platform/storage/lists.ts";
import { keepOpenForEach } from "./keep-open.ts";
import { logBrokenResponse } from "./log-broken-response.ts";
import { reserveStored } from "./reserve-memory.ts";
import type { Call } from "./route.ts";
import { streamTexts } from "./stream-texts.ts";

const headers = { "content-type": "application/json;charset=utf-8" };

/**
 * A response that is a JSON list in an object, with the fields of `rest` after it. One piece of items is sent whole; several are read and written one at a time, as
 * the client reads them.
 */
export async function streamList<Item>(
  services: Pick<Services, "log">,
  call: Call,
  name: string,
  { count, maxBytes, read }: Pieces<Item>,
  toJson: (item: Item) => string,
  rest: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  reserveStored(call.exchange, maxBytes);
  const texts = keepOpenForEach(call, listTexts(name, read(), toJson, rest));
  if (count <= 1) return new Response((await Array.fromAsync(texts)).join(""), { headers });
  return new Response(await streamTexts(texts, logBrokenResponse(services, call)), { headers });
}

/** A JSON list in an object, as one text for each piece of items. */
async function* listTexts<Item>(
  name: string,
  pieces: AsyncIterable<readonly Item[]>,
  toJson: (item: Item) => string,
  rest: Readonly<Record<string, unknown>>,
): AsyncGenerator<string, void> {
  let before = `{${JSON.stringify(name)}:[`;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    yield before + piece.map(toJson).join(",");
    before = ",";
  }
  const fields = JSON.stringify(rest).slice(1);
  yield `${before === "," ? "" : before}]${fields === "}" ? "" : ","}${fields}`;
}
