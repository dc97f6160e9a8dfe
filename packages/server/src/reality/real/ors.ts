import { z } from "zod";
import { ask, observationOf, readAnswer } from "./http.ts";
import { type OpenExchange, RealEnvironmentError, unlikeProtocol } from "./real-environment.ts";
import { fill } from "./template.ts";

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
/** A task of the server's own, which is named by its place in a split. */
const Place = z.strictObject({ split: z.string(), index: z.int() });
/** For a session whose episode did not begin. */
const cleanUpMs = 5_000;

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

  const first = await start().catch(async (error: unknown) => {
    await close(AbortSignal.timeout(cleanUpMs)).catch(() => {});
    throw error;
  });

  return {
    first,
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

/** What a stream of server-sent events says: the id of its work, and the parts of its result put together. */
function readEvents(stream: string): { id: string; data: string } {
  const events = [...stream.matchAll(/^event: ?(\w+)\r?\ndata: ?([^\r\n]*)/gm)];
  const of = (...kinds: string[]) =>
    events.flatMap(([, kind = "", data = ""]) => (kinds.includes(kind) ? data : []));
  if (of("error").length > 0)
    throw new RealEnvironmentError("refused", "The real environment failed at the action.");
  if (of("end").length !== 1) throw unlikeProtocol();
  return { id: of("task_id").join(""), data: of("chunk", "end").join("") };
}
