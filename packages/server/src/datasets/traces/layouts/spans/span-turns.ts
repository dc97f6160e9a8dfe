import { closeSync, readSync } from "node:fs";
import { jsonAsWritten, parseAsWritten } from "../../../../platform/written-json.ts";
import { appendTo, openNameless } from "../../../upload/lines.ts";
import { canonicalJson, type LeftOut, parsedText } from "../../content.ts";
import { maxHeldBytes, type Recorded, type TraceDocument, type TraceReader, tooLong } from "../../layout.ts";
import type { AgentTurn, Call, Trace, Turn } from "../../turns.ts";
import { textOf } from "./loose-messages.ts";

/** What is kept of a span. */
export interface Kept {
  /** The spans of a trace are sorted by this. */
  start: string;
}

/** What a layout keeps of a span. */
export interface SpanItem extends Kept {
  /** A model's call: its messages and its answer. */
  model?: { input: Turn[]; output?: AgentTurn | undefined };
  tool?: {
    call: Call;
    /** The tool's answer, or why it failed. */
    result?: unknown;
    isError?: boolean | undefined;
    at?: string | undefined;
    reward?: number | undefined;
    /** Whether to prefer the arguments in the model's call over the tool's own. */
    prefersCalled?: boolean;
    /** Whether the span is a tool only if a model calls it by its name. */
    isOnlyIfCalled?: boolean;
  };
  /** What the trace is about, from a dedicated field. */
  task?: string | undefined;
  /** The same, used if no model got any input. */
  input?: string | undefined;
  tools?: unknown;
  agent?: string | undefined;
}

export interface TraceItem extends SpanItem {
  trace: string;
}

interface SpanLimits {
  heldBytes?: number;
  /** Limit for the spans of one trace. */
  traceBytes?: number;
}

interface SpanGroup {
  keys: string[];
  /** The position and length of each span, one after another. */
  entries: number[];
  bytes: number;
  /** The place of the earliest of the groups merged into this one. */
  place: number;
}

type Said = Extract<Turn, { by: "environment" }>;

/** A model's call that no tool's span has been matched to yet. */
interface Open {
  call: Call;
  model: AgentTurn;
  /** The turn for what the model said, if there is one. */
  turn: AgentTurn | undefined;
}

/** How much JSON of spans is held in memory; the rest is in a temporary file. */
const defaultHeldBytes = 4 * 1024 * 1024;
const firstHeldBytes = 64 * 1024;

/** A reader of spans whose traces are trajectories. */
export function traceReader(
  itemsOf: (document: TraceDocument) => readonly TraceItem[],
  leftOut: LeftOut,
): TraceReader {
  return spanReader<TraceItem>(
    (document) => itemsOf(document).map((item) => [[item.trace], item]),
    function* (items) {
      yield { trace: { ...traceOfSpans(items, leftOut), id: items[0]?.trace } };
    },
  );
}

/** A reader of spans. `itemsOf` says what to keep of a document, under which keys; `recordedOf` makes traces of related spans. */
export function spanReader<Item extends Kept>(
  itemsOf: (document: TraceDocument) => Iterable<[keys: readonly string[], item: Item]>,
  recordedOf: (items: Item[]) => Iterable<Recorded>,
): TraceReader {
  const spans = collectSpans<Item>();
  return {
    read(document) {
      const kept = Array.from(itemsOf(document), ([keys, item]) => spans.add(keys, item));
      if (kept.includes(false)) throw tooLong("A trace");
      return [];
    },
    *end() {
      for (const items of spans.release()) yield* recordedOf(items);
    },
    close: spans.close,
  };
}

