import type { MachineDescription } from "../host/describe-machine.ts";
import type { PartReport } from "../part.ts";
import { goalTable } from "./markdown.ts";

/** Begins the section of a part, so that the part can be measured again alone. */
const mark = (name: string): string => `<!-- part: ${name} -->\n`;

const writeMachine = ({
  cpu,
  cores,
  memoryGiB,
  kernel,
  loadBefore,
  versions,
}: MachineDescription): string => {
  const programs = Object.entries(versions).flatMap(([name, version]) =>
    version === undefined ? [] : [`${name} ${version}`],
  );
  return `${new Date().toISOString().slice(0, 10)} on ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${kernel}, load average ${loadBefore.toFixed(2)} before; ${programs.join(", ")}.`;
};

export const writeSection = (
  name: string,
  title: string,
  { goals, problems, text }: PartReport,
  machine: MachineDescription,
): string => {
  const failed = problems.map((problem) => `- **failed and left out**: ${problem}\n`).join("");
  return `${mark(name)}## ${title}
\`npm run bench -- --only ${name}\`, ${writeMachine(machine)}

${goalTable(goals)}
${failed === "" ? "" : `\n${failed}`}
${text.trim()}
`;
};

const preface = `# Benchmark

Written by \`npm run bench\`, each part when it was last measured as a whole; do not edit. Machines are noisy: compare figures of one part, not of two.

`;

/** The file with this section in place of the part's old one, in the order of `names`. */
export const replaceSection = (
  file: string,
  names: readonly string[],
  replaced: string,
  section: string,
): string => {
  const sections = new Map(
    file.split(/^(?=<!-- part: )/m).flatMap((kept) => {
      const name = /^<!-- part: (\S+) -->/.exec(kept)?.[1];
      return name === undefined ? [] : [[name, kept] as const];
    }),
  ).set(replaced, section);
  return `${preface + names.flatMap((name) => sections.get(name)?.trim() ?? []).join("\n\n")}\n`;
};
