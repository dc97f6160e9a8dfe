import { expect, test } from "bun:test";
import { type Candidate, chooseReplica, findPreferred, slownessOf } from "./choose-replica.ts";
import { hash } from "./replica.ts";

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
  expect(slow.inFlight).toBeWithin(8, 18);
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

test("what a slow replica or one with a low limit cannot hold leaves the others room for their own keys", () => {
  for (const held of [{ slowness: 10 }, { limit: 1, inFlight: 1 }]) {
    const replicas = replicasOf(2);
    const [bad, good] = replicas;
    if (bad === undefined || good === undefined) throw new Error("There are two.");
    Object.assign(bad, held);
    good.inFlight = 40;
    const own = keys.find((key) => findPreferred(replicas, key) === good);
    expect(chooseReplica(replicas, own ?? 0)).toBe(good);
  }
  const replicas = replicasOf(4);
  for (const [place, replica] of replicas.entries()) replica.inFlight = place === 0 ? 3 : 33;
  const own = keys.filter((key) => findPreferred(replicas, key) !== replicas[0]);
  if (replicas[0] !== undefined) replicas[0].slowness = 10;
  expect(own.every((key) => chooseReplica(replicas, key) === findPreferred(replicas, key))).toBe(true);
});

test("a key that had to move stays where it went, until there is no room or its own replica is clearly below its share", () => {
  const replicas = replicasOf(4);
  const [home, other, third] = replicas.toSorted(
    (one, two) => Number(findPreferred(replicas, 7) === two) - Number(findPreferred(replicas, 7) === one),
  );
  if (home === undefined || other === undefined || third === undefined) throw new Error("There are four.");
  for (const replica of replicas) replica.inFlight = 20;
  expect(chooseReplica(replicas, 7, other)).toBe(other);
  other.inFlight = 30;
  expect(chooseReplica(replicas, 7, other)).toBe(home);
  other.inFlight = 20;
  home.inFlight = 14;
  expect(chooseReplica(replicas, 7, other)).toBe(home);
  expect(
    chooseReplica(
      replicas.filter((one) => one !== other && one !== home),
      7,
      other,
    ),
  ).not.toBe(other);
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
