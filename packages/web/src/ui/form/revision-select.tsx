import { Select } from "./inputs.tsx";

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
      value={value}
      onChange={({ target }) => onChange(Number(target.value))}
    >
      {revisions.map(({ revision, note }) => (
        <option key={revision} value={revision}>
          {[String(revision), revision === newest && "newest", note].filter(Boolean).join(" · ")}
        </option>
      ))}
    </Select>
  );
}
