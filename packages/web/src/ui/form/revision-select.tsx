import { Select } from "./select.tsx";

interface RevisionSelectProps {
  label: string;
  /** Newest first. `note` is shown after the number. */
  revisions: readonly { revision: number; note?: string }[];
  newest: number;
  value: number;
  onChange(revision: number): void;
}

export function RevisionSelect({ label, revisions, newest, value, onChange }: RevisionSelectProps) {
  return (
    <Select
      aria-label={label}
      className="max-w-52"
      value={String(value)}
      options={revisions.map(({ revision, note }) => ({
        value: String(revision),
        label: [String(revision), revision === newest && "newest", note].filter(Boolean).join(" · "),
      }))}
      onChange={(revision) => onChange(Number(revision))}
    />
  );
}