/** The trace of spans sorted by start. If its tools have answers, they determine the calls and their order. */
export function traceOfSpans(items: readonly SpanItem[], leftOut: LeftOut): Trace {
  const called = new Set(items.flatMap(({ model }) => callsOf(model?.output).map(({ name }) => name)));
  const usable = items.filter(({ tool }) => tool?.isOnlyIfCalled !== true || called.has(tool.call.name));
  const hasAnswers = usable.some(({ tool }) => tool?.result !== undefined);
  const models = usable.flatMap(({ model }) => model ?? []);
  const last = models.findLast(({ input }) => input.length > 0) ?? models.at(-1);
  const task = first(items, "task");
  const turns =
    hasAnswers || last === undefined
      ? turnsOfTools(usable, task, leftOut)
      : turnsOfConversation(last, usable, task ?? first(items, "input"), leftOut);
  const model = models.find(({ output }) => output?.model !== undefined)?.output?.model;
  return { turns, task, tools: first(items, "tools"), tags: { model, agent: first(items, "agent") } };
}

function first<Name extends "task" | "input" | "tools" | "agent">(items: readonly SpanItem[], name: Name) {
  return items.find((item) => item[name] !== undefined)?.[name];
}

const callsOf = (turn: AgentTurn | undefined): readonly Call[] => turn?.calls ?? [];

function turnsOfTools(items: readonly SpanItem[], task: string | undefined, leftOut: LeftOut): Turn[] {
  const { turns, seen } = opening(items, task, leftOut);
  let users = seen;
  let open: Open[] = [];
  const ids = new Set<string | undefined>();
  let current: AgentTurn | undefined;
  for (const [index, { model, tool }] of items.entries()) {
    if (model !== undefined) {
      const told = model.input.filter(isSaid);
      const keys = told.map(keyOf);
      const known = overlap(users, keys);
      const continues = keys.length === 0 || known > 0;
      if (continues) {
        turns.push(...told.slice(known));
        users = [...users, ...keys.slice(known)];
      } else leftOut.count("other_event");
      const calls = callsOf(model.output);
      // A client and a framework may both have recorded the call.
      const isAgain = calls.length > 0 && calls.every(({ id }) => id !== undefined && ids.has(id));
      if (model.output === undefined || isAgain) continue;
      for (const { id } of calls) ids.add(id);
      const turn = continues ? { ...model.output, calls: [] } : undefined;
      if (turn !== undefined) turns.push(turn);
      current = turn ?? current;
      open.push(...calls.map((call) => ({ call, model: model.output as AgentTurn, turn })));
    }
    if (tool === undefined) continue;
    const found = claimed(open, tool.call);
    open = open.filter((one) => one !== found);
    const id = `span-${index}`;
    const input = tool.prefersCalled ? (found?.call.input ?? tool.call.input) : tool.call.input;
    const call = { id, name: tool.call.name, input: input ?? found?.call.input };
    if (found?.turn === undefined || found.turn !== current) {
      current = { by: "agent", calls: [], usage: found?.model.usage, model: found?.model.model };
      turns.push(current);
      for (const other of open) if (found !== undefined && other.model === found.model) other.turn = current;
    }
    current.calls = [...callsOf(current), call];
    if (tool.result === undefined) continue;
    const { isError, at, reward } = tool;
    const content = areTexts(tool.result) ? canonicalJson(tool.result) : tool.result;
    turns.push({ by: "answer", of: id, content, isError, at, ...(reward === undefined ? {} : { reward }) });
  }
  // Calls without a span have no answer.
  for (const { call, turn } of open)
    if (turn !== undefined) turn.calls = [...callsOf(turn), { ...call, id: undefined }];
  return turns;
}

/** As a tool's result, a list of texts is a value; in a message it would be what is said. */
const areTexts = (result: unknown) => Array.isArray(result) && result.every((one) => typeof one === "string");

/** What was said before the first action, and the keys of the first model's input. */
function opening(items: readonly SpanItem[], task: string | undefined, leftOut: LeftOut) {
  const inputs = items.flatMap(({ model }) => (model === undefined ? [] : [model.input]));
  const input = inputs.find((turns) => turns.some(isSaid)) ?? [];
  const system = inputs.find((turns) => turns.some(({ by }) => by === "system")) ?? [];
  const told = input.filter(isSaid);
  const seen = told.map(keyOf);
  const other = task ?? (told.length === 0 ? first(items, "input") : undefined);
  const said = other === undefined || seen.includes(other) ? told : [environment(other)];
  // What the agent said and did before is in an earlier trace.
  leftOut.count("other_event", input.filter(({ by }) => by === "agent").length);
  return { turns: [...system.filter(({ by }) => by === "system"), ...said] as Turn[], seen };
}

