import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { RuleFamily } from "../../src/evaluators/family.ts";
import { createRegistry, ruleFamilies } from "../../src/evaluators/registry.ts";
import { createRuleRunner, ruleRunnerDefaults } from "../../src/evaluators/rules/run-rule.ts";
import { createEvaluatorRunner } from "../../src/evaluators/run-evaluator.ts";

const page = join(import.meta.dir, "../../../../docs/adding-a-family.md");
const evaluators = pathToFileURL(join(import.meta.dir, "../../src/evaluators/"));
const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true });
});

/** The family of the documentation page, from the page's code. */
async function familyOfThePage(): Promise<RuleFamily> {
  const code = /```ts\n([\s\S]*?)```/.exec(await readFile(page, "utf8"))?.[1];
  if (code === undefined) throw new Error("the page has no code");
  const directory = await mkdtemp(join(tmpdir(), "presage-family-"));
  directories.push(directory);
  // Outside the source tree, so that no test leaves a file there; its imports are resolved from here.
  const path = join(directory, "max-length.ts");
  const zod = import.meta.resolve("zod");
  await writeFile(path, code.replaceAll('"../', `"${evaluators.href}`).replace('"zod"', `"${zod}"`));
  return (await import(path)).maxLength;
}

test("the family from the documentation page runs beside the others, exactly as the page describes it", async () => {
  const family = await familyOfThePage();
  const registry = createRegistry([...ruleFamilies, family]);
  const rules = createRuleRunner({ ...ruleRunnerDefaults, families: [...ruleFamilies, family] });
  const run = createEvaluatorRunner({ rules, modelTimeoutMs: 1000, onUnexpectedError: () => {} });
  const evaluate = (output: string | undefined, config: object) =>
    run(
      {
        family,
        profile: { publicId: crypto.randomUUID(), name: "p", revision: 1, config },
        sample: output === undefined ? {} : { output },
        accountId: "a",
        explainStrategy: "always",
        allowance: { mainThreadMs: 1_000, mayRetry: () => false },
      },
      new AbortController().signal,
    );

  expect(registry.find("max-length")?.id).toBe("max-length-2026-11-21");
  expect(await evaluate("The door is open.", {})).toMatchObject({ status: "success", pass: true, score: 1 });
  expect(await evaluate("🚪🚪🚪🚪", { max_characters: 2 })).toMatchObject({
    pass: false,
    score: 0.5,
    positions: [[2, 4]],
    extra: { length: 4 },
    explanation: "The output has 4 characters, 2 too many.",
  });
  expect((await evaluate(undefined, {})).status).toBe("validation_error");
  expect((await evaluate("x", { max_characters: 0 })).errorMessage).toMatch(/^invalid_profile: /);
  await rules.dispose();
});
