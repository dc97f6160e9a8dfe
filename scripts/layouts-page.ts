// `npm run docs:traces`: writes docs/trace-formats.md, whose tables and examples are the readers' own.
import { join } from "node:path";
import { layouts } from "../packages/server/src/datasets/traces/layouts.ts";

const head = `# Formats of traces

<!-- Written by \`npm run docs:traces\` from scripts/layouts-page.ts and packages/server/src/datasets/traces/layouts/. -->

What an [import of traces](traces.md) reads. A file's format is recognised by its first 100 documents, of which the first 8 MiB are held: it is the first format in
this table that fits one of them and admits them all.

`;

const columns = [
  ["recognised by", "recognised_by"],
  ["trajectory and its id", "trajectory"],
  ["action", "action"],
  ["answer", "answer"],
  ["task, tools, system", "context"],
  ["also read", "also"],
  ["left out", "left_out"],
] as const;

/** The page's Markdown. */
export function layoutsPage(): string {
  const names = layouts.map(
    ({ format, about }) =>
      `| [\`${format}\`](#${format}) | ${cell(about.title)} | ${cell(about.recognised_by)} |\n`,
  );
  const sections = layouts.map(({ format, about }) => {
    const facts = columns.map(([heading, name]) => `- ${heading}: ${about[name]}\n`);
    return `\n### ${format}\n\n${about.title}.\n\n${facts.join("")}\n\`\`\`json\n${about.example.trimEnd()}\n\`\`\`\n`;
  });
  return `${head}| \`format\` | what it is | recognised by |\n|---|---|---|\n${names.join("")}${sections.join("")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "../docs/trace-formats.md"), layoutsPage());
