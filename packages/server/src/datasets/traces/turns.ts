import type { LeftOutReason, SampleUsage as Usage } from "@presage/contract";
import {
  type Content,
  canonicalJson,
  LeftOut,
  maxTagCharacters,
  parsedText,
  type TraceTexts,
  tagOf,
} from "./content.ts";

/** An agent's call of a tool. */
export interface Call {
  /** The id by which its answer refers to it. */
  id?: string | undefined;
  name: string;
  /** As recorded: an object, or a text that may be JSON. */
  input: unknown;
}

/** One turn of a trace, in the order in which it happened. */
export type Turn =
  | { by: "system"; content: Content }
  /** From the user, the simulated user, or an observation that answers no call. */
  | {
      by: "environment";
      content: Content;
      /** Whether it is not the task, even if it comes first. */
      isAside?: boolean;
      at?: string | undefined;
      reward?: number | undefined;
      done?: boolean | undefined;
    }
  /** A tool's answer. Without `of`, it answers the first unanswered call of the previous turn. */
  | {
      by: "answer";
      of?: string | undefined;
      content: Content;
      isError?: boolean | undefined;
      at?: string | undefined;
      reward?: number | undefined;
      done?: boolean | undefined;
    }
  | {
      by: "agent";
      content?: Content;
      calls?: readonly Call[];
      /** One text for each block of reasoning. */
      reasoning?: readonly string[];
      usage?: Usage | undefined;
      model?: string | undefined;
      /** The reward of the whole turn, which its last call gets. */
      reward?: number | undefined;
      done?: boolean | undefined;
      /** Set if the turn's actions make no samples, only the states of what follows. The turn is counted under this reason. */
      leftOutAs?: LeftOutReason | undefined;
    };

export type AgentTurn = Extract<Turn, { by: "agent" }>;

/** The calls of the agent's turns, in order. */
export function callsOf(turns: readonly Turn[]): Call[] {
  return turns.flatMap((turn) => (turn.by === "agent" ? (turn.calls ?? []) : []));
}

/** Joins two parts of an agent's turn. */
export function joinedTurn(one: AgentTurn, other: AgentTurn): AgentTurn {
  const content = [one, other].flatMap((turn) => turn.content ?? []);
  return {
    ...other,
    content: content.length === 0 ? undefined : content,
    calls: [...(one.calls ?? []), ...(other.calls ?? [])],
    reasoning: [...(one.reasoning ?? []), ...(other.reasoning ?? [])],
    usage: other.usage ?? one.usage,
    model: other.model ?? one.model,
  };
}

/** Turns as they were recorded. */
export interface Part {
  /** The model's message that the agent's turns are parts of. */
  message: string | undefined;
  turns: readonly Turn[];
}

export function countTurns(parts: readonly Part[]): number {
  return parts.reduce((sum, { turns }) => sum + turns.length, 0);
}

/** All turns in order. The parts of one message of the agent become one turn, even if answers are between them. */
export function joinedTurns(parts: readonly Part[]): Turn[] {
  const turns: Turn[] = [];
  const begun = new Map<string, number>();
  for (const { message, turns: added } of parts)
    for (const turn of added) {
      const at = message === undefined ? undefined : begun.get(message);
      const earlier = at === undefined ? undefined : turns[at];
      if (turn.by === "agent" && at !== undefined && earlier?.by === "agent")
        turns[at] = joinedTurn(earlier, turn);
      else {
        if (turn.by === "agent" && message !== undefined) begun.set(message, turns.length);
        turns.push(turn);
      }
    }
  return turns;
}

/** An event of a session that can be rewound. */
export interface Event {
  id: string | undefined;
  /** Null: the event is a root. Unknown or absent: it follows the event before it. */
  parent: string | null | undefined;
}

/** The indexes of the events that lead to the one at `end`. */
export function branchTo(events: readonly Event[], end: number): Set<number> {
  const places = new Map(events.map(({ id }, place) => [id, place]));
  const branch = new Set<number>();
  for (let at = end; at >= 0 && !branch.has(at); ) {
    branch.add(at);
    const parent = events[at]?.parent;
    at = parent === null ? -1 : ((parent === undefined ? undefined : places.get(parent)) ?? at - 1);
  }
  return branch;
}

/** A trajectory as its layout recorded it. */
export interface Trace {
  /** Absent: the layout has no id for it. */
  id?: string | undefined;
  turns: readonly Turn[];
  /** The layout's own task field; otherwise the first text of the environment that answers no call. */
  task?: string | undefined;
  /** The tools as recorded. */
  tools?: unknown;
  /** The reward of the whole trajectory, which its last sample gets. */
  reward?: number | undefined;
  /** Whether the layout says that the trajectory reached its end. */
  isDone?: boolean | undefined;
  /** `model`, `agent` and `task` (its id) as far as known, and other short facts from the layout. */
  tags?: Record<string, string | undefined>;
  /** For a file that Presage wrote: each sample's fields that its turns do not show. Null: the field is absent. */
  stated?: readonly unknown[] | undefined;
}

