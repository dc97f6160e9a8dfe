import { describe, expect, test } from "bun:test";
import {
  answerWith,
  callTool,
  failing,
  passing,
  promptOf,
  refuse,
  responseFormatOf,
  say,
  useTestJudge,
} from "../support/upstream/judge.ts";
import { completion } from "../support/upstream/upstream.ts";

const { upstream, judge, failure } = useTestJudge();

const requestedFormats = () => upstream.received.map(responseFormatOf);

describe("A model that supports JSON schemas", () => {
  test("is called once, deterministically, and its verdict is the judge's", async () => {
    upstream.answer = () => say({ ...failing, score: null });
    const verdict = await judge();
    expect(verdict).toMatchObject({ pass: false, score: undefined });
    expect(verdict.explain()).toBe(failing.reasoning);
    expect(verdict.extra).toEqual({
      model: "test-model",
      rung: "json_schema",
      attempts: 1,
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    });
    const [{ body } = { body: {} as Record<string, unknown> }] = upstream.received;
    expect(body).toMatchObject({ temperature: 0, response_format: { json_schema: { strict: true } } });
    expect(body.max_tokens).toBe(512);
  });

  test("may grade from 0 to 1", async () => {
    upstream.answer = () => say({ ...failing, score: 0.25 });
    expect(await judge()).toMatchObject({ pass: false, score: 0.25 });
    upstream.answer = () => say({ ...passing, score: null });
    expect(await judge()).toMatchObject({ pass: true, score: undefined });
  });

  test("may think before it responds", async () => {
    upstream.answer = () => say(`<think>Fail? {"verdict":"pass"}</think>\n${JSON.stringify(failing)}`);
    expect((await judge()).pass).toBe(false);
    upstream.answer = () => answerWith({ content: null, reasoning_content: JSON.stringify(passing) });
    expect((await judge()).pass).toBe(true);
    expect(new Set(requestedFormats())).toEqual(new Set(["json_schema"]));
  });

  test("is not taken at its word in the middle of its thoughts", async () => {
    const draft = JSON.stringify(passing);
    const think = (reasoning: string) => () => answerWith({ content: null, reasoning });
    for (const after of ["? No: it fails because", " is what {x} says", "```, no."]) {
      upstream.answer = think(`Should I say ${draft}${after}`);
      expect((await failure()).code).toBe("judge_invalid_verdict");
    }
    upstream.answer = think(`Not ${draft}, but\n\`\`\`json\n${JSON.stringify(failing)}\n\`\`\``);
    expect((await judge()).pass).toBe(false);
  });

  test("is called again with the same format if it fails once later", async () => {
    upstream.answer = () => say(passing);
    await judge();
    let isFirst = true;
    upstream.answer = () => {
      const answer = isFirst ? say("Well, it is open.") : say(failing);
      isFirst = false;
      return answer;
    };
    expect(await judge()).toMatchObject({ pass: false, extra: { attempts: 2, rung: "json_schema" } });
    expect(requestedFormats()).toEqual(["json_schema", "json_schema", "json_schema"]);
  });
});

