import { expect, test } from "bun:test";
import { createDraw, type Draw } from "../../../../../fuzz/generate/draw.ts";
import { type Candidate, chooseReplica, findPreferred, slownessOf } from "./choose-replica.ts";
import { createLatencyWindow } from "./latency-window.ts";
import { hash, routingKeyOf } from "./routing-key.ts";

interface TestReplica extends Candidate {
  name: string;
  inFlight: number;
  limit: number;
  maxInFlight: number;
  slowness: number;
}

function replicasOf(count: number): TestReplica[] {
  return Array.from({ length: count }, (_, place) => {
    const name = `http://10.0.0.${place + 1}:30000/v1`;
    const none = Number.POSITIVE_INFINITY;
    return { name, seed: hash(name), inFlight: 0, limit: none, maxInFlight: none, slowness: 1 };
  });
}

const keys = Array.from({ length: 4_000 }, (_, place) => hash(`session-${place}`));
const preferred = (replicas: readonly TestReplica[], key: number) => chooseReplica(replicas, key)?.name;

test("idle replicas are preferred by even shares of the keys, and each key always prefers the same one", () => {
  const replicas = replicasOf(8);
  const counts = Object.groupBy(keys, (key) => preferred(replicas, key) ?? "none");
  expect(Object.keys(counts)).toHaveLength(8);
  for (const ofReplica of Object.values(counts)) {
    expect(ofReplica?.length).toBeWithin(420, 580);
  }
  expect(keys.map((key) => preferred(replicas.toReversed(), key))).toEqual(
    keys.map((key) => preferred(replicas, key)),
  );
});

test("without one replica only its own keys go elsewhere, spread over all others", () => {
  const replicas = replicasOf(4);
  const [gone, ...left] = replicas;
  const moved = keys.filter((key) => preferred(replicas, key) !== preferred(left, key));
  expect(moved.every((key) => preferred(replicas, key) === gone?.name)).toBe(true);
  const counts = Object.groupBy(moved, (key) => preferred(left, key) ?? "none");
  for (const ofReplica of Object.values(counts)) {
    expect((ofReplica?.length ?? 0) / moved.length).toBeWithin(0.27, 0.4);
  }
});

test("no replica goes above 1.25 times its share of the requests in flight, however the keys fall", () => {
  const replicas = replicasOf(8);
  for (let inFlight = 0; inFlight < 800; inFlight += 1) {
    const replica = chooseReplica(replicas, 7);
    if (replica === undefined) throw new Error("There is always a replica.");
    replica.inFlight += 1;
    expect(replica.inFlight).toBeLessThanOrEqual(Math.ceil((1.25 * (inFlight + 1)) / 8));
  }
});

test("a replica that is ten times as slow holds about a tenth of what the others hold", () => {
  const replicas = replicasOf(4);
  const [slow] = replicas;
  if (slow === undefined) throw new Error("There are four.");
  slow.slowness = 10;
  for (const key of keys.slice(0, 400)) {
    const replica = chooseReplica(replicas, key);
    if (replica !== undefined) replica.inFlight += 1;
  }
  expect(slow.inFlight).toBeWithin(8, 15);
});

test("a replica with as many requests as it may have is passed over, and with all at that there is none", () => {
  const replicas = replicasOf(2);
  for (const replica of replicas) replica.maxInFlight = 3;
  const held = Array.from({ length: 7 }, () => {
    const replica = chooseReplica(replicas, 1);
    if (replica !== undefined) replica.inFlight += 1;
    return replica !== undefined;
  });
  expect(held).toEqual([...Array(6).fill(true), false]);
});

test("with all above what their 429s allow, the one with the least load is asked, which says so itself", () => {
  const replicas = replicasOf(2);
  for (const [place, replica] of replicas.entries()) {
    replica.limit = 3;
    replica.inFlight = 4 - place;
  }
  expect(preferred(replicas, 1)).toBe("http://10.0.0.2:30000/v1");
});

