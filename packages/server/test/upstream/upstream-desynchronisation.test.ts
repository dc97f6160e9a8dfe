import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import type { Draw } from "../../../../fuzz/generate/draw.ts";
import { createSendOnce } from "../../src/upstream/send.ts";
import { seeded } from "../support/seeded.ts";
import { type RawExchange, startRawUpstream } from "../support/upstream/raw-upstream.ts";

/** `PRESAGE_TEST_FUZZ_RESPONSES=100000 bun test FILE` for a long run. */
const usual = process.env.PRESAGE_TEST_ALL === undefined ? 1_000 : 4_000;
const responses = Number(process.env.PRESAGE_TEST_FUZZ_RESPONSES ?? usual);
const callers = 24;
const deadlineMs = 40;
/** Shorter than the time that a connection rests. */
const latestMs = 3;

const marker = (id: string) => `#${id};`;
const textOf = (id: string) => marker(id).repeat(8);
const head = (lines: string, status = "200 OK", version = "1.1") =>
  `HTTP/${version} ${status}\r\n${lines}\r\n`;
const lengthOf = (text: string, more = 0) => `content-length: ${text.length + more}\r\n`;
const good = (text: string) => head(lengthOf(text)) + text;
const frame = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunked = "transfer-encoding: chunked\r\n";
const inChunks = (text: string, trailers = "") =>
  `${head(chunked)}${frame(text.slice(0, 7))}${frame(text.slice(7))}0\r\n${trailers}\r\n`;

interface Mutated {
  raw: string;
  /** What the caller must get; if absent, an error or a part of the response is acceptable. */
  whole?: string;
  /** Written some milliseconds later, unasked. */
  late?: string;
  ending?: "end" | "reset";
}

type Mutation = (text: string, draw: Draw) => Mutated;

const whole = (raw: string, text: string, more: Partial<Mutated> = {}): Mutated => ({
  raw,
  whole: text,
  ...more,
});

/** Changes, removes or adds some bytes of the head. */
function mutateHead(raw: string, draw: Draw): string {
  const end = raw.indexOf("\r\n\r\n") + 4;
  const bytes = [...raw.slice(0, end)];
  for (let change = 0; change <= draw.below(3); change++) {
    const added = String.fromCharCode(draw.below(256));
    bytes.splice(draw.below(bytes.length), draw.below(2), ...(draw.chance(0.7) ? [added] : []));
  }
  return bytes.join("") + raw.slice(end);
}

const mutations: Mutation[] = [
  (text) => whole(good(text), text),
  (text) => whole(inChunks(text), text),
  (text) => whole(inChunks(text, "content-length: 3\r\nx-trailer: 1\r\n"), text),
  (text) => whole(head("", "100 Continue") + head("", "103 Early Hints") + good(text), text),
  (text) => whole(head(`${lengthOf(text)}connection: keep-alive\r\n`, "200 OK", "1.0") + text, text),
  (text) => whole(head(lengthOf(text), "200 OK", "1.0") + text, text, { late: good(text) }),
  (text) => whole(head("") + text, text, { ending: "end" }),
  (text) => whole(good(text), text, { ending: "end" }),
  (text) => whole(head(`${lengthOf(text)}connection: close\r\n`) + text, text, { late: good(text) }),
  // A second response: immediately, and later.
  (text) => whole(good(text).repeat(2), text),
  (text) => whole(inChunks(text).repeat(2), text),
  (text) => whole(good(text), text, { late: good(text) }),
  (text) => whole(inChunks(text), text, { late: inChunks(text) }),
  (text) => whole(good(text), text, { late: "\r\n" }),
  (text) => whole(good(text), text, { late: head("", "100 Continue") }),
  (text) => whole(good(text), text, { late: good(text), ending: "reset" }),
  (text) => ({ raw: good(text), ending: "reset" }),
  // Responses that must have no body, but have one.
  (text) => ({ raw: head(lengthOf(text), "204 No Content") + text }),
  (text) => ({ raw: head(lengthOf(text), "304 Not Modified") + text }),
  (text) => ({ raw: head(lengthOf(text), "103 Early Hints") + text, late: good(text) }),
  // Wrong lengths.
  (text, draw) => ({ raw: head(lengthOf(text, -1 - draw.below(text.length - 1))) + text }),
  (text, draw) => ({ raw: head(lengthOf(text, 1 + draw.below(200))) + text, late: good(text) }),
  (text) => ({ raw: head(lengthOf(text) + lengthOf(text, 1)) + text }),
  (text) => ({ raw: head(`${lengthOf(text)}${chunked}`) + frame(text) }),
  (text) => ({ raw: head(`${chunked}${lengthOf(text)}`) + inChunks(text).split("\r\n\r\n")[1] }),
  (text, draw) => ({ raw: inChunks(text).replace("\r\n7\r\n", `\r\n${draw.below(99)}\r\n`) }),
  (text) => ({ raw: head(lengthOf(text)) + good(text) }),
  (text) => ({ raw: head(lengthOf(text)).slice(0, -2) + good(text) }),
  // Responses that are cut off, and continue later or never.
  (text, draw) => ({ raw: good(text).slice(0, draw.below(good(text).length)), ending: "end" }),
  (text, draw) => ({ raw: inChunks(text).slice(0, draw.below(inChunks(text).length)), ending: "reset" }),
  (text, draw) => ({ raw: good(text).slice(0, draw.below(good(text).length)), late: good(text) }),
  (text, draw) => ({ raw: good(text).slice(0, draw.below(good(text).length)) }),
  (text, draw) => ({ raw: mutateHead(good(text), draw), late: good(text) }),
  (text, draw) => ({ raw: mutateHead(inChunks(text), draw), late: good(text) }),
  (text, draw) => ({ raw: mutateHead(good(text), draw) }),
];