describe("A fallback to a tool call", () => {
  const onlyTools = (below: () => Response) => (received: Parameters<typeof responseFormatOf>[0]) =>
    responseFormatOf(received) === "tool_call" ? callTool("give_verdict", failing) : below();

  for (const [why, answer] of [
    ["400", () => refuse(400, "This response_format type is unavailable now")],
    ["404", () => refuse(404, "No endpoints found that can handle the requested parameters.")],
    ["422", () => Response.json({ detail: [{ msg: "extra" }] }, { status: 422 })],
    ["500 and says so", () => refuse(500, "json_schema is not supported")],
    [
      "500 and says so after a long echo of the request",
      () =>
        Response.json(
          { request: "x".repeat(5_000), error: { message: "json_schema is not supported" } },
          { status: 500 },
        ),
    ],
    ["500 and says so at length", () => refuse(500, `${"x".repeat(5_000)}: json_schema is not supported`)],
    [
      "a 200 that carries the error",
      () => Response.json({ error: { message: "response_format: unsupported" } }),
    ],
    [
      "a 200 without a completion",
      () => Response.json({ object: "error", message: "response_format is not supported" }),
    ],
    ["prose", () => say("I say fail.")],
    ["the verdict in prose", () => say(`Here: ${JSON.stringify(passing)}`)],
    ["broken JSON", () => say('{"reasoning": "x", "verdict": "pass",')],
    ["another form", () => say({ pass: true })],
    ["a bare verdict", () => say({ verdict: "pass" })],
    ["nothing", () => say("")],
  ] as const) {
    test(`follows ${why}, and is remembered`, async () => {
      upstream.answer = onlyTools(answer);
      expect(await judge()).toMatchObject({ pass: false, extra: { rung: "tool_call", attempts: 2 } });
      expect(await judge()).toMatchObject({ pass: false, extra: { rung: "tool_call", attempts: 1 } });
      expect(requestedFormats()).toEqual(["json_schema", "tool_call", "tool_call"]);
    });
  }

  test("requires the one tool, and accepts arguments that are already an object", async () => {
    upstream.answer = onlyTools(() => refuse(400, "no"));
    await judge();
    expect(upstream.received[1]?.body).toMatchObject({
      tool_choice: { type: "function", function: { name: "give_verdict" } },
      tools: [
        { function: { name: "give_verdict", parameters: { required: ["reasoning", "verdict", "score"] } } },
      ],
    });
    const call = { function: { name: "give_verdict", arguments: passing } };
    upstream.answer = () => answerWith({ content: "", tool_calls: [call] });
    expect((await judge()).pass).toBe(true);
  });
});

describe("A fallback to text", () => {
  const onlyText = (text: string) => (received: Parameters<typeof responseFormatOf>[0]) =>
    responseFormatOf(received) === "text" ? say(text) : refuse(400, "unknown field");

  test("is remembered", async () => {
    upstream.answer = onlyText(JSON.stringify(failing));
    expect(await judge()).toMatchObject({ pass: false, extra: { rung: "text", attempts: 3 } });
    expect(await judge()).toMatchObject({ pass: false, extra: { rung: "text", attempts: 1 } });
    expect(requestedFormats()).toEqual(["json_schema", "tool_call", "text", "text"]);
  });

  for (const [name, text] of [
    ["in a code fence", `Sure!\n\`\`\`json\n${JSON.stringify(failing, null, 2)}\n\`\`\`\nAnything else?`],
    ["after a thinking block", `<think>{"reasoning":"a","verdict":"pass"}</think>${JSON.stringify(failing)}`],
    ["after thinking without an opening tag", `So pass?</think>\n${JSON.stringify(failing)}`],
    ["that quotes the end of thoughts", '```json\n{"reasoning":"It leaks </think> .","verdict":"fail"}\n```'],
    ["after thoughts of a draft", `Well: {"a": So</think>\n${JSON.stringify(failing)}`],
    ["after a draft", `${JSON.stringify(passing)} No, wait: ${JSON.stringify(failing)}`],
    ["with repairable syntax errors", "{reasoning: 'The door is shut.', verdict: 'fail',}"],
    ["in capitals", '{"reasoning":"The door is shut.","verdict":" FAIL\\n"}'],
  ] as const) {
    test(`finds the verdict ${name}`, async () => {
      upstream.answer = onlyText(text);
      expect(await judge()).toMatchObject({ pass: false, extra: { attempts: 3 } });
    });
  }
});