/** How turns become samples. */
export interface StepOptions {
  /** What makes one step: each call of a turn, or all of its calls together. */
  step: "call" | "turn";
  /** Whether an agent's thoughts become a tag. */
  keepsThoughts: boolean;
}

/** The contents of a sample, apart from its trajectory's context. */
export interface Step {
  state: string;
  action: string;
  next: string;
  reward: number | undefined;
  done: boolean | undefined;
  at: string | undefined;
  usage: Usage | undefined;
  isError: boolean;
  model: string | undefined;
  thought: string | undefined;
}

const noState = "(start)";
const noText = "(no output)";

interface Answer {
  text: string;
  isError: boolean;
  at: string | undefined;
  reward: number | undefined;
  done: boolean | undefined;
}

/** Calls to be answered, the first one last, so that answered ones are dropped in constant time. */
type Open = Action[];

interface Action {
  /** Absent: the action is a text, which any text of the environment answers. */
  call: Call | undefined;
  text: string;
  answer: Answer | undefined;
}

/** An agent's turn, and what the environment said until the next one. */
interface Exchange {
  turn: AgentTurn | undefined;
  actions: Action[];
  /** Its calls to be answered, and those of them without an id. */
  open: Open;
  openUnnamed: Open;
  thought: string | undefined;
  said: Answer[];
}

/** The steps of a trajectory: one for each action that the environment answered. */
export function stepsOf(trace: Trace, options: StepOptions, texts: TraceTexts): Step[] {
  const steps: Step[] = [];
  const kept: Step[] = [];
  let before: string[] = [];
  for (const exchange of exchangesOf(trace.turns, options, texts)) {
    const said = exchange.said.map(({ text }) => text).filter((text) => text !== "");
    const isLeftOut = exchange.turn?.leftOutAs !== undefined;
    const leftOut = isLeftOut ? new LeftOut() : texts.leftOut;
    const made = options.step === "turn" ? togetherOf(exchange, leftOut) : answeredOf(exchange, leftOut);
    const last = made.at(-1);
    if (last === undefined) {
      const latest = steps.at(-1);
      if (latest === undefined) before = [...before, ...said];
      else latest.next = joined([latest.next, ...said]);
      continue;
    }
    last.reward ??= exchange.turn?.reward;
    last.done ??= exchange.turn?.done;
    // The answer to a text is what the environment said, so `next` already has it.
    if (exchange.actions[0]?.call !== undefined) last.next = joined([last.next, ...said]);
    for (const one of made) {
      const previous = steps.at(-1);
      const state = previous === undefined ? joined(before) || noState : previous.next;
      const step = { ...one, state: state.trim() === "" ? noText : state };
      steps.push(step);
      if (!isLeftOut) kept.push(step);
    }
  }
  const last = kept.at(-1);
  if (last !== undefined) {
    last.reward ??= trace.reward;
    if (trace.isDone === true) last.done ??= true;
  }
  return kept;
}

function joined(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  // A single answer stays as it is, even if it is empty and other text follows.
  return others.length === 0 ? first : texts.filter((text) => text !== "").join("\n\n");
}

function* exchangesOf(
  turns: readonly Turn[],
  { keepsThoughts }: StepOptions,
  texts: TraceTexts,
): Generator<Exchange, void> {
  const exchanges: Exchange[] = [
    { turn: undefined, actions: [], open: [], openUnnamed: [], thought: undefined, said: [] },
  ];
  const unanswered = new Map<string, Open>();
  for (const turn of turns) {
    if (turn.by === "system") continue;
    const current = exchanges.at(-1) as Exchange;
    if (turn.by === "agent") {
      const exchange = begin(turn, keepsThoughts, texts);
      for (const [id, actions] of Map.groupBy(exchange.open, ({ call }) => call?.id))
        if (id !== undefined) unanswered.set(id, actions);
      // A turn with only thoughts does not separate what the environment said.
      if (exchange.actions.length > 0) exchanges.push(exchange);
      continue;
    }
    const answer = {
      text: texts.of(turn.content),
      isError: turn.by === "answer" && turn.isError === true,
      at: turn.at,
      reward: turn.reward,
      done: turn.done,
    };
    if (turn.by === "environment") {
      current.said.push(answer);
      continue;
    }
    const action = calledBy(turn.of, current, unanswered);
    if (action === undefined) {
      texts.leftOut.count("answer_without_call");
      continue;
    }
    action.answer = answer;
  }
  yield* exchanges;
}

