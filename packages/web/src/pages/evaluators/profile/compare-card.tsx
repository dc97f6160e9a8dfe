import type { EvaluatorProfile } from "@presage/sdk";
import { humanizeName } from "../../../format/humanize-name.ts";
import { Card } from "../../../ui/card.tsx";
import { TextDifference } from "../../../ui/difference/text-difference.tsx";
import { RevisionSelect } from "../../../ui/form/revision-select.tsx";
import { type ConfigChange, configChanges } from "./config-changes.ts";
import { SettingValue } from "./setting-value.tsx";

interface CompareCardProps {
  /** Newest first; at least two. */
  revisions: readonly EvaluatorProfile[];
  before: EvaluatorProfile;
  after: EvaluatorProfile;
  onChange(choice: { from: number; to: number }): void;
}

/** What changed between two revisions of a profile. */
export function CompareCard({ revisions, before, after, onChange }: CompareCardProps) {
  const numbered = revisions.map(({ revision }) => ({ revision }));
  const changes = configChanges(before.config, after.config);
  const [old, now] = [before.description ?? "", after.description ?? ""];
  if (old !== now) changes.push({ name: "description", before: old, after: now });
  return (
    <Card
      title="What changed"
      actions={
        <div className="flex w-full items-center gap-2 text-sm text-ink-2 sm:w-auto">
          from
          <RevisionSelect
            label="From revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={before.revision}
            onChange={(from) => onChange({ from, to: after.revision })}
          />
          to
          <RevisionSelect
            label="To revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={after.revision}
            onChange={(to) => onChange({ from: before.revision, to })}
          />
        </div>
      }
    >
      {changes.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-2">
          Revision {before.revision} and revision {after.revision} are the same.
        </p>
      ) : (
        <ConfigChangesView
          changes={changes}
          beforeLabel={`Revision ${before.revision}`}
          afterLabel={`Revision ${after.revision}`}
        />
      )}
    </Card>
  );
}

interface ConfigChangesViewProps {
  changes: readonly ConfigChange[];
  beforeLabel: string;
  afterLabel: string;
}

function ConfigChangesView({ changes, ...labels }: ConfigChangesViewProps) {
  return (
    <dl className="flex flex-col">
      {changes.map((change) => (
        <div
          key={change.name}
          className="flex flex-col gap-1.5 border-b border-line px-4 py-3 last:border-b-0"
        >
          <dt className="text-sm text-ink-2">{humanizeName(change.name)}</dt>
          <dd className="min-w-0">
            <Change change={change} {...labels} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shorter texts are shown in full, without a diff. */
const longCharacters = 60;
const maxListed = 12;

function Change({
  change: { before, after },
  beforeLabel,
  afterLabel,
}: Omit<ConfigChangesViewProps, "changes"> & { change: ConfigChange }) {
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