test("where every replica is too slow for the bound, the one with the least load is asked", () => {
  const replicas = replicasOf(2);
  for (const [place, replica] of replicas.entries()) {
    replica.slowness = 10;
    replica.inFlight = 5 + place;
  }
  expect(preferred(replicas, 1)).toBe("http://10.0.0.1:30000/v1");
});

test("slowness is the latency over the median, from 1 to 10, and 1 while no latency is known", () => {
  const alone = (ms: number | undefined) => (ms === undefined ? undefined : { ms, msPerRequestHeld: ms });
  expect(slownessOf([20, 24, undefined, 20, 60, 4_000, 20].map(alone))).toEqual([1, 1, 1, 1, 3, 10, 1]);
  expect(slownessOf([10, 200].map(alone))).toEqual([1, 10]);
  expect(slownessOf([undefined, undefined])).toEqual([1, 1]);
});

test("a replica that holds twice as many requests and takes twice as long is not slow", () => {
  const usual = { ms: 100, msPerRequestHeld: 10 };
  expect(slownessOf([usual, { ms: 200, msPerRequestHeld: 10 }, usual])).toEqual([1, 1, 1]);
  expect(slownessOf([usual, { ms: 100, msPerRequestHeld: 50 }, usual])).toEqual([1, 1, 1]);
  expect(slownessOf([usual, { ms: 300, msPerRequestHeld: 50 }, usual])).toEqual([1, 3, 1]);
});

test("the preferred replica stays the same while it is full", () => {
  const replicas = replicasOf(4);
  const preferredOne = findPreferred(replicas, 7);
  expect(chooseReplica(replicas, 7)).toBe(preferredOne);
  if (preferredOne !== undefined) preferredOne.inFlight = 100;
  expect(chooseReplica(replicas, 7)).not.toBe(preferredOne);
  expect(findPreferred(replicas, 7)).toBe(preferredOne);
});

const system = "You simulate a kitchen. ".repeat(1_250);

interface Replay {
  replicas: TestReplica[];
  sessions: number;
  /** Ends the replay at this simulated time; otherwise it ends after 20 steps of each session. */
  untilMs?: number;
  /** How many times as long the first replica takes. */
  slowFirst?: number;
  /** How many steps a replica works on at once; the others wait for their turn. */
  batch?: number;
  choose?: (session: number, step: number) => TestReplica | undefined;
}

/**
 * Sessions take steps, each as soon as the last one is done. Time is simulated: a step takes 20 to 80 ms, and 30 more on a replica that
 * did not have the session's last step.
 */
function replay(
  draw: Draw,
  { replicas, sessions, untilMs, slowFirst = 1, batch = sessions, choose = bySession(replicas) }: Replay,
) {
  const [first] = replicas;
  const latencies = replicas.map(() => createLatencyWindow());
  const freeAtMs = new Map(replicas.map((replica) => [replica, Array<number>(batch).fill(0)]));
  const lastOf = new Map<number, TestReplica>();
  const steps: {
    beganAtMs: number;
    endAtMs: number;
    session: number;
    step: number;
    replica: TestReplica;
    /** The replica's requests in flight when it began. */
    among: number;
  }[] = [];
  const counted = { steps: 0, repeats: 0, warm: 0 };
  const imbalances: number[] = [];

  function begin(nowMs: number, session: number, step: number): void {
    const replica = choose(session, step);
    if (replica === undefined) throw new Error("There is always a replica.");
    replica.inFlight += 1;
    const isWarm = lastOf.get(session) === replica;
    if (step > 0) counted.repeats += 1;
    if (isWarm) counted.warm += 1;
    lastOf.set(session, replica);
    const takesMs = (20 + draw.below(61) + (isWarm ? 0 : 30)) * (replica === first ? slowFirst : 1);
    const slots = freeAtMs.get(replica) ?? [];
    const slot = slots.indexOf(Math.min(...slots));
    const endAtMs = Math.max(nowMs, slots[slot] ?? 0) + takesMs;
    slots[slot] = endAtMs;
    steps.push({ beganAtMs: nowMs, endAtMs, session, step, replica, among: replica.inFlight });
  }

  for (let session = 0; session < sessions; session += 1) begin(0, session, 0);
  while (steps.length > 0) {
    let next = 0;
    for (const [place, { endAtMs }] of steps.entries()) {
      if (endAtMs < (steps[next]?.endAtMs ?? 0)) next = place;
    }
    const [ended] = steps.splice(next, 1);
    if (ended === undefined || ended.endAtMs > (untilMs ?? ended.endAtMs)) break;
    const { beganAtMs, endAtMs, session, step, replica, among } = ended;
    counted.steps += 1;
    replica.inFlight -= 1;
    latencies[replicas.indexOf(replica)]?.record(endAtMs - beganAtMs, among);
    const slowness = slownessOf(latencies.map((latency) => latency.average()));
    for (const [place, one] of replicas.entries()) one.slowness = slowness[place] ?? 1;
    if (untilMs !== undefined || step < 19) begin(endAtMs, session, step + 1);
    const loads = replicas.map(({ inFlight }) => inFlight);
    const mean = loads.reduce((sum, load) => sum + load, 0) / replicas.length;
    if (mean * replicas.length >= sessions / 2) imbalances.push(Math.max(...loads) / mean);
  }
  imbalances.sort((one, other) => one - other);
  return {
    steps: counted.steps,
    warmShare: counted.warm / counted.repeats,
    imbalance: imbalances[Math.floor(imbalances.length * 0.99)] ?? 0,
  };
}

