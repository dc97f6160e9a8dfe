import {
  collectExamples,
  type Example,
  type ExampleIndex,
  measureIndex,
  openIndex,
} from "../../packages/server/src/worlds/example-index.ts";
import { findExamples } from "../../packages/server/src/worlds/find-examples.ts";
import { post, uploadSamples } from "../lib/api.ts";
import {
  figureOf,
  judge,
  median,
  showCount,
  showFigure,
  showMegabytes,
  showTimes,
  tableOf,
} from "../lib/figures.ts";
import { atOnce, fewCallers, loadNow, p99, pauseMs, predictWhile } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { readCpuMs } from "../lib/usage.ts";

const fullPlan = {
  sizes: [10_000, 100_000, 1_000_000],
  queries: 300,
  examples: 10_000,
  rounds: 7,
  requests: 2_000,
  built: 100_000,
};
const quickPlan = { sizes: [10_000], queries: 50, examples: 2_000, rounds: 3, requests: 300, built: 10_000 };

export const worldsPart: Part = {
  title: "Predictions through worlds",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const searches = plan.sizes.map((size) => measureSearch(size, plan.queries));
    const presage = await startPresage(group, (await upstream()).origin, "worlds");
    const rounds = await measurePredictions(presage, plan);
    const builds = await measureBuilds(presage, plan);
    await group.stop(presage.process);
    const at = (size: number) => searches.find((one) => one.size === size);
    const within = (what: string, size: number, value: (of: Search) => number, most: number, unit: string) =>
      judge(
        `${showCount(size)} transitions: ${what} at most ${most} ${unit}`,
        at(size) && value(at(size) as Search),
        (measured) => measured <= most,
        (measured) => `${measured.toFixed(1)} ${unit}`,
      );
    return {
      goals: [
        judge(
          "An index is built at 40,000 transitions a second or more",
          at(100_000) && 100_000 / (at(100_000) as Search).buildCpuSeconds,
          (rate) => rate >= 40_000,
          (rate) => `${showCount(Math.round(rate))} a second`,
        ),
        within("a search's median", 100_000, ({ p50Ms }) => p50Ms, 3, "ms"),
        within("a search's p99", 100_000, ({ p99Ms }) => p99Ms, 15, "ms"),
        within("the index", 100_000, ({ bytes }) => bytes / 1e6, 250, "MB"),
        within("a search's median", 1_000_000, ({ p50Ms }) => p50Ms, 25, "ms"),
        within("a search's p99", 1_000_000, ({ p99Ms }) => p99Ms, 100, "ms"),
        judge(
          `A prediction of a new step through a world of ${showCount(fullPlan.examples)} examples costs at most 1.5 times one without`,
          quick ? undefined : median(rounds.map(({ withWorld, without }) => withWorld / without)),
          (times) => times <= 1.5,
          showTimes,
        ),
        judge(
          "Beside the build of an index, other callers' p99 is at most 1.2 times what it is without",
          quick ? undefined : median(builds.map(({ aloneMs, besideMs }) => besideMs / aloneMs)),
          (times) => times <= 1.2,
          showTimes,
        ),
      ],
      problems: [],
      text: writeWorlds(searches, rounds, builds, plan),
    };
  },
};

/** A random word; the first ones are the most common, as in agents' actions. */
const pick = (random: () => number, words: readonly string[]): string =>
  words[Math.floor(random() ** 2 * words.length)] ?? "";
const verbs = [
  "look at",
  "open",
  "take",
  "move to",
  "put down",
  "close",
  "activate",
  "pour",
  "read",
  "focus on",
];
const things = Array.from(
  { length: 200 },
  (_, index) =>
    `${["red", "old", "small", "glass"][index % 4]} ${["box", "lamp", "cup", "seed", "wire"][index % 5]} ${index}`,
);
const rooms = Array.from({ length: 60 }, (_, index) => `room ${index}`);

/** Texts like those of a text game: about 20 characters of action, 300 of state. */
const createTransitions = () => {
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  return (index: number): Example => {
    const seen = Array.from({ length: 14 }, () => `a ${pick(random, things)}`).join(", ");
    const place = random() < 0.3 ? ` in ${pick(random, rooms)}` : "";
    const action = `${pick(random, verbs)} the ${pick(random, things)}${place}`;
    return {
      position: index + 1,
      trajectoryId: `t${Math.floor(index / 20)}`,
      fields: {
        action,
        state: `You are in ${pick(random, rooms)}. You see ${seen}.`,
        task: `Find the ${pick(random, things)}.`,
      },
      nextState: `You ${action}. It is now ${index % 97}.`,
    };
  };
};

