import WebSocket from "ws-of-npm";
import { z } from "zod";
import { canonicalJson } from "../../datasets/traces/content.ts";
import { orAborted } from "../../platform/limits/deadline.ts";
import { readBodyWithin } from "../../platform/limits/memory.ts";
import {
  atPath,
  fill,
  type OpenExchange,
  RealEnvironmentError,
  type RealEnvironmentSettings,
  tooLarge,
  unlikeProtocol,
  unreachable,
} from "./real-environment.ts";

/** The most bytes in one message of a real environment. */
const maxMessageBytes = 1024 * 1024;

interface HttpCall {
  method: "GET" | "POST" | "DELETE";
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

/** Asks a real environment over HTTP and reads at most `maxMessageBytes` of text, without redirects or decompression. */
async function ask(
  { url }: Pick<RealEnvironmentSettings, "url">,
  { method, path, headers, body }: HttpCall,
  signal: AbortSignal,
): Promise<string> {
  const stop = new AbortController();
  try {
    const response = await fetch(url + path, {
      method,
      headers: { "accept-encoding": "identity", "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "manual",
      decompress: false,
      timeout: false,
      signal: AbortSignal.any([signal, stop.signal]),
    });
    const fault = faultOfStatus(response.status);
    if (fault !== undefined) throw fault;
    const bytes = await readBodyWithin(response, maxMessageBytes);
    if (bytes === undefined) throw tooLarge();
    return toText(bytes);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof RealEnvironmentError ? error : unreachable();
  } finally {
    // Whatever is left of the answer is not read.
    stop.abort();
  }
}

/** The error for the status of an answer; undefined for a success. */
function faultOfStatus(status: number): RealEnvironmentError | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return new RealEnvironmentError("invalid", "The real environment redirects, which is not followed.");
  const category = status >= 500 || status === 429 ? "unavailable" : "refused";
  const about = status === 401 || status === 403 ? "refuses the API key: it " : "";
  return new RealEnvironmentError(category, `The real environment ${about}answered with status ${status}.`);
}

function toText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unlikeProtocol();
  }
}

/** Parses JSON of this shape. */
function readAnswer<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw unlikeProtocol();
  }
}

/** The text of an observation: at the path that the operator named, or all of it. Anything but text becomes JSON with sorted keys. */
function observationOf(
  observed: unknown,
  { observation: path }: Pick<RealEnvironmentSettings, "observation">,
): string {
  const found = path === undefined ? observed : atPath(observed, path);
  if (typeof found === "string") return found;
  if (found === undefined)
    throw new RealEnvironmentError(
      "invalid",
      "The real environment's observation lacks the configured path.",
    );
  try {
    return canonicalJson(found);
  } catch {
    // The observation is nested too deeply.
    throw unlikeProtocol();
  }
}

const Started = z.object({ episode_id: z.string().regex(/^[\w-]{1,200}$/), observation: z.unknown() });
const Stepped = z.object({
  observation: z.unknown(),
  reward: z.number().nullish(),
  terminated: z.boolean(),
  truncated: z.boolean(),
});

/** Presage's own episodes, on another server. */
export const openHttp: OpenExchange = async (settings, task, signal) => {
  const headers: Record<string, string> =
    settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
  const path = "/v1/episodes";
  const body = { environment: settings.environment, ...(fill(settings.reset, task) as object) };
  const started = readAnswer(await ask(settings, { method: "POST", path, headers, body }, signal), Started);
  const ofEpisode = `${path}/${started.episode_id}`;
  const close = async (signal: AbortSignal): Promise<void> => {
    await ask(settings, { method: "DELETE", path: ofEpisode, headers }, signal);
  };
  const first = await orClosed(() => observationOf(started.observation, settings), close);
  return {
    first,
    async step(action, signal) {
      const body = fill(settings.action, task, action);
      const answer = await ask(
        settings,
        { method: "POST", path: `${ofEpisode}/step`, headers, body },
        signal,
      );
      const { observation, reward = null, terminated, truncated } = readAnswer(answer, Stepped);
      return { observation: observationOf(observation, settings), reward, done: terminated || truncated };
    },
    close,
  };
};

