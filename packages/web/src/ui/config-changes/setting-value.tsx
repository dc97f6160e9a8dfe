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