function begin(turn: AgentTurn, keepsThoughts: boolean, texts: TraceTexts): Exchange {
  if (turn.leftOutAs !== undefined) texts.leftOut.count(turn.leftOutAs);
  const said = texts.of(turn.content).trim();
  const calls = turn.calls ?? [];
  const blocks: Block[] = (turn.reasoning ?? []).map((text) => ({ reason: "reasoning", text }));
  if (calls.length > 0 && said !== "") blocks.push({ reason: "text_beside_call", text: said });
  const action = lastReActAction(said);
  if (calls.length === 0 && said !== "" && action === "" && turn.leftOutAs === undefined)
    texts.leftOut.count("other_event");
  const actions =
    calls.length > 0
      ? calls.map((call) => ({ call, text: actionOf(call, texts), answer: undefined }))
      : action === ""
        ? []
        : [{ call: undefined, text: action, answer: undefined }];
  const open = actions.filter(({ call }) => call !== undefined).reverse();
  return {
    turn,
    actions,
    open,
    openUnnamed: open.filter(({ call }) => call?.id === undefined),
    thought:
      turn.leftOutAs === undefined
        ? thoughtOf(blocks, keepsThoughts && actions.length > 0, texts)
        : undefined,
    said: [],
  };
}

interface Block {
  reason: "reasoning" | "text_beside_call";
  text: string;
}

/** The beginning of an agent's thoughts, if they are kept. Blocks beyond it are counted. */
function thoughtOf(blocks: readonly Block[], areKept: boolean, texts: TraceTexts): string | undefined {
  let thought = "";
  for (const { reason, text } of blocks) {
    if (areKept && thought.length < maxTagCharacters) thought += `${thought === "" ? "" : "\n"}${text}`;
    else texts.leftOut.count(reason);
  }
  return thought === "" ? undefined : tagOf(texts.clean(thought));
}

/** The text after the last `Action:` at the start of a line, as ReAct agents write it. */
export function lastReActAction(text: string): string {
  const marks = [...text.matchAll(/^Action:/gm)];
  const last = marks.at(-1);
  return last === undefined ? text : text.slice(last.index + last[0].length).trim();
}

function actionOf({ name, input }: Call, texts: TraceTexts): string {
  // Many clients write arguments as JSON text.
  return canonicalJson({ input: texts.cleanValue(parsedText(input ?? {})), tool: texts.clean(name) });
}

function calledBy(id: string | undefined, exchange: Exchange, unanswered: Map<string, Open>) {
  return (
    firstOf(unanswered.get(id ?? "")) ?? firstOf(id === undefined ? exchange.open : exchange.openUnnamed)
  );
}

function firstOf(open: Open = []): Action | undefined {
  while (open.at(-1)?.answer !== undefined) open.pop();
  return open.at(-1);
}

type Made = Omit<Step, "state">;

/** A step for each answered action. */
function answeredOf(exchange: Exchange, leftOut: TraceTexts["leftOut"]): Made[] {
  return exchange.actions.flatMap((action) => {
    const { call, text } = action;
    if (call === undefined) return spoken(exchange, text, leftOut);
    if (action.answer === undefined) {
      leftOut.count("call_without_answer");
      return [];
    }
    return [madeOf(exchange, text, [action.answer])];
  });
}

/** One step for all answered calls of a turn. */
function togetherOf(exchange: Exchange, leftOut: TraceTexts["leftOut"]): Made[] {
  const { actions } = exchange;
  if (actions[0]?.call === undefined) return answeredOf(exchange, leftOut);
  const answers = actions.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  leftOut.count("call_without_answer", actions.length - answers.length);
  if (answers.length === 0) return [];
  const texts = actions.filter(({ answer }) => answer !== undefined).map(({ text }) => text);
  return [madeOf(exchange, `[${texts.join(",")}]`, answers)];
}

function spoken(exchange: Exchange, text: string, leftOut: TraceTexts["leftOut"]): Made[] {
  if (exchange.said.length > 0) return [madeOf(exchange, text, exchange.said)];
  leftOut.count("last_message_of_agent");
  return [];
}

function madeOf({ turn, thought }: Exchange, action: string, answers: readonly Answer[]): Made {
  const last = answers.at(-1);
  return {
    action,
    next: joined(answers.map(({ text }) => text)),
    reward: last?.reward,
    done: last?.done,
    at: last?.at,
    usage: turn?.usage,
    isError: answers.some(({ isError }) => isError),
    model: turn?.model,
    thought,
  };
}