const environment = (content: string): Said => ({ by: "environment", content });
const isSaid = (turn: Turn): turn is Said => turn.by === "environment";
/** The key by which something said is recognised again. */
const keyOf = ({ content }: Said) => textOf(content) ?? canonicalJson(content);

/** How many texts at the start of `texts` repeat the end of `seen`. */
function overlap(seen: readonly string[], texts: readonly string[]): number {
  for (let count = Math.min(seen.length, texts.length); count > 0; count -= 1)
    if (texts.slice(0, count).every((text, index) => text === seen[seen.length - count + index]))
      return count;
  return 0;
}

/** The model's call that a tool's span matches: by id, otherwise by name and arguments, otherwise by name. */
function claimed(open: readonly Open[], { id, name, input }: Call): Open | undefined {
  const byId = id === undefined ? undefined : open.find(({ call }) => call.id === id);
  if (byId !== undefined) return byId;
  const named = open.filter(({ call }) => call.name === name && (id === undefined || call.id === undefined));
  const key = inputKey(input);
  return named.find(({ call }) => inputKey(call.input) === key) ?? named[0];
}

const inputKey = (input: unknown) => canonicalJson(parsedText(input ?? {}));

/** The messages of the last model's call, with what other spans say about them. */
function turnsOfConversation(
  last: NonNullable<SpanItem["model"]>,
  items: readonly SpanItem[],
  task: string | undefined,
  leftOut: LeftOut,
): Turn[] {
  const makers = new Map<string, AgentTurn>();
  const tools = new Map<string, NonNullable<SpanItem["tool"]>>();
  for (const { model, tool } of items) {
    for (const { id } of callsOf(model?.output))
      if (id !== undefined && model?.output !== undefined) makers.set(id, model.output);
    if (tool?.call.id !== undefined) tools.set(tool.call.id, tool);
  }
  const known = last.input.map((turn): Turn => {
    if (turn.by === "agent") {
      const ids = callsOf(turn).flatMap(({ id }) => id ?? []);
      const maker = ids.map((id) => makers.get(id)).find((one) => one !== undefined);
      return maker === undefined ? turn : { ...turn, usage: maker.usage, model: maker.model };
    }
    if (turn.by !== "answer" || turn.of === undefined) return turn;
    const tool = tools.get(turn.of);
    return tool === undefined ? turn : { ...turn, at: tool.at, isError: turn.isError || tool.isError };
  });
  const isTold = task === undefined || last.input.some(isSaid);
  const turns = last.output === undefined ? known : [...known, last.output];
  const nameOf = ({ id, name }: Call) => id ?? name;
  const made = items.flatMap(({ model, tool }) => [...callsOf(model?.output), ...(tool ? [tool.call] : [])]);
  const shown = turns.flatMap((turn) => (turn.by === "agent" ? callsOf(turn) : []));
  const unshown = new Set(made.map(nameOf)).difference(new Set(shown.map(nameOf)));
  leftOut.count("call_without_answer", unshown.size);
  const thoughts = items.flatMap(({ model }) => model?.output?.reasoning ?? []);
  const kept = turns.flatMap((turn) => (turn.by === "agent" ? (turn.reasoning ?? []) : []));
  leftOut.count("reasoning", new Set(thoughts).difference(new Set(kept)).size);
  return isTold ? turns : [environment(task), ...turns];
}

export const byStart = (one: Kept, other: Kept) =>
  one.start < other.start ? -1 : one.start > other.start ? 1 : 0;