const buildIndex = (size: number): ExampleIndex => {
  const transition = createTransitions();
  const collected = collectExamples();
  for (let index = 0; index < size; index += 1) collected.add(transition(index));
  return openIndex(collected.finish());
};

interface Search {
  readonly size: number;
  readonly buildCpuSeconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytes: number;
}

/** Builds and searches in this process. Generating the texts is part of the build time here. */
const measureSearch = (size: number, queries: number): Search => {
  const before = process.cpuUsage();
  const index = buildIndex(size);
  const { user, system } = process.cpuUsage(before);
  const transition = createTransitions();
  const tookMs = Array.from({ length: queries }, (_, at) => {
    const { fields, trajectoryId } = transition(at);
    const query = { ...fields, action: `${fields.action} again` };
    const startedMs = process.cpuUsage();
    findExamples(index, query, { k: 8, maxChars: 12_000, excluded: [trajectoryId] });
    const spent = process.cpuUsage(startedMs);
    return (spent.user + spent.system) / 1000;
  }).sort((one, other) => one - other);
  const [p50Ms = 0, p99Ms = 0] = [0.5, 0.99].map((share) => tookMs[Math.floor((queries - 1) * share)] ?? 0);
  const measured = {
    size,
    buildCpuSeconds: (user + system) / 1e6,
    p50Ms,
    p99Ms,
    bytes: measureIndex(index).bytes,
  };
  process.stdout.write(
    `worlds  ${showCount(size)}: built in ${measured.buildCpuSeconds.toFixed(1)} s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms\n`,
  );
  return measured;
};

const uploadTransitions = (presage: RunningPresage, name: string, count: number): Promise<string> => {
  const transition = createTransitions();
  return uploadSamples(presage, name, count, (index) => {
    const { fields, trajectoryId, nextState } = transition(index);
    const { action, state, task } = fields;
    return `${JSON.stringify({
      trajectory_id: trajectoryId,
      step: index % 20,
      context: { task_context: task },
      interaction: { action, state },
      next_state: nextState,
    })}\n`;
  });
};

interface Build {
  readonly aloneMs: number;
  readonly besideMs: number;
  readonly seconds: number;
  readonly load: number;
}

/** How long other callers' predictions take, alternately without the build of an index and during one. */
const measureBuilds = async (
  presage: RunningPresage,
  { built, rounds }: typeof fullPlan,
): Promise<Build[]> => {
  const dataset = await uploadTransitions(presage, "bench-builds", built);
  const measured: Build[] = [];
  let seconds = 3;
  for (let round = 0; round < rounds; round += 1) {
    const untilMs = performance.now() + seconds * 1000;
    const alone = await predictWhile(presage.predict, () => performance.now() < untilMs);
    // Other examples, so that another index is built.
    const examples = { dataset, max_per_trajectory: 1_000 + round };
    const startedAtMs = performance.now();
    let isBuilt = false;
    const building = createWhenBuilt(presage, { name: `built-${round}`, examples }).finally(() => {
      isBuilt = true;
    });
    const beside = await predictWhile(presage.predict, () => !isBuilt);
    await building;
    seconds = (performance.now() - startedAtMs) / 1000;
    const [aloneMs, besideMs] = [p99(alone), p99(beside)];
    measured.push({ aloneMs, besideMs, seconds, load: loadNow() });
    process.stdout.write(
      `worlds  round ${round + 1}: p99 ${aloneMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside a build of ${seconds.toFixed(1)} s\n`,
    );
  }
  return measured;
};

/** A request waits for half a minute; on a busy machine a build takes longer. */
const createWhenBuilt = async (presage: RunningPresage, world: object): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await post(presage, "/v1/worlds", world);
      return;
    } catch (error) {
      if (tries === 10 || !String(error).includes("not searchable yet")) throw error;
    }
  }
};

interface Round {
  readonly round: number;
  readonly without: number;
  readonly withWorld: number;
  /** Through the world again, for the same steps. */
  readonly again: number;
  readonly load: number;
}

