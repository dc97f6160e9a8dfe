import { expect, test } from "bun:test";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { startRawUpstream } from "../support/upstream/raw-upstream.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

const model = { PRESAGE_UPSTREAM_MODEL: "test-model" };

interface Fleet extends AsyncDisposable {
  replicas: TestUpstream[];
  presage: TestPresage;
}

/** A server with real replicas, each with a name that its responses carry. */
async function startFleet(count: number, environment: Record<string, string> = {}): Promise<Fleet> {
  const replicas = Array.from({ length: count }, (_, place) =>
    startUpstream(() => Response.json(completion(`replica ${place}`))),
  );
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: replicas.map(({ url }) => url).join(","),
    ...model,
    ...environment,
  });
  return {
    replicas,
    presage,
    async [Symbol.asyncDispose]() {
      await presage.stop();
      await Promise.all(replicas.map((replica) => replica.stop()));
    },
  };
}

function ask(presage: TestPresage, session: string, body: unknown = prediction): Promise<Response> {
  return presage.call("POST", "/v1/predict", body, { "x-api-key": testKey, "x-session-id": session });
}

async function answererOf(response: Response): Promise<string> {
  const body = (await response.json()) as { response: { content: string } };
  return body.response.content;
}

/** Enough sessions that each of four replicas gets some, whatever their ports are. */
const sessions = Array.from({ length: 64 }, (_, place) => `rollout-${place}`);

/** The replica that answers each session, one session after the other. */
async function placesOf(presage: TestPresage): Promise<string[]> {
  const places: string[] = [];
  for (const session of sessions) places.push(await answererOf(await ask(presage, session)));
  return places;
}

test("a session stays with one replica, sessions spread over all of them, and two servers agree where", async () => {
  await using fleet = await startFleet(4);
  const places = await placesOf(fleet.presage);
  expect(await placesOf(fleet.presage)).toEqual(places);
  expect(new Set(places).size).toBe(4);
  const second = await startPresage({
    PRESAGE_UPSTREAM_URL: fleet.replicas
      .map(({ url }) => url)
      .toReversed()
      .join(","),
    ...model,
  });
  expect(await placesOf(second)).toEqual(places);
  await second.stop();
});

test("without a session header the context decides, and a chat keeps its replica as it grows", async () => {
  await using fleet = await startFleet(4);
  const { presage, replicas } = fleet;
  for (let action = 0; action < 8; action += 1) {
    const interaction = { state: `State ${action}`, action: "go" };
    await presage.call("POST", "/v1/predict", { context: { task_context: "Kitchen" }, interaction });
  }
  expect(replicas.map(({ received }) => received.length).toSorted()).toEqual([0, 0, 0, 8]);
  for (const replica of replicas) replica.received.length = 0;
  const messages = [
    { role: "system", content: "Kitchen" },
    { role: "user", content: "Task 1" },
    { role: "assistant", content: "Done." },
  ];
  for (let step = 0; step < 8; step += 1) {
    messages.push({ role: "user", content: `Step ${step}` });
    expect((await presage.call("POST", "/v1/chat/completions", { messages })).status).toBe(200);
  }
  expect(replicas.map(({ received }) => received.length).toSorted()).toEqual([0, 0, 0, 8]);
});

for (const name of ["x-session-id", "x-smg-routing-key"]) {
  test(`the upstream gets ${name} as it was sent, with one replica and with several`, async () => {
    for (const count of [1, 3]) {
      await using fleet = await startFleet(count);
      const headers = { "x-api-key": testKey, [name]: "rollout/7:a" };
      await fleet.presage.call("POST", "/v1/predict", prediction, headers);
      await fleet.presage.call(
        "POST",
        "/v1/chat/completions",
        { messages: [{ role: "user", content: "a" }] },
        headers,
      );
      const received = fleet.replicas.flatMap((replica) => replica.received);
      expect(received.map((one) => one.headers.get(name))).toEqual(["rollout/7:a", "rollout/7:a"]);
    }
  });

  test(`${name} that is empty, too long or not visible ASCII is 422 and reaches no replica`, async () => {
    await using fleet = await startFleet(2);
    for (const value of ["", "x".repeat(257), "a b", "é"]) {
      const headers = { "x-api-key": testKey, [name]: value };
      const response = await fleet.presage.call("POST", "/v1/predict", prediction, headers);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: [{ type: "value_error", loc: ["header", name] }],
      });
    }
    expect(fleet.replicas.flatMap(({ received }) => received)).toEqual([]);
  });
}

test.each(upstreamClients)(
  "over %s, no call fails when a replica is gone, whose sessions move and the others' stay",
  async (client) => {
    await using fleet = await startFleet(4, { PRESAGE_UPSTREAM_CLIENT: client });
    const { presage, replicas } = fleet;
    const before = await placesOf(presage);
    await replicas[2]?.stop();
    const after = await placesOf(presage);
    for (const [place, answerer] of after.entries()) {
      if (before[place] === "replica 2") expect(answerer).not.toBe("replica 2");
      else expect(answerer).toBe(before[place] ?? "");
    }
  },
);

test("a replica that answers 503 is ejected after three, and no call fails", async () => {
  await using fleet = await startFleet(4);
  const { presage, replicas } = fleet;
  const [bad] = replicas;
  if (bad === undefined) throw new Error("There are four.");
  bad.answer = () => new Response("busy", { status: 503 });
  for (const session of [...sessions, ...sessions]) expect((await ask(presage, session)).status).toBe(200);
  expect(bad.received).toHaveLength(3);
});

