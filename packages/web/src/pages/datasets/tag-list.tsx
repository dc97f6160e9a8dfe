import { Badge } from "../../ui/badge.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** Tags as `name=value`. */
export function TagList({ tags }: { tags: Readonly<Record<string, string>> | null | undefined }) {
  const entries = Object.entries(tags ?? {});
  if (entries.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <span className="inline-flex max-w-full min-w-0 flex-wrap gap-1">
      {entries.map(([name, value]) => (
        <Badge key={name}>
          <InlineText text={`${name}=${value}`} />
        </Badge>
      ))}
    </span>
  );
}
