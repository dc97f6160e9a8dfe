import { describe, expect, test } from "bun:test";
import { createJudgeFamily } from "../../src/evaluators/judge/judge.ts";
import { EvaluationError, outcomeOfError } from "../../src/evaluators/outcome.ts";
import { ClientDisconnectedError } from "../../src/platform/errors.ts";
import {
  answerWith,
  config,
  createTestJudge,
  failing,
  passing,
  promptOf,
  refuse,
  say,
  useTestJudge,
} from "../support/upstream/judge.ts";
import { type Answer, startUpstream } from "../support/upstream/upstream.ts";

const { upstream, judge, failure } = useTestJudge();

/** Gives the answers one after another; the last one repeats. */
function inTurn(...answers: (() => Response | Promise<Response>)[]): Answer {
  let turn = 0;
  return () => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    return answer?.() ?? new Response(null, { status: 500 });
  };
}

describe("A verdict that is not among the options", () => {
  for (const [name, answer] of [
    ["another word", { reasoning: "Hm.", verdict: "maybe" }],
    ["a word with extra text", { reasoning: "Hm.", verdict: "Pass!" }],
    ["a boolean", { reasoning: "Hm.", verdict: true }],
    ["a list", { reasoning: "Hm.", verdict: ["pass"] }],
    ["a score above 1", { ...passing, score: 1.01 }],
    ["a score below 0", { ...passing, score: -0.5 }],
    ["a score beyond all numbers", '{"reasoning":"Yes.","verdict":"pass","score":1e999}'],
    ["a score that is a text", { ...passing, score: "1" }],
    ["a blank reasoning", { reasoning: " \n", verdict: "pass" }],
  ] as const) {
    test(`(${name}) is asked for once more`, async () => {
      upstream.answer = inTurn(
        () => say(answer),
        () => say(failing),
      );
      expect(await judge()).toMatchObject({
        pass: false,
        extra: { attempts: 2, rung: "json_schema", usage: { prompt_tokens: 22, completion_tokens: 14 } },
      });
      expect(promptOf(upstream.received[0])).not.toContain("last answer");
      expect(promptOf(upstream.received[1])).toContain("last answer");
    });
  }

  test("twice is an error", async () => {
    upstream.answer = () => say({ reasoning: "Hm.", verdict: "maybe" });
    expect((await failure()).code).toBe("judge_invalid_verdict");
    expect(upstream.received).toHaveLength(2);
  });

  test("that is unreadable in every response format is an error, after one more try", async () => {
    upstream.answer = () => say("The door, the door.");
    expect((await failure()).code).toBe("judge_invalid_verdict");
    expect(upstream.received).toHaveLength(4);
  });
});

describe("A verdict that its score contradicts", () => {
  const contradiction = { reasoning: "Hm.", verdict: "pass", score: 0.2 };

  test("is asked for once more, with what is wrong", async () => {
    upstream.answer = inTurn(
      () => say(contradiction),
      () => say({ ...contradiction, score: 0.5 }),
    );
    expect(await judge()).toMatchObject({ pass: true, score: 0.5, extra: { attempts: 2 } });
    expect(promptOf(upstream.received[1])).toContain("contradict each other");
  });

  test("twice is no verdict, also after an answer that could not be read", async () => {
    upstream.answer = () => say({ reasoning: "Hm.", verdict: "fail", score: 0.51 });
    const error = await failure();
    expect([error.code, outcomeOfError(error)?.status]).toEqual(["contradictory_verdict", "contradictory"]);
    expect(upstream.received).toHaveLength(2);
    upstream.answer = inTurn(
      () => say({ reasoning: "Hm.", verdict: "maybe" }),
      () => say(contradiction),
      () => say(passing),
    );
    expect((await judge()).pass).toBe(true);
  });

  test("is one or none by the profile's pass_score, at which both are allowed", async () => {
    upstream.answer = () => say({ reasoning: "Hm.", verdict: "fail", score: 0.8 });
    expect(await judge(undefined, { pass_score: 0.8 })).toMatchObject({ pass: false, score: 0.8 });
    expect(promptOf(upstream.received[0])).toContain('With the verdict "pass" a score is 0.8 or above');
    upstream.answer = () => say({ reasoning: "Hm.", verdict: "pass", score: 0.2 });
    expect(await judge(undefined, { pass_score: 0.1 })).toMatchObject({ pass: true, score: 0.2 });
  });

  test("is none without a score, which stays null", async () => {
    for (const verdict of ["pass", "fail"]) {
      upstream.answer = () => say({ reasoning: "Hm.", verdict, score: null });
      expect(await judge()).toMatchObject({ pass: verdict === "pass", score: undefined });
    }
  });
});

/** The deadline of an evaluation. */
function deadline() {
  const controller = new AbortController();
  const error = new EvaluationError("timeout", "No verdict within 5 ms.");
  return { signal: controller.signal, abort: () => controller.abort(error) };
}