/** The time for closing an episode that failed to start. */
const cleanUpMs = 5_000;

/** Begins an episode. If that fails, closes it, so that it takes no place on the server. */
async function orClosed<First>(
  begin: () => First | Promise<First>,
  close: (signal: AbortSignal) => Promise<void>,
): Promise<First> {
  try {
    return await begin();
  } catch (error) {
    await close(AbortSignal.timeout(cleanUpMs)).catch(() => {});
    throw error;
  }
}

const Block = z.object({ type: z.string(), text: z.string().optional() });
const Prompt = z.array(Block);
const Called = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    output: z.looseObject({
      blocks: z.array(Block),
      reward: z.number().nullish(),
      finished: z.boolean().default(false),
    }),
  }),
  z.object({ ok: z.literal(false) }),
]);
/** One of the server's own tasks, named by its place in a split. */
const Place = z.strictObject({ split: z.string(), index: z.int() });

/** The Open Reward Standard. */
export const openOrs: OpenExchange = async (settings, task, signal) => {
  const { apiKey, environment = "", observation: path } = settings;
  const spec = fill(settings.reset, task);
  const headers: Record<string, string> = apiKey === undefined ? {} : { "x-api-key": apiKey };
  const post = (path: string, signal: AbortSignal, body?: unknown) =>
    ask(settings, { method: "POST", path, headers, body }, signal);
  const sid = readEvents(await post("/create_session", signal, {})).id;
  if (!/^[!-~]{1,1000}$/.test(sid)) throw unlikeProtocol();
  headers["x-session-id"] = sid;
  const at = `/${encodeURIComponent(environment)}`;

  async function start(): Promise<string> {
    const chosen = Place.safeParse(spec).success ? (spec as object) : { task_spec: spec };
    await post("/create", signal, { env_name: environment, ...chosen });
    const prompt = await ask(settings, { method: "GET", path: `${at}/prompt`, headers }, signal);
    return textOf(readAnswer(prompt, Prompt));
  }

  async function close(signal: AbortSignal): Promise<void> {
    await post("/delete", signal);
    await post("/delete_session", signal);
  }

  return {
    first: await orClosed(start, close),
    async step(action, signal) {
      const { tool: name, input } = fill(settings.action, task, action) as Record<string, unknown>;
      const { data } = readEvents(await post(`${at}/call`, signal, { name, input }));
      const called = readAnswer(data, Called);
      if (!called.ok)
        throw new RealEnvironmentError("refused", "The real environment's tool refused the action.");
      const { output } = called;
      const observation = path === undefined ? textOf(output.blocks) : observationOf(output, settings);
      return { observation, reward: output.reward ?? null, done: output.finished };
    },
    close,
  };
};

function textOf(blocks: z.output<typeof Prompt>): string {
  return blocks.flatMap(({ text }) => text ?? []).join("\n");
}

/** Reads a stream of server-sent events: the id of its task, and the parts of its result joined. */
function readEvents(stream: string): { id: string; data: string } {
  const events = [...stream.matchAll(/^event: ?(\w+)\r?\ndata: ?([^\r\n]*)/gm)];
  const of = (...kinds: string[]) =>
    events.flatMap(([, kind = "", data = ""]) => (kinds.includes(kind) ? data : []));
  if (of("error").length > 0)
    throw new RealEnvironmentError("refused", "The real environment failed at the action.");
  if (of("end").length !== 1) throw unlikeProtocol();
  return { id: of("task_id").join(""), data: of("chunk", "end").join("") };
}

const Reply = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("observation"),
    data: z.object({
      observation: z.unknown(),
      reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
      done: z.boolean().default(false),
    }),
  }),
  z.object({ type: z.literal("error"), data: z.object({ code: z.string().optional().catch(undefined) }) }),
]);