describe("Not remembered", () => {
  test("is a fallback whose further formats fail too", async () => {
    upstream.answer = () => refuse(400, "The model is not loaded.");
    expect((await failure()).code).toBe("judge_error");
    upstream.answer = () => say(passing);
    expect(await judge()).toMatchObject({ pass: true, extra: { rung: "json_schema", attempts: 1 } });
  });

  for (const [name, answer, code] of [
    ["a 500", () => refuse(500, "boom"), "judge_error"],
    ["a 503", () => refuse(503, "busy"), "judge_unreachable"],
    ["a truncated response", () => answerWith({ content: "Well" }, "length"), "judge_truncated"],
    ["an overflow", () => refuse(400, "maximum context length is 8 tokens"), "judge_context_exceeded"],
  ] as const) {
    test(`is ${name}, which has no fallback`, async () => {
      upstream.answer = answer;
      expect((await failure()).code).toBe(code);
      upstream.answer = () => say(passing);
      await judge();
      expect(new Set(requestedFormats())).toEqual(new Set(["json_schema"]));
    });
  }

  test("is a format that stopped working: the next evaluation looks for another", async () => {
    upstream.answer = () => say(passing);
    await judge();
    upstream.answer = (received) => (responseFormatOf(received) === "text" ? say(failing) : say("ignored"));
    expect((await failure()).code).toBe("judge_invalid_verdict");
    expect(await judge()).toMatchObject({ pass: false, extra: { rung: "text" } });
  });

  test("is anything of another model", async () => {
    const from = (model: string, content: unknown) =>
      Response.json(completion(JSON.stringify(content), { model }));
    upstream.answer = (received) =>
      responseFormatOf(received) === "text" ? from("one", failing) : refuse(400, "unsupported");
    await judge();
    // The deployment now serves another model, and its responses say so.
    upstream.answer = () => from("two", passing);
    expect(await judge()).toMatchObject({ extra: { model: "two", rung: "text" } });
    expect(await judge()).toMatchObject({ extra: { model: "two", rung: "json_schema" } });
    upstream.answer = () => from("one", passing);
    await judge();
    expect(await judge()).toMatchObject({ extra: { model: "one", rung: "text" } });
  });
});

test("what one account's profile has learned does not affect the others", async () => {
  const one = { accountId: "one", profilePublicId: "profile" };
  const nextFormat = async (requester: typeof one) => {
    const { extra } = await judge(undefined, {}, undefined, requester);
    return extra?.rung;
  };
  // An output that makes the model fail in every other response format.
  upstream.answer = (received) => (responseFormatOf(received) === "text" ? say(passing) : say("ignored"));
  expect(await nextFormat(one)).toBe("text");
  upstream.answer = () => say(passing);
  expect(await nextFormat({ ...one, accountId: "other" })).toBe("json_schema");
  expect(await nextFormat({ ...one, profilePublicId: "another" })).toBe("json_schema");
  expect(await nextFormat(one)).toBe("text");
});

describe("A model that does not support", () => {
  for (const [what, message, field, instead] of [
    [
      "temperature",
      "Unsupported value: 'temperature' does not support 0 with this model.",
      "temperature",
      undefined,
    ],
    ["max_tokens", "Use 'max_completion_tokens' instead.", "max_tokens", "max_completion_tokens"],
  ] as const) {
    test(`${what} is called without it from then on`, async () => {
      upstream.answer = ({ body }) => (body[field] === undefined ? say(passing) : refuse(400, message));
      expect(await judge()).toMatchObject({ extra: { rung: "json_schema", attempts: 2 } });
      expect(await judge()).toMatchObject({ extra: { rung: "json_schema", attempts: 1 } });
      if (instead !== undefined) expect(upstream.received.at(-1)?.body[instead]).toBeGreaterThan(0);
    });
  }

  test("temperature, by an echoed prompt only, is called with it", async () => {
    const echo = { error: { message: "unknown field" }, prompt: "temperature" };
    upstream.answer = (received) =>
      responseFormatOf(received) === "tool_call"
        ? callTool("give_verdict", passing)
        : Response.json(echo, { status: 400 });
    expect(await judge()).toMatchObject({ extra: { rung: "tool_call", attempts: 2 } });
    expect(upstream.received.at(-1)?.body.temperature).toBe(0);
  });
});

test("each response format has its own instructions", async () => {
  upstream.answer = (received) => (responseFormatOf(received) === "text" ? say(failing) : refuse(400, "no"));
  await judge();
  const [schema, tool, text] = upstream.received.map(promptOf);
  expect(schema).toContain("one JSON object");
  expect(tool).toContain('the tool "give_verdict"');
  expect(text).toContain("nothing after it");
});
