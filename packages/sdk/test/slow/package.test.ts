import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { startPresage, type TestPresage, testKey } from "../../../server/test/support/presage/presage.ts";
import { startRawUpstream } from "../../../server/test/support/upstream/raw-upstream.ts";
import { startUpstream } from "../../../server/test/support/upstream/upstream.ts";
import { type Consumer, installPackage } from "../support/installed-package.ts";

const readme = await readFile(resolve(import.meta.dir, "../../README.md"), "utf8");
const projectReadme = await readFile(resolve(import.meta.dir, "../../../../README.md"), "utf8");
const onNode = {
  lib: ["ES2022"],
  types: ["node"],
  typeRoots: [resolve(import.meta.dir, "../../../../node_modules/@types")],
};
const inPages = { lib: ["ES2022", "DOM"], types: [] };

const upstream = startUpstream();
let presage: TestPresage;
let consumer: Consumer;

beforeAll(async () => {
  presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url });
  consumer = await installPackage();
});
afterAll(async () => {
  await consumer?.remove();
  await presage?.stop();
  await upstream.stop();
});

function examplesIn(language: string, page = readme): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    ([, code = ""]) => code,
  );
}

async function filesOf(ending: string): Promise<{ name: string; text: string }[]> {
  const names = (await readdir(consumer.packageFolder, { recursive: true })).filter((name) =>
    name.endsWith(ending),
  );
  return Promise.all(
    names.map(async (name) => ({ name, text: await readFile(join(consumer.packageFolder, name), "utf8") })),
  );
}

