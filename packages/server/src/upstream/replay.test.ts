import { expect, test } from "bun:test";
import { createDraw } from "../../../../fuzz/generate/draw.ts";
import {
  createLatencyWindow,
  createSessionPlaces,
  type LatencyWindow,
  slownessOf,
} from "./choose-replica.ts";
import { hash } from "./replica.ts";
import { routingKeyOf } from "./replicas.ts";

interface SimulatedReplica {
  seed: number;
  inFlight: number;
  limit: number;
  maxInFlight: number;
  slowness: number;
  latency: LatencyWindow;
  /** How many times as long as the others it takes. */
  times: number;
  /** When each of its slots is free. */
  freeAtMs: number[];
}

interface Replay {
  seed: number;
  count: number;
  sessions: number;
  /** Ends the replay at this simulated time; otherwise it ends after 20 steps of each session. */
  untilMs?: number;
  /** How many times as long the first replica takes. */
  slowFirst?: number;
  /** How many steps a replica works on at once; the others wait for their turn. */
  batch?: number;
  /** The longest pause between an answer and the session's next step. */
  thinkMs?: number;
  keyOf?: (session: number, step: number) => number;
  random?: boolean;
}

/** Sessions take steps. Time is simulated: a step takes 20 to 80 ms, and 30 more on a replica that did not have the session's last step. */
function replay({
  seed,
  count,
  sessions,
  untilMs = Number.POSITIVE_INFINITY,
  slowFirst = 1,
  batch = sessions,
  thinkMs = 0,
  keyOf = (session) => hash(`session-${session}`),
  random = false,
}: Replay) {
  const draw = createDraw(12, seed);
  const replicas = Array.from({ length: count }, (_, place): SimulatedReplica => {
    const none = Number.POSITIVE_INFINITY;
    return {
      seed: hash(`http://10.0.${seed}.${place + 1}:30000/v1`),
      inFlight: 0,
      limit: none,
      maxInFlight: none,
      slowness: 1,
      latency: createLatencyWindow(),
      times: place === 0 ? slowFirst : 1,
      freeAtMs: Array<number>(batch).fill(0),
    };
  });
  const places = createSessionPlaces(replicas);
  const lastOf = new Map<number, SimulatedReplica>();
  const events: { atMs: number; happen(): void }[] = [];
  const counted = { steps: 0, repeats: 0, warm: 0 };
  const imbalances: number[] = [];

  function begin(nowMs: number, session: number, step: number): void {
    const chosen = random ? draw.pick(replicas) : places.choose(replicas, keyOf(session, step)).replica;
    if (chosen === undefined) throw new Error("There is always a replica.");
    chosen.inFlight += 1;
    const held = chosen.inFlight;
    const isWarm = lastOf.get(session) === chosen;
    if (step > 0) counted.repeats += 1;
    if (isWarm) counted.warm += 1;
    lastOf.set(session, chosen);
    const slot = chosen.freeAtMs.indexOf(Math.min(...chosen.freeAtMs));
    const endAtMs =
      Math.max(nowMs, chosen.freeAtMs[slot] ?? 0) + (20 + draw.below(61) + (isWarm ? 0 : 30)) * chosen.times;
    chosen.freeAtMs[slot] = endAtMs;
    events.push({
      atMs: endAtMs,
      happen: () => end(chosen, { beganAtMs: nowMs, endAtMs, held }, session, step),
    });
  }

  function end(
    replica: SimulatedReplica,
    { beganAtMs, endAtMs, held }: { beganAtMs: number; endAtMs: number; held: number },
    session: number,
    step: number,
  ): void {
    counted.steps += 1;
    replica.inFlight -= 1;
    replica.latency.record(endAtMs - beganAtMs, held);
    const slowness = slownessOf(replicas.map(({ latency }) => latency.average()));
    for (const [place, one] of replicas.entries()) one.slowness = slowness[place] ?? 1;
    const nextAtMs = endAtMs + (thinkMs === 0 ? 0 : draw.below(thinkMs));
    if (untilMs !== Number.POSITIVE_INFINITY || step < 19)
      events.push({ atMs: nextAtMs, happen: () => begin(nextAtMs, session, step + 1) });
    let most = 0;
    let all = 0;
    for (const { inFlight } of replicas) {
      all += inFlight;
      most = Math.max(most, inFlight);
    }
    if (all >= sessions / 2) imbalances.push((most / all) * count);
  }

  for (let session = 0; session < sessions; session += 1) begin(0, session, 0);
  while (true) {
    let next = 0;
    for (let place = 1; place < events.length; place += 1)
      if ((events[place]?.atMs ?? 0) < (events[next]?.atMs ?? 0)) next = place;
    const event = events[next];
    const last = events.pop();
    if (event === undefined || last === undefined || event.atMs > untilMs) break;
    if (next < events.length) events[next] = last;
    event.happen();
  }
  imbalances.sort((one, other) => one - other);
  return {
    steps: counted.steps,
    warmShare: counted.warm / counted.repeats,
    imbalance: imbalances[Math.floor(imbalances.length * 0.99)] ?? 0,
  };
}

const seeds = process.env.PRESAGE_TEST_ALL === undefined ? [1] : [1, 2, 3];
/** Everything in progress at once; steps that wait for their turn; and agents that take as long as the model. */
const loads = [{}, { batch: 4 }, { batch: 2, thinkMs: 40 }, { thinkMs: 100 }];

test("512 sessions of 20 steps on 8 replicas find their prefix in 95 % of the steps, with no replica above 1.35 times the mean", () => {
  for (const load of loads) {
    const replays = seeds.map((seed) => replay({ seed, count: 8, sessions: 512, ...load }));
    expect(meanOf(replays.map(({ warmShare }) => warmShare))).toBeGreaterThanOrEqual(0.95);
    for (const { imbalance } of replays) expect(imbalance).toBeLessThanOrEqual(1.35);
  }
  const random = replay({ seed: 1, count: 8, sessions: 512, random: true });
  expect(random.warmShare).toBeLessThan(0.2);
  expect(random.imbalance).toBeGreaterThan(1.35);
});

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const system = "You simulate a kitchen. ".repeat(1_250);

test("512 sessions that share a system prompt of 30 KB do not overload the replica that it prefers", () => {
  const keys = new Map<string, number>();
  const keyOf = (session: number, step: number) => {
    const name = `${session} ${step === 0}`;
    const known = keys.get(name);
    if (known !== undefined) return known;
    const task = { role: "user", content: `Task ${session}` };
    const later = [
      { role: "assistant", content: "Done." },
      { role: "user", content: "Next" },
    ];
    const messages = [{ role: "system", content: system }, task, ...(step === 0 ? [] : later)];
    const key = routingKeyOf({ messages }, undefined);
    keys.set(name, key);
    return key;
  };
  const chosen = replay({ seed: 4, count: 8, sessions: 512, keyOf });
  expect(chosen.imbalance).toBeLessThanOrEqual(1.35);
  // The first two steps of a session have different keys.
  expect(chosen.warmShare).toBeGreaterThanOrEqual(0.9);
});

test("four replicas of which one is ten times as slow do at least 0.85 times what the other three do alone, and sessions stay", () => {
  for (const sessions of [16, 64, 512]) {
    const usual = { seed: 5, sessions, untilMs: 6_000 };
    const withSlow = replay({ ...usual, count: 4, slowFirst: 10 });
    const alone = replay({ ...usual, count: 3 });
    expect(withSlow.steps / alone.steps).toBeGreaterThanOrEqual(0.85);
    if (sessions === 512) expect(withSlow.warmShare).toBeGreaterThanOrEqual(0.95);
  }
});
