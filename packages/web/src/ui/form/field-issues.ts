import { PresageError, type ValidationError } from "@presage/sdk";
import { formatCount } from "../../format/numbers.ts";

/** An issue of a request body, and its path. */
export interface FieldIssue {
  path: string[];
  text: string;
}

/** The issues of a rejected body; none for other errors. A conflict counts as an issue of `nameField`, if given. */
export function fieldIssues(error: unknown, nameField?: string): FieldIssue[] {
  if (!(error instanceof PresageError)) return [];
  if (nameField !== undefined && error.category === "conflict") {
    return [{ path: [nameField], text: error.message }];
  }
  return error.issues.map((issue) => ({ path: issue.loc.slice(1).map(String), text: wordsOf(issue) }));
}

/** Rewords the most common issues for people. */
function wordsOf({ type, msg, ctx }: ValidationError): string {
  if (type === "missing" || type === "string_too_short") return "This field is required.";
  if (type === "too_short") return "Add at least one.";
  if (type === "string_too_long" && typeof ctx?.max_length === "number") {
    return `At most ${formatCount(ctx.max_length)} characters.`;
  }
  return msg.replace(/^Value error, /, "");
}

/** The issues at a path or below it. */
export function issueAt(issues: readonly FieldIssue[], ...path: string[]): string | undefined {
  const texts = issues
    .filter((issue) => path.every((step, depth) => issue.path[depth] === step))
    .map((issue) => {
      const item = issue.path[path.length];
      return item !== undefined && /^\d+$/.test(item)
        ? `Item ${Number(item) + 1}: ${issue.text}`
        : issue.text;
    });
  return texts.length === 0 ? undefined : texts.join(". ");
}

/** The issues that are neither at one of these paths nor below one. */
export function otherIssues(
  issues: readonly FieldIssue[],
  paths: readonly (readonly string[])[],
): FieldIssue[] {
  return issues.filter(
    (issue) => !paths.some((path) => path.every((step, depth) => issue.path[depth] === step)),
  );
}

/** Focuses the first invalid control of a form. */
export function focusFirstIssue(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}
