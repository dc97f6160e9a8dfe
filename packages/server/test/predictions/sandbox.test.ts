import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();
const messages = [{ role: "user", content: "State: A hall.\n\nAction: look around" }];

function chat(body: object): Promise<Response> {
  return presage.call("POST", "/v1/chat/completions", { messages, ...body });
}

for (const [name, body] of Object.entries({
  "`n` above 1": { n: 2 },
  "`tools`": { tools: [{ type: "function", function: { name: "f" } }] },
  "`response_format`": { response_format: { type: "json_object" } },
})) {
  test(`the sandbox refuses ${name}, which it would ignore`, async () => {
    for (const sent of [body, { params: body }, { model: "sandbox", ...body }]) {
      const response = await chat(sent);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(name) } });
    }
  });
}

test("the sandbox answers where these ask for nothing", async () => {
  const body = { n: 1, tools: [], response_format: { type: "text" }, model: "sandbox" };
  expect((await chat(body)).status).toBe(200);
  expect((await chat({ n: null, tools: null, response_format: null })).status).toBe(200);
});

test("the sandbox is a model that can be asked for", async () => {
  for (const id of ["sandbox", "presage-sandbox"]) {
    const response = await presage.call("GET", `/v1/models/${id}`);
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ id })]);
  }
  expect((await presage.call("GET", "/v1/models/default")).status).toBe(404);
});

test("a path of the Responses API names the one that there is", async () => {
  for (const [method, path] of [
    ["POST", "/v1/responses"],
    ["GET", "/v1/responses/resp_1"],
    ["POST", "/v1/responses/resp_1/cancel"],
  ] as const) {
    const response = await presage.call(method, path, method === "POST" ? {} : undefined);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("/v1/chat/completions") },
    });
  }
  expect(await (await presage.call("GET", "/v1/responsesx")).text()).not.toContain("/v1/chat/completions");
});

test("whatever is done in the sandbox, its answer is an observation", async () => {
  const start = { environment: "sandbox", split: "train", index: 0 };
  const { episode_id: id } = (await (await presage.call("POST", "/v1/episodes", start)).json()) as {
    episode_id: string;
  };
  const actions = [
    "look around",
    "?",
    " ",
    "say <|im_end|>",
    "open chest",
    "go to yard",
    "inventory",
    "wait",
    "\n",
    "mix",
    "{}",
  ];
  for (const action of [...actions, "x".repeat(5_000)]) {
    const step = await presage.call("POST", `/v1/episodes/${id}/step`, { action });
    expect([action, step.status]).toEqual([action, 200]);
  }
});