test.each(upstreamClients)(
  "over %s, a replica that resets every connection is ejected, and no call fails",
  async (client) => {
    const bad = await startRawUpstream(({ socket }) => socket.resetAndDestroy());
    const good = [startUpstream(), startUpstream(), startUpstream()];
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: [bad, ...good].map(({ url }) => url).join(","),
      ...model,
      PRESAGE_UPSTREAM_CLIENT: client,
    });
    for (const session of [...sessions, ...sessions]) expect((await ask(presage, session)).status).toBe(200);
    expect(bad.received.length).toBeWithin(3, 5);
    await presage.stop();
    await Promise.all([bad, ...good].map((upstream) => upstream.stop()));
  },
);

test("a 400 and a 413 do not eject, and are not sent to another replica", async () => {
  await using fleet = await startFleet(2);
  for (const status of [400, 413]) {
    for (const replica of fleet.replicas) {
      replica.received.length = 0;
      replica.answer = () => new Response("no", { status });
    }
    for (const session of sessions) await ask(fleet.presage, session);
    const received = fleet.replicas.map((replica) => replica.received.length);
    expect(received.reduce((sum, count) => sum + count)).toBe(sessions.length);
    expect(Math.min(...received)).toBeGreaterThan(0);
  }
});

test("where all replicas fail, all are asked, so that the first that recovers answers at once", async () => {
  await using fleet = await startFleet(4);
  const { presage, replicas } = fleet;
  for (const replica of replicas) replica.answer = () => new Response("busy", { status: 503 });
  for (const session of sessions) expect((await ask(presage, session)).status).toBe(503);
  for (const replica of replicas) replica.received.length = 0;
  for (const session of sessions) expect((await ask(presage, session)).status).toBe(503);
  expect(replicas.every(({ received }) => received.length > 0)).toBe(true);
  for (const replica of replicas) replica.answer = () => Response.json(completion("back"));
  for (const session of sessions) expect((await ask(presage, session)).status).toBe(200);
}, 300_000);

test.each(upstreamClients)(
  "over %s, while all replicas are gone, calls fail fast and their retries stay within the share",
  async (client) => {
    const counted = { requests: 0 };
    const replicas = await Promise.all(
      Array.from({ length: 4 }, () =>
        startRawUpstream(({ socket }) => {
          counted.requests += 1;
          socket.resetAndDestroy();
        }),
      ),
    );
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: replicas.map(({ url }) => url).join(","),
      ...model,
      PRESAGE_UPSTREAM_CLIENT: client,
    });
    const calls = 1_000;
    let left = calls;
    const worker = async () => {
      while (left-- > 0) expect((await ask(presage, `rollout-${left}`)).status).toBe(503);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    expect(counted.requests).toBeWithin(calls, calls * 1.2);
    await presage.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  },
  120_000,
);

test("a replica that limits the rate gets at most half as many requests at once, and the other one as many retries as may be", async () => {
  await using fleet = await startFleet(2);
  const { presage, replicas } = fleet;
  const [limited, other] = replicas;
  if (limited === undefined || other === undefined) throw new Error("There are two.");
  const session = await sessionOf(fleet, "replica 0", limited);

  /** Sends 16 requests at once, and answers when all have arrived. */
  async function crowd(status: number): Promise<{ statuses: number[]; ofLimited: number }> {
    limited?.received.splice(0);
    other?.received.splice(0);
    const arrived = Promise.withResolvers<void>();
    for (const replica of replicas) {
      replica.answer = async () => {
        if (replicas.reduce((sum, { received }) => sum + received.length, 0) === 16) arrived.resolve();
        await arrived.promise;
        return Response.json(completion("Open."), { status: replica === limited ? status : 200 });
      };
    }
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask(presage, session)));
    return { statuses: answers.map((answer) => answer.status), ofLimited: limited?.received.length ?? 0 };
  }

  const first = await crowd(429);
  const limits = first.statuses.filter((status) => status === 429).length;
  expect(limits).toBeLessThan(first.ofLimited);
  const second = await crowd(200);
  expect(first.ofLimited).toBeGreaterThanOrEqual(2);
  // It gets fewer if it was the slower one so far.
  expect(second.ofLimited).toBeWithin(1, Math.floor(first.ofLimited / 2) + 1);
});

/** A session that prefers this replica. */
async function sessionOf({ presage }: Fleet, name: string, replica: TestUpstream): Promise<string> {
  const { answer } = replica;
  replica.answer = () => Response.json(completion(name));
  for (const session of sessions) {
    if ((await answererOf(await ask(presage, session))) === name) {
      replica.answer = answer;
      return session;
    }
  }
  throw new Error(`No session prefers ${name}.`);
}

test.each(upstreamClients)(
  "over %s, a client that disconnects says nothing about the replica",
  async (client) => {
    await using fleet = await startFleet(2, { PRESAGE_UPSTREAM_CLIENT: client });
    const { presage, replicas } = fleet;
    const release = Promise.withResolvers<void>();
    for (const replica of replicas) {
      replica.answer = async () => {
        await release.promise;
        return Response.json(completion("late"));
      };
    }
    const hangUps = sessions.slice(0, 12).map(async (session) => {
      const controller = new AbortController();
      const call = fetch(`${presage.url}/v1/predict`, {
        method: "POST",
        body: JSON.stringify(prediction),
        headers: { "x-api-key": testKey, "x-session-id": session },
        signal: controller.signal,
      }).catch(() => undefined);
      while (
        !replicas.some(({ received }) => received.some((one) => one.headers.get("x-session-id") === session))
      )
        await Bun.sleep(5);
      controller.abort();
      await call;
    });
    await Promise.all(hangUps);
    release.resolve();
    for (const [place, replica] of replicas.entries())
      replica.answer = () => Response.json(completion(`replica ${place}`));
    expect(new Set(await placesOf(presage)).size).toBe(2);
  },
);
