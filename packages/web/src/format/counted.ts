import { formatCount } from "./format-number.ts";

/** “1 step”, “2,000 steps”; `plural` where an s is not enough. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}
