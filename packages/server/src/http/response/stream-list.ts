import type { Pieces } from "../../storage/read-in-pieces.ts";
import { holdStored } from "../pipeline/hold-memory.ts";
import { keepOpenForEach } from "../pipeline/keep-open.ts";
import type { Call } from "../pipeline/route.ts";
import { listTexts } from "./list-texts.ts";
import { streamTexts } from "./stream-texts.ts";

const headers = { "content-type": "application/json;charset=utf-8" };

/**
 * An answer that is a JSON list inside an object. One piece of items is answered whole; of more, one at a time is read and written,
 * as the reader takes them.
 */
export async function streamList<Item>(
  call: Call,
  name: string,
  { count, maxBytes, read }: Pieces<Item>,
  toJson: (item: Item) => string,
  onBroken: (error: unknown) => void,
): Promise<Response> {
  holdStored(call.exchange, maxBytes);
  const texts = keepOpenForEach(call, listTexts(name, read(), toJson));
  if (count <= 1) return new Response((await Array.fromAsync(texts)).join(""), { headers });
  return new Response(await streamTexts(texts, onBroken), { headers });
}
