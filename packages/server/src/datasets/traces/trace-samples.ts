import type { ReadSample } from "../formats.ts";
import { readOwnLine } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { type TraceTexts, tagOf } from "./content.ts";
import { type Step, type StepOptions, stepsOf, type Trace } from "./turns.ts";

const maxSteps = 10_000;
const maxTextBytes = 4 * 1024 * 1024;
const isTooLong = (text: string) => text.length > maxTextBytes / 3 && Buffer.byteLength(text) > maxTextBytes;

/** The samples of a trajectory. `source` is its layout. */
export function* samplesOfTrace(
  trace: Trace,
  { trajectory_id, source }: { trajectory_id: string; source: string },
  options: StepOptions,
  texts: TraceTexts,
): Generator<ReadSample, void> {
  const steps = stepsOf(trace, options, texts);
  if (steps.length > maxSteps) throw new LineError(`The trajectory has more than ${maxSteps} steps`);
  const context = contextOf(trace, texts);
  if (Object.values(context ?? {}).some((text) => isTooLong(text ?? "")))
    throw new LineError(`A text of its context is longer than ${maxTextBytes} bytes`);
  const tags = texts.cleanValue({ ...trace.tags, source });
  for (const [step, made] of steps.entries()) {
    if ([made.state, made.action, made.next].some(isTooLong))
      throw new LineError(`A text of step ${step} is longer than ${maxTextBytes} bytes`);
    const sample = toSample(made, { trajectory_id, step, context, tags });
    const stated = trace.stated?.[step];
    if (stated === undefined || stated === null) yield sample;
    else yield* readOwnLine({ ...sample, ...texts.cleanValue(stated), trajectory_id });
  }
}

function contextOf(trace: Trace, texts: TraceTexts): ReadSample["context"] {
  const task = trace.task ?? firstSaid(trace, texts);
  const system = trace.turns.flatMap((turn) =>
    turn.by === "system" ? [texts.ofMany("system", turn.content)] : [],
  );
  const context = {
    task_context: task === undefined ? undefined : texts.clean(task),
    tool_schemas: toolsText(trace.tools, texts),
    domain_knowledge: system.filter((text) => text !== "").join("\n\n") || undefined,
  };
  return Object.values(context).every((text) => text === undefined) ? undefined : context;
}

function firstSaid({ turns }: Trace, texts: TraceTexts): string | undefined {
  let aside: string | undefined;
  for (const turn of turns) {
    const said = turn.by === "environment" ? texts.again(turn.content) : "";
    if (said === "") continue;
    if (turn.by === "environment" && turn.isAside !== true) return said;
    aside ??= said;
  }
  return aside;
}

function toolsText(tools: unknown, texts: TraceTexts): string | undefined {
  if (tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0)) return undefined;
  return typeof tools === "string" ? texts.clean(tools) : texts.jsonOfMany("tools", tools);
}

function toSample(
  { state, action, next, reward, done, at, usage, isError, model, thought }: Step,
  {
    tags,
    ...place
  }: Pick<ReadSample, "trajectory_id" | "step" | "context"> & {
    tags: Record<string, string | undefined>;
  },
): ReadSample {
  const all = { ...tags, model: model ?? tags.model, error: isError ? "true" : undefined, thought };
  return {
    ...place,
    interaction: { state, action },
    next_state: next,
    reward,
    done,
    at,
    usage,
    tags: Object.fromEntries(
      Object.entries(all).flatMap(([name, text]) => (text ? [[name, tagOf(text)]] : [])),
    ),
  };
}