/** The server's processor time for a prediction: without a world, through one, and through it again, for which nothing is searched. */
const measurePredictions = async (
  presage: RunningPresage,
  { examples, rounds, requests }: typeof fullPlan,
): Promise<Round[]> => {
  const dataset = await uploadTransitions(presage, "bench-world", examples);
  await post(presage, "/v1/worlds", { name: "bench", examples: { dataset } });
  const measured: Round[] = [];
  // It takes some thousands of searches until the code is compiled.
  for (let before = 1; before <= warmUps; before += 1) await predictMany(presage, requests, -before, "bench");
  for (let round = 0; round < rounds; round += 1) {
    const without = await predictMany(presage, requests, round);
    const withWorld = await predictMany(presage, requests, round, "bench");
    const again = await predictMany(presage, requests, round, "bench");
    measured.push({ round, without, withWorld, again, load: loadNow() });
    process.stdout.write(
      `worlds  round ${round + 1}: ${without.toFixed(0)} µs without, ${withWorld.toFixed(0)} µs through a world, ${again.toFixed(0)} µs again; load ${loadNow().toFixed(1)}\n`,
    );
  }
  return measured;
};

const callers = 16;
const warmUps = 6;

/** Microseconds of the server's processor time per prediction. No two rounds have the same steps. */
const predictMany = async (
  { predict, process: { pid } }: RunningPresage,
  requests: number,
  round: number,
  world?: string,
): Promise<number> => {
  const transition = createTransitions();
  const bodies = Array.from({ length: requests }, (_, index) => {
    const { action, state, task } = transition(index).fields;
    const interaction = { action: `${action} again ${round}`, state };
    return JSON.stringify({ context: { task_context: task }, interaction, ...(world && { world }) });
  });
  const beforeMs = readCpuMs(pid);
  await atOnce(requests, callers, async (index) => {
    const response = await fetch(predict.url, {
      method: "POST",
      headers: predict.headers,
      body: bodies[index] ?? "",
    });
    await response.text();
    if (!response.ok) throw new Error(`a prediction: ${response.status}`);
  });
  return ((readCpuMs(pid) - beforeMs) * 1000) / requests;
};

const writeWorlds = (
  searches: readonly Search[],
  rounds: readonly Round[],
  builds: readonly Build[],
  plan: typeof fullPlan,
): string => `
Made transitions of a text game's size: actions of some 20 characters, of which the common ones recur, and states of 300. Building and searching are in the bench's own process, in
processor time; making the texts counts as building. A search finds 8 examples of at most 12,000 characters, its own trajectory left out; ${plan.queries} of them.

${tableOf(searches, [
  ["transitions", ({ size }) => showCount(size)],
  ["build, s", ({ buildCpuSeconds }) => buildCpuSeconds.toFixed(1)],
  ["search p50, ms", ({ p50Ms }) => p50Ms.toFixed(2)],
  ["search p99, ms", ({ p99Ms }) => p99Ms.toFixed(2)],
  ["index, MB", ({ bytes }) => showMegabytes(bytes)],
])}

Predictions over HTTP, ${callers} at a time, to an upstream that answers at once: the server's processor time each, all of its threads, without a world, through one of
${showCount(plan.examples)} examples for steps that nobody asked before, and again for the same steps, whose searches are remembered; ${rounds.length} rounds of ${showCount(plan.requests)} each after ${warmUps} that are not counted.

${tableOf(
  [rounds],
  [
    ["without, µs", (all) => showFigure(figureOf(all, ({ without }) => without))],
    ["through a world, µs", (all) => showFigure(figureOf(all, ({ withWorld }) => withWorld))],
    ["times", (all) => showFigure(figureOf(all, ({ withWorld, without }) => withWorld / without))],
    ["again, µs", (all) => showFigure(figureOf(all, ({ again }) => again))],
    ["times", (all) => showFigure(figureOf(all, ({ again, without }) => again / without))],
    ["load", (all) => showFigure(figureOf(all, ({ load }) => load))],
  ],
)}

Beside the build of an index of ${showCount(plan.built)} examples from SQLite, ${fewCallers} callers predict without a world, with pauses of ${pauseMs} ms; without a build and
beside one in turns, ratios within a round. Server, upstream and callers share the machine's cores.

${tableOf(
  [builds],
  [
    ["p99 without, ms", (all) => showFigure(figureOf(all, ({ aloneMs }) => aloneMs))],
    ["beside a build, ms", (all) => showFigure(figureOf(all, ({ besideMs }) => besideMs))],
    ["times", (all) => showFigure(figureOf(all, ({ aloneMs, besideMs }) => besideMs / aloneMs))],
    ["a build, s", (all) => showFigure(figureOf(all, ({ seconds }) => seconds))],
    ["load", (all) => showFigure(figureOf(all, ({ load }) => load))],
  ],
)}
`;