/** The protocol's codes of a server that has no episode to give, now or ever. */
const closed = ["CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR"];

/** OpenEnv: one WebSocket is one episode. */
export const openOpenEnv: OpenExchange = async (settings, task, signal) => {
  const { apiKey } = settings;
  const reset = fill(settings.reset, task);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const socket = await openWebSocket(`${settings.url}/ws`, headers, signal);

  async function say(type: "reset" | "step", data: unknown, signal: AbortSignal) {
    const reply = readAnswer(await socket.ask(JSON.stringify({ type, data }), signal), Reply);
    if (reply.type === "error") throw refusal(reply.data.code);
    const { observation, reward, done } = reply.data;
    return { observation: observationOf(observation, settings), reward: reward ?? null, done };
  }

  const { observation: first } = await say("reset", reset, signal).catch((error: unknown) => {
    socket.abort();
    throw error;
  });
  return {
    first,
    step: (action, signal) => say("step", fill(settings.action, task, action), signal),
    close: (signal) => socket.close(JSON.stringify({ type: "close" }), signal),
  };
};

function refusal(code: string | undefined): RealEnvironmentError {
  if (code !== undefined && closed.includes(code))
    return new RealEnvironmentError("unavailable", `The real environment has no episode to give (${code}).`);
  return new RealEnvironmentError("refused", "The real environment refused the message.");
}

/** The most fragments of one message; servers send few. */
const maxFragments = 4_096;

/** A WebSocket on which each message has one answer. */
interface AskingSocket {
  ask(message: string, signal: AbortSignal): Promise<string>;
  /** Sends a last message, and waits for the other side to close the socket. */
  close(message: string, signal: AbortSignal): Promise<void>;
  abort(): void;
}

async function openWebSocket(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<AskingSocket> {
  const limits = { maxPayload: maxMessageBytes, maxFragments };
  const socket = new WebSocket(url, { headers, ...limits, perMessageDeflate: false });
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let answer = Promise.withResolvers<string>();
  let isAwaited = true;
  let hasAsked = false;
  let failure: RealEnvironmentError | undefined;

  function fail(reason: RealEnvironmentError): void {
    failure ??= reason;
    socket.terminate();
    for (const { promise, reject } of [opened, answer]) {
      promise.catch(() => {});
      reject(failure);
    }
  }

  async function orFail<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    try {
      return await orAborted(work, signal);
    } catch (error) {
      fail(unreachable());
      throw signal.aborted ? error : failure;
    }
  }

  socket.on("open", opened.resolve);
  socket.on("unexpected-response", (_, { statusCode = 0 }) =>
    fail(faultOfStatus(statusCode) ?? unlikeProtocol()),
  );
  socket.on("message", (bytes, isBinary) => {
    // An unexpected message would be taken for the answer to the next request.
    if (isBinary || !isAwaited) return fail(unlikeProtocol());
    isAwaited = false;
    answer.resolve(String(bytes));
  });
  socket.on("error", (error) => fail(toFailure(error)));
  socket.on("close", () => {
    fail(unreachable());
    closed.resolve();
  });
  await orFail(opened.promise, signal);
  return {
    async ask(message, signal) {
      // A server without room says so before it is asked anything.
      if (hasAsked) {
        if (failure !== undefined) throw failure;
        answer = Promise.withResolvers();
        isAwaited = true;
      }
      hasAsked = true;
      socket.send(message);
      return await orFail(answer.promise, signal);
    },
    async close(message, signal) {
      socket.send(message);
      await orFail(closed.promise, signal);
    },
    abort: () => fail(unreachable()),
  };
}

function toFailure({ code = "", message }: NodeJS.ErrnoException): RealEnvironmentError {
  if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || code === "WS_ERR_TOO_MANY_BUFFERED_PARTS")
    return tooLarge();
  // Errors in the answer to the handshake have no code.
  return /^WS_ERR_/.test(code) || /^(Invalid|Server sent) /.test(message) ? unlikeProtocol() : unreachable();
}
