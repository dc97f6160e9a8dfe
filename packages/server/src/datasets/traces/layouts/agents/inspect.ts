import { readChatTrajectory } from "../../../formats.ts";
import { LineError } from "../../../upload/lines.ts";
import { beginningOf, canonicalJson, idOf, isObject, storable, textIn, withTexts } from "../../content.ts";
import { type Layout, objectAt, objectsIn, type ReadOptions, type TraceDocument } from "../../layout.ts";
import { idIn, rewardIn, turnsOfMessages } from "../../messages.ts";
import type { Trace } from "../../turns.ts";

const sampleEntry = /^samples\/.+_epoch_\d+\.json$/s;
const chunkEntry = /^samples\/.+_epoch_\d+\/.+\.json$/s;
const headEntry = /^(header|_journal\/start)\.json$/;
const otherEntry = /^((summaries|reductions|results)\.json|_journal\/.+)$/s;

const isHead = ({ entry = "" }: TraceDocument) => headEntry.test(entry);

/** What a log says about all its samples. */
function evalOf(document: TraceDocument): Record<string, unknown> | undefined {
  const { value, envelope, within } = document;
  const log = within === "samples" ? envelope : value;
  if (!isObject(log) || !isObject(log.eval)) return undefined;
  const isLog = isHead(document) || within === "samples" || Array.isArray(log.samples) || isObject(log.plan);
  return isLog ? log.eval : undefined;
}

function recognises(document: TraceDocument): string | undefined {
  if (evalOf(document) === undefined) return undefined;
  return isHead(document) ? document.entry : "eval and samples";
}

const scoreLetters = new Map(Object.entries({ C: 1, I: 0, P: 0.5, N: 0 }));
const maxScores = 40;

/** The named score as the reward, otherwise the first; the others, and one that is no number, as tags. */
function scoresOf(scores: unknown, name: string | undefined): Pick<Trace, "reward" | "tags"> {
  const told = Object.entries(isObject(scores) ? scores : {});
  const chosen = name ?? told[0]?.[0];
  const valueIn = (score: unknown) => (isObject(score) ? score.value : undefined);
  const score = told.find(([one]) => one === chosen)?.[1];
  const letter = scoreLetters.get(textIn(score, "value") ?? "");
  const reward = letter ?? (isObject(score) ? rewardIn(score, ["value"]) : undefined);
  const others = told
    .filter(([one, score]) => (one !== chosen || reward === undefined) && valueIn(score) != null)
    .slice(0, maxScores)
    .map(([one, score]) => [nameOf(one), textOf(valueIn(score))]);
  return { reward, tags: Object.fromEntries(others) };
}

const nameOf = (name: string) => `score_${beginningOf(storable(name), 100)}`;
const textOf = (value: unknown) => (typeof value === "string" ? value : canonicalJson(value));

const reference = /^(attachment|tc):\/\//;

/** A value with its references replaced by the texts that the log stores separately, by hash. */
function filled<Value>(value: Value, attachments: unknown): Value {
  const textFor = (text: string) =>
    reference.test(text) ? textIn(attachments, text.replace(reference, "")) : undefined;
  return withTexts(value, (text) => textFor(text) ?? text) as Value;
}

/** A message as other layouts have it: with an error's text if the tool said nothing, without what the model's provider did itself. */
function messageOf(message: Record<string, unknown>, leftOut: ReadOptions["leftOut"]): unknown {
  let { content } = message;
  if (Array.isArray(content)) {
    const kept = content.filter((block) => !isObject(block) || !/^(tool_use|data)$/.test(`${block.type}`));
    leftOut.count("other_event", content.length - kept.length);
    content = kept;
  }
  if (message.role !== "tool" || !isObject(message.error)) return { ...message, content };
  const isEmpty = !content || (Array.isArray(content) && content.length === 0);
  return { ...message, content: isEmpty ? textIn(message.error, "message") : content, is_error: true };
}

const joined = (...parts: (string | undefined)[]) =>
  parts.filter((part) => part !== undefined).join("/") || undefined;

