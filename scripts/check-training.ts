// `npm run check:training`: TRL trains a tiny model, on a CPU, with what datasets and runs export for it.
import { dirname, join } from "node:path";
import { startCheck } from "./traces/packages.ts";

const { python, presage, file, report, end } = await startCheck();
const packages = "trl torch transformers";
const root = dirname(import.meta.dir);

await presage("import --name samples SERVER", join(root, "scripts/traces/samples.jsonl"));
await presage("run --name run --dataset samples --baseline no-change --evaluator exact-match SERVER");
for (const [name, command] of [
  ["world", "datasets export samples --format sft"],
  ["agent", "datasets export samples --format sft --direction agent --loss"],
  ["pairs", "runs export run --format preference --chosen reference"],
])
  await presage(`${command} SERVER --out`, file(`${name}.jsonl`));

const model = file("model");
const make = join(root, "clients/python/examples/tiny_model.py");
await report("tiny_model.py", () => python(packages, make, model, "1"));
await report("train.py", () =>
  python(packages, join(root, "scripts/traces/train.py"), model, dirname(model)),
);
await end();
