// `npm run check:traces -- [NAME…]`: Python packages, the newest and those of a year ago, write traces, which import as traces/expected.jsonl
// says; and they read our exports. NAME is a package. Packages that cannot be installed are skipped, with a message.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { DatasetSample, ImportPreview, RunExportLine } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { startCheck } from "./traces/packages.ts";

/** What a package's trace has in addition to the calls of traces/story.py. */
type Expected = Pick<ImportPreview, "format" | "with" | "left_out"> & {
  writer: string;
  error: string | null;
};

const scripts = join(import.meta.dir, "traces");
const named = process.argv.slice(2);
const { python, presage, get, file, report, end } = await startCheck();
const readLines = async (name: string) => Bun.JSONL.parse(await Bun.file(join(scripts, name)).text());

/** Runs a check with packages, unless they cannot be installed. The first one is the subject of the check. */
async function checkWith(packages: string, what: string, check: () => Promise<unknown>): Promise<void> {
  const [name = ""] = packages.split(/[ =]/);
  if (named.length > 0 && !named.includes(name)) return;
  const version = `from importlib.metadata import version; print(version("${name}"))`;
  const found = await python(packages, "-c", version).catch((error: Error) => error);
  if (typeof found === "string") await report(`${name} ${found.trim()}, ${what}`, check);
  else
    await report(`${packages} is left out, as it cannot be installed`, async () =>
      found.message.trim().split("\n").at(-1),
    );
}

function compare(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

const missing = "no such box";
const textsOf = (samples: unknown[]) =>
  (samples as DatasetSample[]).map(({ interaction, next_state, tags }) => {
    // Some packages also write where an error came from.
    const answer = next_state.includes(missing) ? missing : next_state;
    return [interaction?.state, interaction?.action, answer, tags?.error ?? null];
  });

async function checkImport(packages: string, { writer, error, ...expected }: Expected): Promise<void> {
  const name = packages.replaceAll(/[ =]+/g, "-");
  await python(packages, join(scripts, `write-${writer}.py`), file(name));
  const preview: ImportPreview = JSON.parse(await presage("import --preview --json", file(name)));
  const { format, left_out, trajectories, samples, tools } = preview;
  const counts = { format, trajectories, samples, tools, with: preview.with, left_out };
  compare("the preview", counts, { trajectories: 1, samples: 2, tools: ["shell"], ...expected });
  const texts = [
    ["Find the key.", '{"input":{"cmd":"ls drawer"},"tool":"shell"}', "key.txt\nnails", null],
    ["key.txt\nnails", '{"input":{"cmd":"ls box"},"tool":"shell"}', missing, error],
  ];
  compare("the preview", textsOf(preview.first), texts);
  const imported = JSON.parse(await presage(`import --name ${name} --json SERVER`, file(name)));
  compare("the import", [imported.samples, imported.left_out], [samples, left_out]);
  compare("the dataset", textsOf(Bun.JSONL.parse(await presage(`datasets export ${name} SERVER`))), texts);
}

for (const { packages: all, ...expected } of (await readLines("expected.jsonl")) as ({
  packages: string[];
} & Expected)[])
  for (const packages of all) await checkWith(packages, "import", () => checkImport(packages, expected));

await presage("import --name samples SERVER", join(scripts, "samples.jsonl"));
await presage("run --name run --dataset samples --baseline no-change --evaluator exact-match SERVER");
const samples = (await readLines("samples.jsonl")) as DatasetSample[];
/** The steps, by the trajectories' ids: the tool that is called, what it is given, and its answer. */
const steps = samples
  .toSorted((one, other) => ((one.trajectory_id ?? "") < (other.trajectory_id ?? "") ? -1 : 1))
  .map(
    ({
      trajectory_id,
      step,
      interaction: { state, action } = { state: "", action: "" },
      next_state: answer,
    }) => {
      const { tool, input } = action.startsWith("{") ? JSON.parse(action) : { input: action };
      return { id: `${trajectory_id}/${step}`, state, action, tool, input, answer };
    },
  );
/** ATIF's calls have objects. */
const atif = steps.map(({ action, tool, input, answer }) =>
  typeof input === "object" ? [tool, input, answer] : ["", action, answer],
);
const otel = steps.map(({ tool, input, answer }) => [tool ?? "act", tool ? input : { text: input }, answer]);
const shown = steps.map(({ id, state, answer }) => [
  `${id} 1`,
  { target: answer, completion: state, error: null },
]);
const inspect = { status: "success", model: "no-change", samples: Object.fromEntries(shown) };
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
  await checkWith(packages, command, async () => {
    // Inspect reads no files of other names.
    const exported = file(`${checker}.eval`);
    await presage(`${command} SERVER --out`, exported);
    await Bun.write(file("expected"), JSON.stringify(expected));
    await python(packages, join(scripts, checker), exported, file("expected"));
  });
await checkWith("opentelemetry-proto", "GET /v1/predictions/export", async () => {
  await presage("run --name predicted --dataset samples --evaluator exact-match SERVER");
  const exports = [await presage("runs export run SERVER"), await presage("runs export predicted SERVER")];
  const lines = exports.flatMap((text) => Bun.JSONL.parse(text) as RunExportLine[]);
  const asked = new Map(
    samples.map(({ trajectory_id, step, context, interaction }) => [
      `${trajectory_id}/${step}`,
      composePrompt(context, interaction ?? { state: "", action: "" }),
    ]),
  );
  const said = lines.map(({ dataset_sample_id: id, prediction }) => [
    (asked.get(id) ?? []).map(({ content }) => content).join(""),
    prediction,
  ]);
  const [exported, expected] = [file("predictions.jsonl"), file("expected")];
  await Bun.write(exported, await get("/v1/predictions/export?source=run&content=true"));
  await Bun.write(expected, JSON.stringify(said));
  await python("opentelemetry-proto", join(scripts, "check-otel.py"), exported, expected, "--any-order");
});
await end();
