import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { EnvironmentConfig } from "@presage/contract";
import { Command } from "commander";
import packageJson from "../../../../package.json" with { type: "json" };
import { layoutsPage } from "../../../../scripts/layouts-page.ts";
import { settingsPage } from "../../../../scripts/settings-page.ts";
import sdkJson from "../../../sdk/package.json" with { type: "json" };
import serverJson from "../../package.json" with { type: "json" };
import { openApiDocument } from "../../src/app/operations.ts";

const root = resolve(import.meta.dir, "../../../..");
const filesBelow = (folder: string): string[] =>
  [...new Bun.Glob(`${folder}/**/*`).scanSync({ cwd: root })].filter(
    (path) => !path.includes("/node_modules/"),
  );
const read = (path: string) => readFileSync(join(root, path), "utf8");
const bytesOf = (paths: readonly string[]) =>
  paths.reduce((sum, path) => sum + statSync(join(root, path)).size, 0);

const pages = filesBelow("docs").filter((path) => path.endsWith(".md"));
const decisions = pages.filter((path) => path.startsWith("docs/decisions/"));
const documents = [
  ...[
    "README.md",
    "CHANGELOG.md",
    "clients/python/README.md",
    "packages/sdk/README.md",
    "bench/MEASUREMENTS.md",
  ],
  ...pages,
];

/** A page's text without code. */
const proseOf = (page: string) =>
  read(page)
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(/`[^`\n]+`/g, "");
const spansOf = (page: string) => [...read(page).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);

/** The anchors that GitHub makes from a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(documents)("the links of %s lead somewhere", (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

/** Where a path that a document names may begin. */
const bases = [
  "",
  "packages/",
  "packages/server/",
  "packages/server/src/",
  "packages/web/src/",
  "clients/python/",
];
const sources = ["packages", "scripts", "bench", "fuzz", "examples", "clients"].flatMap(filesBelow);
const names = new Set(sources.map((path) => basename(path)));

/** The paths and names of source files in a page; names with X, such as `X-route.ts`, stand for many files. */
function pathsIn(page: string): string[] {
  return spansOf(page).filter(
    (span) =>
      /^(?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|mjs|py|ya?ml|json)$|^(?:packages|scripts|deploy|examples|clients|docs)\/[\w./-]+$/.test(
        span,
      ) && !/^X|^dist\//.test(span),
  );
}
const exists = (page: string, path: string) =>
  [...bases, `${dirname(page)}/`].some((base) => existsSync(join(root, base, path))) ||
  (!path.includes("/") && names.has(path));

/** Files that belong to the reader or to other projects. */
const ofOthers = new Set([
  ...[
    "packages/server/src/evaluators/rules/max-length.ts",
    "deployments.yaml",
    "prices.yaml",
    "sdar/evaluate.py",
  ],
  ...[
    "values.yaml",
    "presage.server.json",
    "header.json",
    "_journal/start.json",
    ".gitlab-ci.yml",
    ".github/workflows/world-model.yml",
  ],
]);

test.each(documents)("the files that %s names exist", (page) => {
  const missing = pathsIn(page).filter((path) => !ofOthers.has(path) && !exists(page, path));
  expect(missing).toEqual([]);
});

test("the documents that sources name exist", () => {
  const texts = [...sources, ...filesBelow("deploy")].filter(
    (path) => /\.(?:tsx?|mjs|py|ya?ml)$/.test(path) && !path.includes("/dist/"),
  );
  const named = texts.flatMap((path) => read(path).match(/\b(?:docs|bench)\/[\w/-]+\.md\b/g) ?? []);
  expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** The command line, built from what every file of `cli/` adds to it. */
async function makeProgram(): Promise<Command> {
  const program = new Command("presage");
  for (const file of filesBelow("packages/server/src/cli").filter((name) => !name.includes(".test."))) {
    const exported: Record<string, unknown> = await import(join(root, file));
    for (const [name, add] of Object.entries(exported))
      if (/^add\w+Commands?$/.test(name) && typeof add === "function") add(program);
  }
  return program;
}
const program = await makeProgram();

/** Whether such a command exists. Words after its name may be arguments. */
function isCommand(parent: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || parent.commands.length === 0 || word === "help") return true;
  const command = parent.commands.find((one) => one.name() === word);
  return command !== undefined && isCommand(command, rest);
}

test.each(documents)("the commands that %s names exist", (page) => {
  const lines = read(page)
    .split("\n")
    .filter((line) => /^(?:npx |npm run |presage [a-z])/.test(line));
  const unknown = [...spansOf(page), ...lines].filter((text) => {
    const [, script] = /^npm run (?:-s )?([\w:-]+)/.exec(text) ?? [];
    if (script !== undefined) return !(script in packageJson.scripts || script in sdkJson.scripts);
    const [, words] = /^(?:npx )?presage ((?:[a-z][a-z-]*(?: |\b))+)/.exec(text) ?? [];
    return words !== undefined && !isCommand(program, words.trim().split(" "));
  });
  expect(unknown).toEqual([]);
});

test("settings.md is what npm run docs:settings writes", () => {
  expect(read("docs/operate/settings.md")).toBe(settingsPage());
});

test("trace-formats.md is what npm run docs:traces writes", () => {
  expect(read("docs/trace-formats.md")).toBe(layoutsPage());
});

test("api.md names every resource, environments.md every field, and a decision every library", async () => {
  const resources = Object.keys((await openApiDocument()).paths ?? {}).flatMap(
    (path) => /^\/v1\/[\w-]+/.exec(path)?.[0] ?? [],
  );
  const api = read("docs/reference/api.md");
  expect([...new Set(resources)].filter((path) => !api.includes(path))).toEqual([]);
  const fields = spansOf("docs/environments.md");
  expect(Object.keys(EnvironmentConfig.shape).filter((name) => !fields.includes(name))).toEqual([]);
  const reasons = decisions.map(read).join("\n").toLowerCase();
  const libraries = Object.keys(serverJson.dependencies).map((name) =>
    name.replace(/^@opentelemetry\/.*/, "opentelemetry"),
  );
  expect(libraries.filter((name) => !name.startsWith("@presage/") && !reasons.includes(name))).toEqual([]);
});

test("pages, the changelog and the decisions stay short", () => {
  const long = ["bench/MEASUREMENTS.md", "docs/trace-formats.md"];
  expect(documents.filter((page) => bytesOf([page]) > 15_000 && !long.includes(page))).toEqual([]);
  expect(bytesOf(decisions)).toBeLessThanOrEqual(110_000);
  expect(
    decisions.filter((page) => page !== "docs/decisions/README.md" && read(page).split("\n").length > 61),
  ).toEqual([]);
});
