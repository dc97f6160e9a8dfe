import {
  type ConfidenceMethod,
  maxRepeats,
  type PromptMessage,
  type WorldCalibration,
  type WorldScores,
} from "@presage/contract";
import { UpstreamError } from "../platform/errors.ts";
import { rawJson } from "../platform/json.ts";
import { type Calibration, calibrate } from "../platform/statistics/calibration.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isObject } from "../platform/words.ts";
import { readTokenCounts, readWithoutThoughts } from "../upstream/completion.ts";
import type { CompletionBody, CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";
import { answerFrom, type ExampleServices, findWanted } from "./choose-examples.ts";
import type { Asked, ReadyWorld } from "./world.ts";

/** An answer, with the score by each method that has one, from 0 to 1. */
export interface ScoredCompletion {
  completion: UpstreamCompletion;
  scores: WorldScores;
  /** How many completions the answer took. */
  predictions: number;
}

/** Sends the prediction's request to the deployment, with these fields replaced. */
export type AskAgain = (
  fields: Partial<CompletionRequest>,
  signal: AbortSignal,
) => Promise<UpstreamCompletion>;

interface Scoring {
  methods: readonly ConfidenceMethod[];
  samples?: number | null | undefined;
  signal: AbortSignal;
}

export const defaultSamples = 5;
/** The lowest temperature for several answers, because equal answers at temperature 0 say nothing. */
const leastTemperature = 0.7;

/** Asks for an answer, as often as the methods need. */
export async function completeScored(
  ask: AskAgain,
  request: CompletionRequest,
  { methods, samples, signal }: Scoring,
): Promise<ScoredCompletion> {
  const fields = methods.includes("logprob") ? { logprobs: true } : {};
  const isSampled = methods.includes("agreement");
  const temperature = Math.max(leastTemperature, Number(request.temperature ?? 0));
  const answers = isSampled
    ? await untilOneFails(signal, (within) =>
        Array.from({ length: samples ?? defaultSamples }, (_, index) =>
          ask({ ...fields, temperature, ...seedOf(request, index * maxRepeats) }, within),
        ),
      )
    : [await ask(fields, signal)];
  const { completion, share } = mostCommon(answers);
  const scores: WorldScores = isSampled ? { agreement: share } : {};
  const logprob = methods.includes("logprob") ? meanProbability(completion) : undefined;
  if (logprob !== undefined) scores.logprob = logprob;
  const spent = [...answers];
  if (methods.includes("stated")) {
    const asking = ask(askToState(request.messages as PromptMessage[], textOf(completion)), signal);
    // The answer has arrived, and is good without this score.
    const stated = await asking.catch((error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error;
    });
    const number = stated && readStated(textOf(stated));
    if (stated !== undefined) spent.push(stated);
    if (number !== undefined) scores.stated = number;
  }
  const predictions = spent.length;
  return { scores, predictions, completion: predictions === 1 ? completion : withUsageOf(completion, spent) };
}

/** All results, or the first failure, which aborts the rest. */
async function untilOneFails<Value>(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<Value>[],
): Promise<Value[]> {
  const group = new AbortController();
  try {
    return await Promise.all(begin(AbortSignal.any([signal, group.signal])));
  } catch (error) {
    group.abort();
    throw error;
  }
}

/** The same seed would give the same answer again. Repeats of a run count their seeds up from the run's. */
function seedOf({ seed }: CompletionRequest, by: number): { seed?: unknown } {
  if (Number.isSafeInteger(seed) && Number.isSafeInteger(Number(seed) + by))
    return { seed: Number(seed) + by };
  // A seed beyond a double's exact range was read as its digits.
  const digits = JSON.stringify(seed ?? null);
  return /^-?\d+$/.test(digits) ? { seed: rawJson(String(BigInt(digits) + BigInt(by))) } : {};
}

/** The first answer of the largest group of equal ones, and that group's share. */
function mostCommon(answers: readonly UpstreamCompletion[]) {
  const groups = [...Map.groupBy(answers, textOf).values()];
  const largest = groups.reduce((best, group) => (group.length > best.length ? group : best));
  return { completion: largest[0] as UpstreamCompletion, share: largest.length / answers.length };
}

/** The answer's text without its thoughts, which differ each time and contain other numbers. */
function textOf({ body }: UpstreamCompletion): string {
  return readWithoutThoughts(body.choices[0]).content;
}

/** The exponential of the mean log probability of the tokens. Undefined if the upstream returned none. */
function meanProbability({ bytes }: UpstreamCompletion): number | undefined {
  // For a completion from the cache, `body` has only a part of it.
  const [choice] = (JSON.parse(new TextDecoder().decode(bytes)) as CompletionBody).choices;
  const tokens = isObject(choice.logprobs) ? choice.logprobs.content : undefined;
  if (!Array.isArray(tokens) || tokens.length === 0) return undefined;
  const sum = tokens.reduce(
    (total: number, token) => total + Number(isObject(token) ? token.logprob : NaN),
    0,
  );
  const probability = Math.exp(sum / tokens.length);
  return probability >= 0 && probability <= 1 ? probability : undefined;
}

function askToState(messages: readonly PromptMessage[], answer: string): Partial<CompletionRequest> {
  const question =
    "How likely is it that the answer above is exactly what the environment says? Reply with one number from 0.0 (certainly not) to 1.0 (certainly), with one decimal.";
  return {
    messages: [...messages, { role: "assistant", content: answer }, { role: "user", content: question }],
    // A model may think first.
    max_tokens: 2_048,
    // Fields that shape the answer would only be in the way.
    max_completion_tokens: undefined,
    tools: undefined,
    tool_choice: undefined,
    n: undefined,
    stop: undefined,
    logprobs: undefined,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "confidence",
        strict: true,
        schema: {
          type: "object",
          properties: { confidence: { type: "number", minimum: 0, maximum: 1 } },
          required: ["confidence"],
          additionalProperties: false,
        },
      },
    },
  };
}

