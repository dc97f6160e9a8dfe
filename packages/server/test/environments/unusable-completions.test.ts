import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { episodeClient } from "../support/environments/episode-client.ts";
import { orsClient } from "../support/environments/ors-client.ts";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { startPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

function answer(message: Record<string, unknown>, finish_reason: string): Response {
  return Response.json(completion(null, { choices: [{ index: 0, message, finish_reason }] }));
}

const unusable: Record<string, { message: Record<string, unknown>; finish: string; says: string }> = {
  "thoughts without an end": { message: { content: "<think>Hm" }, finish: "length", says: "max_tokens" },
  "an empty text": { message: { content: "" }, finish: "stop", says: "no text" },
  "white space": { message: { content: " \n" }, finish: "stop", says: "no text" },
  "null content": { message: { content: null }, finish: "stop", says: "no text" },
  "a call of a tool": {
    message: { content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f" } }] },
    finish: "tool_calls",
    says: "tool_calls",
  },
  "a text beside a call of a tool": {
    message: { content: "I see" },
    finish: "tool_calls",
    says: "tool_calls",
  },
  "a text that was cut off": { message: { content: "The door is" }, finish: "length", says: "max_tokens" },
  "a control token": { message: { content: "Open.<|im_end|>" }, finish: "stop", says: "<|im_end|>" },
  "another control token": {
    message: { content: "<start_of_turn>x" },
    finish: "stop",
    says: "<start_of_turn>",
  },
};

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  const { environment, start, send, step, read } = episodeClient(presage);
  const ors = orsClient(presage);

  for (const [name, { message, finish, says }] of Object.entries(unusable)) {
    test(`${name} is no observation, and the step can be sent again`, async () => {
      const id = await start(await environment());
      upstream.answer = () => answer(message, finish);
      const refused = await send(id, "look", "key-1");
      expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([502, "false"]);
      expect(await refused.json()).toMatchObject({
        category: "unusable_completion",
        upstream_status: 200,
        detail: expect.stringContaining(says),
      });
      expect(await read(id)).toMatchObject({ status: "open", steps_taken: 0, failed_steps: 1, steps: [] });
      upstream.answer = () => Response.json(completion("A hall."));
      const taken = await step(id, "look", "key-1");
      expect(taken).toMatchObject({ observation: "A hall.", info: { step: 1, finish_reason: "stop" } });
      expect((await read(id)).steps[0]?.info).toEqual(taken.info);
    });
  }

  test("over OpenEnv it is an error, and over ORS the end without a block", async () => {
    const name = await environment();
    upstream.answer = () => answer({ content: null }, "tool_calls");
    const socket = await openEnvSocket(presage.url, name);
    await socket.reset();
    expect(await socket.step("look")).toMatchObject({ type: "error", data: { code: "EXECUTION_ERROR" } });
    const session = await ors.start({ env_name: name, split: "train", index: 0 });
    const failed = await ors.call(session, name, "look");
    expect(failed.result).toMatchObject({
      ok: true,
      output: {
        blocks: [],
        reward: null,
        finished: true,
        metadata: { error: { category: "unusable_completion" } },
      },
    });
    upstream.answer = () => Response.json(completion("A hall."));
    const reply = await socket.step("look");
    expect(reply.data).toMatchObject({
      observation: { prompt: "A hall." },
      metadata: { finish_reason: "stop" },
    });
    socket.close();
    const next = await ors.start({ env_name: name, split: "train", index: 0 });
    expect((await ors.call(next, name, "look")).result).toMatchObject({
      output: { metadata: { finish_reason: "stop" } },
    });
  });

  test("an environment may accept what there is of a text that was cut off, but not nothing", async () => {
    const id = await start(await environment({ truncated_output: "accept" }));
    upstream.answer = () => answer({ content: "The door is" }, "length");
    expect(await step(id, "look")).toMatchObject({
      observation: "The door is",
      info: { finish_reason: "length" },
    });
    upstream.answer = () => answer({ content: "<think>Hm" }, "length");
    expect((await send(id, "look")).status).toBe(502);
    const refused = await presage.call("POST", "/v1/environments", { name: "x", truncated_output: "keep" });
    expect(refused.status).toBe(422);
  });

  test("half of a surrogate pair is U+FFFD in predictions and in episodes", async () => {
    const body = JSON.stringify(completion("CONTENT")).replace("CONTENT", "A \\ud83d and \\ude00.");
    upstream.answer = () => new Response(body, { headers: { "content-type": "application/json" } });
    const expected = "A \ufffd and \ufffd.";
    const predicted = await presage.call("POST", "/v1/predict", { interaction: { state: "s", action: "a" } });
    expect(await predicted.json()).toMatchObject({ response: { content: expected } });
    const id = await start(await environment());
    expect((await step(id, "look")).observation).toBe(expected);
    expect((await read(id)).steps[0]?.observation).toBe(expected);
  });

  test("tokens that an upstream does not count are null", async () => {
    upstream.answer = () => Response.json(completion("A hall.", { usage: undefined }));
    const id = await start(await environment());
    const { info } = await step(id, "look");
    const unknown = { prompt_tokens: null, cached_tokens: null, completion_tokens: null };
    expect(info).toMatchObject(unknown);
    const stored = await presage.call("GET", `/v1/predictions/${info.prediction_id}`);
    expect(await stored.json()).toMatchObject(unknown);
  });
});

describe("Elsewhere", () => {
  const upstream = useUpstream();

  test("/v1/predict answers with what the model said", async () => {
    const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url });
    for (const { message, finish } of Object.values(unusable)) {
      upstream.answer = () => answer(message, finish);
      const body = { interaction: { state: "s", action: "a" } };
      const response = await presage.call("POST", "/v1/predict", body);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ finish_reason: finish });
    }
    await presage.stop();
  });

  test("a deployment may accept control tokens", async () => {
    const directory = await mkdtemp(join(tmpdir(), "presage-control-tokens-"));
    const file = join(directory, "deployments.yaml");
    const replicas = `replicas: ["${upstream.url}"]`;
    await writeFile(
      file,
      `default: strict\ndeployments:\n  strict: { ${replicas} }\n  lenient: { ${replicas}, control_tokens: accept }\n`,
    );
    const presage = await startPresage({ PRESAGE_DEPLOYMENTS: file });
    const { environment, start, send, step } = episodeClient(presage);
    upstream.answer = () => answer({ content: "Open.<|eot_id|>" }, "stop");
    expect((await send(await start(await environment()), "look")).status).toBe(502);
    const id = await start(await environment({ deployment: "lenient" }));
    expect((await step(id, "look")).observation).toBe("Open.<|eot_id|>");
    await presage.stop();
    await rm(directory, { recursive: true });
  });

  test("an answer of no use is not kept for the step that is sent again", async () => {
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_CACHE: "deterministic",
    });
    const { environment, start, send, step } = episodeClient(presage);
    const id = await start(await environment());
    for (const content of ["", "<think>Hm", "<think>Hm</think>\n", "Open.<|im_end|>"]) {
      upstream.answer = () => answer({ content }, "stop");
      expect((await send(id, "look")).status).toBe(502);
    }
    upstream.answer = () => Response.json(completion("A hall."));
    expect((await step(id, "look")).observation).toBe("A hall.");
    await presage.stop();
  });
});
