import type { TaskLine, TaskSplitName } from "@presage/sdk";

/** Tasks of JSON lines, or which line is wrong. A line without a split gets this one. */
export function readTaskLines(text: string, split: TaskSplitName): { tasks: TaskLine[] } | { issue: string } {
  const tasks: TaskLine[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return { issue: `Line ${index + 1} is no JSON object.` };
      tasks.push({ split, ...(value as TaskLine) });
    } catch {
      return { issue: `Line ${index + 1} is not JSON.` };
    }
  }
  return tasks.length === 0 ? { issue: "Write a task on each line, as JSON." } : { tasks };
}
