// The differences between two revisions of a configuration.

import { humanizeName } from "../format/words.ts";
import { TextDifference } from "./difference/text-difference.tsx";

/** A setting that differs between two revisions. Undefined: not set. */
interface ConfigChange {
  name: string;
  before: unknown;
  after: unknown;
}

type Config = Record<string, unknown>;

export function configChanges(before: Config, after: Config): ConfigChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter(({ before, after }) => canonical(before) !== canonical(after));
}

/** JSON with sorted keys. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

interface RevisionChangesProps {
  changes: readonly ConfigChange[];
  /** The numbers of the two revisions. */
  before: number;
  after: number;
}

/** The settings that differ between two revisions, or a note that they are the same. */
export function RevisionChanges({ changes, before, after }: RevisionChangesProps) {
  if (changes.length === 0) {
    return (
      <p className="px-4 py-3 text-sm text-ink-2">
        Revision {before} and revision {after} are the same.
      </p>
    );
  }
  return (
    <dl className="flex flex-col">
      {changes.map((change) => (
        <div
          key={change.name}
          className="flex flex-col gap-1.5 border-b border-line px-4 py-3 last:border-b-0"
        >
          <dt className="text-sm text-ink-2">{humanizeName(change.name)}</dt>
          <dd className="min-w-0">
            <Change change={change} beforeLabel={`Revision ${before}`} afterLabel={`Revision ${after}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shorter texts are shown in full, without a diff. */
const longCharacters = 60;
const maxListed = 12;

interface ChangeProps {
  change: ConfigChange;
  beforeLabel: string;
  afterLabel: string;
}

function Change({ change: { before, after }, beforeLabel, afterLabel }: ChangeProps) {
  const [old, now] = [textOf(before), textOf(after)];
  if (old !== undefined && now !== undefined && old.length + now.length > longCharacters) {
    return <TextDifference before={old} after={now} beforeLabel={beforeLabel} afterLabel={afterLabel} />;
  }
  return (
    <div className="grid min-w-0 gap-2 sm:grid-cols-2">
      <del className="min-w-0 rounded-md bg-fail-soft px-2 py-1 no-underline">
        <span className="sr-only">{beforeLabel}: </span>
        <SettingValue value={before} />
      </del>
      <ins className="min-w-0 rounded-md bg-pass-soft px-2 py-1 no-underline">
        <span className="sr-only">{afterLabel}: </span>
        <SettingValue value={after} />
      </ins>
    </div>
  );
}

/** The text to diff: a string, or JSON of a complex value. Undefined for values that SettingValue shows well. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.length <= maxListed) return undefined;
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : undefined;
}

export function SettingValue({ value }: { value: unknown }) {
  if (value === undefined || value === "") return <span className="text-sm text-ink-3">Not set</span>;
  if (typeof value === "boolean") return <span className="text-sm">{value ? "Yes" : "No"}</span>;
  if (typeof value === "number") return <span className="text-sm tabular-nums">{value}</span>;
  if (Array.isArray(value) && value.length === 0) return <span className="text-sm text-ink-3">None</span>;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return (
      <ul className="flex min-w-0 flex-wrap gap-1">
        {value.map((item, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: texts may repeat
            key={index}
            className="min-w-0 rounded border border-line bg-sunken px-1.5 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap text-ink"
          >
            {item}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <pre className="max-h-72 overflow-auto font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap text-ink">
      {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
    </pre>
  );
}