/** The spans of a file until all of it is read: a trace's spans may be anywhere in the file. */
export function collectSpans<Item extends Kept>(limits: SpanLimits = {}) {
  const log = createTextLog(limits);
  const { traceBytes = maxHeldBytes } = limits;
  const byKey = new Map<string, SpanGroup>();
  const groups: SpanGroup[] = [];
  const groupOf = (keys: readonly string[]): SpanGroup => {
    const found = [...new Set(keys.flatMap((key) => byKey.get(key) ?? []))];
    const fresh: SpanGroup = { keys: [], entries: [], bytes: 0, place: groups.length };
    // The smaller groups move, so a span moves only as often as its group doubles.
    const [group = fresh, ...others] = found.sort((one, other) => other.keys.length - one.keys.length);
    const take = (key: string) => {
      if (byKey.get(key) === group) return;
      byKey.set(key, group);
      group.keys.push(key);
    };
    for (const other of others) {
      for (const place of other.entries) group.entries.push(place);
      group.bytes += other.bytes;
      group.place = Math.min(group.place, other.place);
      other.keys.forEach(take);
      Object.assign(other, { entries: [], keys: [] });
    }
    keys.forEach(take);
    if (group === fresh) groups.push(group);
    return group;
  };
  return {
    /** Keeps a span as JSON, grouped with spans that share a key. False if the group gets too long: then all of it is dropped. */
    add(keys: readonly string[], item: Item): boolean {
      const group = groupOf(keys);
      if (group.bytes > traceBytes && group.entries.length === 0) return true;
      const [at, bytes] = log.append(jsonAsWritten(item));
      group.entries.push(at, bytes);
      group.bytes += bytes;
      if (group.bytes <= traceBytes) return true;
      group.entries = [];
      return false;
    },
    /** The spans that belong together, sorted by start; groups come in the order of their first spans. */
    *release(): Generator<Item[], void> {
      byKey.clear();
      for (const group of groups.sort((one, other) => one.place - other.place)) {
        if (group.entries.length === 0) continue;
        yield placesOf(group)
          .map(([at, bytes]) => parseAsWritten(log.read(at, bytes)) as Item)
          .sort(byStart);
      }
    },
    /** Closes the temporary file, which also deletes it. */
    close: log.close,
  };
}

/** The positions and lengths of a group's spans, in the order in which they were recorded. */
function placesOf({ entries }: SpanGroup): [at: number, bytes: number][] {
  const places: [number, number][] = [];
  for (let index = 0; index < entries.length; index += 2)
    places.push([entries[index] ?? 0, entries[index + 1] ?? 0]);
  return places.sort(([one], [other]) => one - other);
}

/** A log of texts to append to and read from: the latest are in memory, the rest in a temporary file. */
function createTextLog({ heldBytes = defaultHeldBytes }: SpanLimits) {
  let held = Buffer.allocUnsafeSlow(Math.min(heldBytes, firstHeldBytes));
  /** How many bytes are in the file, and how many in memory. */
  let [written, used] = [0, 0];
  let file: number | undefined;
  let found = Buffer.alloc(0);
  const spill = () => {
    file ??= openNameless();
    appendTo(file, held, used);
    written += used;
    used = 0;
  };
  const makeRoom = (bytes: number) => {
    if (used > 0 && used + bytes > heldBytes) spill();
    if (used + bytes <= held.length) return;
    const longer = Buffer.allocUnsafeSlow(Math.max(used + bytes, Math.min(heldBytes, 2 * held.length)));
    held.copy(longer, 0, 0, used);
    held = longer;
  };
  return {
    append(text: string): [at: number, bytes: number] {
      const bytes = Buffer.byteLength(text);
      makeRoom(bytes);
      const at = written + used;
      used += held.write(text, used);
      return [at, bytes];
    },
    read(at: number, bytes: number): string {
      if (at >= written) return held.toString("utf8", at - written, at - written + bytes);
      if (found.length < bytes) found = Buffer.allocUnsafeSlow(2 * bytes);
      for (let read = 0; read < bytes; ) {
        const more = file === undefined ? 0 : readSync(file, found, read, bytes - read, at + read);
        if (more === 0) throw new Error("The temporary file of spans is cut off");
        read += more;
      }
      return found.toString("utf8", 0, bytes);
    },
    close() {
      if (file === undefined) return;
      closeSync(file);
      file = undefined;
    },
  };
}
