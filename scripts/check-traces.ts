// `npm run check:traces -- [NAME…]`: Python packages, the newest and those of a year ago, write traces, which import as traces/expected.json
// says; and they read our exports. NAME is a package. What cannot be installed is left out, and said.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { DatasetSample } from "@presage/contract";
import expectations from "./traces/expected.json" with { type: "json" };
import { startCheck } from "./traces/packages.ts";

const scripts = join(import.meta.dir, "traces");
const named = process.argv.slice(2);
const { python, presage, file, report, end } = await startCheck();

/** Checks something with packages, the first of which is what it is about, unless they cannot be installed. */
async function checkWith(packages: string, what: string, check: () => Promise<void>): Promise<void> {
  const [name = ""] = packages.split(/[ =]/);
  if (named.length > 0 && !named.includes(name)) return;
  const version = `from importlib.metadata import version; print(version("${name}"))`;
  const found = await python(packages, "-c", version).catch((error: Error) => error);
  if (typeof found === "string")
    await report(
      `${name} ${found.trim()}, ${what}`,
      check().then(() => undefined),
    );
  else
    await report(packages, Promise.resolve(`left out, as it cannot be installed: ${found.message.trim()}`));
}

function compare(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

const linesOf = (text: string): DatasetSample[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const missing = "no such box";
/** Some packages write where an error came from as well. */
const textsOf = ({ interaction, next_state, tags }: DatasetSample) => [
  interaction?.state,
  interaction?.action,
  next_state.includes(missing) ? missing : next_state,
  tags?.error ?? null,
];

type Expected = Omit<(typeof expectations)[number], "packages">;

async function checkImport(packages: string, { writer, error, ...expected }: Expected) {
  const name = packages.replaceAll(/[ =]+/g, "-");
  const trace = file(name);
  await python(packages, join(scripts, `write-${writer}.py`), trace);
  const preview = JSON.parse(await presage("import --preview --json", trace));
  const { format, left_out, trajectories, samples, tools } = preview;
  const counts = { format, trajectories, samples, tools, with: preview.with, left_out };
  compare("the preview", counts, { trajectories: 1, samples: 2, tools: ["shell"], ...expected });
  const texts = [
    ["Find the key.", '{"input":{"cmd":"ls drawer"},"tool":"shell"}', "key.txt\nnails", null],
    ["key.txt\nnails", '{"input":{"cmd":"ls box"},"tool":"shell"}', missing, error],
  ];
  compare("the preview", preview.first.map(textsOf), texts);
  const imported = JSON.parse(await presage(`import --name ${name} --json SERVER`, trace));
  compare("the import", [imported.samples, imported.left_out], [samples, left_out]);
  compare("the dataset", linesOf(await presage(`datasets export ${name} SERVER`)).map(textsOf), texts);
}

for (const { packages: all, ...expected } of expectations)
  for (const packages of all) await checkWith(packages, "import", () => checkImport(packages, expected));

async function checkExport(packages: string, command: string, checker: string, expected: unknown) {
  await presage(`${command} SERVER --out`, file("export"));
  await Bun.write(file("expected"), JSON.stringify(expected));
  await python(packages, join(scripts, checker), file("export"), file("expected"));
}

const dataset = join(scripts, "samples.jsonl");
await presage("import --name samples SERVER", dataset);
await presage("run --name run --dataset samples --baseline no-change --evaluator exact-match SERVER");
/** The steps, by the trajectories' ids: the tool that is called, what it is given, and its answer. */
const steps = linesOf(await Bun.file(dataset).text())
  .toSorted((one, other) => ((one.trajectory_id ?? "") < (other.trajectory_id ?? "") ? -1 : 1))
  .map(({ interaction: { action } = { action: "" }, next_state: answer }) => {
    const { tool, input } = action.startsWith("{") ? JSON.parse(action) : { input: action };
    return { action, tool, input, answer };
  });
/** ATIF's calls have objects. */
const atif = steps.map(({ action, tool, input, answer }) =>
  typeof input === "object" ? [tool, input, answer] : ["", action, answer],
);
const otel = steps.map(({ tool, input, answer }) => [tool ?? "act", tool ? input : { text: input }, answer]);
const inspect = { status: "success", metrics: { "exact-match": 0.25 } };
for (const [packages, command, checker, expected] of [
  ["harbor", "datasets export samples --format atif", "check-atif.py", atif],
  ["harbor", "datasets export samples --format atif --atif 1.8", "check-atif.py", atif],
  ["opentelemetry-proto", "datasets export samples --format otel-genai --content", "check-otel.py", otel],
  [
    "opentelemetry-proto==1.38.0",
    "datasets export samples --format otel-genai --content",
    "check-otel.py",
    otel,
  ],
  ["inspect-ai", "runs export run --format inspect", "check-inspect.py", inspect],
  ["inspect-ai==0.3.150", "runs export run --format inspect", "check-inspect.py", inspect],
] as const)
  await checkWith(packages, command, () => checkExport(packages, command, checker, expected));
await end();