function bySession(replicas: readonly TestReplica[]) {
  return (session: number) => chooseReplica(replicas, hash(`session-${session}`));
}

test("512 sessions of 20 steps on 8 replicas find their prefix in 95 % of the steps, with no replica above 1.35 times the mean", () => {
  const chosen = replay(createDraw(12, 0), { replicas: replicasOf(8), sessions: 512 });
  expect(chosen.warmShare).toBeGreaterThanOrEqual(0.95);
  expect(chosen.imbalance).toBeLessThanOrEqual(1.35);

  const draw = createDraw(12, 1);
  const replicas = replicasOf(8);
  const random = replay(createDraw(12, 0), { replicas, sessions: 512, choose: () => draw.pick(replicas) });
  expect(random.warmShare).toBeLessThan(0.2);
  expect(random.imbalance).toBeGreaterThan(chosen.imbalance);
});

test("where steps wait for their turn, a replica with more of them does not count as slow, and sessions stay", () => {
  const chosen = replay(createDraw(12, 4), { replicas: replicasOf(8), sessions: 512, batch: 4 });
  expect(chosen.warmShare).toBeGreaterThanOrEqual(0.95);
  expect(chosen.imbalance).toBeLessThanOrEqual(1.35);
});

test("512 sessions that share a system prompt of 30 KB do not overload the replica that it prefers", () => {
  const replicas = replicasOf(8);
  const chosen = replay(createDraw(12, 2), {
    replicas,
    sessions: 512,
    choose(session, step) {
      const task = { role: "user", content: `Task ${session}` };
      const later = [
        { role: "assistant", content: "Done." },
        { role: "user", content: "Next" },
      ];
      const messages = [{ role: "system", content: system }, task, ...(step === 0 ? [] : later)];
      return chooseReplica(replicas, routingKeyOf({ messages }, undefined));
    },
  });
  expect(chosen.imbalance).toBeLessThanOrEqual(1.35);
  // The first two steps of a session have different keys.
  expect(chosen.warmShare).toBeGreaterThanOrEqual(0.9);
});

test("four replicas of which one is ten times as slow do at least 0.85 times what the other three do alone", () => {
  for (const sessions of [16, 64, 512]) {
    const untilMs = 6_000;
    const withSlow = replay(createDraw(12, 3), { replicas: replicasOf(4), sessions, untilMs, slowFirst: 10 });
    const alone = replay(createDraw(12, 3), { replicas: replicasOf(4).slice(1), sessions, untilMs });
    expect(withSlow.steps / alone.steps).toBeGreaterThanOrEqual(0.85);
  }
});
