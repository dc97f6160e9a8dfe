import type { FieldIssue } from "./field-issues.ts";

/** What a form was refused for that none of its fields shows. */
export function OtherIssueList({ issues }: { issues: readonly FieldIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <ul role="alert" className="list-disc pl-5 text-sm text-fail">
      {issues.map(({ path, text }) => (
        <li key={`${path.join(".")} ${text}`}>
          <code className="font-mono text-xs">{path.join(".")}</code> {text}
        </li>
      ))}
    </ul>
  );
}