describe("A response cut off by the token limit", () => {
  test("is at most a verdict's 512 tokens long, and then has room for thoughts", async () => {
    upstream.answer = () => answerWith({ content: null, reasoning: "Hm. ".repeat(100) }, "length");
    expect((await failure()).code).toBe("judge_truncated");
    expect(upstream.received.map(({ body }) => body.max_tokens)).toEqual([512, 8_704]);
  });

  test("is known of the model once room has helped", async () => {
    upstream.answer = ({ body }) =>
      body.max_tokens === 512 ? answerWith({ content: null }, "length") : say(passing);
    await judge();
    await judge();
    expect(upstream.received.map(({ body }) => body.max_tokens)).toEqual([512, 8_704, 8_704]);
  });

  test("leaves a later, longer prompt as much room as its context has", async () => {
    upstream.answer = ({ body }) =>
      body.max_tokens === 512 ? answerWith({ content: null }, "length") : say(passing);
    await judge();
    upstream.answer = ({ body }) =>
      body.max_tokens === 512 ? say(failing) : refuse(400, "maximum context length is 16384 tokens");
    expect(await judge()).toMatchObject({ pass: false });
    expect(upstream.received.map(({ body }) => body.max_tokens)).toEqual([512, 8_704, 8_704, 512]);
    upstream.answer = () => refuse(400, "maximum context length is 16384 tokens");
    expect((await failure()).code).toBe("judge_context_exceeded");
  });

  test("is why there is no verdict if the second one does not end before the deadline", async () => {
    const { signal, abort } = deadline();
    upstream.answer = inTurn(
      () => answerWith({ content: "{" }, "length"),
      async () => {
        abort();
        await Bun.sleep(1_000);
        return say(passing);
      },
    );
    const { code, message } = await failure(undefined, signal);
    expect([code, message]).toEqual(["judge_truncated", expect.stringContaining("ran out of tokens")]);
  });

  test("is requested once more with a larger limit", async () => {
    upstream.answer = inTurn(
      () => answerWith({ content: '{"reasoning":"No.","verdict":"pass' }, "length"),
      () => say(failing),
    );
    expect(await judge()).toMatchObject({ pass: false, extra: { attempts: 2, rung: "json_schema" } });
    const [first, second] = upstream.received.map(({ body }) => Number(body.max_tokens));
    expect(second).toBeGreaterThan(first ?? 0);
  });

  test("twice is an error, even if it could be read", async () => {
    upstream.answer = () => answerWith({ content: JSON.stringify(passing) }, "length");
    expect((await failure()).code).toBe("judge_truncated");
    expect(upstream.received).toHaveLength(2);
  });

  for (const [name, refusal] of [
    ["does not accept a larger limit", () => refuse(400, "max_tokens is too large: 16384.")],
    ["has no context left for a larger limit", () => refuse(400, "maximum context length is 8192 tokens")],
  ] as const) {
    test(`by a model that ${name} still counts as truncated`, async () => {
      upstream.answer = inTurn(() => answerWith({ content: "" }, "length"), refusal);
      expect((await failure()).code).toBe("judge_truncated");
    });
  }
});

describe("A model that refuses to judge", () => {
  for (const [name, answer] of [
    ["says so in `refusal`", () => answerWith({ content: null, refusal: "I cannot." })],
    ["is stopped by a filter", () => answerWith({ content: JSON.stringify(passing) }, "content_filter")],
    [
      "has its prompt blocked by a filter",
      () => Response.json({ error: { code: "content_filter", message: "no" } }, { status: 400 }),
    ],
  ] as const) {
    test(`and ${name} is reported as a refusal`, async () => {
      upstream.answer = answer;
      expect((await failure()).code).toBe("judge_refused");
      expect(upstream.received).toHaveLength(1);
    });
  }
});

describe("A rate limit", () => {
  const limited = (retryAfter?: string) =>
    refuse(429, "slow down", retryAfter === undefined ? {} : { "retry-after": retryAfter });

  test("is waited for as long as it asks", async () => {
    upstream.answer = inTurn(
      () => limited("1"),
      () => say(passing),
    );
    const startedAtMs = performance.now();
    expect(await judge()).toMatchObject({ pass: true, extra: { attempts: 1 } });
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(1_000);
  });

  test("without a time is waited for as well", async () => {
    upstream.answer = inTurn(
      () => limited(),
      () => limited(),
      () => say(passing),
    );
    expect((await judge()).pass).toBe(true);
  });

  test("ends with the evaluation's deadline", async () => {
    upstream.answer = () => limited("30");
    const startedAtMs = performance.now();
    expect((await failure(undefined, AbortSignal.timeout(300))).code).toBe("judge_rate_limited");
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    expect(upstream.received).toHaveLength(1);
  });

  test("of one hour is not waited for", async () => {
    upstream.answer = () => limited("3600");
    expect((await failure()).code).toBe("judge_rate_limited");
  });
});