function close(socket: Socket, ending: Mutated["ending"]): void {
  if (ending === "end") socket.end();
  else if (ending === "reset") socket.resetAndDestroy();
}

function write({ socket }: RawExchange, { raw, late, ending }: Mutated, draw: Draw): void {
  const cut = draw.chance(0.3) ? draw.below(raw.length) : raw.length;
  const finish = () => {
    socket.write(raw.slice(cut), "latin1");
    if (late === undefined) close(socket, ending);
    else {
      const send = () => {
        if (!socket.destroyed) socket.write(late, "latin1");
        close(socket, ending);
      };
      setTimeout(send, draw.below(latestMs + 1));
    }
  };
  socket.write(raw.slice(0, cut), "latin1");
  if (cut === raw.length) finish();
  else setTimeout(finish, draw.below(3));
}

test(
  `of ${responses} responses or more that are mutated, none goes to another request`,
  seeded(async (draw) => {
    const sent = new Map<string, Mutated[]>();
    const upstream = await startRawUpstream((exchange) => {
      upstream.received.length = 0;
      const mutated = draw.pick(mutations)(textOf(exchange.body), draw);
      sent.set(exchange.body, [...(sent.get(exchange.body) ?? []), mutated]);
      const isLate = draw.chance(0.2);
      if (isLate) setTimeout(() => write(exchange, mutated, draw), draw.below(5));
      else write(exchange, mutated, draw);
    });
    const send = createSendOnce({
      url: upstream.url,
      urls: [upstream.url],
      apiKey: undefined,
      client: "sockets",
    });
    let next = 0;
    let answered = 0;
    const call = async (): Promise<void> => {
      // On a busy machine fewer calls are answered before their deadline.
      while (next < responses || answered <= responses / 3) {
        const id = `${next++}`.padStart(8, "0");
        const signal = AbortSignal.timeout(deadlineMs);
        const text = await send({
          method: "POST",
          path: "/x",
          body: id,
          signal,
          read: ({ text }) => text(),
        }).then(
          (response) => response.read,
          () => undefined,
        );
        if (text !== undefined) answered += 1;
        const others = [...(text ?? "").matchAll(/#(\d{8});/g)].filter(([, found]) => found !== id);
        const [first, ...again] = sent.get(id) ?? [];
        const isWhole =
          text === undefined || first?.whole === undefined || again.length > 0 || text === first.whole;
        if (others.length > 0 || !isWhole) throw new Error(`${id} got ${text} for ${JSON.stringify(first)}`);
        sent.delete(id);
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
    await upstream.stop();
    expect(answered).toBeGreaterThan(responses / 3);
  }),
  600_000,
);
