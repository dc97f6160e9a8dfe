// `npm run docs:traces`: writes docs/traces.md, whose tables and examples are the readers' own.
import { join } from "node:path";
import { layouts } from "../packages/server/src/datasets/traces/layouts.ts";

const head = `# Traces

<!-- Written by \`npm run docs:traces\` from scripts/traces-page.ts and packages/server/src/datasets/traces/layouts/. -->

Recorded runs of agents become a [dataset](datasets.md) with one command, whatever wrote them: a coding agent's session, an evaluation's log, OpenTelemetry
spans, rows of a fine-tuning file. First see what is understood; nothing is stored:

\`\`\`sh
npx presage import examples/coding-session.jsonl --preview
\`\`\`

Then store it, and ask how well a world model predicts what the tools answered:

\`\`\`sh
npx presage import examples/coding-session.jsonl --name coding
npx presage run --dataset coding --evaluator exact-match
\`\`\`

Folders are walked, \`-\` is standard input; gzip, zstd and zip are opened by their first bytes. Several files make one revision, all or none, and each may have
its own layout. \`npx presage formats\` lists the layouts. *Datasets* in the dashboard previews and imports files as well, and over HTTP
\`POST /v1/imports/preview\` and \`POST /v1/datasets/{id}/revisions\` do, with the file as the body or several as \`multipart/form-data\`.

## What a sample is

A trace is a list of turns: system texts, texts of the environment (a user, a tool's answer, an observation) and turns of the agent.

- Each action that the environment answered is a sample: a tool's call, or the text of a turn without calls. Several calls in a turn are several samples, each
  with the answer that has its id; with \`--step turn\` they are one.
- A call's \`action\` is \`{"input":…,"tool":"NAME"}\` with sorted keys. Of a text in ReAct's form it is what follows the last \`Action:\`.
- \`next_state\` is the answer as it is. What else the environment says before the next action follows it after a blank line. Images, audio and files are
  \`[image]\`, \`[audio]\`, \`[file]\`.
- \`state\` is what the environment said since the action before: the \`next_state\` of the sample before. At the start it is what was said before the first
  action, or \`(start)\`; in place of an empty text it is \`(no output)\`.
- \`context\` has the task (the first text of the environment), the system text and the tools.
- \`reward\` and \`done\` are the step's own where the layout has them; a reward of the whole trajectory is its last sample's. \`at\` is when the answer came,
  \`usage\` what the agent's model took. The tags \`source\`, \`model\`, \`agent\`, \`task\` and \`error\` are there as far as they are known.
- What is in no sample is counted by its reason: reasoning, a text beside a call, the agent's last message, calls without an answer, side chains and branches.
  \`--keep thoughts\` keeps the beginning of what the agent thought as the tag \`thought\`.

In \`messages\` with nothing but texts, the assistant is the environment, as in Word2World's files; with a tool's call, or in \`conversations\`, it is the agent.
The preview says which, and \`--assistant-is\` turns it.

With \`--split-by trajectory\`, \`task\` or \`tag:NAME\`, each sample has the tag \`split\`: \`train\`, \`test\` (\`--test 0.2\`) or \`calibration\`. A trajectory or task
keeps its side in later imports into the same dataset.

## Faults and secrets

A line or document that cannot be read refuses the import, with its place; \`--on-fault skip\` leaves it out, unless more than half are faulty. API keys, tokens,
private keys and passwords in URLs are replaced before anything is stored or shown: \`[redacted:github#1]\`, the same secret with the same number.
\`--redact strict\` also replaces values of fields named \`password\`, \`token\` and the like; \`--redact rules.yaml\` adds rules of your own, such as

\`\`\`yaml
rules:
  - name: ticket
    pattern: TICKET-[0-9]+
emails: true
\`\`\`

The four layouts that Presage read before (\`presage\`, \`chat\`, \`llm-sim\`, \`predictions\`) are stored as they are, unless \`--redact\` is given.

## Out again

\`\`\`sh
npx presage datasets export coding --format sft --out train.jsonl
\`\`\`

| \`--format\` | a line is |
|---|---|
| \`presage\` | a sample; of a run, a prediction with its verdicts |
| \`atif\`, \`openai-chat\` | a trajectory; what the format has no place for is in \`extra.presage\`, so that an import of the export is what was exported |
| \`sharegpt\` | a trajectory |
| \`otel-genai\` | a trajectory's spans as OTLP; with \`--content\`, their texts |
| \`sft\` | a conversation to train on: the environment's turns, or with \`--direction agent\` the agent's, and \`tools\` as JSON; \`--only success\`, \`--min-reward\` |
| \`preference\` | of a run: a prompt with a chosen and a rejected answer, by an evaluator's score, of repeats or \`--against\` another run |
| \`inspect\` | of a run: a log that Inspect shows |

\`presage runs export\` writes trajectories as they were predicted, with scores as rewards; \`presage episodes export\` those of [environments](environments.md).
\`GET /v1/datasets/{id}/export\`, \`/v1/runs/{id}/export\`, \`/v1/episodes/export\` and \`/v1/predictions/export\` give the same files. They are redacted as imports
are, but \`presage\` lines are not unless \`--redact\` says so.

\`npm run check:traces\` tries imports and exports with the packages whose layouts they are, and \`npm run check:training\` trains with TRL.

## Layouts

A file's layout is told by its first 100 documents, of which the first 8 MiB are held: the first layout in this table that fits one of them, and admits all.

`;

const columns = [
  ["told by", "recognisedBy"],
  ["trajectory and its id", "trajectory"],
  ["action", "action"],
  ["answer", "answer"],
  ["task, tools, system", "context"],
  ["also read", "also"],
  ["left out", "leftOut"],
] as const;

/** The page's Markdown. */
export function tracesPage(): string {
  const names = layouts.map(
    ({ format, about }) =>
      `| [\`${format}\`](#${format}) | ${cell(about.title)} | ${cell(about.recognisedBy)} |\n`,
  );
  const sections = layouts.map(({ format, about }) => {
    const facts = columns.map(([heading, name]) => `- ${heading}: ${about[name]}\n`);
    return `\n### ${format}\n\n${about.title}.\n\n${facts.join("")}\n\`\`\`json\n${about.example.trimEnd()}\n\`\`\`\n`;
  });
  return `${head}| \`format\` | what it is | told by |\n|---|---|---|\n${names.join("")}${sections.join("")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "../docs/traces.md"), tracesPage());
