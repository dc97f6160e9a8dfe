import { expect, test } from "bun:test";
import { EvaluateResponse } from "@presage/contract";
import { eventually, expectEventually } from "../support/eventually.ts";
import {
  type PresageWithTwoAccounts,
  startPresageWithTwoAccounts,
} from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { passing, refuse, say } from "../support/upstream/judge.ts";
import type { ReceivedRequest } from "../support/upstream/upstream.ts";
import { isWholeRun } from "../support/whole-run.ts";

const judges = (count: number) =>
  Array.from({ length: count }, () => ({ evaluator: "judge", profile_name: "system:is-concise" }));

function judgement(count: number, output = "The door is open.") {
  return { evaluators: judges(count), evaluated_model_output: output, capture: "none" };
}

/** Counts concurrent upstream calls, and responds to each after a delay. */
function countAtOnce({ upstream }: PresageWithTwoAccounts, answerAfterMs: number) {
  let now = 0;
  const counted = { most: 0 };
  upstream.answer = async () => {
    now += 1;
    counted.most = Math.max(counted.most, now);
    await Bun.sleep(answerAfterMs);
    now -= 1;
    return say(passing);
  };
  return counted;
}

/** An upstream that holds every call until it is released. */
function hold({ upstream }: PresageWithTwoAccounts) {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.answer = async () => {
    await promise;
    return say(passing);
  };
  return resolve;
}

const textOf = ({ text }: ReceivedRequest) => text;

async function statusesOf(response: Response): Promise<string[]> {
  expect(response.status).toBe(200);
  const { results } = EvaluateResponse.parse(await response.json());
  return results.map(({ status, error_message }) => error_message?.split(":")[0] ?? status);
}

onAnyDatabase((database) => {
  const evaluations = isWholeRun ? 50 : 10;
  test(`${evaluations} evaluations by twenty judges make at most as many concurrent calls as predictions may`, async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_MAX_IN_FLIGHT: "5",
    });
    const counted = countAtOnce(server, 5);
    const answers = await Promise.all(
      Array.from({ length: evaluations }, () => server.mine("POST", "/v1/evaluate", judgement(20))),
    );
    for (const answer of answers) expect(new Set(await statusesOf(answer))).toEqual(new Set(["success"]));
    expect(counted.most).toBe(5);
  });

  test("an account that comes later does not wait for the whole queue of another", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_JUDGE_MAX_IN_FLIGHT: "2",
    });
    const { upstream } = server;
    const release = hold(server);
    const crowded = Array.from({ length: 10 }, () => server.mine("POST", "/v1/evaluate", judgement(20)));
    await expectEventually(() => upstream.received.length, 2);
    const alone = server.theirs("POST", "/v1/evaluate", judgement(1, "The window is shut."));
    await expectEventually(() => readMetric(server.presage, "presage_judge_calls_waiting"), 199);
    release();
    expect(await statusesOf(await alone)).toEqual(["success"]);
    await Promise.all(crowded);
    const place = upstream.received.map(textOf).findIndex((text) => text.includes("The window is shut."));
    expect(place).toBeLessThan(8);
    expect(upstream.received).toHaveLength(201);
  });

  test("an evaluation that is queued until its deadline says so, and calls no model", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_JUDGE_MAX_IN_FLIGHT: "1",
      PRESAGE_UPSTREAM_TIMEOUT_MS: "500",
    });
    server.upstream.answer = () => new Promise(() => {});
    const statuses = await statusesOf(await server.mine("POST", "/v1/evaluate", judgement(3)));
    // A call that starts right at its deadline may have reached the model.
    expect(statuses.filter((status) => status === "overloaded").length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set(["overloaded", "timeout"]));
    expect(server.upstream.received.length).toBeLessThan(3);
    // A model that never answers holds no turn beyond the deadline.
    await expectEventually(() => readMetric(server.presage, "presage_judge_calls_in_flight"), 0);
    server.upstream.answer = () => say(passing);
    const next = async () => await statusesOf(await server.mine("POST", "/v1/evaluate", judgement(1)));
    expect(await eventually(next, ([status]) => status === "success")).toEqual(["success"]);
  });

  test("queued calls are dropped when their client disconnects", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_JUDGE_MAX_IN_FLIGHT: "1",
    });
    const { upstream } = server;
    const isLetGo = Promise.withResolvers<void>();
    upstream.answer = (_, request) => {
      request.signal.addEventListener("abort", () => isLetGo.resolve());
      return new Promise(() => {});
    };
    const caller = new AbortController();
    const left = server
      .mine("POST", "/v1/evaluate", judgement(20), caller.signal)
      .catch(() => "the caller is gone");
    await expectEventually(() => upstream.received.length, 1);
    caller.abort();
    expect(await left).toBe("the caller is gone");
    await isLetGo.promise;
    upstream.answer = () => say(passing);
    const next = await server.mine("POST", "/v1/evaluate", judgement(1, "The window is shut."));
    expect(await statusesOf(next)).toEqual(["success"]);
    expect(upstream.received).toHaveLength(2);
  });

  for (const [why, status, code] of [
    ["limits the rate", 429, "judge_rate_limited"],
    ["is overloaded", 503, "judge_unreachable"],
  ] as const) {
    test(`one evaluation by twenty judges retries twenty times in total if the upstream ${why}`, async () => {
      await using server = await startPresageWithTwoAccounts(await database.create(), {
        PRESAGE_UPSTREAM_RETRIES: "2",
      });
      server.upstream.answer = () => refuse(status, "slow down");
      const statuses = await statusesOf(await server.mine("POST", "/v1/evaluate", judgement(20)));
      expect(statuses).toEqual(Array.from({ length: 20 }, () => code));
      expect(server.upstream.received.length).toBeLessThanOrEqual(40);
    });
  }

  test("evaluations in flight are limited, and no account can take another's share", async () => {
    await using server = await startPresageWithTwoAccounts(await database.create(), {
      PRESAGE_EVALUATIONS_MAX_IN_FLIGHT: "4",
    });
    const release = hold(server);
    const held = Array.from({ length: 4 }, () => server.mine("POST", "/v1/evaluate", judgement(1)));
    await expectEventually(() => server.upstream.received.length, 4);
    for (const call of [server.mine, server.theirs]) {
      const refused = await call("POST", "/v1/evaluate", judgement(1));
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toEqual({ detail: expect.any(String), category: "unavailable" });
    }
    release();
    for (const one of held) expect(await statusesOf(await one)).toEqual(["success"]);
    expect(await statusesOf(await server.theirs("POST", "/v1/evaluate", judgement(1)))).toEqual(["success"]);
  });
});
