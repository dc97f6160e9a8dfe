import type { DatasetSample, ImportPreview } from "@presage/contract";
import { PresageError } from "@presage/sdk";
import { toImportFault } from "../../datasets/traces/import.ts";
import { UploadError } from "../../platform/errors.ts";
import { countOf, printable } from "../../platform/words.ts";
import { CommandError } from "../command.ts";
import type { ImportFile } from "./import-files.ts";

const maxTextCharacters = 160;
const maxTools = 12;

/** What a file holds, in lines: its layout, its figures, what is left out, and its first sample, as a whole or cut. */
export function describePreview(
  { shown }: ImportFile,
  preview: ImportPreview,
  { isWhole }: { isWhole: boolean },
): string {
  const { files, left_out, redacted, repaired, skipped, first, complete } = preview;
  const reasons = new Set(
    files.map(({ format, recognised_by }) => `${format} (recognised by ${recognised_by})`),
  );
  const lines = [
    `${printable(shown)}   ${[...reasons].join(", ") || "no known layout"}`,
    `  ${figuresOf(preview)}`,
    ...listed("left out", left_out),
    ...listed("redacted", redacted),
    ...(repaired === 0 ? [] : [`  repaired: ${countOf(repaired, "text")} with NUL or lone surrogates`]),
    ...(skipped === 0 ? [] : [`  faulty: ${skipped}`]),
    ...(complete ? [] : ["  only the first 64 MiB were read for this table"]),
    ...describeSample(first[0], isWhole ? Number.POSITIVE_INFINITY : maxTextCharacters),
  ];
  return `${lines.join("\n")}\n`;
}

function figuresOf({ trajectories, samples, tools, with: having }: ImportPreview): string {
  const named = tools.slice(0, maxTools).map(printable);
  const more = tools.length - named.length;
  const share = (count: number, what: string) => {
    if (count === 0) return `none has ${what}`;
    return count === samples
      ? `all have ${what}`
      : `${count} of ${samples} ${count === 1 ? "has" : "have"} ${what}`;
  };
  const parts = [
    `${countOf(trajectories, "trajectory", "trajectories")}, ${countOf(samples, "sample")}`,
    ...(named.length === 0 ? [] : [`tools: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`]),
    [
      share(having.time, "a time"),
      share(having.usage, "token usage"),
      share(having.reward, "a reward"),
      share(having.done, "an end"),
    ].join(", "),
  ];
  return samples === 0 ? (parts[0] ?? "") : parts.join("; ");
}

function listed(heading: string, counts: Readonly<Record<string, number>>): string[] {
  const texts = Object.entries(counts).map(([what, count]) => `${count} ${what.replaceAll("_", " ")}`);
  return texts.length === 0 ? [] : [`  ${heading}: ${texts.join(", ")}`];
}

function describeSample(sample: DatasetSample | undefined, maxCharacters: number): string[] {
  if (sample === undefined) return [];
  const { trajectory_id, step, interaction, context, messages, next_state, reward, done, at } = sample;
  const isWhole = maxCharacters === Number.POSITIVE_INFINITY;
  const more = isWhole ? { ...context, reward, done, at } : {};
  const texts = {
    ...(interaction ?? { messages: messages && JSON.stringify(messages) }),
    next: next_state,
    ...more,
  };
  return [
    `  first sample   ${printable(trajectory_id)} step ${step}`,
    ...Object.entries(texts).flatMap(([name, text]) =>
      text === undefined || text === null
        ? []
        : [`    ${name.padEnd(7)} ${oneLine(String(text), maxCharacters)}`],
    ),
  ];
}

function oneLine(text: string, maxCharacters: number): string {
  const cut = text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}…`;
  return printable(cut.replaceAll(/\r?\n/g, "⏎"));
}

type Fault = ImportPreview["faults"][number];
const maxFaults = 10;

/** The first faults, a line each. */
export function describeFaults(
  faults: readonly Fault[],
  total: number,
  files: readonly ImportFile[],
): string {
  const shownOf = (name: string | undefined) =>
    (name === undefined ? undefined : (files.find((file) => file.name === name)?.shown ?? name)) ??
    (files.length === 1 ? files[0]?.shown : undefined);
  const lines = faults.slice(0, maxFaults).map(({ loc, msg, file }) => {
    const [, unit, number, ...path] = loc;
    const place = number === undefined ? [] : [`${unit} ${number}`];
    const field = path.length === 0 ? [] : [path.join(".")];
    return printable(
      [shownOf(file), ...place, ...field, msg].filter((part) => part !== undefined).join(": "),
    );
  });
  const rest = total - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${countOf(rest, "more fault")}`] : [])].join("\n");
}

/** Whether a file was refused since no layout fits. */
export function isUnrecognised(error: unknown): boolean {
  const types =
    error instanceof UploadError ? error.faults : error instanceof PresageError ? error.issues : [];
  return types.some(({ type }) => type === "unrecognised_layout");
}

/** What a person is told of a refused import. Other errors stay as they are. */
export function refusal(error: unknown, files: readonly ImportFile[]): unknown {
  const [faults, total] = faultsOf(error);
  if (faults.length === 0) return error;
  const hint = isUnrecognised(error) ? "\npresage formats lists what each layout needs." : "";
  return new CommandError(describeFaults(faults, total, files) + hint);
}

function faultsOf(error: unknown): [Fault[], number] {
  if (error instanceof UploadError) return [error.faults.map(toImportFault), error.total];
  if (!(error instanceof PresageError)) return [[], 0];
  const issues = error.issues.filter(({ loc }) => loc[0] === "body");
  const total = Number(issues[0]?.ctx?.faults ?? issues.length);
  return [
    issues.map(({ loc, msg, ctx }) => ({
      loc,
      msg: typeof ctx?.error === "string" ? ctx.error : msg,
      ...(typeof ctx?.file === "string" && { file: ctx.file }),
    })),
    total,
  ];
}
