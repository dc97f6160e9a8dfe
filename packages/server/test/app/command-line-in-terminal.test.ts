import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInTerminal } from "../support/presage/run-in-terminal.ts";
import { runPresage } from "../support/presage/run-presage.ts";

let directory: string;
let environment: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-terminal-"));
  environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}` };
  await runPresage(["migrate"], environment);
});
afterAll(() => rm(directory, { recursive: true }));

async function fileOf(lines: unknown[]): Promise<string> {
  const path = join(directory, `${crypto.randomUUID()}.jsonl`);
  await Bun.write(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

const interaction = { state: "The fridge is closed.", action: "open fridge" };
const isJson = (line: string) => line.startsWith("{");
const tooWide = (line: string) => Bun.stringWidth(line) > 80;

describe("In a terminal of 80 columns", () => {
  test("evaluate shows a table that fits, the failures and the run's address, but no JSON", async () => {
    const file = await fileOf([
      { evaluated_model_output: "a", evaluated_model_gold_answer: "a" },
      { evaluated_model_output: "a" },
    ]);
    const evaluators = ["--evaluator", "exact-match", "--evaluator", "contains=system:default"];
    const args = ["evaluate", "--file", file, ...evaluators, "--min-pass-rate", "0.5"];
    const { code, lines } = await runInTerminal(args, environment);
    expect(code).toBe(1);
    expect(lines.filter(isJson)).toEqual([]);
    const table = lines.findIndex((line) => line.startsWith("evaluator"));
    expect(lines[table + 1]).toMatch(/^exact-match system:default +1\/1 +100\.0 % .* 1$/);
    expect(lines.slice(table, table + 3).filter(tooWide)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}line 2: exact-match system:default: missing_/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}\/evaluations\?run=[0-9a-f-]{36}$/));
  });

  test("evaluate wraps long profile names instead of its numbers", async () => {
    const name = "a-profile-with-a-name-that-is-much-longer-than-a-terminal-of-eighty-columns-is-wide";
    const file = await fileOf([{ evaluated_model_output: "a", evaluated_model_gold_answer: "a" }]);
    const server = Bun.serve({ port: 0, fetch: (request) => answer(new URL(request.url).pathname, name) });
    const evaluator = ["--evaluator", `exact-match=${name}`];
    const { code, lines } = await runInTerminal(
      ["evaluate", "--file", file, ...evaluator, "--server", server.url.href],
      { PRESAGE_API_KEY: "a-key" },
    );
    await server.stop(true);
    expect(code).toBe(0);
    const table = lines.findIndex((line) => line.startsWith("evaluator"));
    expect(lines.slice(table, table + 4).filter(tooWide)).toEqual([]);
    expect(lines[table + 1]).toMatch(/ 1\/1 +100\.0 % .* 0$/);
  });

  test("a misspelt evaluator is refused before the progress bar", async () => {
    const file = await fileOf([{ evaluated_model_output: "a", evaluated_model_gold_answer: "a" }]);
    const { code, lines } = await runInTerminal(
      ["evaluate", "--file", file, "--evaluator", "exact-mach"],
      environment,
    );
    expect(code).toBe(1);
    expect(lines[0]).toStartWith("--evaluator exact-mach: Unknown evaluator; available: exact-match, ");
    expect(lines.filter((line) => line.includes("evaluations,"))).toEqual([]);
  });

  test("predict --file shows a summary and the first three errors, but no JSON", async () => {
    const wrong = [
      { state: "", action: "wait" },
      { state: "calm" },
      { action: "wait" },
      { state: 1, action: "" },
    ];
    const file = await fileOf([interaction, ...wrong].map((one) => ({ interaction: one })));
    const args = ["predict", "--file", file, "--out", `${file}.out`];
    const { code, lines } = await runInTerminal(args, environment);
    expect(code).toBe(1);
    expect(lines.filter(isJson)).toEqual([]);
    const summary = lines.findIndex((line) => line.startsWith("1 prediction, 4 failures"));
    expect(lines.slice(summary + 1)).toEqual([
      "Failures:",
      "  line 2: interaction.state: String should have at least 1 character",
      "  line 3: interaction.action: Field required",
      "  line 4: interaction.state: Field required",
      "  and 1 line for other reasons",
      "",
    ]);
  });

  test("predict --file makes no calls whose predictions nobody would see", async () => {
    const file = await fileOf([{ interaction }]);
    const { code, lines } = await runInTerminal(["predict", "--file", file], environment);
    expect(code).toBe(1);
    expect(lines).toEqual(["Name a file for the predictions with --out, or print them with --json", ""]);
  });

  test("notices are wrapped between words, and addresses stay whole", async () => {
    const notices = async (args: string[], more?: Record<string, string>) =>
      (await runInTerminal(args, { ...environment, ...more })).lines;
    const predictArgs = ["predict", "--state", interaction.state, "--action", interaction.action];
    const sandbox = await notices(predictArgs);
    expect(sandbox.slice(0, 2)).toEqual([
      "PRESAGE_UPSTREAM_URL is not set: using the built-in sandbox, a rule-based",
      "simulator, not a language model.",
    ]);
    const issuer = `https://${"a-long-name-".repeat(8)}.example.org`;
    const refused = await notices(["sign-in"], {
      PRESAGE_OIDC_ISSUER: issuer,
      PRESAGE_OIDC_CLIENT_ID: "presage",
      PRESAGE_OIDC_CLIENT_SECRET: "a-secret-of-the-tests-0123456789",
      PRESAGE_OIDC_ALLOWED_DOMAINS: "example.org",
      PRESAGE_PUBLIC_URL: "https://presage.example.org",
    });
    expect(refused.filter(tooWide)).toEqual([issuer]);
    const misspelt = await notices(["evaluate", "--file", import.meta.path, "--evaluator", "exact-mach"]);
    expect(misspelt.filter(tooWide)).toEqual([]);
    expect(misspelt.join(" ")).toContain("available: exact-match, contains, regex, ");
  });

  test("--json writes the lines that a pipe gets", async () => {
    const file = await fileOf([{ interaction }]);
    const args = ["predict", "--file", file];
    const { lines } = await runInTerminal([...args, "--json"], environment);
    const piped = await runPresage(args, environment);
    const [line] = lines.filter(isJson);
    expect(JSON.parse(line ?? "")).toMatchObject({ line: 1, prediction: { response: expect.anything() } });
    expect(JSON.parse(piped.stdout)).toMatchObject({ line: 1, prediction: { response: expect.anything() } });
  });

  test("keys list and users list fit, and say what they left out", async () => {
    await runPresage(["keys", "create", "--name", "the training of the larger model"], environment);
    for (const args of [
      ["keys", "list"],
      ["users", "list"],
    ]) {
      const { code, lines } = await runInTerminal(args, environment);
      expect(code).toBe(0);
      expect(lines[0]).toMatch(/^ID {36}[A-Z]/);
      expect(lines.filter(tooWide)).toEqual([]);
      const notice = lines.slice(lines.findLastIndex((line) => line.startsWith("This terminal"))).join(" ");
      expect(notice).toMatch(/^This terminal is too narrow for [a-z, ]+; --json shows everything\. $/);
    }
  });

  test.each([["--help"], ["help environment"], ["evaluate --help"]])("%s fits", async (command) => {
    const { lines } = await runInTerminal(command.split(" "), {});
    expect(lines.filter(tooWide)).toEqual([]);
  });
});

/** Answers like a Presage that has a profile with this name. */
function answer(path: string, profile_name: string): Response {
  if (path === "/v1/evaluators") {
    const evaluator = {
      id: "exact-match-2026-01-01",
      evaluator_family: "exact-match",
      aliases: ["exact-match"],
    };
    return Response.json({ evaluators: [evaluator] });
  }
  if (path === "/v1/evaluator-profiles")
    return Response.json({ evaluator_profiles: [{ name: profile_name }] });
  const evaluation_result = { id: "1", pass: true, score_raw: 1, explanation: null };
  const item = {
    evaluator_id: "exact-match-2026-01-01",
    profile_name,
    status: "success",
    error_message: null,
  };
  return Response.json({ results: [{ ...item, evaluation_result }] });
}