function traceOf(document: TraceDocument, of: Record<string, unknown>, options: ReadOptions): Trace {
  const { score, leftOut } = options;
  const sample = objectAt(document.value);
  const { value } = sample;
  const messages = objectsIn(sample, "messages").map((one) =>
    messageOf(filled(one.value, value.attachments), leftOut),
  );
  const { reward, tags } = scoresOf(value.scores, score);
  const task = joined(idIn(of, ["task"]), idIn(value, ["id"]));
  const known = { task, model: textIn(of, "model"), agent: textIn(of, "solver") };
  return {
    id: joined(task, idIn(value, ["epoch"])),
    turns: turnsOfMessages(messages, leftOut),
    reward,
    isDone: textIn(value, "completed_at") !== undefined && !value.error && !value.limit,
    tags: { ...tags, ...known },
  };
}

/** The solver that logs of Presage's own runs name: their assistant is the environment, and its last turn was predicted. */
export const ownSolver = "presage";
const roles = { system: "system", environment: "user", agent: "assistant", answer: "tool" };
const saidIn = (content: unknown) =>
  Array.isArray(content) ? content.map((part) => textIn(part, "text") ?? "").join("") : content;

function conversationOf({ id, turns, reward, tags }: Trace, line: number) {
  const messages = turns.map(({ by, content }) => ({ role: roles[by], content: saidIn(content) }));
  const samples = [...readChatTrajectory({ trajectory_id: id && idOf(id), messages }, line)];
  const last = samples.slice(-1).map((sample) => ({ ...sample, reward }));
  return { conversation: tags?.agent === ownSolver ? last : [...samples.slice(0, -1), ...last] };
}

/** Logs of Inspect. */
export const inspect: Layout = {
  format: "inspect",
  version: 2,
  joinsEntries: true,
  about: {
    title: "Inspect's logs",
    recognised_by:
      "a zip (`.eval`) with `header.json` or `_journal/start.json`, or JSON with `eval` and `samples`",
    trajectory: "a sample and epoch; `eval.task/id/epoch`",
    action:
      "`messages[].tool_calls[]` of the assistant; without calls, its text. In logs of Presage's runs the assistant is the environment",
    answer: "the message of role `tool` with the call's id, or its `error.message`; after a text, the user's",
    context: "first user message; system messages",
    also: "reward: the first score, or the named one; the others as tags; done: `completed_at` without `error` and `limit`",
    left_out: "reasoning, `events`, `store`, what the model's provider did by itself",
    example: `{"version":2,"status":"success","eval":{"task":"keys","model":"small"},"samples":[{"id":1,"epoch":1,"input":"Find the key.","target":"key.txt","messages":[{"role":"user","content":"Find the key."},{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":"shell","arguments":{"cmd":"ls drawer"}}]},{"role":"tool","tool_call_id":"c1","content":"key.txt"}],"scores":{"match":{"value":"C"}}}]}`,
  },
  recognises,
  admits: (document) =>
    recognises(document) !== undefined ||
    [sampleEntry, chunkEntry, headEntry, otherEntry].some((name) => name.test(document.entry ?? "")),
  open(options) {
    let known: Record<string, unknown> = {};
    return {
      *read(document) {
        const { entry, within } = document;
        known = evalOf(document) ?? known;
        if (entry !== undefined && within === undefined && chunkEntry.test(entry))
          throw new LineError("A sample in chunks is not read: convert the log with inspect log convert", []);
        const isSample = within === "samples" || (entry !== undefined && sampleEntry.test(entry));
        if (isSample) {
          const trace = traceOf(document, known, options);
          const isOwn = known.solver === ownSolver;
          if ((options.assistantIs ?? (isOwn ? "environment" : "agent")) === "agent") yield { trace };
          else if (trace.turns.at(-1)?.by === "agent") yield conversationOf(trace, document.place[1]);
          else options.leftOut.count("call_without_answer");
        } else if (evalOf(document) === undefined && (entry === undefined || !otherEntry.test(entry)))
          throw new LineError("Field required", ["eval"]);
      },
    };
  },
};
