import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectEventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const body = {
  interaction: { state: "The door is closed.", action: "open door" },
  params: { temperature: 0, seed: 1 },
};

test("each deployment has its own cache, a fallback's answers are its own, and judges have none", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-deployments-"));
  const upstream = startUpstream(() => Response.json(completion("From upstream.")));
  const file = join(directory, "deployments.yaml");
  await writeFile(
    file,
    `default: cached
deployments:
  cached: { replicas: [${upstream.url}], model: m, cache: deterministic }
  same: { replicas: [${upstream.url}], model: m, cache: seeded }
  fresh: { replicas: [${upstream.url}], model: m }
  down: { replicas: ["http://127.0.0.1:${await freePort()}/v1"], model: d, fallback: cached, cache: seeded }
  down-too: { replicas: ["http://127.0.0.1:${await freePort()}/v1"], model: d, fallback: fresh }
`,
  );
  const presage = await startPresage({ PRESAGE_DEPLOYMENTS: file, PRESAGE_UPSTREAM_RETRIES: "0" });
  const ask = async (deployment: string, params: Record<string, unknown> = {}) => {
    const headers = { "x-api-key": testKey, "x-presage-deployment": deployment };
    const sent = { ...body, params: { ...body.params, ...params } };
    const { headers: answered } = await presage.call("POST", "/v1/predict", sent, headers);
    return [answered.get("x-presage-deployment"), answered.get("x-presage-cache")];
  };
  try {
    // The same model and body, in another deployment.
    expect(await ask("cached")).toEqual(["cached", "miss"]);
    expect(await ask("same")).toEqual(["same", "miss"]);
    expect(await ask("same")).toEqual(["same", "hit"]);
    expect(await ask("fresh")).toEqual(["fresh", "off"]);
    // A seed is enough for one of the deployments.
    for (const expected of ["miss", "hit"])
      expect(await ask("same", { temperature: 1 })).toEqual(["same", expected]);
    expect(await ask("cached", { temperature: 1 })).toEqual(["cached", "off"]);
    // The fallback's answer is cached under its own name.
    expect(await ask("down")).toEqual(["cached", "hit"]);
    expect(await ask("down", { seed: 2 })).toEqual(["cached", "miss"]);
    expect(await ask("cached", { seed: 2 })).toEqual(["cached", "hit"]);
    for (let round = 0; round < 2; round++) expect(await ask("down-too")).toEqual(["fresh", "off"]);
    // A deployment that is named by a chat's model answers its hits under its own name, as a fallback does.
    const chat = { model: "same", messages: [{ role: "user", content: "Hello." }], temperature: 0 };
    const chatWith = async (headers: Record<string, string> = {}) => {
      const sent = { "x-api-key": testKey, ...headers };
      const { headers: answered } = await presage.call("POST", "/v1/chat/completions", chat, sent);
      return `${answered.get("x-presage-deployment")} ${answered.get("x-presage-cache")}`;
    };
    for (const expected of ["miss", "hit", "hit"]) expect(await chatWith()).toBe(`same ${expected}`);
    for (const expected of ["miss", "hit", "hit"])
      expect(await chatWith({ "x-presage-deployment": "down" })).toBe(`cached ${expected}`);

    upstream.received.length = 0;
    upstream.answer = () => say(passing);
    const judge = async () => {
      const response = await presage.call("POST", "/v1/evaluate", {
        evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
        evaluated_model_input: "open door",
        evaluated_model_output: "The door is open.",
      });
      expect(response.status).toBe(200);
    };
    await judge();
    const calls = upstream.received.length;
    await judge();
    expect(calls).toBeGreaterThan(0);
    expect(upstream.received.length).toBe(2 * calls);
  } finally {
    await presage.stop();
    await upstream.stop();
    await rm(directory, { recursive: true });
  }
});

test("a chat that was a hit goes to the deployment that has got its model's name since", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-deployments-"));
  const upstream = startUpstream(() => Response.json(completion("From upstream.")));
  const file = join(directory, "deployments.yaml");
  const first = `default: first\ndeployments:\n  first: { replicas: [${upstream.url}], model: m, cache: deterministic }\n`;
  await writeFile(file, first);
  const presage = await startPresage({
    PRESAGE_DEPLOYMENTS: file,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  const ask = async (deployment?: string) => {
    const chat = { model: "second", messages: [{ role: "user", content: "Hello." }], temperature: 0 };
    const headers = {
      "x-api-key": testKey,
      ...(deployment === undefined ? {} : { "x-presage-deployment": deployment }),
    };
    const { headers: answered } = await presage.call("POST", "/v1/chat/completions", chat, headers);
    return `${answered.get("x-presage-deployment")} ${answered.get("x-presage-cache")}`;
  };
  try {
    for (const expected of ["miss", "hit", "hit"]) expect(await ask()).toBe(`first ${expected}`);
    await writeFile(file, `${first}  second: { replicas: [${upstream.url}], model: m }\n`);
    await presage.rereadFiles();
    // Asks with the header, which only the new file allows.
    await expectEventually(() => ask("second"), "second off");
    expect(await ask()).toBe("second off");
  } finally {
    await presage.stop();
    await upstream.stop();
    await rm(directory, { recursive: true });
  }
});