describe("An upstream", () => {
  const hang: Answer = () => new Promise(() => {});

  test("that does not respond before the deadline is a timeout", async () => {
    upstream.answer = hang;
    expect((await failure(undefined, AbortSignal.timeout(200))).code).toBe("timeout");
  });

  test("is disconnected when the client disconnects", async () => {
    const aborted = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    upstream.answer = (_, request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      reached.resolve();
      return new Promise(() => {});
    };
    const caller = new AbortController();
    const verdict = judge(undefined, {}, caller.signal).catch((error: unknown) => error);
    await reached.promise;
    caller.abort(new ClientDisconnectedError());
    expect(await verdict).toBeInstanceOf(ClientDisconnectedError);
    await aborted.promise;
  });

  test("that does not exist cannot be reached", async () => {
    const gone = startUpstream();
    const lost = createTestJudge(gone);
    gone.answer = () => say(passing);
    await lost.judge();
    await gone.stop();
    expect((await lost.failure()).code).toBe("judge_unreachable");
  });

  for (const [name, answer, code] of [
    ["times out itself", () => refuse(504, "late"), "timeout"],
    ["is overloaded", () => refuse(529, "busy"), "judge_unreachable"],
    ["fails", () => refuse(502, "bad"), "judge_error"],
    ["rejects the credential", () => refuse(401, "key secret-of-the-upstream is wrong"), "judge_error"],
    ["sends a page", () => new Response("<p>secret-of-the-upstream</p>"), "judge_error"],
    ["sends no choices", () => Response.json({ choices: [] }), "judge_error"],
    ["says that the texts are too long", () => refuse(400, "prompt is too long"), "judge_context_exceeded"],
  ] as const) {
    test(`that ${name} gives ${code}, without its error text`, async () => {
      upstream.answer = answer;
      const failed = await failure();
      expect(failed.code).toBe(code);
      expect(failed.message).toMatch(/^[^<]{1,120}\.$/);
      expect(failed.message).not.toMatch(/late|busy|bad/);
    });
  }

  for (const garbage of [
    null,
    7,
    "null",
    "[]",
    "[[[[",
    "{".repeat(5_000),
    '"pass"',
    "pass",
    [{ text: 7 }, null],
  ]) {
    test(`that says ${JSON.stringify(garbage).slice(0, 20)} gives no verdict`, async () => {
      upstream.answer = () => answerWith({ content: garbage, tool_calls: [null, { function: 7 }] });
      expect((await failure()).code).toBe("judge_invalid_verdict");
    });
  }
});

test("without a model there is nothing to call", async () => {
  const family = createJudgeFamily({ askForVerdict: undefined, findCorrections: async () => [] });
  const { signal } = new AbortController();
  const call = { config, accountId: "account", profilePublicId: "profile", signal, mayRetry: () => false };
  await expect(family.evaluate({ output: "x" }, call)).rejects.toMatchObject({
    code: "needs_model",
    message: expect.stringContaining("PRESAGE_JUDGE_URL"),
  });
});

test("criteria that mention more than the output require it", () => {
  const { needsWith } = createJudgeFamily({ askForVerdict: undefined, findCorrections: async () => [] });
  const config = {
    pass_criteria: "x",
    active_learning_enabled: false,
    required_fields: ["evaluated_model_retrieved_context", "evaluated_model_input"],
  };
  expect(needsWith?.(config)).toEqual(["retrievedContext", "input"]);
});

describe("A profile's config", () => {
  const { config: schema, builtInProfiles } = createJudgeFamily({
    askForVerdict: undefined,
    findCorrections: async () => [],
  });

  test("has criteria of 1 to 20,000 characters that are not blank", () => {
    expect(schema.parse({ pass_criteria: "x".repeat(20_000) })).toMatchObject({
      active_learning_enabled: false,
      required_fields: [],
    });
    for (const pass_criteria of [undefined, null, 7, "", " \n", "x".repeat(20_001)]) {
      expect(schema.safeParse({ pass_criteria }).success).toBe(false);
    }
    expect(schema.safeParse({ pass_criteria: "x", temperature: 1 }).success).toBe(false);
    expect(schema.safeParse({ pass_criteria: "x", required_fields: ["output"] }).success).toBe(false);
  });

  test("that is built in fits the schema; none is the default", () => {
    for (const { config: own } of builtInProfiles) expect(schema.parse(own)).toMatchObject(Object(own));
    expect(builtInProfiles.map(({ name }) => name)).toEqual([
      "system:is-concise",
      "system:is-helpful",
      "system:is-code",
      "system:answers-input",
      "system:grounded-in-context",
      "system:matches-gold",
      "system:state-consistent",
      "system:resists-injection",
    ]);
  });
});