/** The stated number, from JSON or any other text with a number, because not every server keeps to a format. */
function readStated(text: string): number | undefined {
  const found = /(?<![\d.])(?:0(?:\.\d+)?|1(?:\.0+)?)(?!\d|\.\d)/.exec(text)?.[0];
  return found === undefined ? undefined : Number(found);
}

/** The completion with the token counts of all completions that it took. */
export function withUsageOf(
  completion: UpstreamCompletion,
  spent: readonly UpstreamCompletion[],
): UpstreamCompletion {
  const counts = spent.map(({ body }) => readTokenCounts(body.usage));
  const sum = (name: "prompt_tokens" | "completion_tokens") =>
    counts.reduce((total, count) => total + count[name], 0);
  const usage = { prompt_tokens: sum("prompt_tokens"), completion_tokens: sum("completion_tokens") };
  const body = JSON.parse(new TextDecoder().decode(completion.bytes)) as CompletionBody;
  const counted = {
    ...body,
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
  return { ...completion, body: counted, bytes: new TextEncoder().encode(JSON.stringify(counted)) };
}

/** How many of the most similar examples vote. */
const voters = 20;
const votePower = 16;

/**
 * How well the records support their own answer: the nearest example's similarity, times the share of its answer among those of the first
 * 20, each adapted to the action and weighted by (similarity / best) to the 16th power.
 */
export async function scoreOfRecords(
  { indexes, exampleTexts }: ExampleServices,
  reader: () => Database,
  world: ReadyWorld,
  asked: Asked,
  signal?: AbortSignal,
): Promise<number> {
  const { source } = world;
  if (source === undefined) return 0;
  const { query, wanted } = findWanted(world, asked);
  const votes = { ...wanted, query, k: voters, maxChars: undefined, keepsDuplicates: true };
  const { examples } = await indexes.find(source, votes, signal);
  const positions = examples.map(({ position }) => position);
  const texts = await exampleTexts.read(reader, source.revisionId, positions);
  const answers = examples.flatMap(({ position, similarity }) => {
    const example = texts.get(position);
    return example ? [{ answer: answerFrom(world.config, query.action, example), similarity }] : [];
  });
  const [best] = answers;
  if (best === undefined) return 0;
  const weightOf = ({ similarity }: { similarity: number }) => (similarity / best.similarity) ** votePower;
  const all = answers.reduce((sum, one) => sum + weightOf(one), 0);
  const agreeing = answers.filter(({ answer }) => answer === best.answer);
  return (best.similarity * agreeing.reduce((sum, one) => sum + weightOf(one), 0)) / all;
}

/** Combines several scores into their mean. A calibration weights them instead. */
export function scoreOf(scores: WorldScores): number | null {
  const numbers = Object.values(scores).filter((one) => one !== undefined);
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** How likely the answer is right. Null without a calibration, or if a method that it uses has no score. */
export function confidenceOf(calibration: WorldCalibration | null, scores: WorldScores): number | null {
  if (calibration === null) return null;
  const numbers = calibration.methods.map((method) => scores[method]).filter((one) => one !== undefined);
  return numbers.length < calibration.methods.length
    ? null
    : calibrate(calibration.table as Calibration, numbers);
}
