import { type Goal, table } from "./figures.ts";
import type { MachineDescription } from "./machine.ts";
import type { DatabaseName } from "./postgres.ts";
import type { ProcessGroup } from "./processes.ts";
import type { TargetName } from "./targets.ts";
import type { Upstream } from "./upstream.ts";

export interface BenchChoices {
  /** Short runs, to check that everything works. The figures mean little and are not written. */
  readonly quick: boolean;
  /** The targets through which predictions are measured. */
  readonly targets: readonly TargetName[];
  /** The number of results for retention; as planned if undefined. */
  readonly results: number | undefined;
  /** The maximum time for which retention's deletion is measured; as planned if undefined. */
  readonly minutes: number | undefined;
  /** The only engine that retention is measured on; all engines if undefined. */
  readonly database: DatabaseName | undefined;
}

interface BenchContext extends BenchChoices {
  readonly group: ProcessGroup;
  /** The mock upstream, started when first asked for. */
  readonly upstream: () => Promise<Upstream>;
}

/** What a part measured, as its section of RESULTS.md shows it. */
export interface PartReport {
  readonly goals: readonly Goal[];
  /** What invalidates a figure, one sentence each. */
  readonly problems: readonly string[];
  /** Markdown with conditions and tables; headings are ### or lower. */
  readonly text: string;
}

export interface Part {
  readonly title: string;
  readonly measure: (context: BenchContext) => Promise<PartReport>;
}

const verdict = (met: boolean | undefined): string => {
  if (met === undefined) return "not measured";
  return met ? "met" : "**missed**";
};

/** Marks the start of a part's section, so that the part can be measured again alone. */
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

${table(
  ["goal", "measured", ""],
  goals.map((goal) => [goal.text, goal.measured, verdict(goal.met)]),
)}
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
