import { z } from "zod";
import { canonicalJson } from "../../datasets/traces/content.ts";
import { readBodyWithin } from "../../platform/limits/memory.ts";
import {
  type OpenExchange,
  RealEnvironmentError,
  type RealEnvironmentSettings,
  tooLarge,
  unlikeProtocol,
  unreachable,
} from "./real-environment.ts";
import { atPath, fill } from "./template.ts";

/** What one message of a real environment may have. */
export const maxMessageBytes = 1024 * 1024;

export interface HttpCall {
  method: "GET" | "POST" | "DELETE";
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

/** Asks a real environment over HTTP and reads the answer as text. Nothing is followed or decompressed, and no more is read than a message may have. */
export async function ask(
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

/** What the status of an answer says, if it is not a success. */
export function faultOfStatus(status: number): RealEnvironmentError | undefined {
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

/** JSON of this shape. */
export function readAnswer<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw unlikeProtocol();
  }
}

/** The text of what is observed: at the path that the operator named, else all of it. What is no text becomes JSON with sorted keys. */
export function observationOf(
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
    // It is nested too deeply.
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
  return {
    first: observationOf(started.observation, settings),
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
    async close(signal) {
      await ask(settings, { method: "DELETE", path: ofEpisode, headers }, signal);
    },
  };
};