describe("the package", () => {
  test("has no dependency, and imports only its own files", async () => {
    const manifest = JSON.parse(await readFile(join(consumer.packageFolder, "package.json"), "utf8"));
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
    expect(manifest).toMatchObject({
      name: "@presage/sdk",
      license: "Apache-2.0",
      engines: { node: ">=20" },
      author: expect.any(String),
      keywords: expect.arrayContaining(["world-model", "evaluation"]),
      repository: { type: "git", directory: "packages/sdk" },
    });
    const files = [...(await filesOf(".js")), ...(await filesOf(".d.ts"))];
    expect(files.length).toBeGreaterThan(20);
    for (const { name, text } of files) {
      const imported = [...text.matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(([, from = ""]) => from);
      expect({ name, foreign: imported.filter((from) => !/^\.{1,2}\/.*\.js$/.test(from)) }).toEqual({
        name,
        foreign: [],
      });
      expect(text).not.toMatch(/\bzod\b|@presage\/contract/);
    }
  });

  test("contains the README and the licence, and neither tests nor sources", async () => {
    const names = await readdir(consumer.packageFolder, { recursive: true });
    expect(names).toContain("README.md");
    expect(names).toContain("LICENSE");
    expect(names.filter((name) => /test|(?<!\.d)\.ts$|\.mjs$/.test(name))).toEqual([]);
  });

  test("declares what fields mean and which are deprecated", async () => {
    const contract = (await filesOf("contract.d.ts"))[0]?.text;
    expect(contract).toContain(
      "/** The evaluator's verdict; null if there is none. */\n  pass: boolean | null;",
    );
    expect(contract).toContain("/** @deprecated Replaced by `evaluator`. */");
    expect(contract).toContain("  evaluation_result: EvaluationResult | null;");
  });

  test("rejects at compile time what the types do not allow, in pages and on Node.js", async () => {
    const source = `
      import { createPresage, PresageError, type EvaluationResult, type EvaluateRequest, type KeptPrediction, type StoredPrediction } from "@presage/sdk";
      const presage = createPresage({ baseUrl: "https://presage.example", apiKey: "k" });
      const request: EvaluateRequest = { evaluated_model_output: "a", evaluators: [{ evaluator: "regex" }] };
      const pass: boolean | null | undefined = (await presage.evaluate(request))[0]?.evaluation_result?.pass;
      for await (const result of presage.results.iterate({ pass: true, after_id: 5 })) {
        const kept: EvaluationResult = result;
        const positions: [number, number][] | null = kept.additional_info.positions;
        // @ts-expect-error: there is no such field
        kept.nonsense;
      }
      // @ts-expect-error: an interaction has an action
      await presage.predict({ interaction: { state: "a" } });
      // @ts-expect-error: no such status
      await presage.results.search({ status: "passed" });
      // @ts-expect-error: the server reads the key from the client
      await presage.apiKeys.create({ name: 5 });
      const stored: StoredPrediction | undefined = (await presage.storedPredictions.list()).data[0];
      const byOlderName: KeptPrediction | undefined = stored;
      const error = new PresageError("m", { category: "rate_limit" });
      // @ts-expect-error: no such category
      if (error.category === "nonsense") throw error;
      export { pass };
    `;
    for (const [name, options] of Object.entries({ inPages, onNode })) {
      expect(await consumer.typeCheck(name, source, options)).toEqual({ code: 0, output: "" });
    }
  });

  test("recognises a connection failure on Node.js too", async () => {
    const raw = await startRawUpstream(async ({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}\n\r\n");
      await Bun.sleep(500);
      socket.destroy();
    });
    const source = `
      import { createPresage } from "@presage/sdk";
      const presage = createPresage({ baseUrl: process.env.RAW_URL, retries: 0 });
      try {
        for await (const line of presage.results.exportLines()) console.log("line", line);
      } catch (error) {
        console.log(error.name, error.category, error.status);
      }
      const signal = AbortSignal.timeout(50);
      await presage.results.search({}, { signal }).catch((error) => console.log(error === signal.reason));
    `;
    const finished = await consumer.runOnNode("broken-off", source, { RAW_URL: raw.url });
    await raw.stop();
    expect(finished).toEqual({ code: 0, output: "line {}\nPresageError connection 200\ntrue\n" });
  });
});

describe("a call that cannot be repeated", () => {
  test("is retried on Node.js if nothing listened, and not if its connection broke", async () => {
    const source = `
      import { createServer } from "node:net";
      import { createPresage } from "@presage/sdk";
      async function triesAt(host, port) {
        let tries = 0;
        const counted = (url, init) => ((tries += 1), fetch(url, init));
        const presage = createPresage({ baseUrl: "http://" + host + ":" + port, fetch: counted });
        await presage.signOut().catch(() => {});
        return tries;
      }
      const breaking = createServer((socket) => {
        socket.on("error", () => {}).on("data", () => socket.destroy());
      });
      const port = await new Promise((resolve) => {
        breaking.listen(0, "127.0.0.1", () => resolve(breaking.address().port));
      });
      const broken = await triesAt("127.0.0.1", port);
      await new Promise((resolve) => breaking.close(resolve));
      console.log(broken, await triesAt("127.0.0.1", port), await triesAt("localhost", port));
    `;
    expect(await consumer.runOnNode("tries", source)).toEqual({ code: 0, output: "1 3 3\n" });
  });
});

describe("the examples of the README", () => {
  const [setUp = "", ...examples] = examplesIn("js");

  test("run on Node.js, one after the other, against a real Presage", async () => {
    const environment = { PRESAGE_API_KEY: testKey };
    const start = setUp.replace("http://127.0.0.1:8080", presage.url);
    let output = "";
    for (const [index, example] of examples.entries()) {
      const finished = await consumer.runOnNode(`example-${index}`, start + example, environment);
      expect(finished).toMatchObject({ code: 0 });
      output += finished.output;
    }
    const lines = output.trim().split("\n");
    expect(lines.splice(1, 1)).toEqual([expect.stringMatching(/^Added the lamp\. 0\.\d+$/)]);
    expect(lines.slice(0, 2)).toEqual(["The door is open. 7", "pass: true"]);
    expect(lines[2]).toMatch(/^\d+ exact-match-\S+ 1$/);
    expect(lines.splice(3, 2)).toEqual(["1 external:mine true", "kitchen-1/0 The fridge is open."]);
    // The run may have been seen before its end.
    while (lines[3] === "0 of 1") lines.splice(3, 1);
    expect(lines.splice(3, 2)).toEqual(["1 of 1", expect.stringMatching(/^exact-match-\S+ 0 null$/)]);
    expect(lines[3]).toBe("exported: 1");
    expect(lines[4]).toMatch(/^exact-match-\S+ 1 1$/);
    expect(lines.splice(5, 1)).toEqual(["deleted: 1"]);
    expect(lines[5]).toMatch(/^invalid 422 \S+$/);
    expect(lines[6]).toMatch(/^body\.interaction\.state String should have at least 1 character/);
    expect(lines[7]).toMatch(/^imported: \d+$/);
    expect(lines[8]).toBe("[ 'test-model', 'shop' ]");
    expect(lines[9]).toMatch(/total;dur=/);
    expect(lines).toHaveLength(10);
  });

  test("so does the one of the project's README", async () => {
    const [example = ""] = examplesIn("js", projectReadme);
    const source = example.replace("http://127.0.0.1:8080", presage.url);
    const finished = await consumer.runOnNode("project", source, { PRESAGE_API_KEY: testKey });
    expect(finished).toEqual({ code: 0, output: "The door is open.\n" });
  });

  test("type-check", async () => {
    const bodies = examples.map((example) => `{\n${example}}\n`).join("");
    const source = setUp + bodies;
    expect(await consumer.typeCheck("examples", source, onNode)).toEqual({ code: 0, output: "" });
    const [page = ""] = examplesIn("ts");
    const inPage = `import { createPresage } from "@presage/sdk";\n${page}`;
    expect(await consumer.typeCheck("page", inPage, inPages)).toEqual({ code: 0, output: "" });
  });
});
